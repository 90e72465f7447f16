//! Is a superseded memory ever taken for what holds?

use serde_json::{Value, json};

use super::{add, call, memo};
use crate::live::Live;

const OLD: &str = "zookeeper quorum listens on port 2181";
const QUESTION: &str = "which port does the quorum listen on";

/// A repository with a memory, its two successors in a chain, and others.
fn chain() -> (Live, [String; 3]) {
    let live = Live::new();
    let old = add(&live, OLD);
    let tagged = json!({ "content": "that moved to etcd; nobody runs it any more", "tags": ["moved"] });
    let newer = call(&live, "memory.add", tagged)["memory"]["id"].as_str().unwrap().to_owned();
    let newest = add(&live, "all of this was bought from a vendor");
    for nth in 1..4 {
        add(&live, &format!("filler note {nth} about lunch"));
    }
    memo(&live, &["resolve", &newer, &old]);
    memo(&live, &["link", &newest, &newer, "--kind", "supersedes"]);
    (live, [old, newer, newest])
}

fn ids<'a>(list: &'a Value, id: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|hit| hit.pointer(id).unwrap().as_str().unwrap()).collect()
}

#[test]
fn what_supersedes_a_hit_stands_before_it_without_a_word_of_the_question() {
    let (live, [old, newer, newest]) = chain();
    for mode in ["keyword", "hybrid"] {
        for query in ["zookeeper", QUESTION] {
            let params = json!({ "query": query, "mode": mode });
            let found = call(&live, "search", params.clone());
            assert_eq!(ids(&found["hits"], "/id")[..2], [&*newest, &*old], "{query}: {found}");
            assert_eq!(found["hits"][1]["memory"]["superseded_by"], json!([newest]), "{found}");
            assert!(found["hits"][0]["memory"]["superseded_by"].is_null(), "{found}");
            assert_eq!(found["total"], found["hits"].as_array().unwrap().len(), "{found}");
            let recalled = call(&live, "memory.recall", params);
            assert_eq!(ids(&recalled["memories"], "/id")[..2], [&*newest, &*old], "{recalled}");
            assert_eq!(recalled["memories"][1]["superseded_by"], json!([newest]), "{recalled}");
        }
    }
    let one = call(&live, "search", json!({ "query": "zookeeper", "limit": 1 }));
    assert_eq!(ids(&one["hits"], "/id"), [newest.as_str()], "{one}");
    let misspelt = call(&live, "search", json!({ "query": "zookeepr quorum" }));
    assert_eq!(ids(&misspelt["hits"], "/id")[..2], [&*newest, &*old], "{misspelt}");
    call(&live, "memory.forget", json!({ "ids": [newer] }));
    let found = call(&live, "search", json!({ "query": "zookeeper" }));
    assert_eq!(ids(&found["hits"], "/id"), [old.as_str()], "archived memories supersede nothing: {found}");
    assert!(found["hits"][0]["memory"]["superseded_by"].is_null(), "{found}");
}

#[test]
fn a_filter_leaves_a_successor_out_and_the_hit_is_marked() {
    let (live, [old, newer, newest]) = chain();
    let found = call(&live, "search", json!({ "query": "zookeeper -tag:moved" }));
    assert_eq!(ids(&found["hits"], "/id"), [&*newest, &*old], "also beyond what is left out: {found}");
    assert_eq!(found["hits"][1]["memory"]["superseded_by"], json!([newest]), "{found}");
    call(&live, "memory.update", json!({ "id": newest, "add_tags": ["bought"] }));
    let found = call(&live, "search", json!({ "query": "zookeeper -tag:bought" }));
    assert_eq!(ids(&found["hits"], "/id"), [&*newer, &*old], "the last that is not left out: {found}");
    assert_eq!(found["hits"][1]["memory"]["superseded_by"], json!([newer, newest]), "{found}");
    let found = call(&live, "search", json!({ "query": "zookeeper AND quorum" }));
    assert_eq!(ids(&found["hits"], "/id"), [&*old], "a demanded word is a filter: {found}");
    let mark = format!("[superseded by {newest}]");
    for args in [["search", "zookeeper AND quorum"], ["recall", "zookeeper"]] {
        let output = live.memo(&args).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(&mark), "{args:?}: {said}");
    }
}

#[test]
fn a_prompt_is_told_what_supersedes() {
    let (live, [old, _, newest]) = chain();
    let output = live.memo(&["hook", "prompt", "--explain", QUESTION]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let places: Vec<Option<usize>> = [&newest, &old].map(|id| said.find(&format!("({id} p"))).to_vec();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "newest first: {said}");
    assert!(said.contains(&format!("[superseded by {newest}] {OLD}")), "{said}");
}

#[test]
fn a_long_chain_takes_no_place_of_other_hits() {
    let live = Live::new();
    let old = add(&live, OLD);
    let mut newest = old.clone();
    for nth in 0..14 {
        let next = add(&live, &format!("thought number {nth} of another kind"));
        memo(&live, &["link", &next, &newest, "--kind", "supersedes"]);
        newest = next;
    }
    for nth in 0..3 {
        live.write(&format!("z{nth}.md"), format!("# The quorum\n\nzookeeper quorum {nth}\n"));
    }
    let found = call(&live, "search", json!({ "query": "zookeeper quorum", "mode": "keyword" }));
    let paths = ids(&found["hits"], "/path");
    assert_eq!(paths.iter().filter(|path| path.ends_with(".md")).count(), 3, "{found}");
    assert_eq!(paths.iter().filter(|path| path.starts_with("memory:")).count(), 2, "{found}");
    let output = live.memo(&["hook", "prompt", "--explain", QUESTION]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains(&format!("[superseded by {newest}] {OLD}")), "{said}");
}
