//! Finds lines of a text by their hashes.

use std::collections::{HashMap, HashSet};

use memod_base::types::TextHash;

/// Number of bytes that are kept of a line's hash.
const LINE_BYTES: usize = 8;
/// Number of bytes of a line's hash that an anchor stores. They suffice to distinguish the lines of a file.
const STORED_BYTES: usize = 4;
/// Number of lines in a sample of a file.
const SAMPLE_LINES: usize = 16;
/// Least number of lines that a sample must have to say that a file was replaced. Of fewer lines an edit may leave none.
const LEAST_SAMPLE: usize = 3;
/// Least number of letters and digits of a line in a sample, so that lines of any file of the language do not count.
const LEAST_SAMPLE_LETTERS: u32 = 12;

/// The hashes of the lines of a text.
pub struct LineHashes {
    hashes: Vec<[u8; LINE_BYTES]>,
    /// Number of letters and digits of each line; `None` for an empty line.
    n_letters: Vec<Option<u32>>,
}

/// How much of a sample of a file is in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptLines {
    /// Number of lines of the sample that the text has.
    pub n_kept: usize,
    /// Number of lines of the sample.
    pub n_sampled: usize,
}

impl KeptLines {
    /// Returns whether the text has at least half of the lines, the share that git requires of a renamed file.
    pub fn has_most(self) -> bool {
        self.n_kept > 0 && self.n_kept * 2 >= self.n_sampled
    }

    /// Returns whether the text has so many of the lines that it can be an edited version of the sampled one: a quarter, or half of
    /// few lines.
    pub fn has_some(self) -> bool {
        self.has_most() || self.n_sampled >= SAMPLE_LINES / 2 && self.n_kept * 4 >= self.n_sampled
    }

    /// Returns whether the text has at least three quarters of the lines.
    pub fn has_nearly_all(self) -> bool {
        self.n_kept * 4 >= self.n_sampled * 3
    }

    /// Returns whether the sample is too small to decide whether a text was edited or replaced.
    pub fn is_small(self) -> bool {
        self.n_sampled < LEAST_SAMPLE
    }
}

impl LineHashes {
    /// Hashes the lines, without their ends.
    pub fn new(text: &str) -> Self {
        let hashes = text.lines().map(hash_line).collect();
        let n_letters = text.lines().map(count_letters).collect();
        Self { hashes, n_letters }
    }

    /// Returns the number of lines.
    pub fn len(&self) -> u32 {
        u32::try_from(self.hashes.len()).unwrap_or(u32::MAX)
    }

    /// Returns whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns the hash of the lines from `first` to `last`, 1-based and inclusive; `None` if some of them do not exist.
    pub fn hash_lines(&self, (first, last): (u32, u32)) -> Option<TextHash> {
        let run = self.hashes.get(first.checked_sub(1)? as usize..last as usize)?;
        Some(TextHash::hash_bytes(run.as_flattened()))
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

    /// Returns the first and the last line of the only run of `n_lines` lines that has the hash `run`; `None` if there are several.
    pub fn find_only_run(&self, n_lines: u32, run: &str) -> Option<(u32, u32)> {
        match self.find_runs(n_lines, run).as_slice() {
            [first] => Some((*first, *first + n_lines - 1)),
            _ => None,
        }
    }

    /// Returns the stored part of the hash of a line, 1-based.
    pub(super) fn stored_hash(&self, line: u32) -> String {
        encode_hash(&self.hashes[line as usize - 1])
    }

    /// Returns the number of letters and digits of the lines from `first` to `last`.
    pub(super) fn count_letters(&self, (first, last): (u32, u32)) -> u32 {
        let lines = self.n_letters.get(first as usize - 1..last as usize).unwrap_or_default();
        lines.iter().flatten().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Returns the lines above `line` that are not empty, nearest first.
    pub(super) fn lines_above(&self, line: u32) -> impl Iterator<Item = u32> + '_ {
        (1..line.min(self.len() + 1)).rev().filter(|line| self.is_filled(*line))
    }

    /// Returns the lines below `line` that are not empty, nearest first.
    pub(super) fn lines_below(&self, line: u32) -> impl Iterator<Item = u32> + '_ {
        (line + 1..=self.len()).filter(|line| self.is_filled(*line))
    }

    fn is_filled(&self, line: u32) -> bool {
        self.n_letters[line as usize - 1].is_some()
    }

    /// Returns the number of lines from `first` to `last` that have letters or digits.
    pub(super) fn count_telling_lines(&self, (first, last): (u32, u32)) -> usize {
        (first..=last).filter(|line| self.n_letters[*line as usize - 1].is_some_and(|n| n > 0)).count()
    }

    /// Returns the lines that occur once in the text, 1-based, by the stored part of their hash.
    pub(super) fn index_unique_lines(&self) -> HashMap<String, u32> {
        let mut lines: HashMap<&[u8], Vec<u32>> = HashMap::new();
        for (hash, line) in self.hashes.iter().zip(1..) {
            lines.entry(&hash[..STORED_BYTES]).or_default().push(line);
        }
        let once = lines.into_iter().filter(|(_, lines)| lines.len() == 1);
        once.map(|(hash, lines)| (encode_hash(hash), lines[0])).collect()
    }

    /// Returns the hashes of some lines, which the edited text still has for the most part, and another text does not.
    pub fn sample_lines(&self) -> String {
        let pick_lines = |least: u32| -> Vec<String> {
            let telling =
                self.hashes.iter().zip(&self.n_letters).filter(|(_, n)| n.is_some_and(|n| n >= least));
            let mut hashes: Vec<String> = telling.map(|(hash, _)| encode_hash(hash)).collect();
            hashes.sort_unstable();
            hashes.dedup();
            hashes
        };
        let mut lines = pick_lines(LEAST_SAMPLE_LETTERS);
        if lines.len() < LEAST_SAMPLE {
            lines = pick_lines(1);
        }
        // The smallest hashes are as good as random lines, and the same ones each time.
        lines.truncate(SAMPLE_LINES);
        lines.concat()
    }

    /// Returns how many lines of a sample the text has.
    pub fn count_kept(&self, sample: &str) -> KeptLines {
        let own: HashSet<String> = self.hashes.iter().map(|hash| encode_hash(hash)).collect();
        let lines = sample.as_bytes().chunks(2 * STORED_BYTES);
        let (n_sampled, kept) = (lines.len(), lines.filter_map(|line| str::from_utf8(line).ok()));
        KeptLines { n_kept: kept.filter(|line| own.contains(*line)).count(), n_sampled }
    }
}

/// Returns the number of letters and digits of a line; `None` if the line is empty.
fn count_letters(line: &str) -> Option<u32> {
    let n_letters = line.chars().filter(|char| char.is_alphanumeric()).count();
    (!line.trim().is_empty()).then(|| u32::try_from(n_letters).unwrap_or(u32::MAX))
}

/// Returns the kept part of the hash of a line without its end.
fn hash_line(line: &str) -> [u8; LINE_BYTES] {
    let mut kept = [0; LINE_BYTES];
    kept.copy_from_slice(&blake3::hash(line.trim_end_matches('\r').as_bytes()).as_bytes()[..LINE_BYTES]);
    kept
}

/// Returns the stored part of a hash in hexadecimal digits.
fn encode_hash(hash: &[u8]) -> String {
    hash[..STORED_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_lines_by_their_hash() {
        let text = LineHashes::new("a\nb\nc\nb\r\nd");
        let run = text.hash_lines((2, 2)).unwrap().to_string();
        assert_eq!((text.len(), text.find_runs(1, &run)), (5, vec![2, 4]), "line ends do not count");
        assert_eq!((text.find_only_run(1, &run), text.hash_lines((5, 6))), (None, None));
        let run = text.hash_lines((4, 5)).unwrap().to_string();
        assert_eq!(text.find_only_run(2, &run), Some((4, 5)));
        assert!(text.find_runs(9, &run).is_empty());
    }

    #[test]
    fn a_sample_distinguishes_an_edited_text_from_another() {
        let lines: Vec<String> = (0..40).map(|n| format!("let value_{n} = compute({n});")).collect();
        let sample = LineHashes::new(&lines.join("\n")).sample_lines();
        let count = |text: &str| LineHashes::new(text).count_kept(&sample);
        assert_eq!(count(&lines.join("\r\n")), KeptLines { n_kept: 16, n_sampled: 16 });
        let edited = lines[..30].join("\n") + "\nanother line\n";
        assert!(count(&edited).has_most() && !count("fn other() {}\n}\n").has_most());
        assert!(LineHashes::new("a\nb\n").count_kept(&LineHashes::new("a\nb\n").sample_lines()).is_small());
        assert_eq!(LineHashes::new("a").count_kept("äöü").n_kept, 0, "not written by memod");
    }
}
