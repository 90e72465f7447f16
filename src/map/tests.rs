use super::render::count_tokens;
use super::*;
use crate::testing::{Random, hostile_text};

/// Reads `path: defined names | used names`, a file a line; each definition is on the line of its place.
fn files(fixture: &str) -> Vec<MapFile<'_>> {
    let file = |line| {
        let (path, rest): (&str, &str) = str::split_once(line, ':').expect("a fixture line has a colon");
        let (defined, used) = rest.split_once('|').unwrap_or((rest, ""));
        let symbol = |(nth, name)| MapSymbol { name, signature: name, line: nth as u32 + 1 };
        MapFile {
            path: path.trim(),
            symbols: defined.split_whitespace().enumerate().map(symbol).collect(),
            references: used.split_whitespace().map(|name| (name, 1)).collect(),
        }
    };
    fixture.lines().map(str::trim).filter(|line| !line.is_empty()).map(file).collect()
}

const SHOP: &str = "
    main.rs:  main        | open_store handle_order
    store.rs: open_store read_row close_it _inner
    order.rs: handle_order price_of | open_store read_row _inner new
    user.rs:  load_user new | read_row new
    tests.rs: test_order  | handle_order
    alone.rs: nobody";

fn paths(files: &[MapFile<'_>], focus: &[&str]) -> Vec<String> {
    rank(files, focus).iter().map(|one| files[one.file].path.to_owned()).collect()
}

#[test]
fn files_that_others_name_come_first() {
    let files = files(SHOP);
    assert_eq!(paths(&files, &[])[..2], ["store.rs", "order.rs"]);
}

#[test]
fn the_focus_and_what_it_names_come_first() {
    let files = files(SHOP);
    for (focus, expected) in [
        (&["user.rs"][..], &["user.rs", "store.rs"][..]),
        (&["tests.rs"], &["tests.rs", "order.rs"]),
        (&["alone.rs/"], &["alone.rs"]),
        (&["./order.rs"], &["order.rs", "store.rs"]),
        (&["nothing.rs"], &["store.rs", "order.rs"]),
        (&["sto"], &["store.rs", "order.rs"]),
        (&["."], &["store.rs", "order.rs"]),
    ] {
        assert_eq!(paths(&files, focus)[..expected.len()], *expected, "{focus:?}");
    }
}

#[test]
fn used_symbols_come_first_and_private_ones_late() {
    let files = files(SHOP);
    let ranked = rank(&files, &[]);
    assert_eq!(files[ranked[0].file].path, "store.rs");
    assert_eq!(ranked[0].symbols, [1, 0, 3, 2]);
}

#[test]
fn scores_sum_to_one_and_do_not_hang_on_the_order_of_files() {
    let mut files = files(SHOP);
    for focus in [&[][..], &["user.rs"]] {
        let expected = paths(&files, focus);
        let sum: f64 = rank(&files, focus).iter().map(|one| one.score).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        files.reverse();
        assert_eq!(paths(&files, focus), expected);
    }
    assert!(rank(&[], &["x"]).is_empty());
}

#[test]
fn maps_by_budget() {
    let files = files(SHOP);
    let ranked = rank(&files, &[]);
    let check = |budget, expected: &str| {
        assert_eq!(render(&files, &ranked, budget).text, expected, "{budget}");
    };
    check(0, "");
    check(1, "");
    check(3, "store.rs\n");
    check(8, "store.rs\n    2: read_row\n");
    check(9, "store.rs\n    2: read_row\norder.rs\n");
    check(13, "store.rs\n    1: open_store\n    2: read_row\norder.rs\n");
    let all = render(&files, &ranked, 1_000);
    assert_eq!((all.n_files, all.text.lines().count()), (6, 6 + 11));
}

#[test]
fn signatures_and_paths_take_one_line() {
    let check = |path, signature, expected: &str| {
        let file =
            MapFile { path, symbols: vec![MapSymbol { name: "f", signature, line: 7 }], references: vec![] };
        let files = [file];
        assert_eq!(render(&files, &rank(&files, &[]), 100).text, expected);
    };
    check("a.rs", "pub fn f(\n    x: u32,\n) -> u32 {", "a.rs\n    7: pub fn f( x: u32, ) -> u32\n");
    check("a.py", "def f(x):", "a.py\n    7: def f(x)\n");
    check("a\n\u{1b}b", "", "a\\n\\u{1b}b\n    7: \n");
    check("a", &"x".repeat(500), &format!("a\n    7: {}…\n", "x".repeat(120)));
}

#[test]
fn never_over_budget() {
    let mut random = Random::new(6);
    for _ in 0..300 {
        let n_files = random.below(20);
        let texts: Vec<String> = (0..n_files * 6).map(|_| hostile_text(&mut random, 12)).collect();
        let name = |random: &mut Random| random.pick(&["alpha", "beta_x", "_g", "d", "epsilonZeta", ""]);
        let files: Vec<MapFile<'_>> = texts
            .chunks(6)
            .map(|texts| MapFile {
                path: &texts[0],
                symbols: texts[1..]
                    .iter()
                    .map(|text| MapSymbol { name: name(&mut random), signature: text, line: 1 })
                    .collect(),
                references: (0..random.below(5)).map(|n| (name(&mut random), n as u32)).collect(),
            })
            .collect();
        let ranked = rank(&files, &[]);
        for budget in [0, 1, 2, 7, 16, 64, 256, 5_000] {
            let found = render(&files, &ranked, budget);
            assert_eq!(found.n_tokens, count_tokens(&found.text));
            assert!(found.n_tokens <= budget, "{} over {budget}", found.n_tokens);
            assert!(found.n_files <= files.len());
        }
    }
}
