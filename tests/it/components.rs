//! Do the components of Vue, Svelte and Astro define themselves, and are the names in their templates uses?

use std::fs;

use serde_json::Value;

use crate::javascript_imports::uses;
use crate::live::{Live, memo, memo_in};

/// An app of Vue with a component that others use in three spellings, through an alias, a barrel and without an import.
fn shop() -> Live {
    let live = Live::idle();
    let write = |path: &str, text: &str| live.write(path, text);
    write("package.json", "{\"name\": \"shop\"}\n");
    write("tsconfig.json", "{\"compilerOptions\": {\"paths\": {\"@/*\": [\"./src/*\"]}}}\n");
    write("src/money.ts", "export function formatMoney(x: number) {\n  return `${x} CHF`;\n}\n");
    write(
        "src/components/UserCard.vue",
        "<script setup lang=\"ts\">\nimport { formatMoney } from '@/money'\n\nconst props = defineProps<{ user: User }>()\n\n\
         function save() {\n  emit('saved')\n}\n</script>\n\n<template>\n  <li v-for=\"item in user.items\" :key=\"item.id\">\n    \
         {{ formatMoney(item.price) }}\n    <button @click=\"save\">Save</button>\n  </li>\n</template>\n\n<style>\n.save { color: red; }\n</style>\n",
    );
    write(
        "src/components/RankLabel.vue",
        "<template>\n  <p :class=\"{ high: isHigh(rank) }\"/>\n</template>\n\n<script>\nexport default {\n  methods: {\n    isHigh(rank) {\n      \
         return this.limit() < rank\n    },\n    limit() {\n      return 3\n    },\n  },\n}\n</script>\n",
    );
    write("src/components/index.ts", "export { default as Card } from './UserCard.vue'\n");
    write(
        "src/App.vue",
        "<script setup>\nimport UserCard from '@/components/UserCard.vue'\nimport { Card } from './components'\n</script>\n<template>\n  \
         <UserCard/>\n  <user-card/>\n  <Card/>\n  <!-- <UserCard/> -->\n</template>\n",
    );
    write("src/Page.vue", "<template>\n  <user-card/>\n  <rank-label/>\n</template>\n");
    write("src/main.ts", "import Own from './components/UserCard.vue'\napp.component('UserCard', Own)\n");
    live.start();
    live
}

/// Replaces a text in a file.
fn replace(live: &Live, path: &str, from: &str, to: &str) {
    let text = fs::read_to_string(live.root().join(path)).unwrap();
    assert!(text.contains(from), "{text}");
    live.write(path, text.replace(from, to));
}

/// Returns the titles of the definitions in an answer.
fn titles(answer: &Value, list: &str) -> Vec<String> {
    let items = answer[list].as_array().unwrap_or_else(|| panic!("{answer}"));
    items.iter().map(|item| format!("{} {}", item["title"].as_str().unwrap_or("-"), item["lines"])).collect()
}

#[test]
fn tags_in_all_spellings_use_a_component() {
    let live = shop();
    let expected = [
        "src/App.vue:2 exact",
        "src/App.vue:3 exact",
        "src/App.vue:6 exact",
        "src/App.vue:7 exact",
        "src/App.vue:8 exact",
        "src/components/index.ts:1 exact",
        "src/components/index.ts:1 exact",
        "src/main.ts:1 exact",
        "src/main.ts:2 exact",
        "src/Page.vue:2 likely",
    ];
    assert_eq!(uses(&live, "UserCard"), expected);
    assert_eq!(uses(&live, "RankLabel"), ["src/Page.vue:3 likely"]);
    let (_, answer) = memo(&live, &["callers", "UserCard"]);
    let callers = answer.to_string();
    assert!(
        ["App", "Page"].iter().all(|name| callers.contains(&format!("\"title\":\"{name}\""))),
        "{answer}"
    );
}

#[test]
fn names_in_a_template_use_what_the_script_has() {
    let live = shop();
    assert_eq!(uses(&live, "save"), ["src/components/UserCard.vue:14 exact"]);
    assert_eq!(
        uses(&live, "formatMoney"),
        ["src/components/UserCard.vue:2 exact", "src/components/UserCard.vue:13 exact"]
    );
    assert_eq!(uses(&live, "isHigh"), ["src/components/RankLabel.vue:2 exact"]);
    assert_eq!(uses(&live, "limit"), ["src/components/RankLabel.vue:9 exact"]);
    let (exit, answer) = memo(&live, &["callers", "save"]);
    assert_eq!((exit, &answer["unsearched"]), (0, &Value::Null), "{answer}");
    let (_, answer) = memo(&live, &["search", "formatMoney price template", "--path=src/components"]);
    let hit = &answer["hits"][0];
    assert_eq!(
        (&hit["path"], &hit["title"]),
        (&"src/components/UserCard.vue".into(), &"UserCard".into()),
        "{answer}"
    );
}

#[test]
fn an_outline_shows_the_component_and_what_is_in_it() {
    let live = shop();
    let (_, answer) = memo(&live, &["outline", "src/components/UserCard.vue"]);
    assert_eq!(
        titles(&answer, "items"),
        ["UserCard [1,20]", "UserCard.props [4,4]", "UserCard.save [6,8]"],
        "{answer}"
    );
    assert_eq!(answer["items"][0]["text"], "component UserCard", "{answer}");
    let (_, answer) = memo(&live, &["outline", "src/components/RankLabel.vue"]);
    let expected = ["RankLabel [1,16]", "RankLabel.methods.isHigh [8,10]", "RankLabel.methods.limit [11,13]"];
    assert_eq!(titles(&answer, "items"), expected, "{answer}");
}

#[test]
fn a_saved_template_has_an_impact() {
    let live = shop();
    live.commit_all();
    replace(&live, "src/components/UserCard.vue", "item.price", "item.total");
    let (_, answer) = memo(&live, &["impact", "--since=HEAD"]);
    let shown = answer.to_string();
    assert!(shown.contains("\"src/App.vue\"") && shown.contains("\"src/main.ts\""), "{answer}");
    assert!(!shown.contains("RankLabel"), "{answer}");
    replace(&live, "src/money.ts", "CHF", "EUR");
    let (_, answer) = memo(&live, &["impact", "formatMoney"]);
    assert!(answer.to_string().contains("\"UserCard\""), "{answer}");
}

#[test]
fn a_component_has_the_name_of_its_file() {
    let live = shop();
    live.git(&["add", "-A"]);
    live.git(&["mv", "src/components/RankLabel.vue", "src/components/TopLabel.vue"]);
    replace(&live, "src/Page.vue", "rank-label", "TopLabel");
    assert_eq!(uses(&live, "TopLabel"), ["src/Page.vue:3 likely"]);
    let (exit, answer) = memo(&live, &["refs", "RankLabel", "--wait-ms=60000"]);
    assert_eq!(exit, 1, "{answer}");
}

#[test]
fn svelte_and_astro_are_read_too() {
    let live = Live::idle();
    live.write(
        "src/actions.ts",
        "export function tooltip(node: Node) {}\nexport const orders = writable([])\n",
    );
    live.write("src/lib/Order.svelte", "<script>\n  export let order\n</script>\n<p>{order.id}</p>\n");
    live.write("src/lib/index.ts", "export { default as OrderRow } from './Order.svelte'\n");
    live.write(
        "src/routes/+page.svelte",
        "<script lang=\"ts\">\n  import { OrderRow } from '$lib'\n  import { tooltip, orders } from '../actions'\n  import Row from '../lib/Order.svelte'\n  \
         function open(id: number) {}\n</script>\n{#each $orders as order (order.id)}\n  <Row {order} on:click={() => open(order.id)}/>\n{/each}\n\
         <p use:tooltip>{#if open}<svelte:component this={Row}/>{/if}</p>\n",
    );
    live.write(
        "src/layouts/Base.astro",
        "---\nconst { title } = Astro.props\n---\n<title>{title}</title><slot/>\n",
    );
    live.write(
        "src/pages/home.astro",
        "---\nimport Layout from '../layouts/Base.astro'\nimport Order from '../lib/Order.svelte'\nconst ids = [1]\n---\n<Layout title={ids}>\n  \
         {ids.map((id) => <Order order={id}/>)}\n</Layout>\n",
    );
    live.start();
    let page = "src/routes/+page.svelte";
    let expected =
        ["src/lib/index.ts:1", "src/lib/index.ts:1", "src/pages/home.astro:3", "src/pages/home.astro:7"]
            .map(str::to_owned);
    let of_page = [4, 8, 10].map(|line| format!("{page}:{line}"));
    let expected: Vec<_> =
        expected.into_iter().chain(of_page).map(|place| format!("{place} exact")).collect();
    assert_eq!(uses(&live, "Order"), expected);
    assert_eq!(uses(&live, "tooltip"), [3, 10].map(|line| format!("{page}:{line} exact")));
    assert_eq!(uses(&live, "orders"), [3, 7].map(|line| format!("{page}:{line} exact")));
    assert_eq!(uses(&live, "open"), [8, 10].map(|line| format!("{page}:{line} exact")));
    assert_eq!(uses(&live, "Base"), [2, 6].map(|line| format!("src/pages/home.astro:{line} exact")));
    assert_eq!(uses(&live, "src/layouts/Base.astro#title"), ["src/layouts/Base.astro:4 exact"]);
}

#[test]
fn hostile_components_are_indexed_beside_others() {
    let live = Live::idle();
    live.write("src/Good.vue", "<template>\n  <Card/>\n</template>\n");
    live.write("src/Card.vue", "<template>\n  <p/>\n</template>\n");
    let texts = [
        "<",
        "{{",
        "<a b=\"",
        "{#each a as ",
        "<script>\n",
        "<template>\n",
        "{a && <b>\n",
        "'\"`${",
        "<Card :a=\"{[(\n",
    ];
    for (nth, text) in texts.iter().enumerate() {
        for format in ["vue", "svelte", "astro"] {
            live.write(&format!("src/hostile{nth}.{format}"), text.repeat(900_000 / text.len()));
        }
    }
    live.write("src/cut.vue", "\u{feff}<template>\r\n  <Card\r\n");
    live.start();
    let (exit, answer) = memo(&live, &["refs", "src/Card.vue#Card", "--wait-ms=60000"]);
    let first = &answer["uses"][0];
    assert_eq!((exit, &first["path"], &first["line"]), (0, &"src/Good.vue".into(), &2.into()), "{answer}");
}

/// Returns the titles of the definitions in a file.
fn outline_of(live: &Live, path: &str) -> Vec<String> {
    let (_, answer) = memo(live, &["outline", path, "--wait-ms=60000"]);
    titles(&answer, "items")
}

#[test]
fn equal_components_have_their_own_names() {
    let live = Live::idle();
    let text = "<script setup>\nfunction save() {}\n</script>\n<template>\n  <button @click=\"save\"/>\n</template>\n";
    for path in ["src/TopRow.vue", "src/LowRow.vue", "src/BoxRow/index.vue", "src/C.svelte", "src/D.svelte"] {
        live.write(path, text);
    }
    live.write("src/Page.vue", "<template>\n  <TopRow/>\n  <LowRow/>\n  <BoxRow/>\n</template>\n");
    live.start();
    for (path, name) in [
        ("TopRow.vue", "TopRow"),
        ("LowRow.vue", "LowRow"),
        ("BoxRow/index.vue", "BoxRow"),
        ("C.svelte", "C"),
        ("D.svelte", "D"),
    ] {
        let expected = [format!("{name} [1,6]"), format!("{name}.save [2,2]")];
        assert_eq!(outline_of(&live, &format!("src/{path}")), expected);
    }
    let lines = ["TopRow", "LowRow", "BoxRow"].map(|name| uses(&live, name));
    assert_eq!(lines, [["src/Page.vue:2 likely"], ["src/Page.vue:3 likely"], ["src/Page.vue:4 likely"]]);
    // A copy takes no name away, nor does the removal of one.
    live.write("src/E.vue", text);
    let names =
        |paths: &[&str]| paths.iter().map(|path| outline_of(&live, path)[0].clone()).collect::<Vec<_>>();
    assert_eq!(
        names(&["src/TopRow.vue", "src/LowRow.vue", "src/E.vue"]),
        ["TopRow [1,6]", "LowRow [1,6]", "E [1,6]"]
    );
    fs::remove_file(live.root().join("src/E.vue")).unwrap();
    assert_eq!(names(&["src/TopRow.vue", "src/LowRow.vue"]), ["TopRow [1,6]", "LowRow [1,6]"]);
}

#[test]
fn a_component_that_another_commit_names_differently_has_the_name_of_its_file() {
    let live = shop();
    live.commit_all();
    live.git(&["checkout", "-q", "-b", "renamed"]);
    live.git(&["mv", "src/components/RankLabel.vue", "src/components/TopLabel.vue"]);
    live.commit_all();
    let outline = |path: &str| outline_of(&live, path).first().cloned().unwrap_or_default();
    assert_eq!(outline("src/components/TopLabel.vue"), "TopLabel [1,16]");
    for _ in 0..2 {
        live.git(&["checkout", "-q", "-"]);
        assert_eq!(outline("src/components/RankLabel.vue"), "RankLabel [1,16]");
        live.git(&["checkout", "-q", "-"]);
        assert_eq!(outline("src/components/TopLabel.vue"), "TopLabel [1,16]");
    }
}

#[test]
fn each_worktree_has_its_own_name_of_a_component() {
    let live = shop();
    live.commit_all();
    assert_eq!(outline_of(&live, "src/components/RankLabel.vue")[0], "RankLabel [1,16]");
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    let side = live.root().join("../side").canonicalize().unwrap();
    live.git_in(&side, &["mv", "src/components/RankLabel.vue", "src/components/SideLabel.vue"]);
    let in_side = ["outline", "src/components/SideLabel.vue", "--wait-ms=60000"];
    let (_, answer) = memo_in(&live, &side, &in_side);
    assert_eq!(titles(&answer, "items")[0], "SideLabel [1,16]", "{answer}");
    assert_eq!(outline_of(&live, "src/components/RankLabel.vue")[0], "RankLabel [1,16]");
    assert_eq!(uses(&live, "RankLabel"), ["src/Page.vue:3 likely"]);
}
