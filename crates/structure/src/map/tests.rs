use memod_base::paths::CallerDir;
use memod_testing::{RandomNumbers, random_hostile_text};

use super::page_rank::score_files;
use super::render::count_tokens;
use super::*;

/// Reads `path: defined names | used names`, a file a line; each definition is on the line of its place.
fn files(fixture: &str) -> Vec<(String, FileSymbols)> {
    let file = |line| {
        let (path, rest): (&str, &str) = str::split_once(line, ':').expect("a fixture line has a colon");
        let (defined, used) = rest.split_once('|').unwrap_or((rest, ""));
        let symbol = |(nth, name): (usize, &str)| symbol(name, nth as u32 + 1);
        let outline = FileSymbols {
            symbols: defined.split_whitespace().enumerate().map(symbol).collect(),
            uses: used.split_whitespace().map(|name| key_use(name, 1)).collect(),
            ..FileSymbols::default()
        };
        (path.trim().to_owned(), outline)
    };
    fixture.lines().map(str::trim).filter(|line| !line.is_empty()).map(file).collect()
}

/// Reads `module/name` or `name`.
fn key_use(text: &str, count: u32) -> KeyUse {
    let (module, key) = text.rsplit_once('/').unwrap_or(("", text));
    KeyUse { key: key.to_owned(), module: module.to_owned(), count }
}

fn symbol(name: &str, line: u32) -> MapSymbol {
    MapSymbol { name: name.to_owned(), key: name.to_owned(), line, ..MapSymbol::default() }
}

/// Makes a map equal to files, whose contents are numbered by what they say.
fn update(map: &mut CodeMap, files: &[(String, FileSymbols)]) -> usize {
    let content = |outline: &FileSymbols| {
        let hash = blake3::hash(format!("{outline:?}").as_bytes());
        i64::from_le_bytes(hash.as_bytes()[..8].try_into().expect("eight bytes"))
    };
    let list = files.iter().map(|(path, outline)| CodeFile {
        path: path.clone(),
        hash: [0; 32],
        content: content(outline),
        ranks_last: path.starts_with("aside/"),
    });
    let mut n_read = 0;
    let read = |file: &CodeFile| {
        n_read += 1;
        let of = files.iter().find(|(_, outline)| content(outline) == file.content);
        Ok::<_, std::convert::Infallible>(of.expect("a content of the list").1.clone())
    };
    map.replace_files(list.collect(), read).expect("nothing fails");
    n_read
}

fn map_of(files: &[(String, FileSymbols)]) -> CodeMap {
    let mut map = CodeMap::default();
    update(&mut map, files);
    map
}

const SHOP: &str = "
    main.rs:  main        | open_store handle_order
    store.rs: open_store read_row close_it _inner
    order.rs: handle_order price_of | open_store read_row _inner new
    user.rs:  load_user new | read_row new
    tests.rs: test_order  | handle_order
    alone.rs: nobody";

fn paths(files: &[(String, FileSymbols)], focus: &[&str]) -> Vec<String> {
    rank_files(&map_of(files), focus, &[]).files.iter().map(|file| files[*file].0.clone()).collect()
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
fn only_files_below_the_paths_stay_in_their_order() {
    let map = map_of(&files("lib/a.rs: a\nlib/b.rs: b\nlibs/c.rs: c\nmain.rs: m | c b"));
    let below = |paths: &[&str]| -> Vec<String> {
        let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
        let ranking = rank_files(&map, &[], &[]).retain_below(&map, &paths);
        ranking.files.iter().map(|file| map.file_at(*file).path.clone()).collect()
    };
    let all = below(&[]);
    assert_eq!(all.len(), 4);
    assert_eq!(below(&[""]), all, "the top of the worktree");
    assert_eq!(below(&["lib"]), ["lib/b.rs", "lib/a.rs"]);
    assert_eq!(below(&["main.rs", "libs"]), ["libs/c.rs", "main.rs"]);
    assert_eq!(below(&["nothing"]), [""; 0]);
}

#[test]
fn what_is_aside_comes_last_unless_it_is_in_focus() {
    let files = files("aside/used.rs: u\nlib/a.rs: a | u\nlib/b.rs: b | u");
    assert_eq!(paths(&files, &[]), ["lib/a.rs", "lib/b.rs", "aside/used.rs"]);
    assert_eq!(paths(&files, &["aside"])[0], "aside/used.rs");
}

#[test]
fn methods_are_shown_with_their_type() {
    let check = |name: &str, qualifier: &str, line: &str, expected: &str| {
        let symbol = MapSymbol { qualifier: qualifier.to_owned(), ..symbol(name, 1) };
        let map =
            map_of(&[("a".to_owned(), FileSymbols { symbols: vec![symbol], ..FileSymbols::default() })]);
        let text = |_| Some(line.to_owned());
        let rendered = render_map(&map, &rank_files(&map, &[], &[]), 100, &CallerDir::default(), text).text;
        assert_eq!(rendered, format!("a\n    1: {expected}\n"));
    };
    check("verify", "auth::Session::", "pub fn verify(&self) {", "pub fn auth::Session::verify(&self)");
    check("run", "App.", "def run(self, run_all):", "def App.run(self, run_all)");
    check("Verify", "Session.", "func (s *Session) Verify() {", "func (s *Session) Verify()");
    check("open", "", "fn open()", "fn open()");
    check("gone", "App.", "def other(self):", "App.gone");
}

#[test]
fn used_symbols_come_first_and_private_ones_late() {
    let map = map_of(&files(SHOP));
    let ranking = rank_files(&map, &[], &[]);
    assert_eq!(map.file_at(ranking.files[0]).path, "store.rs");
    assert_eq!(ranking.ordered_symbols(&map, ranking.files[0]), [1, 0, 3, 2]);
}

#[test]
fn scores_sum_to_one_and_do_not_hang_on_the_order_of_files() {
    let mut files = files(SHOP);
    for focus in [&[][..], &["user.rs"]] {
        let expected = paths(&files, focus);
        let sum: f64 = score_files(&map_of(&files), focus, &[]).0.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        files.reverse();
        assert_eq!(paths(&files, focus), expected);
    }
    assert!(rank_files(&CodeMap::default(), &["x"], &[]).files.is_empty());
}

#[test]
fn main_files_come_early_unless_others_are_in_focus() {
    let files = files(SHOP);
    let map = map_of(&files);
    let place = |focus: &[&str], main_files: &[usize]| {
        let ranking = rank_files(&map, focus, main_files);
        ranking.files.iter().position(|file| files[*file].0 == "main.rs").expect("the file is ranked")
    };
    let main = files.iter().position(|(path, _)| path == "main.rs").expect("the file is there");
    assert_eq!((place(&[], &[]), place(&[], &[main])), (4, 1));
    assert_eq!(place(&["user.rs"], &[]), place(&["user.rs"], &[main]));
    let sum: f64 = score_files(&map, &[], &[main]).0.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

#[test]
fn maps_by_budget() {
    let map = map_of(&files(SHOP));
    let ranking = rank_files(&map, &[], &[]);
    let printed = |budget| render_map(&map, &ranking, budget, &CallerDir::default(), |_| None);
    let check = |budget, expected: &str| assert_eq!(printed(budget).text, expected, "{budget}");
    check(0, "");
    check(1, "");
    check(3, "");
    check(8, "store.rs\n    2: read_row\n");
    check(9, "store.rs\n    2: read_row\n");
    check(13, "store.rs\n    1: open_store\n    2: read_row\n");
    let all = printed(1_000);
    assert_eq!((all.n_files, all.text.lines().count()), (6, 6 + 11));
}

#[test]
fn signatures_and_paths_take_one_line() {
    let check = |path: &str, signature: &str, expected: &str| {
        let outline = FileSymbols { symbols: vec![symbol("f", 5)], ..FileSymbols::default() };
        let map = map_of(&[(path.to_owned(), outline)]);
        let text = format!("{}{signature}\nf again", "/// What f does.\n".repeat(6));
        assert_eq!(
            render_map(&map, &rank_files(&map, &[], &[]), 100, &CallerDir::default(), |_| Some(text.clone()))
                .text,
            expected
        );
    };
    check("a.rs", "pub fn f(x:  u32) -> u32 {", "a.rs\n    7: pub fn f(x: u32) -> u32\n");
    check("a.py", "def f(x):", "a.py\n    7: def f(x)\n");
    check(
        "a.py",
        "def f(\n    self,\n    x: list[int],\n) -> None:\n    g()",
        "a.py\n    7: def f(self, x: list[int]) -> None\n",
    );
    check("a.c", "int f(int x,\n      int y);", "a.c\n    7: int f(int x, int y);\n");
    check("a.py", "def f(", "a.py\n    7: def f(\n");
    check("a\n\u{1b}b", "f\t\u{1b}b", "a\\n\\u{1b}b\n    7: f b\n");
    check("a", &format!("f {}", "x".repeat(500)), &format!("a\n    7: f {}…\n", "x".repeat(118)));
    check("a", "fun", "a\n    8: f again\n");
}

#[test]
fn never_over_budget() {
    let mut random = RandomNumbers::new(6);
    for _ in 0..300 {
        let n_files = random.number_below(20);
        let mut texts = Vec::new();
        let mut file = |_| {
            let name = |random: &mut RandomNumbers| {
                random.pick_item(&["alpha", "beta_x", "_g", "d", "epsilonZeta", ""])
            };
            texts.push(format!("d{0}\nalpha {0}", random_hostile_text(&mut random, 12)));
            let symbols = (0..5).map(|_| symbol(name(&mut random), 1)).collect();
            let uses = (0..random.number_below(5)).map(|n| key_use(name(&mut random), n as u32)).collect();
            (random_hostile_text(&mut random, 12), FileSymbols { symbols, uses, ..FileSymbols::default() })
        };
        let files: Vec<_> = (0..n_files).map(&mut file).collect();
        let map = map_of(&files);
        let ranking = rank_files(&map, &[], &[]);
        for budget in [0, 1, 2, 7, 16, 64, 256, 5_000] {
            let found =
                render_map(&map, &ranking, budget, &CallerDir::default(), |file| Some(texts[file].clone()));
            assert_eq!(found.n_tokens, count_tokens(&found.text));
            assert!(found.n_tokens <= budget, "{} over {budget}", found.n_tokens);
            assert!(found.n_files <= files.len());
        }
    }
}

#[test]
fn an_updated_map_equals_a_new_one() {
    let mut random = RandomNumbers::new(9);
    let mut map = CodeMap::default();
    let mut files: Vec<(String, FileSymbols)> = Vec::new();
    let mut n_read = 0;
    for round in 0..400 {
        // Names that are never used again make the map forget them at some point.
        let fresh = format!("name_{round}");
        let name = |random: &mut RandomNumbers| {
            random.pick_item(&["alpha", "beta_x", "_g", "d", fresh.as_str()]).to_owned()
        };
        let path = format!("{:02}.rs", random.number_below(12));
        files.retain(|(known, _)| *known != path);
        if random.number_below(3) > 0 {
            let symbols =
                (0..random.number_below(4)).map(|n| symbol(&name(&mut random), n as u32 + 1)).collect();
            let uses = (0..random.number_below(4)).map(|n| key_use(&name(&mut random), n as u32)).collect();
            files.push((path, FileSymbols { symbols, uses, ..FileSymbols::default() }));
            files.sort_by(|left, right| left.0.cmp(&right.0));
        }
        n_read += update(&mut map, &files);
        let anew = map_of(&files);
        let (ranking, expected) = (rank_files(&map, &[], &[]), rank_files(&anew, &[], &[]));
        assert_eq!(
            (&ranking.files, score_files(&map, &[], &[])),
            (&expected.files, score_files(&anew, &[], &[]))
        );
        let printed = |map, ranking| render_map(map, ranking, 500, &CallerDir::default(), |_| None);
        assert_eq!(printed(&map, &ranking), printed(&anew, &expected));
    }
    assert!(map.n_names() < 100, "{} names are kept", map.n_names());
    assert!(n_read < 800, "{n_read} contents were read for 400 changes");
}

#[test]
fn functions_rank_before_constants_that_are_used_as_often() {
    let mut files = files(
        "
        tokens.rs: NAME    |
        order.rs:  price_of LIMIT |
        user.rs:   load_user | NAME price_of LIMIT
        main.rs:   main    | NAME price_of LIMIT",
    );
    for (_, file) in &mut files {
        file.symbols
            .iter_mut()
            .for_each(|symbol| symbol.is_value = matches!(&*symbol.name, "NAME" | "LIMIT"));
    }
    let map = map_of(&files);
    let ranking = rank_files(&map, &[], &[]);
    assert_eq!(map.file_at(ranking.files[0]).path, "order.rs");
    let order = files.iter().position(|(path, _)| path == "order.rs").expect("a file of the fixture");
    let names: Vec<&str> =
        ranking.ordered_symbols(&map, order).iter().map(|symbol| map.symbol_at(order, *symbol).0).collect();
    assert_eq!(names, ["price_of", "LIMIT"]);
    // Unused ones too.
    let unused = map_of(&files.iter().filter(|(path, _)| path == "order.rs").cloned().collect::<Vec<_>>());
    let symbols = rank_files(&unused, &[], &[]).ordered_symbols(&unused, 0);
    assert_eq!(unused.symbol_at(0, symbols[0]).0, "price_of");
}

#[test]
fn an_import_tells_which_file_is_meant() {
    let mut files = files(
        "
        status/status.rs: New
        balancer/new.rs:  New
        log.rs:           log
        json/encode.rs:   marshal
        main.rs:          main  | status/New json_of_another_package/marshal
        user.rs:          user  | facade/log status/New top/serve
        facade.rs:        facade
        server.rs:        serve",
    );
    files
        .iter_mut()
        .filter(|(path, _)| path == "server.rs")
        .for_each(|(_, file)| file.package = "top".to_owned());
    let map = map_of(&files);
    let used_by = |user: &str| -> Vec<&str> {
        let user = files.iter().position(|(path, _)| path == user).expect("a file of the fixture");
        map.graph.uses_of(user).iter().map(|used| files[used.definer as usize].0.as_str()).collect()
    };
    assert_eq!(used_by("main.rs"), ["status/status.rs"], "another package has no file here");
    let mut of_user = used_by("user.rs");
    of_user.sort_unstable();
    assert_eq!(
        of_user,
        ["log.rs", "server.rs", "status/status.rs"],
        "a module may export the names of other files"
    );
}
