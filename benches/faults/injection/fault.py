"""The base of all faults."""


class Fault:
    """Nothing: the fault of a calm time."""

    name = "none"
    n_steps = 6
    # A repository that is elsewhere, or a clock that is wrong, changes what may be asked and expected.
    moves, clock_is_wrong = False, False

    def __init__(self, sandbox):
        self.sandbox = sandbox

    def why_not(self):
        """Returns why this machine does not allow it, if so."""
        return None

    def begin(self, random):
        """Begins it; returns what exactly goes wrong, for the log."""
        return ""

    def lift(self):
        """Ends it; returns what is wrong by now, if anything."""
