//! Does each acknowledged change of five members come to all of them, once, whatever is killed meanwhile?
//!
//! `MEMO_TEAM_STEPS` and `MEMO_TEAM_SEED` set the number of steps and the seed.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Member, Postgres, server};
use crate::random::Random;

/// Steps of a usual run.
const STEPS: usize = 150;

struct Team {
    server: Postgres,
    members: Vec<Member>,
    is_up: bool,
    /// What was acknowledged: text and id.
    written: Vec<(String, String)>,
    /// Memories that somebody has forgotten.
    forgotten: BTreeSet<String>,
}

impl Team {
    fn step(&mut self, random: &mut Random, n: usize) {
        let at = random.below(self.members.len());
        let member = &self.members[at];
        let texts = member.texts();
        let whole: Vec<String> =
            texts.iter().filter(|(_, sides)| sides.len() == 1).map(|(id, _)| id.clone()).collect();
        let text = format!("text {n} of {}", member.role);
        match random.below(20) {
            0..8 => {
                let id = member.add(&text);
                self.written.push((text, id));
            }
            8..13 if !whole.is_empty() => {
                let id = random.pick(&whole);
                member.update(&id, &text);
                self.written.push((text, id));
            }
            13 if !whole.is_empty() => {
                let id = random.pick(&whole);
                member.call("memory.forget", json!({ "ids": [id] }));
                self.forgotten.insert(id);
            }
            14 => {
                if let Some((id, _)) = texts.iter().find(|(_, sides)| sides.len() == 2) {
                    let side = random.pick(&["ours".to_owned(), "theirs".to_owned()]);
                    member.call("memory.resolve_file", json!({ "id": id, "side": side, "client": "cli" }));
                }
            }
            15 => {
                member.live.kill();
                member.live.start();
            }
            16 if self.is_up => {
                self.server.kill();
                self.is_up = false;
            }
            17 if !self.is_up => {
                self.server.run();
                self.is_up = true;
            }
            _ if self.is_up => drop(member.sync()),
            _ => {}
        }
    }

    /// Exchanges until all have the same, and nothing is in conflict.
    fn agree(&mut self) {
        if !self.is_up {
            self.server.run();
        }
        for _ in 0..20 {
            let mut is_done = true;
            for member in &self.members {
                let status = member.sync();
                let conflicts: Vec<String> = member
                    .texts()
                    .into_iter()
                    .filter(|(_, sides)| sides.len() == 2)
                    .map(|(id, _)| id)
                    .collect();
                assert_eq!(status["conflicts"], json!(conflicts.len()), "every conflict is shown: {status}");
                is_done &= conflicts.is_empty() && status["unsent"] == 0;
                for id in conflicts {
                    member.call("memory.resolve_file", json!({ "id": id, "side": "ours", "client": "cli" }));
                }
            }
            let texts: BTreeSet<_> = self.members.iter().map(Member::texts).collect();
            if is_done && texts.len() == 1 {
                return;
            }
        }
        panic!("they do not agree");
    }

    fn check(&self) {
        let one = &self.members[0];
        let living = one.texts();
        // Who has never seen a memory before it is forgotten does not get it.
        let archived: BTreeSet<String> = self.members.iter().flat_map(Member::archived).collect();
        let mut kept: BTreeSet<String> = self
            .server
            .sql("admin", "team", "SELECT text FROM memod.version")
            .lines()
            .map(str::to_owned)
            .collect();
        for member in &self.members {
            let own = member.archived();
            for id in living.keys().chain(&own) {
                strings(&member.call("memory.history", json!({ "ids": [id] })), &mut kept);
            }
        }
        for (text, id) in &self.written {
            let is_there = living.contains_key(id) || archived.contains(id);
            assert!(is_there, "{id} with {text:?} is gone");
            assert!(living.contains_key(id) || self.forgotten.contains(id), "nobody has forgotten {id}");
            assert!(kept.contains(text), "{text:?} of {id} is nowhere");
        }
        let doubled =
            "SELECT count(*) FROM (SELECT client, n FROM memod.version GROUP BY 1, 2 HAVING count(*) > 1) x";
        assert_eq!(self.server.sql("admin", "team", doubled), "0");
        let disordered =
            "SELECT count(*) FROM (SELECT n, lag(n) OVER (PARTITION BY client ORDER BY seq) AS before
             FROM memod.version) x WHERE n <= before";
        assert_eq!(self.server.sql("admin", "team", disordered), "0", "the order of each author is kept");
    }
}

/// Collects all strings of a value.
fn strings(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(into.insert(text.clone())),
        Value::Array(values) => values.iter().for_each(|value| strings(value, into)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, into)),
        _ => {}
    }
}

#[test]
fn what_was_acknowledged_comes_to_all_once() {
    let Some(server) = server() else { return };
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let (steps, seed) = (number("MEMO_TEAM_STEPS").unwrap_or(STEPS), number("MEMO_TEAM_SEED").unwrap_or(1));
    let members = ["ann", "bob", "carol", "dave", "eve"].map(|role| Member::new(&server, role)).into();
    let mut team = Team { server, members, is_up: true, written: Vec::new(), forgotten: BTreeSet::new() };
    let mut random = Random(seed as u64);
    for n in 0..steps {
        team.step(&mut random, n);
    }
    team.agree();
    team.check();
}
