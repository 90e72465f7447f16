//! What becomes of memories that say nearly the same, or the contrary?

use std::process::Stdio;

use serde_json::{Value, json};

use crate::live::{Live, memo};
use crate::memories::{call, stop};

const FIRST: &str = "sessions are signed tokens and nothing about them is kept on the server";
/// The same words in another order.
const SAME: &str = "nothing about sessions is kept on the server, they are signed tokens";

fn add(live: &Live, args: &[&str]) -> Value {
    let (code, answer) = memo(live, &[&["add"], args].concat());
    assert_eq!(code, 0, "{answer}");
    answer
}

fn id(answer: &Value) -> String {
    answer["memory"]["id"].as_str().unwrap().to_owned()
}

fn n_living(live: &Live) -> u64 {
    call(live, "memory.list", json!({}))["total"].as_u64().unwrap()
}

#[test]
fn what_says_the_same_is_refused_forced_or_merged() {
    let live = Live::new();
    let first = id(&add(&live, &["--tag", "auth", FIRST]));
    let (code, refused) = memo(&live, &["add", "--tag", "jwt", SAME]);
    let message = refused["error"]["message"].as_str().unwrap();
    assert_eq!(code, 2, "{refused}");
    assert!(message.contains(&first) && message.contains("cosine 0.9"), "{message}");
    assert!(refused["error"]["hint"].as_str().unwrap().contains("--merge"), "{refused}");
    assert_eq!(n_living(&live), 1, "nothing was stored");

    let merged = add(&live, &["--merge", "--tag", "jwt", "--priority", "8", SAME]);
    assert_eq!(
        (id(&merged), &merged["merged"], &merged["created"]),
        (first.clone(), &json!(true), &json!(false))
    );
    assert_eq!(
        (&merged["memory"]["tags"], &merged["memory"]["priority"]),
        (&json!(["auth", "jwt"]), &json!(8))
    );
    assert_eq!(merged["memory"]["content"].as_str().unwrap(), format!("{FIRST}\n\n{SAME}"), "`they` is new");
    let history = call(&live, "memory.history", json!({ "ids": [first] }));
    assert_eq!(history["changes"][1]["action"], "merge");

    let other = add(&live, &["--container", "elsewhere", SAME]);
    assert_eq!(other["created"], true, "another container is another place");
    let forced = add(&live, &["--force", SAME]);
    assert_eq!(forced["created"], true);
    assert_eq!(n_living(&live), 3);
    let again = add(&live, &[SAME]);
    assert_eq!((id(&again), &again["created"]), (id(&forced), &json!(false)), "the very text is no error");
}

#[test]
fn the_same_words_say_the_same_at_a_lower_cosine() {
    let live = Live::new();
    let first = id(&add(&live, &["Auth uses JWT with 24h expiry"]));
    let again = "Authentication uses JWT tokens with 24-hour expiry";
    let (code, refused) = memo(&live, &["add", again]);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(code == 2 && message.contains(&first) && message.contains("cosine 0.8"), "{refused}");
    let other = add(&live, &["Authentication uses JWT tokens with 12-hour expiry"]);
    assert_eq!(other["contradicted"][0]["by"], "numbers", "{other}");
    call(&live, "memory.forget", json!({ "ids": [id(&other)] }));

    let forced = id(&add(&live, &["--force", again]));
    let groups = |args: &[&str]| memo(&live, &[&["dedupe"], args].concat()).1["groups"].clone();
    let ids = groups(&[])[0].to_string();
    assert!(ids.contains(&first) && ids.contains(&forced), "{ids}");
    assert_eq!(groups(&["--threshold", "0.9"]), json!([]), "who names a cosine means it");
}

#[test]
fn the_settings_decide_what_says_the_same() {
    let live = Live::new();
    let set = |key: &str, value: &str| {
        let output = live.memo(&["config", "set", key, value]).output().unwrap();
        stop(&live); // settings are read when the daemon starts
        output.status.code()
    };
    add(&live, &[FIRST]);
    assert_eq!(set("memory.near_cosine", "0.4"), Some(2));
    assert_eq!(set("memory.near_cosine", "1"), Some(0));
    assert_eq!(memo(&live, &["dedupe"]).1["threshold"], 1.0);
    assert_eq!(add(&live, &[SAME])["created"], true, "a cosine of 1 only");
    call(&live, "memory.forget", json!({ "match": "they" }));
    assert_eq!(set("memory.near_cosine", "0.9"), Some(0));
    assert_eq!(memo(&live, &["add", SAME]).0, 2);
    assert_eq!(set("memory.refuse_near", "false"), Some(0));
    assert_eq!(add(&live, &["--merge", SAME])["merged"], true, "merging is still asked for");
    assert_eq!(add(&live, &[FIRST])["created"], true, "its text was changed by the merge");
    assert_eq!(n_living(&live), 2);
}

#[test]
fn what_may_contradict_is_told_and_stored() {
    let live = Live::new();
    let day = id(&add(&live, &["--title", "Token expiry", "tokens expire after 24 hours of inactivity"]));
    let half = add(&live, &["tokens expire after 12 hours of inactivity"]);
    assert_eq!(half["created"], true);
    let told = |answer: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let list = answer["contradicted"].as_array().unwrap();
        list.iter().map(|other| (text(&other["id"]), text(&other["by"]))).collect()
    };
    let never = add(&live, &["tokens never expire after 12 hours of inactivity"]);
    assert!(told(&never).contains(&(id(&half), "negation".to_owned())), "{never}");
    let titled = add(&live, &["--title", "token Expiry", "the client renews in the background"]);
    assert_eq!(told(&titled), [(day, "title".to_owned())]);
    let forms = add(&live, &["--title", "Our tokens expiry", "each of them is renewed by the client"]);
    assert!(told(&forms).iter().any(|(_, by)| by == "title"), "{forms}");
    let other = add(&live, &["--title", "Deployment", "a tag is what triggers a release"]);
    assert_eq!(told(&other), []);
    let output = live.memo(&["add", "tokens expire after 36 hours of inactivity"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("may contradict") && said.contains("other numbers"), "{said}");
}

#[test]
fn dedupe_proposes_and_merges_only_when_it_is_told_to() {
    let live = Live::new();
    let first = id(&add(&live, &["--tag", "a", "--priority", "7", FIRST]));
    let second = id(&add(&live, &["--tag", "b", "--force", SAME]));
    add(&live, &["tokens expire after 24 hours"]);
    add(&live, &["tokens expire after 12 hours"]);
    let (code, proposed) = memo(&live, &["dedupe"]);
    assert_eq!((code, proposed["groups"].as_array().unwrap().len()), (0, 1), "{proposed}");
    let group = &proposed["groups"][0];
    assert_eq!((&group["keep"]["id"], &group["merge"][0]["id"]), (&json!(first), &json!(second)));
    assert_eq!(n_living(&live), 4, "nothing was changed");
    let asked = live.memo(&["dedupe", "--merge"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(asked.status.code(), Some(2));
    assert_eq!(memo(&live, &["dedupe", "--container", "elsewhere"]).0, 1);

    let stale = json!({ "cwd": live.root(), "keep": first, "ids": [second], "expect": "another" });
    let error = live.rpc().call("memory.merge", &stale).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("changed since"), "{error}");
    let output = live.memo(&["dedupe", "--merge", "--yes"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(n_living(&live), 3);
    let kept = call(&live, "memory.get", json!({ "ids": [first] }))["memories"][0].clone();
    assert_eq!((&kept["tags"], &kept["priority"]), (&json!(["a", "b"]), &json!(7)));
    let gone = call(&live, "memory.get", json!({ "ids": [second] }))["memories"][0].clone();
    assert_eq!(gone["archived_why"], "merged");
    assert_eq!(memo(&live, &["dedupe"]).0, 1);
    live.kill();
    assert_eq!(memo(&live, &["dedupe"]).0, 1, "by the next daemon too");
}

/// Adds the second of two texts, and returns whether `memo add` refuses it as a near-duplicate, and by what it may contradict the
/// first. Then adds it all the same.
fn judge_added(live: &Live, container: &str, text: &str) -> (bool, Option<String>) {
    let (exit, added) = memo(live, &["add", "--container", container, text]);
    if exit == 0 {
        return (false, added["contradicted"][0]["by"].as_str().map(str::to_owned));
    }
    assert!(added["error"]["message"].as_str().unwrap().contains("says nearly the same"), "{added}");
    add(live, &["--force", "--container", container, text]);
    (true, None)
}

#[test]
fn add_and_dedupe_agree_on_what_says_the_same() {
    const SAME: (bool, Option<&str>) = (true, None);
    const OTHER: (bool, Option<&str>) = (false, None);
    let live = Live::new();
    for (nth, (first, second, expected)) in [
        (
            "Deploys run on Friday from the main branch",
            "Deployments run on Fridays from the main branch",
            SAME,
        ),
        ("The auth token expires after 24 hours", "Auth tokens expire after 24h", SAME),
        ("Use tabs for indentation", "Indentation uses tabs", SAME),
        ("We use PostgreSQL for storage", "PostgreSQL is used for storage", SAME),
        ("Run cargo fmt before committing", "Before committing, run cargo fmt", SAME),
        ("Never push to main", "Do not push to main", SAME),
        ("Login tokens expire after one hour", "Login tokens expire after 1h", SAME),
        ("use tabs", "do not use tabs", (false, Some("negation"))),
        ("Use tabs for indentation", "Avoid tabs for indentation", (false, Some("negation"))),
        ("caching is enabled", "caching is disabled", (false, Some("negation"))),
        ("timeout is 5 s", "timeout is 50 s", (false, Some("numbers"))),
        (
            "Login tokens expire after one hour",
            "Login tokens expire after two hours",
            (false, Some("numbers")),
        ),
        ("Ports below 1024 need root", "Ports above 1024 need root", (false, Some("opposite"))),
        ("Deploy to staging on Friday", "The build takes four minutes", OTHER),
        ("use spaces", "the cache is kept for a day", OTHER),
    ]
    .into_iter()
    .enumerate()
    {
        let container = format!("pair{nth}");
        add(&live, &["--container", &container, first]);
        let (is_same, by) = judge_added(&live, &container, second);
        assert_eq!((is_same, by.as_deref()), expected, "add: {first} / {second}");
        let (exit, found) = memo(&live, &["dedupe", "--container", &container]);
        let n_merged = found["groups"].as_array().unwrap().len();
        let by = found["differing"][0]["by"].as_str();
        assert_eq!((n_merged == 1, by), expected, "dedupe: {first} / {second}: {found}");
        assert_eq!(exit, i32::from(!is_same), "{found}");
    }
    let output = live.memo(&["dedupe", "--container", "pair7"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no two memories of a container say nearly the same"), "{said}");
    assert!(
        said.contains("use tabs / do not use tabs (nearly the same text, but one of them is negated)"),
        "{said}"
    );
}

#[test]
fn many_nearer_memories_hide_no_near_duplicate() {
    let live = Live::new();
    for hours in 24..36 {
        add(&live, &["--force", &format!("Auth uses JWT with {hours}h expiry")]);
    }
    let (is_same, _) = judge_added(&live, "project", "Authentication uses JWT tokens with 24-hour expiry");
    let groups = memo(&live, &["dedupe"]).1["groups"].clone();
    assert!(is_same && groups.as_array().unwrap().len() == 1, "{groups}");
    assert_eq!(groups[0]["merge"].as_array().unwrap().len(), 1, "{groups}");
}

#[test]
fn a_decided_contradiction_is_not_listed_again() {
    let live = Live::new();
    let tabs = id(&add(&live, &["use tabs"]));
    let none = id(&add(&live, &["do not use tabs"]));
    let differing = || memo(&live, &["dedupe"]).1["differing"].clone();
    assert_eq!(
        (&differing()[0]["older"]["id"], &differing()[0]["newer"]["id"]),
        (&json!(tabs), &json!(none))
    );
    memo(&live, &["link", &none, &tabs, "--kind", "contradicts"]);
    assert_eq!(differing(), Value::Null);
}

#[test]
fn what_is_linked_or_near_is_related() {
    let live = Live::new();
    let login = id(&add(&live, &["people sign in with a password"]));
    let near = id(&add(&live, &["users authenticate with a password or a key"]));
    let far = id(&add(&live, &["bananas are yellow"]));
    assert_eq!(memo(&live, &["link", &login, &far]).0, 0);
    let (code, related) = memo(&live, &["related", &login[..20]]);
    let ids: Vec<_> =
        related["memories"].as_array().unwrap().iter().map(|other| other["id"].as_str().unwrap()).collect();
    assert_eq!((code, ids), (0, vec![far.as_str(), near.as_str()]), "{related}");
    assert_eq!(related["memories"][0]["relations"], json!(["related_to"]));
    call(&live, "memory.forget", json!({ "ids": [near, far] }));
    assert_eq!(memo(&live, &["related", &login]).0, 1);
    stop(&live);
}

#[test]
fn what_is_near_elsewhere_does_not_hide_what_is_near_here() {
    let live = Live::new();
    let first = id(&add(&live, &[FIRST]));
    let mut words: Vec<&str> = SAME.split(' ').collect();
    for n in 0..60 {
        // Another order each time, so another text, but as near as can be.
        words.swap(n % 11, 11);
        let params = json!({ "content": words.join(" "), "container": "elsewhere", "force": true });
        call(&live, "memory.add", params);
    }
    assert_eq!(n_living(&live), 61, "no text comes twice");
    let (code, refused) = memo(&live, &["add", SAME]);
    assert_eq!(code, 2, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains(&first), "{refused}");
    let second = id(&add(&live, &["--force", SAME]));
    let (code, proposed) = memo(&live, &["dedupe", "--container", "project"]);
    let group = &proposed["groups"][0];
    assert_eq!((code, proposed["groups"].as_array().map(Vec::len)), (0, Some(1)), "{proposed}");
    let ids = [&group["keep"]["id"], &group["merge"][0]["id"]];
    assert!(ids.contains(&&json!(first)) && ids.contains(&&json!(second)), "{proposed}");
}

#[test]
fn what_is_merged_keeps_its_metadata() {
    let live = Live::new();
    let first = add(&live, &["--meta", "pr=1", "--meta", "by=ann", FIRST]);
    let merged = add(&live, &["--merge", "--meta", "pr=2", "--meta", "team=auth", SAME]);
    assert_eq!(id(&merged), id(&first));
    let expected = json!({ "by": "ann", "pr": 2, "team": "auth" });
    assert_eq!(merged["memory"]["metadata"], expected, "of one key the newest holds");
    let history = call(&live, "memory.history", json!({ "ids": [id(&first)] }));
    assert_eq!(history["changes"][1]["fields"]["metadata"][0], json!({ "by": "ann", "pr": 1 }));

    let other = add(&live, &["--force", "--meta", "pr=3", SAME]);
    call(&live, "memory.update", json!({ "id": id(&first), "metadata": { "by": "bob" } }));
    let params = json!({ "keep": id(&other), "ids": [id(&first)] });
    let kept = call(&live, "memory.merge", params)["memory"]["metadata"].clone();
    assert_eq!(kept, json!({ "by": "bob", "pr": 2, "team": "auth" }), "the one that stays is older");
}

#[test]
fn a_memory_on_its_own_has_nothing_related() {
    let live = Live::new();
    let lone = id(&add(&live, &["walruses winter on the ice"]));
    let output = live.memo(&["related", &lone]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains(&format!("no memory is linked to {lone}, and no memory is near it")), "{said}");
}
