//! Inserts our section into the text of git's configuration, and removes it.
//!
//! The text alone suffices to undo an insertion, as in [`super::block`]. Lines that a user has added to the section stay, unless
//! they set one of the keys of a hook.

use super::HOOK_EVENTS;
use super::block::block_as_one_line;

/// Name of our hook in git's configuration.
pub(super) const HOOK_NAME: &str = "memo";

const SECTION_HEADER: &str = "[hook \"memo\"]";

/// Keys whose lines are removed with our section.
const HOOK_KEYS: [&str; 4] = ["command", "event", "enabled", "parallel"];

/// Returns the text with our section at the end.
pub(super) fn insert_section(text: &[u8]) -> Vec<u8> {
    let section = section_text();
    match text.last() {
        Some(b'\n') | None => [text, section.as_bytes()].concat(),
        Some(_) => [text, b"\n", section.trim_end().as_bytes()].concat(),
    }
}

/// Returns the text without our section; `None` if there is no section.
pub(super) fn remove_section(text: &[u8]) -> Option<Vec<u8>> {
    let mut left = Vec::with_capacity(text.len());
    let (mut inside, mut found) = (false, false);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let trimmed = line.trim_ascii();
        if trimmed.starts_with(b"[") {
            inside = trimmed == SECTION_HEADER.as_bytes();
        }
        if inside && (trimmed == SECTION_HEADER.as_bytes() || sets_our_key(trimmed)) {
            found = true;
            if !line.ends_with(b"\n") && left.ends_with(b"\n") {
                left.pop(); // we inserted this line feed, because the file had none at its end
            }
        } else {
            left.extend_from_slice(line);
        }
    }
    found.then_some(left)
}

/// Returns whether a line sets one of [`HOOK_KEYS`].
fn sets_our_key(line: &[u8]) -> bool {
    let word = line.split(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default();
    HOOK_KEYS.iter().any(|key| word.eq_ignore_ascii_case(key.as_bytes()))
}

fn section_text() -> String {
    let command = block_as_one_line().replace('\\', "\\\\").replace('"', "\\\"");
    let events = HOOK_EVENTS.map(|event| format!("\tevent = {event}\n")).concat();
    format!("{SECTION_HEADER}\n\tcommand = \"{command}\"\n{events}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use memod_git::NamedHook;

    use super::*;

    #[test]
    fn a_section_comes_out_without_a_trace() {
        let cases: [&[u8]; 8] = [
            b"",
            b"\n",
            b"[core]\n\tbare = false\n",
            b"[core]\n\tbare = false",
            b"[core]\r\n\tbare = false\r\n",
            b"[core] bare = false # no \\ more\n\n\n",
            b"[hook \"other\"]\n\tcommand = x\n\tevent = post-commit\n",
            b"; only a comment",
        ];
        for text in cases {
            let shown = String::from_utf8_lossy(text).into_owned();
            let with = insert_section(text);
            let hook = NamedHook::parse(&with, Path::new("config"), HOOK_NAME).expect("git can read it");
            assert_eq!(hook.command, Some(block_as_one_line()), "{shown:?}");
            assert_eq!(hook.events, HOOK_EVENTS, "{shown:?}");
            assert_eq!(remove_section(&with).as_deref(), Some(text), "{shown:?}");
        }
    }

    #[test]
    fn what_others_wrote_since_stays() {
        let with = insert_section(b"[core]\n\tbare = false\n");
        let edited = [&with, b"\tenabled = false\n# mine\n[remote \"o\"]\n\tevent = x\n".as_slice()].concat();
        let left = remove_section(&edited).expect("ours is in it");
        assert_eq!(left, b"[core]\n\tbare = false\n# mine\n[remote \"o\"]\n\tevent = x\n");
        assert_eq!(remove_section(b"[core]\n\tbare = false\n"), None);
    }

    #[test]
    fn a_file_without_last_line_feed_gets_the_one_git_would_have_added() {
        let edited =
            [insert_section(b"[core]\n\tbare = false").as_slice(), b"\n[remote \"o\"]\n\turl = x\n"].concat();
        let left = remove_section(&edited).expect("ours is in it");
        assert_eq!(left, b"[core]\n\tbare = false\n[remote \"o\"]\n\turl = x\n");
    }
}
