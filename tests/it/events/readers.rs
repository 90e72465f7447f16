//! Does a subscriber that is slow, silent or gone hold nobody up?

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{add, at_rest, next, subscribed};
use crate::live::{Live, until, word};

fn rss_bytes(live: &Live) -> u64 {
    live.call("status", json!({}))["daemon"]["rss_bytes"].as_u64().unwrap()
}

#[test]
fn a_hundred_subscribers_hear_of_everything() {
    let live = at_rest();
    let mut all: Vec<_> = (0..100).map(|_| subscribed(&live, &["views", "memories"])).collect();
    let one = add(&live, "the first thing");
    live.write("b.md", "beta");
    for rpc in &mut all {
        assert_eq!(next(rpc, |event| event["topic"] == "memories")["ids"], json!([one]));
        next(rpc, |event| event["topic"] == "views" && event["fresh"] == true);
    }
    // Half of them leave.
    all.truncate(50);
    let two = add(&live, "lunch is at noon");
    for rpc in &mut all {
        assert_eq!(next(rpc, |event| event["topic"] == "memories")["ids"], json!([two]));
    }
}

#[test]
fn a_subscriber_does_not_delay_the_end() {
    let live = at_rest();
    let mut all: Vec<_> = (0..3).map(|_| subscribed(&live, &["memories"])).collect();
    let began = Instant::now();
    live.call("stop", json!({}));
    for rpc in &mut all {
        assert!(rpc.receive().is_none(), "the connection ends without another word");
    }
    assert_eq!(live.wait_for_end(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(4), "nothing was waited for: {:?}", began.elapsed());
}

#[cfg(unix)]
#[test]
fn who_closes_its_side_gets_no_more_events() {
    let live = at_rest();
    let mut rpc = subscribed(&live, &["memories"]);
    rpc.stream().shutdown(Shutdown::Write).unwrap();
    assert!(rpc.receive().is_none());
}

/// Changes a memory so often that a subscriber that does not read is behind.
fn flood(live: &Live, id: &str, n_changes: usize) {
    for number in 0..n_changes {
        live.call("memory.update", json!({ "id": id, "title": word(number) }));
    }
}

#[test]
fn a_subscriber_that_does_not_read_is_let_go() {
    const CHANGES: usize = 1_500;
    let live = at_rest();
    let id = add(&live, "the first thing");
    let mut reader = subscribed(&live, &["memories"]);
    let deaf: Vec<_> = (0..20).map(|_| subscribed(&live, &["memories"])).collect();
    let before = rss_bytes(&live);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            for _ in 0..CHANGES {
                let event = reader.event();
                assert_eq!((&event["topic"], &event["change"]), (&json!("memories"), &json!("update")));
            }
        });
        flood(&live, &id, CHANGES);
        reading.join().unwrap(); // who reads misses nothing
    });
    let grown = rss_bytes(&live).saturating_sub(before);
    assert!(grown < 32 << 20, "{grown} bytes for 20 that do not read");
    let mut buffer = vec![0; 1 << 16];
    for rpc in deaf {
        // An empty line has no answer, but an end where the connection is still served.
        until("the daemon lets it go", || rpc.stream().write_all(b"\n").is_err());
        let mut n_bytes = 0;
        while let Ok(n_read @ 1..) = rpc.stream().read(&mut buffer) {
            n_bytes += n_read;
        }
        assert!(n_bytes > 0 && n_bytes < 4 << 20, "the rest was dropped: {n_bytes}");
    }
    let again = add(&live, "lunch is at noon");
    assert_eq!(reader.event()["ids"], json!([again]), "others go on");
}
