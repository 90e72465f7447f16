//! Finds the lines that a memory is about by their hashes and surroundings, and limits anchors.

mod line_hashes;
mod surroundings;

use memod_base::types::TextHash;
use memod_proto::anchor::Anchor;

pub use self::line_hashes::{KeptLines, LineHashes};
pub use self::surroundings::FoundLines;
use super::RefusedValue;

/// Maximum number of lines of an anchor; a longer span should be the whole file.
pub const MOST_LINES: u32 = 1_000;
/// Maximum number of anchors of a memory.
pub const MAX_ANCHORS: usize = 20;

/// Returns anchors without duplicates: for each location and content the last anchor. Anchors with the same location and different
/// contents all stay, because a statement about one content need not hold for another.
pub fn without_duplicate_anchors<'a>(anchors: impl IntoIterator<Item = &'a Anchor>) -> Vec<Anchor> {
    let mut kept: Vec<Anchor> = Vec::new();
    for anchor in anchors {
        let same = kept
            .iter_mut()
            .find(|known| known.to_string() == anchor.to_string() && known.seen.text == anchor.seen.text);
        match same {
            Some(known) => *known = anchor.clone(),
            None => kept.push(anchor.clone()),
        }
    }
    kept
}

/// Checks the number of anchors of a memory.
///
/// # Errors
/// When there are more than [`MAX_ANCHORS`].
pub fn check_anchor_count(anchors: &[Anchor]) -> Result<(), RefusedValue> {
    if anchors.len() <= MAX_ANCHORS {
        return Ok(());
    }
    Err(RefusedValue::new("about", format!("{} places, over {MAX_ANCHORS}", anchors.len()))
        .with_hint("write a memory for each place: such memories are easier to keep correct"))
}

/// Returns the hash of a whole text, independent of its line ends.
pub fn hash_text(text: &str) -> TextHash {
    let mut hasher = blake3::Hasher::new();
    for line in text.split_inclusive('\n') {
        match line.strip_suffix("\r\n") {
            Some(line) => hasher.update(line.as_bytes()).update(b"\n"),
            None => hasher.update(line.as_bytes()),
        };
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use memod_proto::anchor::Seen;

    use super::*;

    #[test]
    fn anchors_are_there_once_but_for_what_was_seen_otherwise() {
        let anchor = |path: &str, text: &str, blob: &str| Anchor {
            path: path.to_owned(),
            seen: Seen { text: text.to_owned(), blob: blob.to_owned(), ..Seen::default() },
            ..Anchor::default()
        };
        let (old, same, new) = (anchor("a", "1", "x"), anchor("a", "1", "y"), anchor("a", "2", "z"));
        let other = anchor("b", "1", "x");
        assert_eq!(without_duplicate_anchors([&old, &other, &same, &new, &other]), [same, other, new]);
        let many = vec![old; MAX_ANCHORS + 1];
        assert_eq!(check_anchor_count(&many).unwrap_err().to_string(), "about: 21 places, over 20");
        assert_eq!(check_anchor_count(&many[1..]), Ok(()));
    }

    #[test]
    fn a_whole_text_by_its_lines() {
        assert_eq!(hash_text("a\nb\n"), hash_text("a\r\nb\r\n"));
        let others = ["a\nb", "a\nb\n\n", "a\n b\n", "a\rb\n", ""];
        assert!(others.iter().all(|other| hash_text(other) != hash_text("a\nb\n")));
    }
}
