//! Do the words of a question count where they say what a definition is for?

use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, until};

/// Words are compared where the vectors find something.
const NEAR: &str =
    "# Sessions\n\nWhen people leave, their sessions are removed. So the authentication is deleted.\n";

/// Returns the definitions among the hits, with what each part of the ranking says of them, once there are vectors.
fn definitions(live: &Live, query: &str) -> Vec<Value> {
    let mut hits = Vec::new();
    until("a hit that is near", || {
        let params =
            json!({ "query": query, "sync": "full", "wait_ms": PATIENCE.as_millis(), "explain": true });
        hits.clone_from(live.call("search", params)["hits"].as_array().unwrap());
        hits.iter().any(|hit| signal(hit, "knn") > 0.0)
    });
    hits.retain(|hit| hit["kind"] == "symbol");
    hits
}

fn symbols(hits: &[Value]) -> Vec<&str> {
    hits.iter().map(|hit| hit["symbol"].as_str().unwrap()).collect()
}

fn signal(hit: &Value, arm: &str) -> f64 {
    let signals = hit["explain"]["signals"].as_array().unwrap();
    signals.iter().find(|signal| signal["arm"] == arm).map_or(0.0, |signal| signal["value"].as_f64().unwrap())
}

/// Returns a function that says the same at its beginning or at its end.
fn function(name: &str, at_start: bool) -> String {
    let says = "    // deletes the session of a person who is gone\n";
    let steps: String = (0..8).map(|nth| format!("    total += {nth};\n")).collect();
    let body = if at_start { format!("{says}{steps}") } else { format!("{steps}{says}") };
    format!("pub fn {name}(mut total: u64) -> u64 {{\n{body}    total\n}}\n")
}

#[test]
fn what_the_first_lines_say_counts_more() {
    let live = Live::new();
    live.write("sessions.md", NEAR);
    live.write("src/a.rs", function("alpha", false));
    live.write("src/b.rs", function("omega", true));
    let hits = definitions(&live, "remove sessions of people");
    assert_eq!(symbols(&hits), ["omega", "alpha"], "{hits:#?}");
    assert!(signal(&hits[0], "maxsim_head") > signal(&hits[1], "maxsim_head") + 0.2, "{hits:?}");
    let texts = [&hits[0], &hits[1]].map(|hit| signal(hit, "maxsim"));
    assert!((texts[0] - texts[1]).abs() < 0.05, "the text as a whole says the same: {texts:?}");
}

#[test]
fn what_the_path_says_counts() {
    let live = Live::new();
    live.write("sessions.md", NEAR);
    live.write("src/a/chart.rs", function("alpha", true));
    live.write("src/a/login.rs", function("omega", true));
    let hits = definitions(&live, "delete sessions of authentication");
    assert_eq!(symbols(&hits), ["omega", "alpha"], "{hits:#?}");
    assert!(signal(&hits[0], "maxsim_path") > signal(&hits[1], "maxsim_path"), "{hits:?}");
    assert_eq!(signal(&definitions(&live, "session")[0], "maxsim_path"), 0.0, "a name is not compared so");
}
