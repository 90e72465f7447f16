//! Does an answer say what of the question matches nothing, and keep its order however long it may be?

use serde_json::{Value, json};

use crate::live::{Live, memo};

fn repository() -> Live {
    let live = Live::idle();
    live.write(
        "src/cart.py",
        "def price_of_cart(cart):\n    return sum(cart)\n\n\ndef unused():\n    pass\n",
    );
    live.write(
        "src/order.py",
        "from src.cart import price_of_cart\n\n\ndef order(cart):\n    return price_of_cart(cart)\n\n\n\
         def preview(cart):\n    return price_of_cart(cart)\n",
    );
    live.write(
        "tests/test_order.py",
        "from src.order import order\n\n\ndef test_order():\n    assert order([1]) == 1\n",
    );
    live.write("README.md", "# Shop\n\nThe carts.\n\n## Where the prices come from\n\nFrom the sea.\n");
    live.commit_all();
    live.start();
    live.call("sync", json!({ "sync": "full", "wait_ms": 60_000 }));
    live
}

/// Returns the exit status, and the lines of stdout and stderr.
fn shown(live: &Live, args: &[&str]) -> (i32, String, String) {
    let output = live.memo(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_name_that_exists_nowhere_is_said() {
    let live = repository();
    let unknown = |query: &str| memo(&live, &["search", query]).1["unknown_name"].clone();
    for (query, expected) in [
        ("price_of_ship", json!("price_of_ship")),
        ("priceOfShip", json!("priceOfShip")),
        ("price_of_cart", Value::Null),
        ("priceOfCart", Value::Null),
        ("carts", Value::Null),
        ("test_order", Value::Null),
        ("price of ship", Value::Null),
    ] {
        assert_eq!(unknown(query), expected, "{query}");
    }
    let (_, out, err) = shown(&live, &["search", "price_of_ship"]);
    let said = "memo: no indexed file, commit or memory has price_of_ship; these hits are only near it";
    assert!(err.starts_with(said) && !out.is_empty(), "{out}{err}");
    memo(&live, &["add", "price_of_ship is asked at the harbour"]);
    assert_eq!(unknown("price_of_ship"), Value::Null, "a memory has it");
}

#[test]
fn a_question_about_uses_is_answered_by_the_uses() {
    let live = repository();
    let uses = |query: &str| {
        let (exit, found) = memo(&live, &["search", query]);
        let uses = found["uses"]["uses"].as_array().cloned().unwrap_or_default();
        let places = uses.iter().map(|used| format!("{}:{}", used["path"].as_str().unwrap(), used["line"]));
        (exit, found["uses"]["ask"].as_str().unwrap_or_default().to_owned(), places.collect::<Vec<_>>())
    };
    let places = |places: &[&str]| places.iter().map(|place| (*place).to_owned()).collect::<Vec<_>>();
    let callers = places(&["src/order.py:5", "src/order.py:9"]);
    assert_eq!(uses("who calls price_of_cart?"), (0, "memo callers price_of_cart".to_owned(), callers));
    let all = places(&["src/order.py:1", "src/order.py:5", "src/order.py:9"]);
    assert_eq!(uses("where is price_of_cart used"), (0, "memo refs price_of_cart".to_owned(), all));
    let tests = uses("tests for order");
    assert_eq!((tests.1.as_str(), tests.2.len()), ("memo tests order", 1), "{tests:?}");
    assert!(tests.2[0].starts_with("tests/test_order.py"), "{tests:?}");
    for other in ["who calls the police", "where is the harbour used", "price_of_cart"] {
        assert_eq!(uses(other).1, "", "{other}");
    }
    let (exit, out, err) = shown(&live, &["search", "who calls price_of_cart"]);
    assert!(out.starts_with("src/order.py:5  order\n  return price_of_cart(cart)\n"), "{out}");
    assert!(exit == 0 && err.contains("`memo callers price_of_cart`"), "{err}");
    // That nothing uses it is said before what only has its words.
    for (asked, ask) in [
        ("who calls unused", "memo callers unused"),
        ("usages of price_of_ship", "memo refs price_of_ship"),
        ("tests for Cart.pay", "memo tests Cart.pay"),
    ] {
        let (exit, found) = memo(&live, &["search", asked]);
        assert_eq!(found["uses"], json!({ "ask": ask, "n_found": 0, "uses": [] }), "{asked}");
        let (_, out, err) = shown(&live, &["search", asked]);
        let but = if out.is_empty() { "" } else { "; these hits only have its words" };
        assert!(err.starts_with(&format!("memo: `{ask}` finds nothing{but}\n")), "{err}");
        assert_eq!(exit, i32::from(out.is_empty()), "{asked}");
    }
}

#[test]
fn the_first_hits_are_the_same_however_many_are_wanted() {
    let live = repository();
    for nth in 0..120 {
        live.write(
            &format!("src/m{nth}.py"),
            format!("def cart_{nth}(cart, price):\n    return price + {nth}\n\n\ndef price_{nth}():\n    return 'cart'\n"),
        );
    }
    for nth in 0..12 {
        let text = format!("cart number {nth} has the price {nth} of the harbour {}", "x".repeat(nth));
        memo(&live, &["add", &text, "--force"]);
    }
    live.call("sync", json!({ "sync": "full", "wait_ms": 60_000 }));
    let order = |query: &str, limit: usize| -> Vec<String> {
        let (_, found) = memo(&live, &["search", query, "-n", &limit.to_string()]);
        let hits = found["hits"].as_array().unwrap_or_else(|| panic!("{found}")).iter();
        hits.map(|hit| format!("{} {}", hit["path"], hit["lines"])).collect()
    };
    for query in
        ["cart", "price of a cart", "price_of_cart", "harbour", "where the prices come from", "cart OR sea"]
    {
        let most = order(query, 200);
        for limit in [1, 3, 10, 30, 60, 100] {
            let first = order(query, limit);
            assert_eq!(first, most[..limit.min(most.len())], "{query}: {limit}");
        }
    }
}

#[test]
fn a_filter_that_nothing_passes_is_said() {
    let live = repository();
    memo(&live, &["add", "the cart is full", "--tag", "shop", "--container", "sea"]);
    for args in [
        &["list", "--container", "nope"][..],
        &["recall", "cart", "--container", "nope"],
        &["search", "cart", "--container", "nope"],
        &["forget", "--container", "nope", "--dry-run"],
    ] {
        let (exit, _, err) = shown(&live, args);
        let said = "hint: no memory has the container nope; there are: sea";
        assert!(exit == 1 && err.contains(said), "{args:?}: {err}");
    }
    for verb in [&["list"][..], &["recall", "cart"], &["search", "cart"]] {
        let (exit, _, err) = shown(&live, &[verb, &["--tag", "nope"]].concat());
        assert!(exit == 1 && err.contains("no memory has the tag nope; there are: shop"), "{verb:?}: {err}");
    }
    let (_, _, err) = shown(&live, &["list", "--tag", "shop", "--container", "sea", "--match", "zebra"]);
    assert_eq!(err, "memo: no such memories\n");
    let (_, _, err) = shown(&live, &["search", "cart AND"]);
    assert!(err.contains("AND joins nothing and is ignored"), "{err}");
}

#[test]
fn a_removal_or_a_backup_of_nothing_says_what_is_missing() {
    let live = repository();
    memo(&live, &["add", "the cart is full"]);
    let (exit, _, err) = shown(&live, &["forget", "--tag", "nope"]);
    assert!(exit == 1 && err.contains("memo: no such memories\nhint: no memory has a tag yet"), "{err}");
    let (exit, _, err) = shown(&live, &["purge", "--dry-run"]);
    assert!(exit == 1 && err.contains("the archive has no such memories; `memo forget` archives"), "{err}");
    let (exit, _, err) = shown(&live, &["restore-backup", "nowhere.db"]);
    assert!(exit != 0 && err.contains("nowhere.db") && !err.contains("confirmation"), "{err}");
    let (exit, _, err) = shown(&live, &["team"]);
    assert!(exit == 1 && err.contains("hint: `memo config set --user team.url"), "{err}");
    let (exit, _, err) = shown(&live, &["callers", "README.md"]);
    assert!(exit == 2 && err.contains("README.md: defines nothing that can be used"), "{err}");
    let (exit, _, err) = shown(&live, &["impact", "README.md"]);
    assert!(exit == 2 && err.contains("README.md: defines nothing that can be used"), "{err}");
}

#[test]
fn a_recall_shows_whole_texts_and_marks_weak_matches() {
    let live = repository();
    let long =
        format!("The harbour master asks for papers.\nThey are kept {} in the chest.", "well ".repeat(30));
    memo(&live, &["add", &long, "--title", "Papers"]);
    let (_, out, err) = shown(&live, &["recall", "harbour papers"]);
    assert!(long.lines().all(|line| out.contains(&format!("    {line}\n"))) && err.is_empty(), "{out}{err}");
    let (_, answer) = memo(&live, &["recall", "documents of ships and captains"]);
    let memories = answer["memories"].as_array().unwrap();
    let is_weak = !memories.is_empty() && memories.iter().all(|memory| memory["changed"] == json!({}));
    let (_, _, err) = shown(&live, &["recall", "documents of ships and captains"]);
    assert_eq!(err.contains("the nearest are shown"), is_weak, "{answer} {err}");
}
