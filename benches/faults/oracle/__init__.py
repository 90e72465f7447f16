"""What an answer must say, given what is on the disk, in git, and what was acknowledged."""

from .commits import Commits
from .disk import Disk, leaks
from .hits import degraded_by
from .memories import ARCHIVED, LIVING, PURGED, Form
from .memory_model import MemoryModel
from .snippets import credential_in, planted_in
from .visible import Seen
from .words import Words

__all__ = [
    "ARCHIVED", "LIVING", "PURGED", "Commits", "Disk", "Form", "MemoryModel", "Seen", "Words",
    "credential_in", "degraded_by", "leaks", "planted_in",
]  # fmt: skip
