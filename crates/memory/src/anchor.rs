//! Finds the lines that a memory is about by their hashes, and limits anchors.

use memod_base::types::TextHash;
use memod_proto::anchor::Anchor;

use super::RefusedValue;

/// Maximum number of lines of an anchor; a longer span should be the whole file.
pub const MOST_LINES: u32 = 1_000;
/// Maximum number of anchors of a memory.
pub const MAX_ANCHORS: usize = 20;

/// Number of bytes that are stored of a line's hash.
const LINE_BYTES: usize = 8;

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

/// The hashes of the lines of a text.
pub struct LineHashes {
    hashes: Vec<u8>,
}

impl LineHashes {
    /// Hashes the lines, without their ends.
    pub fn new(text: &str) -> Self {
        let hashes = text.lines().flat_map(|line| hash_line(line)[..LINE_BYTES].to_vec()).collect();
        Self { hashes }
    }

    /// Returns the number of lines.
    pub fn len(&self) -> u32 {
        u32::try_from(self.hashes.len() / LINE_BYTES).unwrap_or(u32::MAX)
    }

    /// Returns whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns the hash of the lines from `first` to `last`, 1-based and inclusive; `None` if some of them do not exist.
    pub fn hash_lines(&self, (first, last): (u32, u32)) -> Option<TextHash> {
        let start = (first.checked_sub(1)? as usize) * LINE_BYTES;
        let run = self.hashes.get(start..(last as usize) * LINE_BYTES)?;
        Some(TextHash::hash_bytes(run))
    }

    /// Returns the number of the first line, 1-based, of each run of `n_lines` lines that has the hash `run`.
    pub fn find_runs(&self, n_lines: u32, run: &str) -> Vec<u32> {
        let last_start = (self.len() + 1).saturating_sub(n_lines.max(1));
        (1..=last_start)
            .filter(|first| {
                self.hash_lines((*first, *first + n_lines - 1)).is_some_and(|found| found.to_string() == run)
            })
            .collect()
    }

    /// Returns the first and the last line of a run that was at `lines` and had the hash `run`. `nth` is the run's number among
    /// equal runs, and how many there were. `None` if the run, or one of the equal runs, is gone.
    pub fn find_moved_lines(
        &self,
        lines: (u32, u32),
        run: &str,
        nth: Option<(u32, u32)>,
    ) -> Option<(u32, u32)> {
        let n_lines = lines.1 - lines.0 + 1;
        let places = self.find_runs(n_lines, run);
        let (nth, n_then) = nth.unwrap_or((1, 1));
        let first = match places.len() as u32 {
            n if n < n_then => None,
            n if n == n_then => places.get(nth as usize - 1).copied(),
            _ => places.iter().copied().min_by_key(|first| first.abs_diff(lines.0)),
        }?;
        Some((first, first + n_lines - 1))
    }
}

/// Returns the hash of a line without its end.
fn hash_line(line: &str) -> [u8; 32] {
    *blake3::hash(line.trim_end_matches('\r').as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use memod_proto::anchor::Seen;

    use super::*;

    fn find(then: &str, lines: (u32, u32), now: &str) -> Option<(u32, u32)> {
        let was = LineHashes::new(then);
        let run = was.hash_lines(lines).unwrap().to_string();
        let places = was.find_runs(lines.1 - lines.0 + 1, &run);
        let nth = places.iter().position(|first| *first == lines.0).unwrap() as u32 + 1;
        LineHashes::new(now).find_moved_lines(lines, &run, Some((nth, places.len() as u32)))
    }

    #[test]
    fn lines_are_found_where_they_are_now() {
        let text = "a\nb\nc\nb\nd\n";
        assert_eq!(find(text, (2, 3), text), Some((2, 3)));
        assert_eq!(find(text, (2, 3), "a\r\nb\r\nc\r\n"), Some((2, 3)), "other line ends");
        assert_eq!(find(text, (2, 3), "x\ny\na\nb\nc\n"), Some((4, 5)), "moved");
        assert_eq!(find(text, (2, 3), "a\nb\nx\nc\n"), None, "torn");
        assert_eq!(find(text, (5, 5), "d"), Some((1, 1)), "without a last line end");
        assert_eq!(find(text, (2, 2), "x\na\nb\nc\nb\n"), Some((3, 3)), "the first of two");
        assert_eq!(find(text, (4, 4), "x\na\nb\nc\nb\n"), Some((5, 5)), "the second of two");
        assert_eq!(find(text, (4, 4), "a\nb\nc\n"), None, "one of two is gone: which?");
        assert_eq!(find(text, (3, 3), "c\na\nb\nc\nb\n"), Some((4, 4)), "copied: the nearest");
        assert_eq!(LineHashes::new(text).hash_lines((5, 6)), None);
        assert_eq!(find(text, (1, 5), "a\n"), None);
    }

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
