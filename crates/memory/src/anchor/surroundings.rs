//! Finds anchored lines in an edited text by the lines around them.

use std::collections::HashMap;

use memod_base::types::Definition;
use memod_proto::anchor::{Seen, Surroundings};

use super::line_hashes::LineHashes;

/// Number of lines on each side that an anchor stores.
const STORED_LINES: usize = 8;
/// Number of lines on each side of a run that are compared with the stored ones, because lines may have been added.
const COMPARED_LINES: usize = 2 * STORED_LINES;
/// Most runs with the text of an anchor that are compared, because `}` may be in a file thousands of times.
const MOST_RUNS: usize = 500;
/// Least number of stored lines in a definition that count without the lines outside.
const LEAST_INSIDE: usize = 3;
/// Least number of letters and digits of lines that are hardly written twice by chance; `git blame -M` moves lines from 20.
const TELLING_LETTERS: u32 = 20;
/// The same for lines in another definition; `git blame -C` moves lines to another file from 40.
const MOVED_LETTERS: u32 = 40;
/// Least number of lines with letters or digits that may move to another definition.
const MOVED_LINES: usize = 3;

/// Where anchored lines are in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundLines {
    /// First and last line, 1-based and inclusive.
    pub lines: (u32, u32),
    /// Whether these are the anchored lines; otherwise they are the most likely place.
    pub is_certain: bool,
}

/// A run of lines that has the text of an anchor, and how far its surroundings are the stored ones.
struct Candidate {
    lines: (u32, u32),
    /// Number of lines that the text then and now have in common in the same order, if the anchored lines are these.
    n_aligned: usize,
    /// Whether as many lines are in common if the anchored lines were removed: the run may then be one of the lines around them.
    is_ambiguous: bool,
    /// Whether at least half of the unique lines around the anchored ones are still there.
    has_most_surroundings: bool,
    /// Whether the nearest line above or below is the stored one.
    is_adjacent: bool,
    is_inside: bool,
    /// Whether the run is outside of the definition that had the anchored lines, although the text still has it.
    has_left_definition: bool,
}

impl LineHashes {
    /// Describes the text around lines. `is_alone` is whether no other definition in the worktree has the text of the innermost one
    /// around the lines.
    pub fn describe_surroundings(
        &self,
        (first, last): (u32, u32),
        definitions: &[Definition],
        is_alone: bool,
    ) -> Surroundings {
        let inside = Definition::innermost_around(definitions, (first, last));
        let above = self.lines_above(first).map(|line| (self.stored_hash(line), first - line));
        let below = self.lines_below(last).map(|line| (self.stored_hash(line), line - last));
        let (above, below): (Vec<_>, Vec<_>) =
            (above.take(STORED_LINES).collect(), below.take(STORED_LINES).collect());
        let unique = self.index_unique_lines();
        let mark_unique = |side: &[(String, u32)]| {
            let is_unique = side.iter().map(|(hash, _)| u32::from(unique.contains_key(hash)));
            is_unique.enumerate().fold(0, |bits, (at, is_unique)| bits | is_unique << at)
        };
        Surroundings {
            inside: inside.map(|found| found.title.clone()),
            text: inside.filter(|_| is_alone).map(|found| found.text.to_string()),
            n_above: inside.map_or(0, |found| first - found.lines.0),
            n_below: inside.map_or(0, |found| found.lines.1 - last),
            unique: (mark_unique(&above), mark_unique(&below)),
            above,
            below,
        }
    }

    /// Returns the lines that an anchor was made for in the unchanged definition around them; `None` if they are not there.
    pub fn find_lines_in_definition(
        &self,
        lines: (u32, u32),
        seen: &Seen,
        definition: &Definition,
    ) -> Option<(u32, u32)> {
        let last = definition.lines.1.checked_sub(seen.around.as_ref()?.n_below)?;
        let found = (last.checked_sub(lines.1.checked_sub(lines.0)?)?, last);
        let run = self.hash_lines(found)?;
        (run.to_string() == seen.text).then_some(found)
    }

    /// Returns where the lines of an anchor are now, or are most likely; `None` if nothing indicates a place.
    pub fn find_anchored_lines(
        &self,
        lines: (u32, u32),
        seen: &Seen,
        definitions: &[Definition],
    ) -> Option<FoundLines> {
        let n_lines = lines.1.checked_sub(lines.0)?.checked_add(1)?;
        let Some(around) = &seen.around else { return self.find_unmistakable_lines(n_lines, seen) };
        let mut unchanged = definitions.iter().filter(|found| around.text == Some(found.text.to_string()));
        if let (Some(definition), None) = (unchanged.next(), unchanged.next())
            && let Some(lines) = self.find_lines_in_definition(lines, seen, definition)
        {
            return Some(FoundLines { lines, is_certain: true });
        }
        let unique = self.index_unique_lines();
        let mut runs = self.find_runs(n_lines, &seen.text);
        if runs.len() > MOST_RUNS {
            runs.retain(|first| self.has_stored_neighbour((*first, *first + n_lines - 1), around));
            runs.truncate(MOST_RUNS);
        }
        let candidates: Vec<Candidate> = runs
            .into_iter()
            .map(|first| {
                self.compare_surroundings((first, first + n_lines - 1), around, definitions, &unique)
            })
            .collect();
        let most = candidates.iter().map(|found| found.n_aligned).max();
        let best: Vec<&Candidate> = candidates.iter().filter(|found| Some(found.n_aligned) == most).collect();
        let is_unique = candidates.len() == 1 && seen.nth.is_none_or(|(_, total)| total == 1);
        if let [found] = best.as_slice()
            && self.is_anchored_run(found, around, is_unique)
        {
            return Some(FoundLines { lines: found.lines, is_certain: true });
        }
        let nearest = best.iter().min_by_key(|found| found.lines.0.abs_diff(lines.0));
        let likely = nearest.filter(|found| {
            let is_telling = is_unique && self.count_letters(found.lines) >= TELLING_LETTERS;
            is_telling || found.has_most_surroundings && !found.is_ambiguous
        });
        let likely = likely
            .map(|found| found.lines)
            .or_else(|| self.guess_lines(n_lines, around, definitions, &unique));
        likely.map(|lines| FoundLines { lines, is_certain: false })
    }

    /// Finds the lines of an anchor without surroundings: only lines that are unique and not common are certain.
    fn find_unmistakable_lines(&self, n_lines: u32, seen: &Seen) -> Option<FoundLines> {
        let lines = self.find_only_run(n_lines, &seen.text)?;
        let is_telling = self.count_letters(lines) >= TELLING_LETTERS;
        let was_unique = seen.nth.is_none_or(|(_, total)| total == 1);
        is_telling.then_some(FoundLines { lines, is_certain: was_unique })
    }

    /// Returns whether the best run is certainly the anchored one. Its surroundings must be there, except for text that is unlike
    /// any other.
    fn is_anchored_run(&self, found: &Candidate, around: &Surroundings, is_unique: bool) -> bool {
        let is_at_place = found.has_most_surroundings && found.is_adjacent && !found.has_left_definition;
        if is_at_place && !found.is_ambiguous {
            return true;
        }
        let n_letters = self.count_letters(found.lines);
        let was_all = around.above.is_empty() && around.below.is_empty();
        let is_long = n_letters >= MOVED_LETTERS && self.count_telling_lines(found.lines) >= MOVED_LINES;
        let is_telling = n_letters >= TELLING_LETTERS && (found.is_inside || is_at_place);
        is_unique && (was_all || is_long || is_telling)
    }

    /// Compares the text around a run with the stored one. `unique` has the lines that occur once in the text.
    fn compare_surroundings(
        &self,
        lines: (u32, u32),
        around: &Surroundings,
        definitions: &[Definition],
        unique: &HashMap<String, u32>,
    ) -> Candidate {
        let above: Vec<String> =
            self.lines_above(lines.0).take(COMPARED_LINES).map(|line| self.stored_hash(line)).collect();
        let below: Vec<String> =
            self.lines_below(lines.1).take(COMPARED_LINES).map(|line| self.stored_hash(line)).collect();
        let stored = |side: &[(String, u32)]| -> Vec<String> {
            side.iter().take(STORED_LINES).map(|(hash, _)| hash.clone()).collect()
        };
        let (was_above, was_below) = (stored(&around.above), stored(&around.below));
        let run: Vec<String> = (lines.0..=lines.1).map(|line| self.stored_hash(line)).collect();
        let n_aligned =
            run.len() + count_common_lines(&was_above, &above) + count_common_lines(&was_below, &below);
        let join = |above: &[String], run: &[String], below: &[String]| -> Vec<String> {
            above.iter().rev().chain(run).chain(below).cloned().collect()
        };
        let n_without = count_common_lines(&join(&was_above, &[], &was_below), &join(&above, &run, &below));
        let (was_unique_above, was_unique_below) = select_evidence(around);
        let n_unique = was_unique_above.len() + was_unique_below.len();
        let count_there = |hashes: &[&String], now: &[String]| {
            hashes.iter().filter(|hash| unique.contains_key(**hash) && now.contains(hash)).count()
        };
        let n_there = count_there(&was_unique_above, &above) + count_there(&was_unique_below, &below);
        let inside = Definition::innermost_around(definitions, lines).map(|found| found.title.as_str());
        let is_inside = inside == around.inside.as_deref();
        Candidate {
            lines,
            n_aligned,
            is_ambiguous: n_without >= n_aligned,
            has_most_surroundings: n_there > 0 && n_there * 2 >= n_unique,
            is_adjacent: self.has_stored_neighbour(lines, around),
            is_inside,
            has_left_definition: !is_inside
                && definitions.iter().any(|found| Some(&found.title) == around.inside.as_ref()),
        }
    }

    /// Returns whether the nearest line above or below a run is the stored one.
    fn has_stored_neighbour(&self, (first, last): (u32, u32), around: &Surroundings) -> bool {
        let is_stored = |line: Option<u32>, side: &[(String, u32)]| {
            side.first().zip(line).is_some_and(|((hash, _), line)| *hash == self.stored_hash(line))
        };
        is_stored(self.lines_above(first).next(), &around.above)
            || is_stored(self.lines_below(last).next(), &around.below)
    }

    /// Returns the most likely place of lines whose text has changed: between the lines that were around them, or else at the same
    /// distance from the end of their definition.
    fn guess_lines(
        &self,
        n_lines: u32,
        around: &Surroundings,
        definitions: &[Definition],
        unique: &HashMap<String, u32>,
    ) -> Option<(u32, u32)> {
        let find_first = |stored: &[(String, u32)]| {
            stored.iter().find_map(|(hash, distance)| Some((*unique.get(hash)?, *distance)))
        };
        let (above, below) = (find_first(&around.above), find_first(&around.below));
        let start = above.and_then(|(line, distance)| line.checked_add(distance));
        let end = below.and_then(|(line, distance)| line.checked_sub(distance));
        let is_below_nearer = match (above, below) {
            (Some((_, up)), Some((_, down))) => down < up,
            (above, _) => above.is_none(),
        };
        let found = match (start, end) {
            (Some(start), Some(end)) if start <= end => Some((start, end)),
            // Lines were removed in between: the nearest line counts.
            (_, Some(end)) if is_below_nearer => Some((end.saturating_sub(n_lines - 1).max(1), end)),
            (Some(start), _) => Some((start, start.saturating_add(n_lines - 1))),
            _ => None,
        };
        let found = found.filter(|(first, last)| 1 <= *first && first <= last && *last <= self.len());
        found.or_else(|| {
            let inside = around.inside.as_ref()?;
            let definition = definitions.iter().find(|found| found.title == *inside)?;
            let last = definition.lines.1.saturating_sub(around.n_below).max(definition.lines.0);
            Some((last.saturating_sub(n_lines - 1).max(definition.lines.0), last))
        })
    }
}

/// Returns the hashes of the stored lines that show where anchored lines are, above and below: those that occurred once, and are in the
/// same definition if it has enough lines, because the definition may have moved.
fn select_evidence(around: &Surroundings) -> (Vec<&String>, Vec<&String>) {
    let count_near =
        |side: &[(String, u32)], most: u32| side.iter().filter(|(_, distance)| *distance <= most).count();
    let n_inside = count_near(&around.above, around.n_above) + count_near(&around.below, around.n_below);
    let (most_above, most_below) = match around.inside.is_some() && n_inside >= LEAST_INSIDE {
        true => (around.n_above, around.n_below),
        false => (u32::MAX, u32::MAX),
    };
    let (above, below) = around.unique;
    (select_unique(&around.above, above, most_above), select_unique(&around.below, below, most_below))
}

/// Returns the hashes of the stored lines whose bit is set, and that are at most `most` lines away.
fn select_unique(side: &[(String, u32)], unique: u32, most: u32) -> Vec<&String> {
    let lines = side.iter().take(STORED_LINES).enumerate();
    let wanted = lines.filter(|(at, (_, distance))| unique >> at & 1 == 1 && *distance <= most);
    wanted.map(|(_, (hash, _))| hash).collect()
}

/// Returns the length of the longest common subsequence of two lists of lines.
fn count_common_lines(left: &[String], right: &[String]) -> usize {
    let mut lengths = vec![0; right.len() + 1];
    for line in left {
        let mut diagonal = 0;
        for (at, other) in right.iter().enumerate() {
            let above = lengths[at + 1];
            lengths[at + 1] = if line == other { diagonal + 1 } else { above.max(lengths[at]) };
            diagonal = above;
        }
    }
    lengths[right.len()]
}

#[cfg(test)]
mod tests;
