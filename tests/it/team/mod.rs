//! Do memories reach a team through PostgreSQL, and is nothing lost, doubled or shown to others?

mod conflicts;
mod encrypted;
mod five_members;
mod followed;
mod leaks;
mod postgres;
mod restored;
mod roles;
mod salvaged;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

pub(crate) use self::postgres::Postgres;
use crate::live::Live;
use crate::memories::call;

const SHOP: &str = "https://git.example.com/acme/shop.git";

/// A clone with a daemon, whose user is a role of the server.
pub(crate) struct Member {
    pub(crate) live: Live,
    role: String,
}

impl Member {
    /// Makes a role, which may write to all of acme, and its clone.
    pub(crate) fn new(server: &Postgres, role: &str) -> Self {
        server.sql("admin", "team", &format!("CREATE ROLE {role} LOGIN PASSWORD '{role}'"));
        let sql = format!("INSERT INTO memod.member VALUES('{role}', 'git.example.com/acme/*', true)");
        server.sql("admin", "team", &sql);
        Self::of(server, role, SHOP)
    }

    /// Makes a clone for a role.
    fn of(server: &Postgres, role: &str, remote: &str) -> Self {
        Self::with(server, role, remote, "")
    }

    /// Makes a clone for a role that has more settings about the team.
    fn with(server: &Postgres, role: &str, remote: &str, settings_of_team: &str) -> Self {
        let live = Live::idle();
        live.git(&["config", "user.name", role]);
        live.git(&["remote", "add", "origin", remote]);
        let dir = live.sandbox.path("home/.config/memod");
        fs::create_dir_all(&dir).unwrap();
        let url = format!("postgres://{role}@127.0.0.1:{}/team", server.port);
        let settings = format!(
            "[team]\nurl = \"{url}\"\nrepositories = \"git.example.com/acme/*\"\ntags = \"team\"\n\
             {settings_of_team}\n[memory]\nrefuse_near = false\n"
        );
        fs::write(dir.join("config.toml"), settings).unwrap();
        fs::write(dir.join("pgpass"), format!("*:*:*:*:{role}\n")).unwrap();
        fs::set_permissions(dir.join("pgpass"), fs::Permissions::from_mode(0o600)).unwrap();
        live.start();
        Self { live, role: role.to_owned() }
    }

    fn call(&self, method: &str, params: Value) -> Value {
        call(&self.live, method, params)
    }

    /// Adds a memory of the team.
    pub(crate) fn add(&self, text: &str) -> String {
        let added = self.call("memory.add", json!({ "content": text, "tags": ["team"], "client": "cli" }));
        added["memory"]["id"].as_str().unwrap().to_owned()
    }

    fn update(&self, id: &str, text: &str) {
        self.call("memory.update", json!({ "id": id, "content": text, "client": "cli" }));
    }

    /// Exchanges with the server.
    pub(crate) fn sync(&self) -> Value {
        self.call("team.sync", json!({}))
    }

    /// Returns the living memories: texts by id, ours first.
    fn texts(&self) -> BTreeMap<String, Vec<String>> {
        let list = self.call("memory.list", json!({ "limit": 1000 }));
        let mut memories = list["memories"].as_array().unwrap().clone();
        memories.sort_by_key(|memory| memory["conflict"].to_string());
        let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for memory in memories {
            let text = |key: &str| memory[key].as_str().unwrap().to_owned();
            texts.entry(text("id")).or_default().push(text("content"));
        }
        texts
    }

    fn get(&self, id: &str) -> Value {
        self.call("memory.get", json!({ "ids": [id] }))["memories"][0].clone()
    }

    fn archived(&self) -> Vec<String> {
        let list = self.call("memory.list", json!({ "archived": true, "limit": 1000 }));
        list["memories"]
            .as_array()
            .unwrap()
            .iter()
            .map(|memory| memory["id"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Has two members change something while neither can know of the other; what the first did comes to the server first.
pub(crate) fn apart(server: &Postgres, [first, second]: [&Member; 2], change: impl FnOnce()) {
    server.stop();
    change();
    second.live.kill();
    server.run();
    first.sync();
    second.live.start();
}

/// Starts a server whose tables are there; `None` where none is installed.
pub(crate) fn server() -> Option<Postgres> {
    let server = Postgres::start()?;
    let admin = Member::of(&server, "admin", SHOP);
    admin.sync();
    Some(server)
}
