//! Finds the lines of a file that a commit moved from elsewhere.

use std::collections::HashMap;
use std::ops::Range;

use gix::ObjectId;

use super::changes::PathChange;
use super::line_map::{diff_hunks, split_lines};
use crate::git_error::GitError;
use crate::objects::{Objects, TreeEntry};

/// Most changed files of a commit that is searched for moved lines.
const MOST_CHANGES: usize = 500;
/// Most files of one commit that are searched.
const MOST_FILES: usize = 100;
/// Largest file that is searched, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Most places of one line that are compared.
const MOST_PLACES: usize = 64;
/// Least number of letters and digits in a block that counts as moved, as with `git blame -C`.
const LEAST_CHARS: usize = 40;

/// A file from which lines were moved.
pub(super) struct LineSource {
    pub(super) path: String,
    pub(super) entry: TreeEntry,
    /// The position of each line in the requested text and in this file, 0-based.
    pub(super) lines: Vec<(u32, u32)>,
}

/// A version of a file, with the lines whose source is searched for.
pub(super) struct LineTarget<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a [u8],
    /// The lines, 0-based: the position of each in the requested text and in `text`.
    pub(super) lines: &'a [(u32, u32)],
}

/// The blocks whose size is known, each with its lines in the new text and its number of letters and digits. The key is the
/// distance between the old and the new position of a line, which is the same for all lines of a block.
type MeasuredBlocks = HashMap<i64, Vec<(Range<u32>, usize)>>;

/// The lines of an old version of a file, and the spans of those that a commit removed.
struct RemovedLines<'a> {
    lines: Vec<&'a [u8]>,
    spans: Vec<Range<u32>>,
}

impl Objects {
    /// Returns the files of the tree `old` from which `new` moved lines of `target`: blocks of lines that `new` removed there
    /// and added to `target` unchanged. If several blocks have a line, the largest counts; a line in no block is left out.
    ///
    /// # Errors
    /// When a tree is missing or damaged.
    pub(super) fn find_moved_lines(
        &self,
        old: ObjectId,
        new: ObjectId,
        target: &LineTarget<'_>,
    ) -> Result<Vec<LineSource>, GitError> {
        let changes = self.compare_trees(Some(old), new, MOST_CHANGES)?;
        if changes.total > changes.paths.len() {
            return Ok(Vec::new());
        }
        let own = changes.paths.iter().find(|change| change.path == target.path);
        let own_old = own.and_then(|change| self.read_text(change.old)).unwrap_or_default();
        let added: Vec<Range<u32>> =
            diff_hunks(&own_old, target.text).into_iter().map(|hunk| hunk.after).collect();
        let text = split_lines(target.text);
        // The largest block of each line: its size, the index of its file, and the position of the line in that file.
        let mut best: HashMap<u32, (usize, usize, u32)> = HashMap::new();
        let changed: Vec<&PathChange> = changes.paths.iter().filter(|change| change.old.is_some()).collect();
        for (nth, change) in changed.iter().take(MOST_FILES).enumerate() {
            let Some(old_text) = self.read_text(change.old) else { continue };
            let new_text = self.read_text(change.new).unwrap_or_default();
            let spans = diff_hunks(&old_text, &new_text).into_iter().map(|hunk| hunk.before).collect();
            let removed = RemovedLines { lines: split_lines(&old_text), spans };
            let (places, mut blocks) = (removed.index_places(), MeasuredBlocks::new());
            for (_, at) in target.lines {
                let found = places.get(text[*at as usize]).into_iter().flatten().take(MOST_PLACES);
                let sizes = found
                    .map(|place| (removed.block_size(*place, &text, *at, &added, &mut blocks), nth, *place));
                let largest = sizes.filter(|(size, ..)| *size >= LEAST_CHARS).max_by_key(|(size, ..)| *size);
                if let Some(largest) = largest
                    && best.get(at).is_none_or(|known| known.0 < largest.0)
                {
                    best.insert(*at, largest);
                }
            }
        }
        let mut sources: HashMap<usize, LineSource> = HashMap::new();
        for (line, at) in target.lines {
            let Some((_, nth, place)) = best.get(at) else { continue };
            let Some(entry) = changed[*nth].old else { continue };
            let path = changed[*nth].path.clone();
            let source = sources.entry(*nth).or_insert_with(|| LineSource { path, entry, lines: Vec::new() });
            source.lines.push((*line, *place));
        }
        Ok(sources.into_values().collect())
    }

    /// Returns the text of a version of a file; `None` if the entry is no file, is too large or cannot be read.
    fn read_text(&self, entry: Option<TreeEntry>) -> Option<Vec<u8>> {
        self.read_blob_at_most(entry.filter(TreeEntry::is_file)?.id, MOST_BYTES).ok().flatten()
    }
}

impl RemovedLines<'_> {
    /// Returns the positions of each removed line that has a letter or digit, by its text.
    fn index_places(&self) -> HashMap<&[u8], Vec<u32>> {
        let mut places: HashMap<&[u8], Vec<u32>> = HashMap::new();
        for place in self.spans.iter().cloned().flatten() {
            let line = self.lines[place as usize];
            if count_letters_and_digits(line) > 0 {
                places.entry(line).or_default().push(place);
            }
        }
        places
    }

    /// Returns the number of letters and digits in the block around a line that was removed at `place` and added at `at`; 0
    /// if the line was not.
    fn block_size(
        &self,
        place: u32,
        text: &[&[u8]],
        at: u32,
        added: &[Range<u32>],
        known: &mut MeasuredBlocks,
    ) -> usize {
        let same_distance = known.entry(i64::from(place) - i64::from(at)).or_default();
        if let Some((_, size)) = same_distance.iter().find(|(block, _)| block.contains(&at)) {
            return *size;
        }
        let (Some(from), Some(to)) = (span_around(&self.spans, place), span_around(added, at)) else {
            return 0;
        };
        let is_same = |(place, at): &(u32, u32)| self.lines[*place as usize] == text[*at as usize];
        let below = (place..from.end).zip(at..to.end).take_while(is_same);
        let above = (from.start..place).rev().zip((to.start..at).rev()).take_while(is_same);
        let (mut block, mut size) = (at..at, 0);
        for (place, at) in below.chain(above) {
            block = block.start.min(at)..block.end.max(at + 1);
            size += count_letters_and_digits(self.lines[place as usize]);
        }
        same_distance.push((block, size));
        size
    }
}

/// Returns the span that contains a position.
fn span_around(spans: &[Range<u32>], place: u32) -> Option<&Range<u32>> {
    spans.iter().find(|span| span.contains(&place))
}

/// Counts the letters and digits of a line.
fn count_letters_and_digits(line: &[u8]) -> usize {
    line.iter().filter(|byte| byte.is_ascii_alphanumeric()).count()
}
