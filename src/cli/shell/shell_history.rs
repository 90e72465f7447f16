//! Stores the lines of `memo shell` that hold no private text.
//!
//! In the state dir, for the owner alone. Only lines that were understood, and none with a text that is to be remembered: it may
//! hold what the daemon would have cut out or refused.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use super::line::{Line, MOST_LINES};
use crate::cli::args::Verb;
use crate::paths::RepoLayout;

/// From this size on, lines that are not offered any more go.
const MOST_BYTES: u64 = 256 << 10;

/// The file of lines.
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

    /// Returns the last `most` lines, oldest first; none where none can be read.
    pub(super) fn lines(&self, most: usize) -> Vec<String> {
        let text = fs::read_to_string(self.file()).unwrap_or_default();
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines[lines.len().saturating_sub(most)..].to_vec()
    }

    /// Writes a line down if it may be. What cannot be written is not offered again, no more.
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
        // One write: lines of two shells do not mix.
        let _ = options.open(&file).and_then(|mut file| file.write_all(format!("{text}\n").as_bytes()));
    }
}

fn is_private(text: &str, verb: &Verb) -> bool {
    let has_text = matches!(verb, Verb::Add(_) | Verb::Append(_) | Verb::Update(_));
    has_text
        || text.to_lowercase().contains("<private")
        || text.split(['\'', '"', '=', ' ', '\t']).any(is_like_a_key)
}

/// Returns whether a word is long and mixed as keys are; ids of memories are known. Rather too few lines are offered
/// again than one key is kept.
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
