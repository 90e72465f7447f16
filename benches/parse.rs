//! How long do reading and extraction alone take, without any database?
//!
//! `cargo bench --bench parse -- DIR`: extracts every file that counts below a worktree, with as many threads as
//! the daemon uses, and prints one line. Compare it with `memo init` on the same tree in the same minute.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench prints what it measured")]

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use memod_base::paths::{Env, RepoLayout};
use memod_scan::{AdmissionRules, Content, ListedFile, ScanError, Visit};

const MAX_FILE_BYTES: u64 = 1 << 20;

struct Files(Vec<ListedFile>);

impl Visit for Files {
    fn before_listing(&mut self, _: &Path, _: Option<&memod_base::types::SourceKey>) {}

    fn visit_file(&mut self, found: ListedFile) {
        if found.refusal.is_none() {
            self.0.push(found);
        }
    }

    fn report_problem(&mut self, _: Option<memod_base::types::SourceKey>, problem: ScanError) {
        eprintln!("{problem}");
    }

    fn report_unread(&mut self, _: Option<memod_base::types::SourceKey>, why: String) {
        eprintln!("{why}");
    }
}

fn main() {
    let dir = std::env::args().skip(1).find(|arg| !arg.starts_with("--")).unwrap_or_else(|| ".".to_owned());
    let layout = RepoLayout::locate(Path::new(&dir), &Env::read()).expect("a worktree");
    let mut admission = AdmissionRules::open(&layout, MAX_FILE_BYTES).expect("a readable index");
    let start = Instant::now();
    let mut files = Files(Vec::new());
    memod_scan::walk(&layout, &mut admission, None, &mut files).expect("a readable root");
    let walked = start.elapsed();
    let (next, n_bytes, n_chunks) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicUsize::new(0));
    let n_threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                while let Some(found) = files.0.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Ok(read) = memod_scan::read(&layout.root, &found.key, MAX_FILE_BYTES) else {
                        continue;
                    };
                    let Content::Text(text) = read.content else { continue };
                    n_bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
                    let extracted = memod_extract::extract(found.key.as_str(), &text);
                    n_chunks.fetch_add(extracted.chunks.len(), Ordering::Relaxed);
                }
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let megabytes = n_bytes.load(Ordering::Relaxed) as f64 / 1e6;
    println!(
        "parse only: {} files, {megabytes:.1} MB, {} chunks in {seconds:.2} s (walk {:.2} s), {:.0} files/s, {:.1} MB/s, {n_threads} threads",
        files.0.len(),
        n_chunks.load(Ordering::Relaxed),
        walked.as_secs_f64(),
        files.0.len() as f64 / seconds,
        megabytes / seconds,
    );
}
