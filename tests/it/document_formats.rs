//! Are documents other than Markdown found by their headings, and notebooks by what their cells say?

use serde_json::{Value, json};

use crate::equals_fresh::{CONTENTS, fresh_copy, rows};
use crate::live::{Live, PATIENCE};

const RST: &str = "\
=====
Guide
=====

Hello.

Signing walrus tokens
---------------------

.. code-block:: rst

   No heading
   ----------

Keys are rotated.
";

const ADOC: &str = "\
= Guide
:animal: walrus

Hello.

== Feeding the {animal}

----
== No heading
----

Fish.
";

/// A notebook with a line of the file for each line of a source, as Jupyter writes it.
const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "source": [
    "# Counting walruses\n",
    "\n",
    "By \"hand\"."
   ]
  },
  {
   "cell_type": "code",
   "outputs": [{ "data": { "text/plain": ["narwhal"] } }],
   "source": [
    "%matplotlib inline\n",
    "def count_tusks(image):\n",
    "    return \"two\"\n"
   ]
  }
 ],
 "metadata": { "kernelspec": { "language": "python", "name": "python3" } },
 "nbformat": 4
}
"##;

fn search(live: &Live, query: &str) -> Vec<Value> {
    let params = json!({ "query": query, "sync": "full", "wait_ms": PATIENCE.as_millis() });
    live.call("search", params)["hits"].as_array().unwrap().clone()
}

/// Checks the first hit: kind, path, title, lines, and a part of what is shown of it.
fn check(live: &Live, query: &str, expected: &Value, shows: &str) {
    let hit = search(live, query).into_iter().next().unwrap_or_default();
    let found = json!([hit["kind"], hit["path"], hit["title"], hit["lines"]]);
    assert_eq!(found, *expected, "{query}");
    assert!(hit["snippet"].as_str().unwrap().contains(shows), "{hit}");
}

#[test]
fn words_of_the_front_matter_find_every_section() {
    let live = Live::new();
    let front = "---\nlayout: post\ntags: [okapi, zebra]\ndescription: >-\n  All about\n  giraffes.\n---\n";
    let body = "# Guide\n\nHello.\n\n## Feeding\n\nLeaves at noon.\n\n## Sleeping\n\nHalf an hour.\n";
    live.write("animals.md", format!("{front}{body}"));
    let parts = (0..30).map(|nth| format!("## Part {nth}\n\nFeeding of something else, part {nth}.\n\n"));
    live.write("other.md", parts.collect::<String>());
    let titles = |query: &str| -> Vec<String> {
        let of = |hit: &Value| hit["title"].as_str().unwrap_or("front matter").to_owned();
        let of_file = |hit: &&Value| hit["path"] == "animals.md";
        search(&live, query).iter().filter(of_file).map(of).collect()
    };
    for word in ["okapi", "giraffes"] {
        let mut found = titles(word);
        found.sort();
        assert_eq!(found, ["Guide", "Guide > Feeding", "Guide > Sleeping", "front matter"], "{word}");
    }
    assert_eq!(titles("feeding an okapi")[0], "Guide > Feeding", "the section that says the other word");

    live.write("animals.md", body);
    assert!(titles("okapi").is_empty(), "the words go with the front matter");
}

#[test]
fn headings_and_cells_are_found_where_they_are_written() {
    let live = Live::new();
    live.write("docs/a.rst", RST);
    live.write("docs/b.adoc", ADOC);
    live.write("c.ipynb", NOTEBOOK);
    let title = "Guide > Signing walrus tokens";
    check(&live, "signing tokens", &json!(["doc", "docs/a.rst", title, [7, 15]]), "---------------------\n");
    check(
        &live,
        "feeding the walrus",
        &json!(["doc", "docs/b.adoc", "Guide > Feeding the walrus", [6, 12]]),
        "== Feeding",
    );
    let title = "Counting walruses";
    check(
        &live,
        "counting walruses",
        &json!(["doc", "c.ipynb", title, [6, 8]]),
        "# Counting walruses\n\nBy \"hand\".",
    );
    check(&live, "count_tusks", &json!(["symbol", "c.ipynb", "count_tusks", [16, 17]]), "    return \"two\"");
    assert_eq!(search(&live, "narwhal"), Vec::<Value>::new(), "an output");
    let shown = live.memo(&["search", "-n", "1", "--lang", "notebook", "tusks"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("  16  def count_tusks(image):\n  17      return \"two\"\n"), "{shown}");
}

#[test]
fn what_was_edited_equals_what_is_fresh() {
    let live = Live::new();
    for (path, text) in [("a.rst", RST), ("b.adoc", ADOC), ("c.ipynb", NOTEBOOK)] {
        live.write(path, text);
        search(&live, "walrus");
        live.write(path, text.replace("walrus", "otter").replace("Hello.", "Hello\n\nthere."));
    }
    live.write("docs/b.rst", ADOC);
    search(&live, "otter");
    live.rename("docs/b.rst", "docs/b.asciidoc");
    live.write("d.ipynb", NOTEBOOK.replace('\n', " "));
    search(&live, "otter");
    let fresh = fresh_copy(&live);
    assert_eq!(rows(&live, CONTENTS), rows(&fresh, CONTENTS));
    let found = |live: &Live| -> Vec<Value> {
        let place = |hit: &Value| json!([hit["path"], hit["title"], hit["lines"], hit["snippet"]]);
        search(live, "feeding counting otter").iter().map(place).collect()
    };
    assert_eq!(found(&live), found(&fresh));
    assert!(found(&live).len() > 3);
}

#[test]
fn a_broken_notebook_is_refused_until_it_is_mended() {
    let live = Live::new();
    live.write("c.ipynb", format!("<<<<<<< HEAD\n{NOTEBOOK}"));
    assert_eq!(search(&live, "walruses"), Vec::<Value>::new());
    assert_eq!(live.listed().1, ["c.ipynb parse-failed"]);
    let outputs = format!("\"text/plain\": [\"{}\"]", "x".repeat(2 << 20));
    live.write("big.ipynb", NOTEBOOK.replace("\"text/plain\": [\"narwhal\"]", &outputs));
    live.write("c.ipynb", NOTEBOOK);
    let title = "Counting walruses";
    check(&live, "walruses", &json!(["doc", "c.ipynb", title, [6, 8]]), title);
    assert_eq!(live.listed().1, ["big.ipynb too-big"]);
}
