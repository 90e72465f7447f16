//! Do `memo impact` and `memo tests` say what a change concerns, if definitions and files move?

use crate::live::{Live, memo};
use crate::reached::{check, found};

/// Two modules that use a third, with a test, committed.
fn repository() -> Live {
    let live = Live::new();
    live.write(
        "app/text.py",
        "def clean(text):\n    return text.strip()\n\n\ndef upper(text):\n    return text.upper()\n",
    );
    live.write("app/view.py", "from app.text import clean\n\n\ndef show(text):\n    return clean(text)\n");
    live.write("app/page.py", "from app import text\n\n\ndef page(of):\n    return text.clean(of)\n");
    live.write("app/main.py", "from app.view import show\n\n\ndef main():\n    show('a')\n");
    live.git(&["add", "."]);
    live.git(&["commit", "-qm", "first"]);
    live
}

#[test]
fn what_still_imports_a_moved_function_from_its_old_place_is_listed() {
    let live = repository();
    live.write("app/text.py", "def upper(text):\n    return text.upper()\n");
    live.write("app/words.py", "def clean(text):\n    return text.strip()\n");
    let (_, answer) = memo(&live, &["impact"]);
    let breaking = [
        "app/page.py page 1 likely",
        "app/view.py the file 1 likely",
        "app/view.py show 1 likely",
        "app/main.py main 2 likely",
    ];
    assert_eq!(found(&answer), breaking, "{answer}");
    // One of them is mended.
    live.write("app/view.py", "from app.words import clean\n\n\ndef show(text):\n    return clean(text)\n");
    let (_, answer) = memo(&live, &["impact"]);
    let moved = ["app/view.py show 1 exact", "app/main.py main 2 exact", "app/page.py page 1 likely"];
    assert_eq!(found(&answer), moved, "{answer}");
}

#[test]
fn a_half_renamed_function_leads_to_the_uses_of_its_uses() {
    let live = repository();
    live.write("app/other.ts", "export function tidy() {}\nexport function all() {\n  tidy()\n}\n");
    live.write("app/top.ts", "import { all } from './other'\n\nexport function run() {\n  all()\n}\n");
    live.write(
        "app/shop.go",
        "package app\n\nfunc Sum() {}\n\nfunc Total() { Sum() }\n\nfunc Show() { Total() }\n",
    );
    live.write("tests/test_main.py", "from app.main import main\n\n\ndef test_main():\n    main()\n");
    live.git(&["add", "."]);
    live.git(&["commit", "-qm", "more"]);
    let renamed =
        "def clean_text(text):\n    return text.strip()\n\n\ndef upper(text):\n    return text.upper()\n";
    live.write("app/text.py", renamed);
    live.write("app/page.py", "from app import text\n\n\ndef page(of):\n    return text.clean_text(of)\n");
    let (_, answer) = memo(&live, &["impact", "--since", "HEAD"]);
    // `page` is changed itself.
    let users = ["app/view.py the file 1 likely", "app/view.py show 1 likely", "app/main.py main 2 likely"];
    assert_eq!(found(&answer)[..3], users, "{answer}");
    let old_names = answer["found"].as_array().unwrap().iter().map(|of| of["old_name"].as_str());
    assert_eq!(old_names.take(3).collect::<Vec<_>>(), [Some("clean"), Some("clean"), None], "{answer}");
    let (_, answer) = memo(&live, &["tests", "--since", "HEAD"]);
    assert_eq!(found(&answer), ["tests/test_main.py test_main 3 likely"], "{answer}");
    // Uses in the file of the definition, and in other languages.
    live.git(&["checkout", "-q", "."]);
    live.write("app/other.ts", "export function tidyAll() {}\nexport function all() {\n  tidy()\n}\n");
    let (_, answer) = memo(&live, &["impact", "--since", "HEAD"]);
    assert_eq!(found(&answer), ["app/other.ts all 1 likely", "app/top.ts run 2 likely"], "{answer}");
    live.git(&["checkout", "-q", "."]);
    live.write(
        "app/shop.go",
        "package app\n\nfunc SumAll() {}\n\nfunc Total() { Sum() }\n\nfunc Show() { Total() }\n",
    );
    let (_, answer) = memo(&live, &["impact", "--since", "HEAD"]);
    assert_eq!(found(&answer), ["app/shop.go Total 1 likely", "app/shop.go Show 2 likely"], "{answer}");
}

#[test]
fn what_a_renamed_file_defines_concerns_its_users() {
    let live = repository();
    live.git(&["mv", "app/text.py", "app/words.py"]);
    live.write("app/view.py", "from app.words import clean\n\n\ndef show(text):\n    return clean(text)\n");
    let (_, answer) = memo(&live, &["impact"]);
    let found = found(&answer);
    // One file still imports the old module.
    let users = ["app/view.py show 1 exact", "app/main.py main 2 exact", "app/page.py page 1 likely"];
    assert_eq!(found, users, "{answer}");
    let titles: Vec<_> =
        answer["definitions"].as_array().unwrap().iter().map(|of| of["title"].clone()).collect();
    assert!(titles.contains(&"upper".into()), "it is not changed, but its file is: {answer}");
}

#[test]
fn a_revision_in_place_of_a_name_is_the_older_side() {
    let live = repository();
    live.write("app/text.py", "def clean(text):\n    return text.lower()\n");
    live.git(&["commit", "-qam", "second"]);
    for verb in ["impact", "tests"] {
        let (exit, since) = memo(&live, &[verb, "--since", "HEAD~1"]);
        for typed in ["HEAD~1", "HEAD^", "@~1"] {
            let (own_exit, answer) = memo(&live, &[verb, typed]);
            assert_eq!(
                (own_exit, &answer["definitions"]),
                (exit, &since["definitions"]),
                "{verb} {typed}: {answer}"
            );
            assert_eq!(found(&answer), found(&since), "{verb} {typed}");
        }
    }
    let shown = live.sandbox.show(&mut live.memo(&["impact", "HEAD~1"]));
    assert!(shown.contains("understood as `--since HEAD~1`"), "{shown}");
    live.write("app/more.py", "def yesterday():\n    return clean('b')\n");
    let (_, answer) = memo(&live, &["impact", "app/text.py#clean"]);
    assert!(answer["error"].is_null(), "{answer}");
}

#[test]
fn before_the_first_commit_everything_is_changed() {
    let live = Live::new();
    live.write("app/text.py", "def clean(text):\n    return text.strip()\n");
    live.write("tests/test_text.py", "from app.text import clean\n\n\ndef test_clean():\n    clean('a')\n");
    check(&live, &["tests"], &["tests/test_text.py test_clean 0 exact"]);
    let (_, answer) = memo(&live, &["changed"]);
    assert_eq!(answer["files"].as_array().unwrap().len(), 2, "{answer}");
}

#[test]
fn what_tests_use_themselves_is_no_test_to_run() {
    let live = repository();
    live.write("tests/helpers.py", "from app.text import upper\n\n\ndef make():\n    return upper('a')\n");
    live.write(
        "tests/test_upper.py",
        "from tests.helpers import make\n\n\ndef test_make():\n    assert make()\n",
    );
    check(&live, &["tests", "app/text.py#upper"], &["tests/test_upper.py test_make 2 exact"]);
}

#[test]
fn a_file_with_more_names_than_are_kept_is_said() {
    let live = Live::new();
    live.write("many.py", format!("def one():\n    pass\n\n\n{}", "one()\n".repeat(50_001)));
    let (_, answer) = memo(&live, &["refs", "one", "--wait-ms", "60000"]);
    let cut = "a file has more uses or definitions than the index keeps for a file";
    assert_eq!(answer["cut"], cut, "{answer}");
    let (_, answer) = memo(&live, &["outline", "many.py"]);
    assert!(answer["cut"].is_null(), "all of its definitions are listed: {answer}");
}

#[test]
fn a_path_of_rust_to_the_old_module_of_a_moved_function_is_listed() {
    let live = Live::new();
    live.write("Cargo.toml", "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    live.write("src/lib.rs", "mod text;\nmod view;\nmod words;\n");
    live.write("src/text.rs", "pub fn clean() {}\n\npub fn upper() {}\n");
    live.write("src/words.rs", "pub fn other() {}\n");
    live.write("src/view.rs", "pub fn show() {\n    crate::text::clean();\n}\n");
    live.commit_all();
    live.write("src/text.rs", "pub fn upper() {}\n");
    live.write("src/words.rs", "pub fn other() {}\n\npub fn clean() {}\n");
    check(&live, &["impact"], &["src/view.rs show 1 likely"]);
}

#[test]
fn the_last_of_ten_thousand_definitions_is_known() {
    let live = Live::new();
    let functions: Vec<String> =
        (0..10_000).map(|n| format!("def fun_{n}():\n    fun_{}()\n", (n + 1) % 10_000)).collect();
    live.write("many.py", functions.join("\n"));
    for target in ["fun_9999", "many.py#fun_9999"] {
        let (exit, answer) = memo(&live, &["refs", target, "--wait-ms", "60000"]);
        assert_eq!((exit, &answer["uses"][0]["line"]), (0, &(9_998 * 3 + 2).into()), "{answer}");
    }
}
