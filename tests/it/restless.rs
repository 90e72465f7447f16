//! Is what never holds still found, or is the answer not called fresh?

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::json;

use crate::live::{Live, PATIENCE, until, word};

const MIB: u64 = 1 << 20;
/// A question allows one step, two, four and so on, up to more than fit into the time it takes; then one again.
const DOUBLINGS: usize = 13;

/// Ends the threads of a test even where it fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_file_that_never_holds_still_does_not_hold_up_the_rest() {
    let live = Live::new();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let path = live.sandbox.path("work/busy.md");
        live.write("busy.md", "standing\n");
        let _stop = Stop(&stop);
        scope.spawn({
            let stop = &stop;
            move || {
                let mut file = fs::File::options().append(true).open(path).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    writeln!(file, "never still").unwrap();
                    if file.metadata().unwrap().len() > MIB / 2 {
                        file.set_len("standing\n".len() as u64).unwrap();
                    }
                }
            }
        });
        let mut n_fresh = 0;
        for number in 0..30 {
            live.write("good.md", word(number));
            let found = live.search(&word(number));
            assert!(found.paths.contains("good.md"), "beside a busy file: {found:?}");
            // Its first line is never touched.
            let busy = live.search("standing");
            assert!(!busy.fresh || busy.paths.contains("busy.md"), "{busy:?}");
            n_fresh += usize::from(found.fresh) + usize::from(busy.fresh);
        }
        assert!(n_fresh > 0, "{n_fresh} of 60 answers were fresh");
    });
    live.write("busy.md", "at rest");
    live.expect("at rest", "busy.md", "at last");
}

/// Checks that no answer says fresh and misses a file that `step` moves again and again, watched and polled. The file begins
/// as `first`, and there is no moment at which it has no name.
fn check(first: &str, others: &[&str], step: impl Fn(&Path, usize) + Sync) {
    for (polls, n_searches) in [("false", 60), ("true", 30)] {
        let live = Live::idle();
        live.start_as(live.memod().env("MEMO_WATCH_POLL", polls));
        for other in others {
            live.write(other, "other");
        }
        live.write(first, "wanderer");
        let (n_fresh, n_missed) = search_while(&live, n_searches, &step);
        assert_eq!(n_missed, 0, "of {n_searches} answers, with watch.poll = {polls}");
        // What moves on faster than it can be compared is seldom known to be there; now and then it must be.
        assert!(n_fresh > 0, "never fresh, with watch.poll = {polls}");
    }
}

/// Asks so often, and on until an answer is fresh. Returns how many answers said fresh, and how many of these missed the file.
///
/// Each question lets the file move on by one step to some thousands, so that some are answered in the middle and some after
/// it. With a processor of its own, what never rests would always be ahead of the daemon.
fn search_while(live: &Live, n_searches: usize, step: impl Fn(&Path, usize) + Sync) -> (usize, usize) {
    let (mut n_fresh, mut n_missed) = (0, 0);
    let (stop, moves, most_moves) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let root = live.root();
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                if number < most_moves.load(Ordering::Relaxed) {
                    step(&root, number);
                    number += 1;
                    moves.store(number, Ordering::Relaxed);
                }
                std::thread::yield_now();
            }
        });
        let deadline = Instant::now() + PATIENCE;
        for number in 0.. {
            if number >= n_searches && (n_fresh > 0 || Instant::now() > deadline) {
                break;
            }
            let before = most_moves.fetch_add(1 << (number % DOUBLINGS), Ordering::Relaxed);
            until("it moved on", || moves.load(Ordering::Relaxed) > before);
            // `strict` lists the directory, which misses what is renamed under it.
            let sync = ["fs", "strict"][number % 2];
            let found = live.search_with(&root, "wanderer", json!({ "sync": sync }));
            n_fresh += usize::from(found.fresh);
            n_missed += usize::from(found.fresh && found.paths.is_empty());
        }
    });
    let found = live.search("wanderer");
    assert!(found.fresh && found.paths.len() == 1, "at rest: {found:?}");
    (n_fresh, n_missed)
}

/// Moves what `name` says from its number to the next.
fn rename(root: &Path, number: usize, name: impl Fn(usize) -> String) {
    fs::rename(root.join(name(number)), root.join(name(number + 1))).unwrap();
}

#[test]
fn a_file_that_is_renamed_all_the_time() {
    check("d/0.md", &[], |root, number| rename(root, number, |n| format!("d/{}.md", n % 5)));
}

#[test]
fn a_file_that_has_a_new_name_all_the_time() {
    check("d/0.md", &[], |root, number| rename(root, number, |n| format!("d/{n}.md")));
}

#[test]
fn a_file_that_is_moved_between_directories_all_the_time() {
    let others = ["0/other.md", "1/other.md", "2/other.md", "3/other.md", "4/other.md"];
    check("0/f.md", &others, |root, number| rename(root, number, |n| format!("{}/f.md", n % 5)));
}

#[test]
fn a_file_whose_directory_is_renamed_all_the_time() {
    check("0/a/b/f.md", &[], |root, number| rename(root, number, |n| (n % 3).to_string()));
}

#[test]
fn a_file_that_is_replaced_all_the_time() {
    check("f.md", &[], |root, number| {
        fs::write(root.join("f.md.new"), format!("wanderer, turn {number}")).unwrap();
        fs::rename(root.join("f.md.new"), root.join("f.md")).unwrap();
    });
}

#[test]
fn a_file_that_has_another_link_all_the_time() {
    check("0.md", &[], |root, number| {
        let at = |number: usize| root.join(format!("{}.md", number % 3));
        fs::hard_link(at(number), at(number + 1)).unwrap();
        fs::remove_file(at(number)).unwrap();
    });
}
