"""Does a `Memo` do what it says?"""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import os
import pickle
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

from memod import BadParams, Hit, Memo, NotFound, __version__, types
from memod._methods import Methods, method
from memod._record import Record, fields

from . import HERE, TOP, indexed


def search_in_child(path: str, results: multiprocessing.SimpleQueue[str]) -> None:
    results.put(INHERITED[path].search("expiry", limit=1).hits[0].path)


INHERITED: dict[str, Memo] = {}


class MemoTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.path = indexed("memo")

    def setUp(self) -> None:
        self.memo = Memo(self.path)
        self.addCleanup(self.memo.close)

    def test_the_repository_is_that_of_the_current_directory_unless_another_is_named(self) -> None:
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.path / "src")
        with Memo() as memo:
            os.chdir(before)
            self.assertEqual(memo.search("decode", kind=["symbol"]).hits[0].cwd_path, "session.py")

    def test_a_memory_lives(self) -> None:
        with Memo(self.path, agent="tester") as memo:
            added = memo.add("the cache is warmed at night", title="Cache", tags=["ops"], metadata={"n": [1, None]})
            self.assertTrue(added.created)
            id = added.memory.id
            self.assertEqual((added.memory.source, added.memory.agent), ("agent", "tester"))
            self.assertEqual(added.memory.metadata, {"n": [1, None]})
            self.assertEqual(memo.update(id, append="and at noon").changed, ["content"])
            self.assertEqual(memo.get(id).content, "the cache is warmed at night\nand at noon")
            self.assertEqual([change.action for change in memo.history(id).changes], ["add", "update"])
            self.assertIn(id, [hit.id for hit in memo.search("cache at noon", kind=["memory"]).hits])
            self.assertEqual([(tag.name, tag.memories) for tag in memo.tags().names], [("ops", 1)])
            self.assertEqual([found.id for found in memo.forget(id).memories], [id])
            self.assertEqual(memo.list().total, 0)
            self.assertEqual(memo.purge(id).memories[0].line, "Cache")
            with self.assertRaises(NotFound) as caught:
                memo.get(id)
            self.assertEqual(caught.exception.code, -32003)
            self.assertIn(id.upper(), str(caught.exception).upper())
            self.assertIn("memo list", caught.exception.hint or "")

    def test_texts_of_every_script_survive(self) -> None:
        text = 'größer, 更大, больше, 🦀\u2028\x7f "quoted" \\ \n\ttab'
        id = self.memo.add(text, tags=["ünï"]).memory.id
        self.addCleanup(self.memo.forget, id)
        self.assertEqual(self.memo.get(id).content, text)
        self.assertEqual(self.memo.list(tags=["ünï"]).total, 1)
        self.assertEqual(self.memo.search("更大", kind=["memory"]).hits[0].id, id)

    def test_texts_of_5_mb(self) -> None:
        query = "expiry " * (5_000_000 // 7)
        self.assertEqual(self.memo.search(query, limit=1).query, query)
        with self.assertRaisesRegex(BadParams, "content: .* over 65536"):
            self.memo.add("x" * 5_000_000)
        texts = [f"{n} ".ljust(65_535, chr(ord("a") + n % 26)) + "." for n in range(80)]
        for text in texts:
            self.memo.add(text, container="large", force=True)
        self.addCleanup(self.memo.forget, container="large")
        found = self.memo.list(container="large", limit=80).memories
        self.assertEqual({memory.content for memory in found}, set(texts))

    def test_what_cannot_be_sent_is_refused_here(self) -> None:
        deep: list[object] = []
        for _ in range(61):
            deep = [deep]
        loop: list[object] = []
        loop.append(loop)
        cases = [
            ({"query": "x" * (9 << 20)}, "9,437,"),
            ({"query": "\ud800"}, "surrogates"),
            ({"metadata": {"a": float("nan")}}, "JSON"),
            ({"limit": 10**400}, "more than 64 bits"),
            ({"wait_ms": 10**400}, "more than 64 bits"),
            ({"metadata": {"a": object()}}, "object is not JSON serializable"),
            ({"metadata": {"a": deep}}, "nested deeper than 64"),
            ({"metadata": loop}, "search: the params cannot be sent"),
        ]
        for params, why in cases:
            with self.subTest(why), self.assertRaisesRegex(BadParams, why):
                self.memo.call("search", **{"query": "x", **params})
        # The daemon reads what is allowed here.
        added = self.memo.add("as deep as it may be", metadata={"a": deep[0]})
        self.memo.forget(added.memory.id)

    def test_a_method_must_be_a_string(self) -> None:
        with self.assertRaisesRegex(BadParams, "got 5"):
            self.memo.call(5)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

    def test_errors_say_what_is_wrong(self) -> None:
        with self.assertRaisesRegex(TypeError, "search has no param limt; it has query, mode, .*limit"):
            self.memo.search("x", limt=3)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
        with self.assertRaisesRegex(BadParams, "mode: unknown variant `fuzzy`"):
            self.memo.search("x", mode="fuzzy")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        with self.assertRaisesRegex(NotFound, "nothing: no indexed file"):
            self.memo.show("nothing")

    def test_threads_share_a_client(self) -> None:
        start = threading.Barrier(2)

        def search(n: int) -> list[str]:
            start.wait()
            return [self.memo.search(f"token {n} {i}", limit=1).query for i in range(50)]

        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(search, range(2)))
        self.assertEqual(found, [[f"token {n} {i}" for i in range(50)] for n in range(2)])

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_a_forked_process_has_connections_of_its_own(self) -> None:
        self.memo.status()
        INHERITED[str(self.path)] = self.memo
        context = multiprocessing.get_context("fork")
        results = context.SimpleQueue()
        children = [context.Process(target=search_in_child, args=(str(self.path), results)) for _ in range(2)]
        for child in children:
            child.start()
        self.assertEqual(self.memo.search("token", limit=1).query, "token")
        self.assertEqual([results.get() for _ in children], ["docs/auth.md"] * 2)
        for child in children:
            child.join()

    def test_a_record_is_frozen_and_tolerant(self) -> None:
        hit = self.memo.search("expiry", limit=1).hits[0]
        with self.assertRaisesRegex(AttributeError, "Hit.path: an answer cannot be changed"):
            hit.path = "other"  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
        self.assertEqual((copy.deepcopy(hit), pickle.loads(pickle.dumps(hit))), (hit, hit))
        later = Hit.from_json({"path": "a", "lines": [1, 2], "color": "blue"})
        self.assertEqual((later.path, later.lines, later.id, later.classes), ("a", (1, 2), None, []))
        self.assertNotIn("color", vars(later))
        self.assertIn("path='a', cwd_path=None, lines=(1, 2)", repr(later))


class ReferenceTest(unittest.TestCase):
    def test_the_types_are_those_of_the_reference(self) -> None:
        text = (HERE.parent / "generate.py").read_text("utf-8")
        made: dict[str, object] = {"__name__": "generate", "__file__": str(HERE.parent / "generate.py")}
        exec(compile(text, "generate.py", "exec"), made)
        module, reference = made["module"], made["REFERENCE"]
        expected = module(reference.read_text("utf-8"))  # type: ignore[operator] # pyright: ignore
        self.assertEqual((HERE.parent / "src/memod/types.py").read_text("utf-8"), expected, "run generate.py")

    def test_each_method_takes_all_params_of_the_reference(self) -> None:
        built = {name: item.build for name, item in vars(Methods).items() if isinstance(item, method)}
        names = set(types.PARAMS) | {"call"}
        self.assertEqual({f"memory.{name}" if f"memory.{name}" in names else name for name in built}, names)
        del built["call"]
        different: dict[str, set[str]] = {name: {"id", "ids"} for name in ("get", "history")}
        different.update({name: {"since"} for name in ("callers", "callees", "implements")})  # it has no effect there
        for name, build in built.items():
            signature = inspect.signature(build)
            taken = {param.rstrip("_") for param in signature.parameters} - {"self", "params"}
            if options := signature.parameters.get("params"):
                options_class = str(options.annotation)[len("Unpack[types.") : -1]
                taken |= {key.rstrip("_") for key in getattr(types, options_class).__annotations__}
            known = types.PARAMS[f"memory.{name}" if f"memory.{name}" in names else name]
            with self.subTest(name):
                self.assertEqual(taken ^ set(known), different.get(name, set()))

    def test_all_types_can_be_read(self) -> None:
        records = [kind for kind in vars(types).values() if isinstance(kind, type) and issubclass(kind, Record)]
        self.assertGreater(len(records), 60)
        for record in records:
            self.assertEqual(record is Record, not fields(record))

    def test_the_version_is_that_of_the_daemon(self) -> None:
        cargo = (TOP / "Cargo.toml").read_text("utf-8")
        self.assertIn(f'\nversion = "{__version__}"\n', cargo)


if __name__ == "__main__":
    unittest.main()
