//! Do the memories of two people come together in the same way, whatever carries them?

mod conflict_rules;
mod doors;
mod every_field;

use serde_json::{Value, json};

use crate::live::Live;
use crate::team::{Member, Postgres, apart, server};

/// How the memories of two people come together.
pub(crate) trait Exchange {
    /// Ann, then Bob.
    fn people(&self) -> [&Live; 2];
    /// Has Ann add a memory, and both have it; returns its id.
    fn add(&self, params: Value) -> String;
    /// Has both change something while neither can know of the other, and Bob then take what Ann has done.
    fn apart(&self, change: &dyn Fn(&Live, usize));
    /// Has Ann take what Bob has.
    fn settle(&self);
}

pub(crate) struct Files {
    people: [Live; 2],
    _remote: tempfile::TempDir,
}

impl Files {
    pub(crate) fn new() -> Self {
        let people = ["ann", "bob"].map(|name| {
            let live = Live::idle();
            live.git(&["config", "user.name", name]);
            live
        });
        let remote = tempfile::tempdir().unwrap();
        people[0].sh(&format!("git init -q --bare -b main {}", remote.path().display()));
        for live in &people {
            live.git(&["remote", "add", "origin", remote.path().to_str().unwrap()]);
        }
        people[0].write("a.md", "x\n");
        people[0].commit_all();
        people[0].git(&["push", "-q", "-u", "origin", "main"]);
        people[1].git(&["pull", "-q", "origin", "main"]);
        people.iter().for_each(Live::start);
        Self { people, _remote: remote }
    }

    fn pull(live: &Live) -> bool {
        live.git_may_fail(&["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]).status.success()
    }

    fn commit(live: &Live) {
        live.git(&["add", "-A"]);
        live.git_may_fail(&["commit", "-q", "-m", "memories"]); // there may be nothing
    }
}

impl Exchange for Files {
    fn people(&self) -> [&Live; 2] {
        self.people.each_ref()
    }

    fn add(&self, params: Value) -> String {
        let [ann, bob] = self.people();
        let id = add(ann, params);
        ann.call("memory.share", json!({ "ids": [id] }));
        Self::commit(ann);
        ann.git(&["push", "-q", "origin", "main"]);
        assert!(Self::pull(bob));
        id
    }

    fn apart(&self, change: &dyn Fn(&Live, usize)) {
        for (nth, live) in self.people().into_iter().enumerate() {
            change(live, nth);
            Self::commit(live);
        }
        let [ann, bob] = self.people();
        ann.git(&["push", "-q", "origin", "main"]);
        Self::pull(bob);
    }

    fn settle(&self) {
        let [ann, bob] = self.people();
        Self::commit(bob);
        bob.git(&["push", "-q", "origin", "main"]);
        assert!(Self::pull(ann));
    }
}

pub(crate) struct Team {
    server: Postgres,
    members: [Member; 2],
}

impl Team {
    /// `None` where no server is installed.
    pub(crate) fn new() -> Option<Self> {
        let server = server()?;
        let members = ["ann", "bob"].map(|role| Member::new(&server, role));
        Some(Self { server, members })
    }
}

impl Exchange for Team {
    fn people(&self) -> [&Live; 2] {
        self.members.each_ref().map(|member| &member.live)
    }

    fn add(&self, params: Value) -> String {
        let id = add(self.people()[0], params);
        self.people()[0].call("memory.share", json!({ "ids": [id], "team": true }));
        self.members.iter().for_each(|member| drop(member.sync()));
        id
    }

    fn apart(&self, change: &dyn Fn(&Live, usize)) {
        let [ann, bob] = &self.members;
        apart(&self.server, [ann, bob], || {
            self.people().into_iter().enumerate().for_each(|(nth, live)| change(live, nth));
        });
        bob.sync();
    }

    fn settle(&self) {
        self.members.iter().rev().for_each(|member| drop(member.sync()));
    }
}

fn add(live: &Live, mut params: Value) -> String {
    params["force"] = true.into(); // some say nearly the same
    let added = live.call("memory.add", params);
    added["memory"]["id"].as_str().unwrap().to_owned()
}
