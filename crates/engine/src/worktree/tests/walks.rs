//! Tests when a walk, or a listing of directories, makes a worktree fresh.

use super::*;

#[test]
fn what_was_met_no_more_may_be_elsewhere() {
    let mut bench = Bench::walked();
    for restless in [false, true] {
        let mut answer = bench.ask(FreshnessLevel::Fs);
        for _ in 0..=MOST_TRIES {
            bench.mark_dirty("a");
            bench.cookie_back();
            assert_eq!(bench.start(), Some(paths(&["a"])));
            bench.end_moving(&paths(&["a"]));
            if !restless {
                break;
            }
        }
        if !restless {
            assert_eq!(bench.fresh(&mut answer), None, "it may be under another name by now");
            bench.cookie_back();
        }
        assert_eq!(bench.fresh(&mut answer), Some(!restless));
    }
}

#[test]
fn a_listing_is_believed_once_a_cookie_made_after_it_is_back() {
    let mut bench = Bench::walked();
    let mut answer = bench.ask(FreshnessLevel::Strict);
    assert_eq!(bench.start(), Some(ReconcileScope::Full));
    bench.end_listed(&ReconcileScope::Full);
    assert_eq!(bench.fresh(&mut answer), None, "something may have been renamed under it");
    bench.mark_dirty("b");
    bench.cookie_back();
    bench.reconcile(&paths(&["b"]));
    assert_eq!(bench.fresh(&mut answer), Some(true));
}

#[test]
fn without_a_watcher_a_listing_is_believed_when_no_directory_changed_under_it() {
    let mut bench = Bench::walked();
    bench.view.poll_always(None);
    let shifted = MissedFiles { listed: true, shifted: true, ..MissedFiles::default() };
    let mut answer = bench.ask(FreshnessLevel::Fs);
    assert_eq!(bench.start(), Some(ReconcileScope::Full));
    bench.end_with(&ReconcileScope::Full, &shifted);
    assert_eq!(bench.fresh(&mut answer), None, "something may have been renamed under it");
    assert_eq!(bench.start(), Some(ReconcileScope::Full));
    bench.end_listed(&ReconcileScope::Full);
    assert_eq!(bench.fresh(&mut answer), Some(true));

    let mut answer = bench.ask(FreshnessLevel::Fs);
    for _ in 0..=MOST_TRIES {
        assert_eq!(bench.start(), Some(ReconcileScope::Full));
        bench.end_with(&ReconcileScope::Full, &shifted);
    }
    assert_eq!(bench.fresh(&mut answer), Some(false), "it never holds still");
}

#[test]
fn a_cookie_made_under_a_listing_says_nothing_of_it() {
    let mut bench = Bench::walked();
    bench.mark_dirty("dir");
    bench.pass(60 * MS);
    assert_eq!(bench.start(), Some(paths(&["dir"])));
    let mut answer = bench.ask(FreshnessLevel::Fs);
    bench.end_listed(&paths(&["dir"]));
    bench.mark_dirty("busy");
    bench.cookie_back();
    assert_eq!(bench.start(), None, "what was renamed under the listing is to be told first");
    bench.cookie_back();
    bench.reconcile(&paths(&["busy"]));
    assert_eq!(bench.fresh(&mut answer), Some(true));
}

#[test]
fn a_file_system_that_does_not_answer_is_not_walked() {
    for polls in [false, true] {
        let mut bench = Bench::walked();
        if polls {
            bench.view.poll_always(None);
            bench.pass(RESCAN_DELAYS.0);
            bench.reconcile(&ReconcileScope::Full);
        }
        let mut answers = [FreshnessLevel::Fs, FreshnessLevel::Full, FreshnessLevel::Strict]
            .map(|level| bench.ask_silent(level));
        assert_eq!(bench.start(), None, "whoever walked it would hang");
        bench.pass_silent(COOKIE_TIMEOUT);
        assert!(
            bench.view.watch.degradations(&bench.view.layout.root).is_empty(),
            "it is not the watcher that is late"
        );
        assert_eq!(answers.each_mut().map(|answer| bench.fresh(answer)), [None; 3]);
        let mut known = bench.ask_silent(FreshnessLevel::None);
        assert_eq!(bench.fresh(&mut known), Some(!polls));
        bench.pass_silent(WAIT - COOKIE_TIMEOUT);
        bench.view.answer_requests(bench.now, &bench.rounds, &Progress::default());
        for answer in &mut answers {
            let reason = answer.try_recv().unwrap().unwrap().reason.unwrap();
            assert_eq!(reason, "/r: its file system has not answered yet");
        }
        assert_eq!((bench.start(), bench.view.deadline(bench.now)), (None, None));
        let mut later = bench.ask(FreshnessLevel::Strict); // it answers again
        if !polls {
            bench.cookie_back(); // of the first probe
        }
        bench.reconcile(&ReconcileScope::Full);
        assert_eq!(bench.fresh(&mut later), Some(true));
    }
}

#[test]
fn where_no_cookie_can_be_made_a_walk_tells() {
    let mut bench = Bench::walked();
    let mut answer = bench.ask_silent(FreshnessLevel::Fs);
    bench.probe(&Err("read-only file system".to_owned()));
    assert_eq!(bench.fresh(&mut answer), None);
    bench.reconcile(&ReconcileScope::Full);
    assert_eq!(bench.fresh(&mut answer), Some(true));
}
