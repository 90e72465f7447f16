//! Is a file read in its own encoding, and is its name found in either form of accents?

use crate::live::Live;

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

fn run(live: &Live, args: &[&str]) -> String {
    live.sandbox.show(&mut live.memo(args))
}

#[test]
fn definitions_are_found_in_each_encoding() {
    let live = Live::idle();
    live.write("little.py", utf16("\u{feff}def größe_little():\r\n    return 'zwölf'\r\n", u16::to_le_bytes));
    live.write("big.md", utf16("\u{feff}# Überschrift\n\nzwölf Zebras\n", u16::to_be_bytes));
    live.write("Latin.java", b"class Latin {\n  // z\xe4hlt\n  int z\xe4hler() { return 1; }\n}\n");
    live.write(
        "windows.py",
        b"# costs 3 \x80 \x96 or less\nfrom little import gr\xf6\xdfe_little\nprint(gr\xf6\xdfe_little())\n",
    );
    live.write("mark.py", "\u{feff}def with_mark():\n    return 1\n");
    live.commit_all();
    live.start();
    live.write("koi.py", b"# -*- coding: koi8-r -*-\n# \xcf\xd2\xc9\xcf\xcc\ndef eagle():\n    return 1\n");
    live.write("sjis.xml", b"<?xml version=\"1.0\" encoding=\"Shift_JIS\"?>\n<a>\x93\xfa\x96\x7b</a>\n");
    live.listed();
    for (args, expected) in [
        (["show", "koi.py:2"], "# ориол"),
        (["show", "sjis.xml"], "<a>日本</a>"),
        (["outline", "little.py"], "out:   1-2  def größe_little():"),
        (["show", "größe_little"], "out:   2      return 'zwölf'"),
        (["search", "Überschrift"], "out: big.md:1-3  Überschrift"),
        (["show", "big.md:3"], "out:   3  zwölf Zebras"),
        (["outline", "Latin.java"], "int zähler() { return 1; }"),
        (["show", "zähler"], "out: Latin.java:2-3  Latin.zähler"),
        (["refs", "größe_little"], "out:   3  print(größe_little())"),
        (["show", "windows.py:1"], "# costs 3 € – or less"),
        (["outline", "mark.py"], "out:   1-2  def with_mark():"),
        (["show", "mark.py"], "out:   1  def with_mark():"),
    ] {
        let said = run(&live, &args);
        assert!(said.contains(expected), "{args:?}: {said}");
        assert!(!said.contains(['\u{feff}', '\u{fffd}']) && !said.contains("feff"), "{args:?}: {said}");
    }
    let said = run(&live, &["why", "Latin.java:2"]);
    assert!(said.starts_with("exit 0\n") && !said.contains("not committed"), "{said}");
    // The version in a commit is read alike, so a change of one definition is one.
    live.write("Latin.java", b"class Latin {\n  // z\xe4hlt\n  int z\xe4hler() { return 2; }\n}\n");
    let said = run(&live, &["changed", "--wait-ms=60000"]);
    assert!(said.contains("~ Latin.zähler"), "{said}");
}

#[test]
fn a_name_is_found_in_either_form_of_accents() {
    let (composed, decomposed) = ("caf\u{e9}.md", "cafe\u{301}.md");
    let live = Live::idle();
    live.write(&format!("a/{decomposed}"), "# Coffee\n\nzebra one\n");
    live.write(&format!("b/{composed}"), "# Coffee\n\nzebra two\n");
    live.commit_all();
    live.start();
    for (dir, text) in [("a", "zebra one"), ("b", "zebra two")] {
        for name in [composed, decomposed] {
            let path = format!("{dir}/{name}");
            let shown = run(&live, &["show", &path]);
            assert!(shown.starts_with("exit 0\n") && shown.contains(text), "{path}: {shown}");
            let found = run(&live, &["search", "zebra", "--path", &path]);
            assert!(found.starts_with("exit 0\n") && found.contains(text), "{path}: {found}");
            let why = run(&live, &["why", &path]);
            assert!(why.starts_with("exit 0\n"), "{path}: {why}");
        }
    }
    let said = run(&live, &["search", "zebra", "--path", decomposed]);
    assert!(said.contains("zebra one") && said.contains("zebra two"), "{said}");
}
