"""The table of lies: each must be found out by a run."""

from lies import about_agents, about_code, about_memories, about_searches, deeds  # noqa: F401 -- they fill the table
from lies.lie import LIES

__all__ = ["LIES"]

# Those that each change is tried with: one of what is printed, one of what is done.
QUICK = ["first-snippet-word", "add-archived"]
