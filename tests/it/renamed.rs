//! Is a renamed file followed to its first commit?

use serde_json::Value;

use crate::live::{Live, memo};

/// Makes a history in which `f.py` was renamed on `main` after a branch had forked that changed it and was merged later.
/// Commits are `$step` seconds apart.
const MERGED_AFTER_A_RENAME: &str = r#"
now=1700000000
commit() {
    now=$((now + step)); export GIT_AUTHOR_DATE="@$now +0000" GIT_COMMITTER_DATE="@$now +0000"
    git add -A; git commit -q -m "$1"
}
for i in 1 2 3 4 5; do seq $((i * 20)) > f.py; commit c$i; done
git branch maint
echo 101 >> f.py; commit c6
mkdir src; git mv f.py src/f.py; commit rename
git checkout -q maint; (echo 0; cat f.py) > g; mv g f.py; commit "fix on maint"
git checkout -q main; now=$((now + step)); export GIT_COMMITTER_DATE="@$now +0000"
git merge -q --no-ff maint -m merge
"#;

fn subjects_and_names(result: &Value) -> Vec<(&str, &str)> {
    let commits = result["commits"].as_array().unwrap_or_else(|| panic!("{result}")).iter();
    commits.map(|commit| (commit["subject"].as_str().unwrap(), commit["path"].as_str().unwrap())).collect()
}

#[test]
fn each_side_of_a_merge_has_its_own_name() {
    for step in [1, 10, 0] {
        let live = Live::idle();
        live.sh(&format!("step={step}\n{MERGED_AFTER_A_RENAME}"));
        let (exit, result) = memo(&live, &["why", "src/f.py", "-n", "100"]);
        assert_eq!(
            (exit, &result["complete"], &result["more"]),
            (0, &true.into(), &false.into()),
            "{result}"
        );
        let mut found = subjects_and_names(&result);
        let expected = [
            ("merge", "src/f.py"),
            ("fix on maint", "f.py"),
            ("rename", "src/f.py"),
            ("c6", "f.py"),
            ("c5", "f.py"),
            ("c4", "f.py"),
            ("c3", "f.py"),
            ("c2", "f.py"),
            ("c1", "f.py"),
        ];
        if step > 0 {
            assert_eq!(found, expected);
        } else {
            // With equal dates, any order that has children first is right.
            found.sort_unstable();
            let mut expected = expected;
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn a_line_is_followed_through_a_move() {
    let live = Live::idle();
    let block =
        "LIFETIME = dict(\n    days=31,\n    hours=0,\n    reason=\"support asked for a month\",\n)\n";
    let other = "def unrelated(value):\n    result = value + 1\n    return result\n";
    let commit = |message: &str| {
        live.git(&["add", "-A"]);
        live.git(&["commit", "-q", "-m", message]);
    };
    live.write("old.py", format!("{other}\n\n{block}"));
    commit("Last a month");
    live.write("old.py", other);
    live.write("new.py", format!("# Settings\n{block}"));
    commit("Split settings");
    // The line itself is short: its block is what was moved.
    let (exit, result) = memo(&live, &["why", "new.py:3"]);
    assert_eq!((exit, subjects_and_names(&result)), (0, vec![("Last a month", "old.py")]));
    let moved = &result["moves"][0];
    assert_eq!((moved["subject"].as_str(), moved["from"].as_str()), (Some("Split settings"), Some("old.py")));
    assert_eq!((moved["to"].as_str(), &moved["lines"]), (Some("new.py"), &serde_json::json!([[3, 3]])));
    let (_, result) = memo(&live, &["why", "new.py:1"]);
    assert_eq!(subjects_and_names(&result), [("Split settings", "new.py")], "it was new");
    let shown = live.sandbox.show(&mut live.memo(&["why", "new.py:3"]));
    assert!(
        shown.contains("err: memo: line 3 moved from old.py by ") && shown.contains("Split settings"),
        "{shown}"
    );
}
