"""What an answer must say, given what is on the disk, in git, and what was acknowledged."""

from .memories import ARCHIVED, LIVING, PURGED, Form
from .memory_model import MemoryModel

__all__ = ["ARCHIVED", "LIVING", "PURGED", "Form", "MemoryModel"]
