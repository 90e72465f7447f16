"""Are the examples true: those of the docstrings, and those of the two pages about Python?"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import sys
import unittest
from pathlib import Path
from typing import Any

import memod
from memod import Memo, _methods

from . import TOP, indexed

SHORT_PAGE = TOP / "docs/src/python.md"
REFERENCE = TOP / "docs/src/reference/python.md"


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, _: object) -> unittest.TestSuite:
    """Adds a test of each docstring with examples."""
    made: dict[str, Memo] = {}

    def set_up(test: doctest.DocTest) -> None:
        if not made:  # all in one repository, in the order of the file: a memory of one is found by the next
            made["memo"] = Memo(indexed("docstrings"))
            unittest.addModuleCleanup(made["memo"].close)
        test.globs.update(made, Memo=Memo, repo=made["memo"].repo)

    parser = doctest.DocTestParser()
    methods = {name: item.__doc__ for name, item in vars(_methods.Methods).items() if isinstance(item, _methods.method)}
    docs = {"memod": memod.__doc__, "Memo": Memo.__doc__, **methods}
    for name, doc in docs.items():
        test = parser.get_doctest(doc or "", {}, name, None, None)
        if test.examples:
            tests.addTest(doctest.DocTestCase(test, setUp=set_up))
    return tests


class PageTest(unittest.TestCase):
    def test_the_examples_of_the_short_page(self) -> None:
        self.check_examples(SHORT_PAGE, indexed("short"), at_least=3)

    def test_the_examples_of_the_reference(self) -> None:
        self.check_examples(REFERENCE, indexed("page"), at_least=5)

    def check_examples(self, page: Path, repo: Path, at_least: int) -> None:
        """Runs the blocks of Python in order, and compares what they print with the block of text below."""
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
        self.assertGreaterEqual(sum(kind == "python" for kind, _ in blocks), at_least)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(repo)
        names: dict[str, Any] = {"__name__": "__page__"}
        for (kind, code), (below, shown) in zip(blocks, [*blocks[1:], ("", "")]):
            if kind != "python":
                continue
            printed = io.StringIO()
            with self.subTest(code):
                try:
                    with contextlib.redirect_stdout(printed):
                        exec(compile(code, str(page), "exec"), names)
                except memod.MemoError as error:
                    if error.code != -32601:
                        raise
                    print(f"\nNOT CHECKED: an example of {page}: {error}", file=sys.stderr)
                    self.skipTest(str(error))
                finally:
                    names["memo"].close()
                if below == "text":
                    self.assertEqual(printed.getvalue(), shown)

    def test_all_of_the_package_is_on_the_page(self) -> None:
        page = REFERENCE.read_text("utf-8")
        public = [name for name in memod.__all__ if name not in ("types", "__version__", "Hit", "Memory", "Watch")]
        methods = [name for name in vars(_methods.Methods) if not name.startswith("_")]
        missing = [name for name in [*public, *methods, "watch"] if not re.search(rf"`[^`]*\b{name}\b", page)]
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main()
