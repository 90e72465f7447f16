//! Is a file read whole, once, and never through a link?

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use memod_base::types::{ReadRefusal, SourceKey};
use memod_scan::{Content, FileSnapshot, ReadError, lstat, read};

use super::fixture::{Fixture, MAX_FILE_BYTES};
use crate::sandbox::mkfifo;

fn read_key(fixture: &Fixture, key: &str) -> Result<FileSnapshot, ReadError> {
    read(&fixture.root, &SourceKey::new(key), MAX_FILE_BYTES)
}

#[test]
fn content() {
    let f = Fixture::plain();
    let check = |bytes: &[u8], expected: Content| {
        let path = f.root.join("d/ü x");
        fs::create_dir_all(f.root.join("d")).unwrap();
        fs::write(&path, bytes).unwrap();
        let read = read_key(&f, "d/ü x").unwrap();
        assert_eq!(read.content, expected);
        assert_eq!(read.stat, lstat(&path).unwrap());
        if read.content != Content::Refused(ReadRefusal::TooBig) {
            assert_eq!(read.hash, *blake3::hash(bytes).as_bytes());
        }
    };
    let text = |text: &str| Content::Text(text.to_owned());
    check(b"", text(""));
    check("a\r\nü\n".as_bytes(), text("a\r\nü\n"));
    check(b"a\xff\xfeb", text("a\u{fffd}\u{fffd}b"));
    check(b"a\0b", Content::Refused(ReadRefusal::Binary));
    let nul_at = |at: usize| [vec![b'a'; at], vec![0]].concat();
    check(&nul_at(8191), Content::Refused(ReadRefusal::Binary));
    check(&nul_at(8192), text(&format!("{}\0", "a".repeat(8192))));
    let max = usize::try_from(MAX_FILE_BYTES).unwrap();
    check(&vec![b'a'; max], text(&"a".repeat(max)));
    check(&vec![b'a'; max + 1], Content::Refused(ReadRefusal::TooBig));
}

#[cfg(unix)]
#[test]
fn what_is_not_a_file_below_the_root() {
    let f = Fixture::plain();
    f.files(&["file", "d/x"]);
    let check = |key: &str, expected: &str| {
        let error = read_key(&f, key).unwrap_err();
        let kind = match &error {
            ReadError::Gone(_) => "gone",
            ReadError::NotRegular(_) => "not regular",
            ReadError::Unsettled(_) => "unsettled",
            ReadError::Unreadable(_) => "unreadable",
            ReadError::Transient(_) => "transient",
        };
        assert_eq!(kind, expected, "{key}: {error}");
    };
    check("missing", "gone");
    check("missing/x", "gone");
    check("d", "not regular");
    check("file/x", "not regular");
    check("nul\0", "not regular");
    check(&"n".repeat(300), "unreadable");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("file", f.root.join("link")).unwrap();
        symlink("d", f.root.join("dirlink")).unwrap();
        symlink("loop", f.root.join("loop")).unwrap();
        mkfifo(&f.root.join("fifo"));
        let _socket = std::os::unix::net::UnixListener::bind(f.root.join("socket")).unwrap();
        for key in ["link", "dirlink", "dirlink/x", "loop", "loop/x", "fifo", "socket"] {
            check(key, "not regular");
        }
    }
}

/// A writer replaces the content, by renaming and in place in turn; no read may mix two versions.
#[test]
fn a_file_that_is_being_written_is_never_torn() {
    let f = Fixture::plain();
    let path = f.root.join("busy");
    fs::write(&path, "a".repeat(1000)).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let letters = [b'b', b'c', b'd', b'e'];
            for turn in 0..400 {
                let length = 40_000 + turn;
                let text = vec![letters[turn % 4]; length];
                if turn % 3 == 0 {
                    fs::write(&path, text).unwrap();
                } else {
                    fs::write(f.root.join("next"), text).unwrap();
                    fs::rename(f.root.join("next"), &path).unwrap();
                }
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            match read_key(&f, "busy") {
                Ok(FileSnapshot { stat, content: Content::Text(text), .. }) => {
                    assert_eq!(stat.size, text.len() as u64);
                    assert!(text.bytes().all(|byte| byte == text.as_bytes()[0]));
                }
                Err(ReadError::Unsettled(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    });
}
