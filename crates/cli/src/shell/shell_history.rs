//! Stores the lines of `memo shell` that hold no private text.
//!
//! The file is in the state dir and readable by its owner only. It has only lines that were parsed, and none with the text
//! of a memory, which may contain something that the daemon would remove or refuse.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use memod_base::paths::RepoLayout;

use super::line::{Line, MOST_LINES};
use crate::args::Verb;

/// Size from which on old lines are dropped.
const MOST_BYTES: u64 = 256 << 10;

/// The history file.
pub(super) struct ShellHistory {
    layout: RepoLayout,
}

impl ShellHistory {
    pub(super) fn new(layout: RepoLayout) -> Self {
        Self { layout }
    }

    fn file(&self) -> PathBuf {
        self.layout.state_dir.join("shell_history")
    }

    /// Returns the last `most` lines, oldest first; nothing if the file cannot be read.
    pub(super) fn lines(&self, most: usize) -> Vec<String> {
        let text = fs::read_to_string(self.file()).unwrap_or_default();
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines[lines.len().saturating_sub(most)..].to_vec()
    }

    /// Appends a line unless it is private. A write error only means that the line is missing from the history.
    pub(super) fn keep(&self, text: &str, line: &Line) {
        let Line::Verb(typed) = line else { return };
        if is_private(text, &typed.verb) || self.layout.create_state_dir().is_err() {
            return;
        }
        let file = self.file();
        if fs::symlink_metadata(&file).is_ok_and(|meta| meta.len() > MOST_BYTES) {
            let kept = self.lines(MOST_LINES).join("\n") + "\n";
            let _ = fs::write(&file, kept);
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // A single write, so that the lines of two shells do not mix.
        let _ = options.open(&file).and_then(|mut file| file.write_all(format!("{text}\n").as_bytes()));
    }
}

fn is_private(text: &str, verb: &Verb) -> bool {
    let has_text = matches!(verb, Verb::Add(_) | Verb::Append(_) | Verb::Update(_));
    has_text
        || text.to_lowercase().contains("<private")
        || text.split(['\'', '"', '=', ' ', '\t']).any(is_like_a_key)
}

/// Returns whether a word is as long and mixed as a key; ids of memories are exempt. It is better to lose a harmless
/// line than to store a key.
fn is_like_a_key(word: &str) -> bool {
    const SHORTEST: usize = 16;
    let has = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
    word.len() >= SHORTEST
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !word.to_ascii_lowercase().starts_with("mem_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_from_ids_and_words() {
        for key in ["ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "AKIAIOSFODNN7EXAMPLE"] {
            assert!(is_like_a_key(key), "{key}");
        }
        for word in ["mem_01ARZ3NDEKTSV4RRFFQ69G5FAV", "src/cli/shell/history.rs", "--format", "2026-11-01"] {
            assert!(!is_like_a_key(word), "{word}");
        }
    }
}
