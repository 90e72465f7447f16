//! Does an answer say which names are nearest to one that does not exist, also in a large repository?

use serde_json::{Value, json};

use crate::live::{Live, memo};

const USERS: &str = "class UserStore:\n    def get_user_by_id(self, id):\n        return id\n\n    def size(self):\n        return 1\n\n\n\
                     class UserCache:\n    def evict_users(self):\n        return 0\n\n\n\
                     def parse_config(path):\n    return path\n\n\ndef ParseTree():\n    return 1\n";

/// Number of files with definitions that have words of the misspelt names in common.
const N_OTHERS: usize = 40;

fn repository() -> Live {
    let live = Live::idle();
    live.write("src/users.py", USERS);
    for nth in 0..N_OTHERS {
        live.write(
            &format!("src/part{nth}.py"),
            format!(
                "def get_part{nth}(id):\n    # by the config of the user: parse it, tree or not\n    return id\n\n\n\
                 def user_config{nth}(by, id):\n    return by\n\n\ndef parse_part{nth}(size):\n    return size\n"
            ),
        );
    }
    live.commit_all();
    live.start();
    live.call("sync", json!({ "sync": "full", "wait_ms": 60_000 }));
    live
}

fn names(found: &Value) -> Vec<&str> {
    found["similar_names"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn a_search_says_the_nearest_names_and_begins_with_their_definition() {
    let live = repository();
    let check = |query: &str, name: &str, title: &str| {
        let (exit, found) = memo(&live, &["search", query]);
        assert_eq!((exit, names(&found)), (0, vec![name]), "{query}: {found}");
        assert_eq!(found["hits"][0]["title"], title, "{query}: {found}");
        assert!(found["hits"].as_array().unwrap().len() > 1, "the other hits stay: {found}");
        let scores: Vec<f64> =
            found["hits"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|left, right| left >= right), "{scores:?}");
    };
    check("getUsrById", "get_user_by_id", "UserStore.get_user_by_id");
    check("get_user_by_idd", "get_user_by_id", "UserStore.get_user_by_id");
    check("gte_user_by_id", "get_user_by_id", "UserStore.get_user_by_id");
    check("id_by_user_get", "get_user_by_id", "UserStore.get_user_by_id");
    check("parse_confg", "parse_config", "parse_config");
    check("ParseConifg", "parse_config", "parse_config");
    check("parse_tre", "ParseTree", "ParseTree");
    // `size` is a known word, but no member of that type.
    check("UserCache.evict_user", "UserCache.evict_users", "UserCache.evict_users");
    check("UserStore.siz", "UserStore.size", "UserStore.size");

    let output = live.memo(&["search", "parse_confg"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let start =
        "memo: no indexed file, commit or memory has parse_confg (did you mean parse_config?); these hits";
    assert!(said.starts_with(start), "{said}");
    for query in
        ["parse_config", "parseConfig", "get_part7", "UserStore.size", "nothing_like_it", "users.py", "user"]
    {
        let (_, found) = memo(&live, &["search", query]);
        assert_eq!(names(&found), [""; 0], "{query}: {found}");
    }
}

#[test]
fn every_verb_that_takes_a_name_suggests_the_nearest() {
    let live = repository();
    let check = |args: &[&str], hint: &str| {
        let (exit, result) = memo(&live, args);
        assert!(exit == 1 || exit == 2, "{args:?}: {result}");
        assert_eq!(result["error"]["hint"], hint, "{args:?}: {result}");
    };
    for verb in ["callers", "callees", "refs", "impact", "tests", "show", "why", "add x --about"] {
        let verb: Vec<&str> = verb.split(' ').collect();
        let with = |target| [verb.as_slice(), &[target]].concat();
        check(&with("parse_confg"), "did you mean parse_config?");
        check(&with("PARSE_CONFIG"), "did you mean parse_config?");
        check(&with("UserStore.getUserByid"), "did you mean UserStore.get_user_by_id?");
        check(&with("src/usrs.py"), "did you mean src/users.py?");
        check(&with("src/users.py#parse_cnfig"), "did you mean src/users.py#parse_config?");
    }
    // A member of the type that was typed, although another name is nearer.
    check(&["callers", "UserStore.user_by_id"], "did you mean UserStore.get_user_by_id?");
    check(&["callers", "UserStor.size"], "did you mean UserStore.size?");
    check(
        &["callers", "UserStore.parse_config"],
        "UserStore has no parse_config: it defines UserStore.get_user_by_id, UserStore.size",
    );
    check(
        &["callers", "nothing_like_it"],
        "give PATH, PATH:LINE, PATH#SYMBOL or a name; `memo search` finds code whose name you do not know",
    );
    live.write("src/users.py", USERS.replace("parse_config", "read_config"));
    live.call("sync", json!({ "sync": "fs", "wait_ms": 60_000 }));
    let (_, result) = memo(&live, &["callers", "parse_confg"]);
    assert!(
        !result["error"]["hint"].as_str().unwrap().contains("parse_config"),
        "its name is gone: {result}"
    );
}
