//! Tests that a clock that is wrong for a while ends no memory.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use super::{call, stop, texts};
use crate::live::{Live, not_checked};

/// A clock that goes as many seconds ahead as a file says.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, time);
    FILE *file = id == CLOCK_REALTIME ? fopen(getenv("TEST_CLOCK"), "r") : NULL;
    long ahead = 0;
    if (file && fscanf(file, "%ld", &ahead) == 1) time->tv_sec += ahead;
    if (file) fclose(file);
    return result;
}
"#;

const YEAR_S: i64 = 365 * 86_400;

struct Clock {
    library: PathBuf,
    file: PathBuf,
}

impl Clock {
    fn new(live: &Live) -> Option<Self> {
        let [source, library, file] = ["clock.c", "clock.so", "clock"].map(|name| live.sandbox.path(name));
        fs::write(&source, CLOCK).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl");
        if !cfg!(target_os = "linux") || !cc.status().is_ok_and(|status| status.success()) {
            not_checked("a clock that jumps: there is no C compiler, or another system than Linux");
            return None;
        }
        let clock = Self { library, file };
        clock.set_ahead(0);
        Some(clock)
    }

    fn set_ahead(&self, seconds: i64) {
        fs::write(&self.file, seconds.to_string()).unwrap();
    }

    fn start(&self, live: &Live) {
        let mut memod = live.memod();
        live.start_as(memod.env("LD_PRELOAD", &self.library).env("TEST_CLOCK", &self.file));
    }
}

#[test]
fn nothing_ends_because_the_clock_was_ahead() {
    for on_expiry in ["archive", "purge"] {
        let live = Live::idle();
        let Some(clock) = Clock::new(&live) else { return };
        fs::write(live.layout().config_file(), format!("[memory]\non_expiry = \"{on_expiry}\"\n")).unwrap();
        clock.start(&live);
        for tier in ["short", "mid", "long"] {
            call(&live, "memory.add", json!({ "content": tier, "tier": tier }));
        }
        for restarts in [false, true] {
            clock.set_ahead(YEAR_S);
            if restarts {
                stop(&live);
                clock.start(&live);
            }
            assert!(!texts(&live).contains(&"mid".to_owned()), "{on_expiry}: the clock is ahead");
            let added = format!("ahead, {restarts}");
            call(&live, "memory.add", json!({ "content": added }));
            assert_eq!(call(&live, "memory.list", json!({ "archived": true }))["total"], 2);
            let shown = call(&live, "memory.purge", json!({ "dry_run": true }));
            let purged = call(&live, "memory.purge", json!({ "expect": shown["digest"] }));
            assert_eq!(purged["memories"], json!([]), "{on_expiry}: {purged}");
            assert!(
                purged["notice"].as_str().unwrap().contains("2 more have expired by the clock"),
                "{purged}"
            );
            clock.set_ahead(0);
            let found = texts(&live);
            for text in ["short", "mid", "long", &added] {
                assert!(found.contains(&text.to_owned()), "{on_expiry}: {text} is not in {found:?}");
            }
        }
        stop(&live);
    }
}

#[test]
fn a_text_that_seems_over_can_be_added_again() {
    let live = Live::idle();
    let Some(clock) = Clock::new(&live) else { return };
    clock.start(&live);
    call(&live, "memory.add", json!({ "content": "said twice", "tier": "mid" }));
    clock.set_ahead(YEAR_S);
    let again = call(&live, "memory.add", json!({ "content": "said twice", "tier": "mid" }));
    assert_eq!(again["created"], true, "{again}");
    assert_eq!(texts(&live), ["said twice"]);
    clock.set_ahead(0);
    assert_eq!(texts(&live), ["said twice"]);
    stop(&live);
}
