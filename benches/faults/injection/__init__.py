"""What goes wrong, from outside of the product: each fault begins, lasts for some steps, and is lifted."""

from injection import surroundings
from injection.fault import Fault
from injection.processes import Killed, KilledWithin, Stopped
from injection.system_calls import LISTS, OPENS, READS, RENAMES, STATS, SYNCS, Injected

__all__ = ["Fault", "all_faults"]

TRANSIENT = ["EIO", "EMFILE", "ENFILE", "ENOMEM"]


def all_faults(sandbox, is_mounted):
    return [
        Killed(sandbox, "daemon"), Killed(sandbox, "worker"), KilledWithin(sandbox),
        Stopped(sandbox, "daemon"), Stopped(sandbox, "worker"),
        surroundings.FullDisk(sandbox, is_mounted), surroundings.FewDescriptors(sandbox),
        surroundings.IdleConnections(sandbox), surroundings.ClockJump(sandbox), surroundings.Moved(sandbox),
        surroundings.WorktreeAway(sandbox),
        Injected(sandbox, "sources", READS, ["EIO"]),
        Injected(sandbox, "sources", OPENS, TRANSIENT),
        Injected(sandbox, "sources", STATS, ["EIO", "ENOMEM"]),
        Injected(sandbox, "directories", f"{LISTS},{OPENS}", TRANSIENT),
        Injected(sandbox, "index.db", READS, ["EIO"]),
        Injected(sandbox, "index.db", SYNCS, ["EIO", "ENOSPC"]),
        Injected(sandbox, "memory.db", READS, ["EIO"]),
        Injected(sandbox, "memory.db", SYNCS, ["EIO", "ENOSPC"]),
        Injected(sandbox, "memory files", READS, ["EIO"]),
        Injected(sandbox, "memory files", OPENS, ["EIO", "EMFILE"]),
        Injected(sandbox, "memory files", STATS, ["EIO", "ENOMEM"]),
        Injected(sandbox, "memory files", RENAMES, ["EIO", "ENOSPC"]),
        Injected(sandbox, "memory directories", OPENS, ["EIO", "EMFILE"]),
        Injected(sandbox, "memory directories", LISTS, ["EIO", "EMFILE"]),
        Injected(sandbox, "memory directories", STATS, ["EIO", "ENOMEM"]),
        Injected(sandbox, "everything", OPENS, TRANSIENT),
    ]  # fmt: skip
