//! Does each command of a transcript still print what the transcript shows?
//!
//! A transcript is a file of blocks: a line that says what is shown, the command after `$ `, and then its exit status,
//! stdout and stderr. The commands of a file run in order, in a repository that only this file has.
//! `MEMO_BLESS=1 cargo test --test it transcripts` writes what is printed; look at the difference before you commit it.

use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use serde_json::json;

use crate::docs::cut::steady;
use crate::live::{Live, PATIENCE};

/// A commit of the repository.
struct Commit {
    author: &'static str,
    time: &'static str,
    message: &'static str,
    /// Paths and texts.
    files: &'static [(&'static str, &'static str)],
}

const COMMITS: &[Commit] = &[
    Commit {
        author: "Ada",
        time: "2024-03-01T10:00:00Z",
        message: "Carts have a price\n\nThe price is that of its items, without the postage.",
        files: &[
            (
                "src/cart.rs",
                r"//! Carts of the shop.

/// A cart and what is in it.
pub struct Cart {
    pub items: Vec<u32>,
    pub coupon: Option<u32>,
}

impl Cart {
    /// Returns the price of all items.
    ///
    /// The coupon is subtracted last, and a price is never negative.
    pub fn price(&self) -> u32 {
        let total: u32 = self.items.iter().sum();
        let coupon = self.coupon.unwrap_or(0);
        total.saturating_sub(coupon)
    }
}
",
            ),
            (
                "src/deep/postage.rs",
                "/// Returns the postage of a parcel, which depends on its grams.\n\
                 pub fn postage(grams: u32) -> u32 {\n    \
                 if grams < 500 { 3 } else { 7 }\n}\n",
            ),
            (
                "docs/postage.rst",
                "Shipping\n========\n\nPostage\n-------\n\nA parcel below 500 grams costs three.\n",
            ),
            ("docs/coupons.adoc", "= Coupons\n\n== Printed coupons\n\nA printed coupon has a barcode.\n"),
            (
                "docs/sales.ipynb",
                r##"{ "cells": [
  { "cell_type": "markdown", "source": ["# Counting sales\n", "\n", "By week."] },
  { "cell_type": "code", "outputs": [], "source": ["def count_sales(rows):\n", "    return len(rows)\n"] }
], "metadata": {}, "nbformat": 4, "nbformat_minor": 5 }
"##,
            ),
        ],
    },
    Commit {
        author: "Grace",
        time: "2024-05-02T10:00:00Z",
        message: "Parcels may be checked out",
        files: &[(
            "src/checkout.rs",
            "use crate::cart::Cart;\nuse crate::deep::postage::postage;\n\n\
             /// Returns what the customer pays.\n\
             pub fn checkout(cart: &Cart, grams: u32) -> u32 {\n    \
             cart.price() + postage(grams)\n}\n",
        )],
    },
];

#[test]
fn searches_are_as_shown() {
    check("search.txt");
}

#[test]
fn files_and_commits_are_as_shown() {
    check("files.txt");
}

#[test]
fn memories_are_as_shown() {
    check("memories.txt");
}

#[test]
fn mistakes_are_as_shown() {
    check("mistakes.txt");
}

fn repository() -> Live {
    let live = Live::new();
    for Commit { author, time, message, files } in COMMITS {
        files.iter().for_each(|(path, text)| live.write(path, text));
        live.git(&["add", "-A"]);
        live.sh(&format!(
            "export GIT_AUTHOR_DATE={time} GIT_COMMITTER_DATE={time}\n\
             git -c user.name={author} commit -qm '{message}'"
        ));
    }
    fs::create_dir(live.sandbox.path("plain")).unwrap();
    let sync = live.call("sync", json!({ "sync": "full", "wait_ms": PATIENCE.as_millis() }));
    assert_eq!(sync["fresh"], true, "{sync}");
    live
}

/// One block of a transcript.
struct Step<'a> {
    about: &'a str,
    command: &'a str,
    shown: &'a str,
}

impl<'a> Step<'a> {
    fn of(block: &'a str) -> Self {
        let (about, rest) = block.split_once('\n').unwrap_or((block, ""));
        let (command, shown) = rest.split_once('\n').unwrap_or((rest, ""));
        let command = command.strip_prefix("$ ").unwrap_or_else(|| panic!("no command after {about}"));
        assert!(about.starts_with("# "), "no line that says what is shown: {block}");
        Self { about, command, shown }
    }

    fn with(&self, shown: &str) -> String {
        format!("{}\n$ {}\n{shown}", self.about, self.command)
    }
}

/// Runs the commands of a transcript and compares what they print, or writes it there.
fn check(name: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/transcripts").join(name);
    let text = fs::read_to_string(&file).unwrap();
    let live = repository();
    let (mut printed, mut wrong) = (Vec::new(), Vec::new());
    for step in text.trim_end().split("\n\n").map(Step::of) {
        let actual = run(&live, step.command);
        if actual != step.shown {
            wrong.push(format!("{}\nprinted:\n{actual}", step.with(step.shown)));
        }
        printed.push(step.with(&actual));
    }
    if std::env::var_os("MEMO_BLESS").is_some() {
        fs::write(&file, printed.join("\n\n") + "\n").unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{name}: {} of {}\n{}", wrong.len(), printed.len(), wrong.join("\n\n"));
}

/// Runs a line of sh, in which `memo` is the one that is tested, and returns exit status, stdout and stderr without what no
/// two runs share.
fn run(live: &Live, line: &str) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_memo")).parent().unwrap();
    let shown = live.sandbox.show(&mut shell(live, bin, line));
    let shown = steady(&shown);
    let rules = [
        (r"\[TOP\]/work\b", "[REPO]"),
        (r"\b[0-9a-f]{12}\b", "COMMIT"),
        (r#"("memod":)"[^"]+""#, "$1\"VERSION\""),
    ];
    let shown = rules
        .iter()
        .fold(shown, |shown, (rule, with)| Regex::new(rule).unwrap().replace_all(&shown, *with).into_owned());
    shown.trim_end().to_owned()
}

fn shell(live: &Live, bin: &Path, line: &str) -> Command {
    let mut command = live.sandbox.program("sh", &["-c", line]);
    command
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()))
        .env("MEMO_DAEMON", env!("CARGO_BIN_EXE_memod"))
        .env("EDITOR", "echo");
    command
}
