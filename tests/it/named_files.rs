//! Are a file as a target, a removed name and a misspelt member answered with what helps?

use crate::live::{Live, memo};

fn repository() -> Live {
    let live = Live::idle();
    live.write(
        "shop/cart.py",
        "class Cart:\n    size = 1\n\n    def __init__(self):\n        self._reset_total()\n\n    def __len__(self):\n        return 0\n\n    \
         def _reset_total(self):\n        pass\n\n    def add(self, item):\n        self.items = item\n\n\n\
         def make_cart():\n    return Cart()\n",
    );
    live.write("shop/plain.py", "class Point:\n    x: int\n    y: int\n");
    live.write("shop/main.py", "from shop.cart import Cart, make_cart\n\n\ndef main():\n    make_cart()\n");
    live.write("shop/other.py", "def lonely():\n    return 1\n");
    live.write("web/links/types.ts", "export type Link = string;\n");
    live.write("web/links/retry.ts", "export function retryLink() {\n  return 1;\n}\n");
    live.write(
        "web/Card.vue",
        "<script setup lang=\"ts\">\nimport { retryLink } from './links/retry';\nretryLink();\n</script>\n",
    );
    live.write(
        "web/App.vue",
        "<script setup lang=\"ts\">\nimport Card from './Card.vue';\n</script>\n<template><Card /></template>\n",
    );
    live.commit_all();
    live.start();
    live
}

fn run(live: &Live, args: &[&str]) -> String {
    live.sandbox.show(&mut live.memo(args))
}

#[test]
fn a_file_is_answered_with_its_uses_in_other_files() {
    let live = repository();
    for (verb, target, expected) in [
        ("refs", "shop/cart.py", "shop/main.py"),
        ("callers", "shop/cart.py", "shop/main.py"),
        ("refs", "web/links/retry.ts", "web/Card.vue"),
        ("callers", "web/Card.vue", "web/App.vue"),
        ("refs", "web/Card.vue", "web/App.vue"),
    ] {
        let (exit, answer) = memo(&live, &[verb, target, "--wait-ms=60000"]);
        let list = if verb == "refs" { "uses" } else { "found" };
        let paths: Vec<&str> =
            answer[list].as_array().unwrap().iter().map(|found| found["path"].as_str().unwrap()).collect();
        assert_eq!(exit, 0, "{verb} {target}: {answer}");
        assert!(paths.iter().all(|path| *path == expected), "{verb} {target}: {paths:?}");
    }
    let said = run(&live, &["refs", "shop/other.py"]);
    assert!(said.starts_with("exit 1\n") && said.contains("no use was found"), "{said}");
}

#[test]
fn a_name_that_was_removed_leads_to_what_used_it() {
    let live = repository();
    live.write("shop/other.py", "def solitary():\n    return 1\n");
    live.write("web/links/retry.ts", "export function againLink() {\n  return 1;\n}\n");
    for (verb, target, place) in [
        ("refs", "lonely", "shop/other.py#lonely"),
        ("callers", "lonely", "shop/other.py#lonely"),
        ("refs", "retryLink", "web/links/retry.ts#retryLink"),
        ("refs", "shop/other.py#lonely", "shop/other.py#lonely"),
    ] {
        let said = run(&live, &[verb, target]);
        let expected =
            format!("{place} was removed since HEAD: `memo impact --since HEAD` shows what used it");
        assert!(said.contains(&expected), "{verb} {target}: {said}");
    }
    assert!(run(&live, &["impact", "--since", "HEAD"]).contains("web/Card.vue"));
    assert!(!run(&live, &["refs", "never_there"]).contains("removed"));
}

#[test]
fn hints_name_what_is_there() {
    let live = repository();
    for (target, expected) in [
        ("Cart.total", "did you mean Cart._reset_total?"),
        (
            "Cart.zzzzzz",
            "Cart has no zzzzzz: it defines Cart.add, Cart.items, Cart.size, Cart._reset_total, Cart.__init__",
        ),
        ("Point.colour", "Point has no colour: it defines Point.x, Point.y"),
        ("web/links/type.ts#retryLink", "did you mean web/links/retry.ts#retryLink?"),
        ("web/links/typs.ts#Link", "did you mean web/links/types.ts#Link?"),
        ("web/links/typs.ts#nowhere", "did you mean one of web/links/types.ts, web/links/retry.ts?"),
    ] {
        let said = run(&live, &["show", target]);
        assert!(said.contains(expected), "{target}: {said}");
    }
}

#[test]
fn several_definitions_of_a_name_come_first_with_the_command_for_one() {
    let live = repository();
    for nth in 0..10 {
        live.write(
            &format!("more/m{nth}.py"),
            format!("class Kind{nth}:\n    def poll(self):\n        return {nth}\n\n\ndef run(kind: Kind{nth}):\n    kind.poll()\n"),
        );
    }
    live.listed();
    for (verb, target, n) in [("callers", "poll", 10), ("refs", "poll", 10), ("impact", "run", 10)] {
        let said = run(&live, &[verb, target]);
        assert!(said.contains("\nout: more/m0.py:"), "{said}");
        assert!(said.contains("out: and 2 more of that name\n"), "{verb}: {said}");
        let title = if target == "poll" { "Kind0.poll" } else { "run" };
        let command = format!("memo {verb} more/m0.py#{title}");
        let expected = format!("{n} definitions have that name; `{command}` asks about one alone");
        assert!(said.contains(&expected), "{verb}: {said}");
        // The command works, and is about that one.
        let asked: Vec<&str> = command.split(' ').skip(1).collect();
        let one = run(&live, &asked);
        assert!(!one.contains("definitions have that name") && !one.contains("m1.py"), "{one}");
    }
}

#[test]
fn a_name_that_a_module_exports_is_that_of_its_definition() {
    let live = Live::idle();
    live.write("src/router.ts", "function callProcedure() {}\nexport { callProcedure as callPublic };\n");
    live.write("src/index.ts", "export { callProcedure2 as callInner } from './inner';\n");
    live.write("src/inner.ts", "export function callProcedure2() {}\n");
    live.write("src/plain.js", "const load = () => 1;\nexport { load as loadAll };\n");
    live.write("src/app.ts", "import { callPublic } from './router';\nimport { callInner } from './index';\n\nexport function start() {\n  callPublic();\n  callInner();\n}\n");
    live.start();
    for (name, title) in
        [("callPublic", "callProcedure"), ("callInner", "callProcedure2"), ("loadAll", "load")]
    {
        let (_, answer) = memo(&live, &["refs", name]);
        assert_eq!(answer["definitions"][0]["title"], title, "{answer}");
    }
    let (_, answer) = memo(&live, &["callers", "callPublic"]);
    assert_eq!(answer["found"][0]["title"], "start", "{answer}");
    let (_, answer) = memo(&live, &["refs", "callNobody"]);
    assert!(answer["definitions"].is_null(), "{answer}");
}

#[test]
fn callers_count_the_definitions_that_pass_a_function_on() {
    let live = Live::idle();
    live.write(
        "a.py",
        "def load(path):\n    return path\n\n\ndef register(f):\n    f()\n\n\ndef one():\n    load(1)\n\n\ndef two():\n    register(load)\n\n\n\
         def three():\n    load(2)\n    register(load)\n\n\nTABLE = {'load': load}\n",
    );
    live.start();
    let (_, answer) = memo(&live, &["callers", "load"]);
    assert_eq!((&answer["n_found"], &answer["n_passing"]), (&2.into(), &2.into()), "{answer}");
    let shown = live.memo(&["callers", "load"]).output().expect("memo runs");
    let notes = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert!(notes.contains("2 more definitions use it without a call"), "{notes}");
}

#[test]
fn tests_say_that_they_follow_so_many_uses() {
    let live = Live::idle();
    let chain = |last: usize| -> String {
        (1..=last).map(|nth| format!("def step_{nth}():\n    step_{}()\n\n\n", nth - 1)).collect()
    };
    live.write("chain.py", format!("def step_0():\n    pass\n\n\n{}", chain(12)));
    live.write("tests/test_chain.py", "from chain import step_12\n\n\ndef test_all():\n    step_12()\n");
    live.start();
    let (_, answer) = memo(&live, &["tests", "step_0"]);
    let cut = answer["cut"].as_str().unwrap_or_default();
    assert!(cut.contains("more than 8 uses away"), "{answer}");
    let (_, answer) = memo(&live, &["tests", "step_9"]);
    assert_eq!(
        (&answer["found"][0]["title"], &answer["cut"]),
        (&"test_all".into(), &serde_json::Value::Null),
        "{answer}"
    );
}
