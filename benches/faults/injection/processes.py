"""Processes that are killed, or stand still."""

import os
import signal
import threading

from injection.fault import Fault


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Killed(Fault):
    """kill -9 of the daemon, or of the process that extracts for it."""

    n_steps = 3

    def __init__(self, sandbox, whom):
        super().__init__(sandbox)
        self.whom, self.name = whom, f"kill -9 {whom}"

    def pids(self):
        daemon = self.sandbox.daemon()
        return [daemon] if self.whom == "daemon" and daemon else self.sandbox.workers()

    def begin(self, random):
        pids = self.pids()
        signal_all(pids, signal.SIGKILL)
        return f"{len(pids)} killed"


class KilledWithin(Killed):
    """kill -9 of the daemon some time after, so that it hits a verb that is on its way."""

    n_steps = 4

    def __init__(self, sandbox):
        super().__init__(sandbox, "daemon")
        self.name = "kill -9 daemon within verbs"

    def begin(self, random):
        daemon = self.sandbox.daemon()
        delays = sorted(random.uniform(0.01, 2) for _ in range(3))
        self.timers = [threading.Timer(delay, self.kill) for delay in delays]
        for timer in self.timers:
            timer.start()
        return f"{daemon} and its successors after {', '.join(f'{delay:.2f}' for delay in delays)} s"

    def kill(self):
        running = self.sandbox.endpoint()
        signal_all(running[:1] if running else [], signal.SIGKILL)

    def lift(self):
        for timer in self.timers:
            timer.join()


class Stopped(Killed):
    """SIGSTOP, and SIGCONT some seconds later, whoever waits meanwhile."""

    def __init__(self, sandbox, whom):
        super().__init__(sandbox, whom)
        self.name = f"SIGSTOP {whom}"

    def begin(self, random):
        self.stopped, seconds = self.pids(), random.choice([0.1, 1, 4])
        signal_all(self.stopped, signal.SIGSTOP)
        self.timer = threading.Timer(seconds, signal_all, (self.stopped, signal.SIGCONT))
        self.timer.start()
        return f"for {seconds} s"

    def lift(self):
        self.timer.join()
