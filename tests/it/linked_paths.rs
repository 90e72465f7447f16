//! Is what is said about a path that is a symbolic link, or leads through one, true and of use?

use std::os::unix::fs::symlink;

use crate::live::{Live, memo};

fn repository() -> Live {
    let live = Live::idle();
    live.write("real/m.py", "def okapi():\n    return 1\n");
    live.write("real/deep/n.py", "def zebra():\n    return 2\n");
    let root = live.root();
    symlink("real", root.join("linked")).unwrap();
    symlink("real/m.py", root.join("m_link.py")).unwrap();
    symlink("nowhere", root.join("broken.py")).unwrap();
    symlink("/", root.join("outside")).unwrap();
    live.commit_all();
    live.start();
    live.listed();
    live
}

#[test]
fn a_link_is_called_a_link_and_the_file_is_named() {
    let live = repository();
    let through = "linked is a symbolic link, which git does not follow";
    let own = "a symbolic link, so it has no text of its own";
    for (verb, path, why, hint) in [
        ("show", "linked/m.py", through, "ask for real/m.py"),
        ("outline", "linked/m.py", through, "ask for real/m.py"),
        ("show", "linked/deep/n.py", through, "ask for real/deep/n.py"),
        ("refs", "linked/m.py", through, "ask for real/m.py"),
        ("callers", "linked/m.py", through, "ask for real/m.py"),
        ("why", "linked/m.py", through, "ask for real/m.py"),
        ("map", "linked", own, "ask for real"),
        ("outline", "linked", own, "ask for real"),
        ("show", "m_link.py", own, "ask for real/m.py"),
        ("outline", "m_link.py", own, "ask for real/m.py"),
        ("impact", "m_link.py", own, "ask for real/m.py"),
        ("tests", "m_link.py", own, "ask for real/m.py"),
        ("show", "broken.py", own, "it leads to nothing"),
        ("show", "outside", own, "it leads out of the worktree"),
    ] {
        let said = live.sandbox.show(&mut live.memo(&[verb, path]));
        let expected = format!("{path}: {why}\nerr: hint: {hint}\n");
        assert!(said.contains(&expected), "{verb} {path}: {said}");
    }
    let said = live.sandbox.show(&mut live.memo(&["why", "m_link.py:1"]));
    assert!(said.contains(&format!("m_link.py: {own}\nerr: hint: ask for real/m.py\n")), "{said}");
    // To git a link is a file, which has a history.
    let (exit, why) = memo(&live, &["why", "m_link.py"]);
    assert_eq!((exit, why["commits"].as_array().unwrap().len()), (0, 1), "{why}");
}

/// Nothing below a link is searched, so an empty answer says where the link leads.
#[test]
fn a_search_below_a_link_names_the_directory_that_it_leads_to() {
    let live = repository();
    for (path, said_path, real) in [
        ("linked", "linked", "real"),
        ("linked/deep", "linked/deep", "real/deep"),
        ("m_link.py", "m_link.py", "real/m.py"),
    ] {
        let said = live.sandbox.show(&mut live.memo(&["search", "--path", path, "okapi"]));
        assert!(
            said.contains(&format!("path {said_path}: ")) && said.contains(&format!(": ask for {real}\n")),
            "{said}"
        );
    }
    let said = live.sandbox.show(&mut live.memo(&["search", "okapi path:linked"]));
    assert!(said.contains("ask for real\n"), "{said}");
    let said = live.sandbox.show(&mut live.memo(&["search", "--path", "nowhere", "okapi"]));
    assert!(said.contains("path nowhere: no indexed file matches"), "{said}");
}
