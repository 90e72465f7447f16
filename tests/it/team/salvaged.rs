//! Does what a team has survive a memory.db that is damaged after its last copy, and does nothing come back to the team?

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{Member, apart, server};
use crate::memories::stop;

/// The backups of a member, as they were at some time.
struct Copies {
    dir: PathBuf,
    kept: PathBuf,
}

impl Copies {
    /// Stops the daemon, which makes a backup.
    fn make(member: &Member) -> Self {
        stop(&member.live);
        let (dir, kept) =
            (member.live.layout().state_dir.join("backups"), member.live.sandbox.path("copies"));
        copy(&dir, &kept);
        member.live.start();
        Self { dir, kept }
    }

    /// Makes the backups those of then, and damages the database, whose most is filled up so that the damage hits nothing else.
    fn damage(&self, member: &Member) {
        for n in 0..400 {
            private(member, &format!("filler {n} {}", "y".repeat(300)));
        }
        stop(&member.live);
        fs::remove_dir_all(&self.dir).unwrap();
        copy(&self.kept, &self.dir);
        zero_a_page_in_the_middle(&member.live.layout().state_dir.join("memory.db"));
    }
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
}

fn zero_a_page_in_the_middle(path: &Path) {
    const PAGE: u64 = 4_096;
    let mut file = fs::File::options().write(true).open(path).unwrap();
    let n_pages = file.metadata().unwrap().len() / PAGE;
    file.seek(SeekFrom::Start(n_pages / 2 * PAGE)).unwrap();
    file.write_all(&[0; PAGE as usize]).unwrap();
}

fn private(member: &Member, text: &str) -> String {
    let added = member.call("memory.add", json!({ "content": text, "client": "cli", "force": true }));
    added["memory"]["id"].as_str().unwrap().to_owned()
}

fn unshare(member: &Member, id: &str) {
    member.call("memory.unshare", json!({ "ids": [id] }));
}

fn forget(member: &Member, id: &str) {
    member.call("memory.forget", json!({ "ids": [id] }));
}

fn state(member: &Member, id: &str) -> [Value; 3] {
    let memory = member.get(id);
    ["scope", "trust", "content"].map(|key| memory[key].clone())
}

#[test]
fn what_was_shared_is_sent_and_what_was_taken_back_stays_so() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let [taken_back, changed, rewritten, disputed] =
        ["of all, then of ann", "to be changed", "to be rewritten", "disputed"].map(|text| ann.add(text));
    let [given, same_text, same_text_too] =
        ["of ann, then of all", "said twice", "said twice too"].map(|text| private(&ann, text));
    let filed = private(&ann, "in a file");
    ann.call("memory.share", json!({ "ids": [filed] }));
    let [twin, twin_too] = ["said twice", "said twice too"].map(|text| bob.add(text));
    ann.sync();
    bob.sync();
    ann.sync();
    apart(&server, [&bob, &ann], || {
        bob.update(&disputed, "disputed by bob");
        ann.update(&disputed, "disputed by ann");
    });
    assert_eq!(ann.sync()["conflicts"], 1);
    let copies = Copies::make(&ann);

    // What the team has since then.
    let [sent, forgotten] = ["sent, then taken back", "sent, then forgotten"].map(|text| ann.add(text));
    let came = bob.add("came, and is going to go");
    bob.update(&rewritten, "rewritten by bob");
    for member in [&bob, &ann, &bob] {
        member.sync();
    }
    assert_eq!(state(&ann, &rewritten)[1], "team");
    server.stop();

    // What it does not have yet.
    [&taken_back, &sent].into_iter().for_each(|id| unshare(&ann, id));
    forget(&ann, &forgotten);
    ann.call("memory.share", json!({ "ids": [given], "team": true }));
    ann.update(&changed, "was changed");
    unshare(&ann, &filed);
    ann.update(&filed, "in no file any more");
    let new = ann.add("new for all");
    let never = ann.add("shared by a rule and taken back");
    unshare(&ann, &never);
    forget(&ann, &same_text);
    ann.call("memory.purge", json!({ "ids": [same_text] }));
    unshare(&ann, &twin);
    ann.call("memory.update", json!({ "id": twin_too, "priority": 9, "client": "cli" }));
    ann.call("memory.resolve_file", json!({ "id": disputed, "side": "ours", "client": "cli" }));
    unshare(&ann, &disputed);
    copies.damage(&ann);
    server.run();
    forget(&bob, &came);
    bob.sync();
    ann.live.start();
    let status = ann.call("status", json!({}))["degraded"].to_string();
    assert!(status.contains("memory.db is damaged"), "{status}");
    assert_eq!(ann.sync()["unsent"], 0);
    bob.sync();

    let of_team = [
        (&changed, "was changed"),
        (&given, "of ann, then of all"),
        (&new, "new for all"),
        (&rewritten, "rewritten by bob"),
        (&twin_too, "said twice too"),
    ];
    let expected = of_team.map(|(id, text)| (id.clone(), vec![text.to_owned()]));
    assert_eq!(bob.texts(), expected.into());
    assert_eq!(bob.get(&twin_too)["priority"], 9);
    for (id, text) in of_team {
        let trust = if [&rewritten, &twin_too].contains(&id) { "team" } else { "own" };
        assert_eq!(state(&ann, id), ["team", trust, text].map(Value::from), "{text}");
    }
    let of_ann = [
        (&taken_back, "of all, then of ann"),
        (&sent, "sent, then taken back"),
        (&never, "shared by a rule and taken back"),
        (&twin, "said twice"),
        (&disputed, "disputed by ann"),
        (&filed, "in no file any more"),
        (&same_text_too, "said twice too"),
    ];
    for (id, text) in of_ann {
        let [scope, _, content] = state(&ann, id);
        assert_eq!((scope, content, ann.texts()[id].len()), ("mine".into(), text.into(), 1), "{text}");
    }
    for id in [&forgotten, &came] {
        assert!(!ann.texts().contains_key(id) && ann.archived().contains(id), "{id}");
    }
    // Nothing is given by a later change.
    [&taken_back, &sent, &never].into_iter().for_each(|id| ann.update(id, &format!("changed since {id}")));
    ann.sync();
    bob.sync();
    assert_eq!(bob.texts().len(), of_team.len());
    let bad = ann.call("doctor", json!({}))["checks"].clone();
    let bad: Vec<&Value> = bad.as_array().unwrap().iter().filter(|check| check["ok"] == false).collect();
    assert!(bad.iter().all(|check| !check["name"].as_str().unwrap().starts_with("team")), "{bad:?}");
}
