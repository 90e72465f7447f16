//! Is a section of a document among the first hits of a question that a user of the product asks?

use serde_json::{Value, json};

use crate::live::{Live, memo};

/// Definitions whose names and comments have the words of the questions.
const CODE: [(&str, &str); 4] = [
    (
        "install",
        "def install_package(how):\n    # how to install the package: install it\n    return how\n\n\n",
    ),
    (
        "container",
        "class Container:\n    # what a container is\n    def container_of(self):\n        return 1\n\n\n",
    ),
    (
        "settings",
        "def document_settings(where):\n    # where the settings are documented\n    return where\n\n\n",
    ),
    (
        "cache",
        "def configure_cache(size):\n    # configure the cache: how large the cache is\n    return size\n\n\n",
    ),
];

const GUIDE: &str = "# Shop\n\nSells things.\n\n## Installation\n\nTo install the package, run `pip install shop`.\n\n\
                     ## Containers\n\nGoods travel in a container, a box with a number that the harbour knows.\n\n\
                     ## Settings\n\nThe file shop.toml has the settings: `cache` configures how many prices are kept.\n";

fn repository() -> Live {
    let live = Live::idle();
    for (name, code) in CODE {
        for nth in 0..4 {
            live.write(&format!("src/{name}{nth}.py"), code.replace("(", &format!("_{nth}(")));
        }
    }
    live.write("docs/guide.md", GUIDE);
    live.commit_all();
    live.start();
    live.call("sync", json!({ "sync": "full", "wait_ms": 60_000 }));
    live
}

/// Returns the place of the first section, 1-based, and its heading path.
fn first_section(live: &Live, query: &str) -> Option<(usize, String)> {
    let (_, found) = memo(live, &["search", query]);
    let hits = found["hits"].as_array().unwrap_or_else(|| panic!("{found}"));
    let scores: Vec<f64> = hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|left, right| left >= right), "{query}: {scores:?}");
    let place = hits.iter().position(|hit| hit["kind"] == "doc")?;
    Some((place + 1, hits[place]["title"].as_str().unwrap_or_default().to_owned()))
}

#[test]
fn a_section_is_among_the_first_three() {
    let live = repository();
    for (query, heading) in [
        ("how do I install the package", "Shop > Installation"),
        ("how to install it", "Shop > Installation"),
        ("what is a container", "Shop > Containers"),
        ("what are containers", "Shop > Containers"),
        ("where are the settings documented", "Shop > Settings"),
        ("how can we configure the cache", "Shop > Settings"),
    ] {
        let section = first_section(&live, query);
        assert!(
            section.as_ref().is_some_and(|(place, title)| *place <= 3 && title == heading),
            "{query}: {section:?}"
        );
    }
    for text in ["a container is full", "the container is heavy", "what a container is, nobody knows"] {
        memo(&live, &["add", "--force", text]);
    }
    let section = first_section(&live, "what is a container");
    assert!(section.as_ref().is_some_and(|(place, _)| *place <= 3), "also beside memories: {section:?}");
}

#[test]
fn a_question_about_code_keeps_its_hits() {
    let live = repository();
    let first = |query: &str| memo(&live, &["search", query]).1["hits"][0]["kind"].clone();
    for query in ["how is the cache configured in code", "install_package", "how do I call configure_cache_0"]
    {
        assert_eq!(first(query), json!("symbol"), "{query}");
    }
    // No section says anything of it.
    let (_, found) = memo(&live, &["search", "how do I emigrate to the moon"]);
    let hits = found["hits"].as_array().map_or(0, Vec::len);
    assert!(found["error"] == Value::Null && hits < 200, "{found}");
}
