#!/usr/bin/env python3
"""Is an answer ever silently stale, or a memory lost, whatever goes wrong?

Does random things to a repository and to memories, in calm times and while something is broken, asks in all the ways that
people and agents ask, and compares every answer with what is on the disk, in git, and acknowledged. What is done depends on
the seed alone. Exits with 1 when anything is wrong.
"""

import argparse
import resource
import shutil
import sys
import tempfile

import run as runs
import sandbox as sandboxes

FILE_SYSTEM_MIB = 192


def parse():
    parser = argparse.ArgumentParser(prog="benches/faults", description=__doc__.split("\n")[0])
    parser.add_argument("--memo", default="target/debug/memo", help="the client; memod is beside it [default: %(default)s]")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, help="end after so many rounds instead of --seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault", help="only faults with this in their name")
    parser.add_argument("--keep-going", action="store_true", help="go on after a failure, and count")
    parser.add_argument("--log", help="where every step is written down [default: beside the repository]")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--mostly", nargs="*", default=[], metavar="VERB", help="ask and do mostly what has these verbs")
    parser.add_argument("--lies", nargs="*", metavar="NAME", help="run each lie of lies/table.py: all have to be caught")
    return parser.parse_args()


def main():
    options = parse()
    if options.lies is not None:
        import lies

        sys.exit(lies.run(options))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(4096, hard)), hard))
    top = tempfile.mkdtemp(prefix="memod-faults-")
    is_mounted = sandboxes.mount(top, FILE_SYSTEM_MIB)
    run = runs.Run(options, top, is_mounted)
    if options.mostly:
        from lies import focus

        focus.focus(run, options.mostly)
    try:
        run.run()
    except runs.Wrong:
        pass
    finally:
        run.sandbox.stop()
    run.report()
    if run.tally["wrong"]:
        print(f"everything is left as it was in {top}", file=sys.stderr)
        sys.exit(1)
    if is_mounted:
        sandboxes.unmount(top)
    shutil.rmtree(top)


if __name__ == "__main__":
    main()
