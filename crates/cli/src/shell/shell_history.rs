//! Stores the lines of `memo shell` that hold no private text.
//!
//! The file is in the state dir, and only its owner can read it. It holds only lines that could be parsed, and no line with the
//! text of a memory, because the text may contain something that the daemon would remove or refuse.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use memod_base::paths::RepoLayout;

use super::shell_line::{MAX_HISTORY_LINES, ShellLine};
use crate::args::MemoVerb;

/// Size of the file above which old lines are dropped, bytes.
const MAX_HISTORY_BYTES: u64 = 256 << 10;

/// The history file.
pub(super) struct ShellHistory {
    layout: RepoLayout,
}

impl ShellHistory {
    pub(super) fn new(layout: RepoLayout) -> Self {
        Self { layout }
    }

    fn history_file(&self) -> PathBuf {
        self.layout.state_dir.join("shell_history")
    }

    /// Returns the last `n_lines` lines, oldest first; none if the file cannot be read.
    pub(super) fn last_lines(&self, n_lines: usize) -> Vec<String> {
        let text = fs::read_to_string(self.history_file()).unwrap_or_default();
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines[lines.len().saturating_sub(n_lines)..].to_vec()
    }

    /// Appends a line unless it is private. A write error only means that the line is missing from the history.
    pub(super) fn append(&self, text: &str, line: &ShellLine) {
        let ShellLine::Command(typed) = line else { return };
        if is_private(text, &typed.verb) || self.layout.create_state_dir().is_err() {
            return;
        }
        let file = self.history_file();
        if fs::symlink_metadata(&file).is_ok_and(|meta| meta.len() > MAX_HISTORY_BYTES) {
            let last_lines = self.last_lines(MAX_HISTORY_LINES).join("\n") + "\n";
            let _ = fs::write(&file, last_lines);
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // Use a single write, so that the lines of two shells do not mix.
        let _ = options.open(&file).and_then(|mut file| file.write_all(format!("{text}\n").as_bytes()));
    }
}

fn is_private(text: &str, verb: &MemoVerb) -> bool {
    let has_text = matches!(verb, MemoVerb::Add(_) | MemoVerb::Append(_) | MemoVerb::Update(_));
    has_text
        || text.to_lowercase().contains("<private")
        || text.split(['\'', '"', '=', ' ', '\t']).any(looks_like_a_key)
}

/// Returns whether a word is long and has letters and digits, as a secret key has; ids of memories are exempt. Losing a harmless
/// line is better than storing a key.
fn looks_like_a_key(word: &str) -> bool {
    const SHORTEST: usize = 16;
    word.len() >= SHORTEST
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_alphabetic())
        && !word.to_ascii_lowercase().starts_with("mem_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_from_ids_and_words() {
        for key in ["ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "AKIAIOSFODNN7EXAMPLE"] {
            assert!(looks_like_a_key(key), "{key}");
        }
        for word in ["mem_01ARZ3NDEKTSV4RRFFQ69G5FAV", "src/cli/shell/history.rs", "--format", "2026-11-01"] {
            assert!(!looks_like_a_key(word), "{word}");
        }
    }
}
