//! Finds the ranks of the relevant records of a question among the hits of a search.
//!
//! The kind of a record depends on the set: a file, a section of a page, a text of the corpus, or each single hit.

use std::collections::{HashMap, HashSet};

use memod_base::types::ChunkKind;

use crate::asked_definitions::AnswerDefinition;

/// A question with its answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelledQuestion {
    pub(crate) qid: String,
    pub(crate) text: String,
    /// The kind of question, if the set names it.
    pub(crate) kind: Option<String>,
    /// The records that answer the question; empty if nothing in the worktree answers it.
    pub(crate) relevant: Vec<RecordLabel>,
    /// The definitions that answer the question, best first, if the set names them.
    pub(crate) definitions: Vec<AnswerDefinition>,
    /// Records that are ignored in the ranking: they neither count as found nor take a rank.
    pub(crate) exclude: Vec<RecordLabel>,
    /// The folder of the worktree to which the question is restricted.
    pub(crate) haystack: Option<String>,
    /// The ids of the records to which the question is restricted.
    pub(crate) haystack_ids: Option<HashSet<String>>,
}

/// A record as a set names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordLabel {
    /// Id of the record; for a file its path.
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) span: LabelSpan,
}

/// The part of a file that a label refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LabelSpan {
    /// The whole file.
    Whole,
    /// First and last line; a hit that overlaps them counts.
    Lines(u32, u32),
    /// The anchor of a heading, before the worktree gives its lines.
    Anchor(String),
    /// First and last line of the section; a hit that begins in it counts.
    Section(u32, u32),
}

/// The path, lines, score and kind of a hit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HitSpan {
    pub(crate) path: String,
    /// First and last line.
    pub(crate) lines: (u32, u32),
    pub(crate) score: f64,
    pub(crate) kind: ChunkKind,
}

impl HitSpan {
    /// Returns whether the hit is in a file, and not a commit or a memory.
    pub(crate) fn is_in_file(&self) -> bool {
        !matches!(self.kind, ChunkKind::Commit | ChunkKind::Memory)
    }
}

/// The records of a set.
#[derive(Clone, Debug)]
pub(crate) enum QuestionCorpus {
    /// Each hit is a record. The rank of a label is that of the first hit that matches it.
    Hits,
    /// Files; only the candidates, if the set names some.
    Files(Option<HashSet<String>>),
    /// Sections of pages: for each path, the first line and id of each section, ascending.
    Sections(HashMap<String, Vec<(u32, String)>>),
    /// Texts, each in its own file: `files` maps file names to ids, `haystacks` maps ids to haystacks.
    Texts { files: HashMap<String, String>, haystacks: HashMap<String, String> },
}

impl QuestionCorpus {
    /// Returns the path of a text in the worktree: `HAYSTACK/ID.md`, or `ID.md` if the text is in no haystack. `None` if the
    /// records are not texts.
    pub(crate) fn text_path(&self, id: &str) -> Option<String> {
        let Self::Texts { haystacks, .. } = self else { return None };
        let file = text_file_name(id);
        Some(match haystacks.get(id) {
            Some(haystack) => format!("{}/{file}", to_file_name(haystack)),
            None => file,
        })
    }
}

/// Returns the name of the file with the text of this id.
pub(crate) fn text_file_name(id: &str) -> String {
    format!("{}.md", to_file_name(id))
}

/// Returns an id or haystack as a file name: all characters but letters, digits and `._-` become `_`.
pub(crate) fn to_file_name(id: &str) -> String {
    id.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

impl RecordLabel {
    /// Returns whether a hit, which must be in the file of the label, matches the span of the label.
    fn matches_hit(&self, hit: &HitSpan) -> bool {
        let (first, last) = hit.lines;
        match self.span {
            LabelSpan::Whole => true,
            LabelSpan::Lines(start, end) => first <= end && start <= last,
            LabelSpan::Section(start, end) => (start..=end).contains(&first),
            LabelSpan::Anchor(_) => false, // the worktree has no such heading
        }
    }

    /// Returns the rank, from 0, of the first hit that matches the path and span of the label.
    fn find_rank(&self, hits: &[HitSpan]) -> Option<usize> {
        hits.iter().position(|hit| self.names_path(&hit.path) && self.matches_hit(hit))
    }

    /// Returns whether the label is for a part of the file at `path`, and not for the whole file.
    fn is_part_of_file(&self, path: &str) -> bool {
        self.path == path && self.span != LabelSpan::Whole
    }

    /// Returns whether the last line of the label is before the first.
    pub(crate) fn is_reversed(&self) -> bool {
        matches!(self.span, LabelSpan::Lines(first, last) if last < first)
    }

    /// Returns whether the path of the label is `path`, or ends `path`.
    pub(crate) fn names_path(&self, path: &str) -> bool {
        path.strip_suffix(self.path.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    }
}

impl LabelledQuestion {
    /// Returns whether nothing in the worktree answers the question.
    pub(crate) fn has_no_answer(&self) -> bool {
        self.relevant.is_empty()
    }

    /// Returns the rank of each definition, from 0; `None` if no hit shows it. Every hit takes a rank, because an agent reads the
    /// hits one by one.
    pub(crate) fn rank_definitions(&self, hits: &[HitSpan]) -> Vec<Option<usize>> {
        let definitions = self.definitions.iter();
        definitions
            .map(|definition| {
                hits.iter().position(|hit| definition.is_shown_by(hit.kind, &hit.path, hit.lines))
            })
            .collect()
    }

    /// Returns the rank of each relevant record, from 0; `None` if no hit is in it. Hits outside of all records, further hits of
    /// the same record, and excluded records take no rank.
    pub(crate) fn rank_records(&self, corpus: &QuestionCorpus, hits: &[HitSpan]) -> Vec<Option<usize>> {
        if matches!(corpus, QuestionCorpus::Hits) {
            return self.relevant.iter().map(|label| label.find_rank(hits)).collect();
        }
        let mut seen = HashSet::new();
        let mut ranks = vec![None; self.relevant.len()];
        for hit in hits {
            let Some(id) = self.find_record_id(corpus, hit, &seen) else { continue };
            if seen.contains(&id) {
                continue;
            }
            if let Some(nth) = self.relevant.iter().position(|label| label.id == id) {
                ranks[nth] = Some(seen.len());
            }
            seen.insert(id);
        }
        ranks
    }

    /// Returns the id of the record of a hit; `None` if the hit is in no record, or the record is ignored for this question.
    fn find_record_id(
        &self,
        corpus: &QuestionCorpus,
        hit: &HitSpan,
        seen: &HashSet<String>,
    ) -> Option<String> {
        let id = match corpus {
            QuestionCorpus::Hits => return None,
            QuestionCorpus::Files(candidates) => {
                let is_candidate = candidates.as_ref().is_none_or(|paths| paths.contains(&hit.path));
                let is_record = hit.is_in_file() && is_candidate;
                let id = is_record.then(|| self.find_file_record_id(hit, seen)).flatten();
                return id.filter(|id| self.haystack_ids.as_ref().is_none_or(|ids| ids.contains(id)));
            }
            QuestionCorpus::Sections(pages) => {
                let sections = pages.get(&hit.path)?;
                let above = sections.partition_point(|(line, _)| *line <= hit.lines.0);
                &sections[above.checked_sub(1)?].1
            }
            QuestionCorpus::Texts { files, haystacks } => {
                let id = files.get(hit.path.rsplit('/').next()?)?;
                if !haystacks.is_empty()
                    && self.haystack.is_some()
                    && haystacks.get(id) != self.haystack.as_ref()
                {
                    return None;
                }
                id
            }
        };
        let is_admitted = self.haystack_ids.as_ref().is_none_or(|ids| ids.contains(id));
        let counts = is_admitted && self.exclude.iter().all(|label| label.id != *id);
        counts.then(|| id.clone())
    }

    /// Returns the id of the record of a hit in a corpus of files: that of the label that the hit matches, or else the file. If
    /// only parts of a file are relevant, each other hit in that file is a record of its own.
    fn find_file_record_id(&self, hit: &HitSpan, seen: &HashSet<String>) -> Option<String> {
        let parts = self.relevant.iter().filter(|label| label.is_part_of_file(&hit.path));
        let mut parts = parts.filter(|label| label.matches_hit(hit)).peekable();
        let first = parts.peek().map(|label| label.id.clone());
        let found = parts.find(|label| !seen.contains(&label.id)).map(|label| label.id.clone()).or(first);
        if found.is_some() {
            return found;
        }
        if self.exclude.iter().any(|label| label.path == hit.path && label.matches_hit(hit)) {
            return None;
        }
        let is_whole =
            self.relevant.iter().any(|label| label.path == hit.path && label.span == LabelSpan::Whole);
        let (first, last) = hit.lines;
        match !is_whole && self.relevant.iter().any(|label| label.is_part_of_file(&hit.path)) {
            true => Some(format!("{}#L{first}-L{last}", hit.path)),
            false => Some(hit.path.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label_json::parse_label;

    fn hit(text: &str) -> HitSpan {
        let (path, lines) = text.split_once(':').expect("PATH:FIRST-LAST");
        let (first, last) = lines.split_once('-').expect("FIRST-LAST");
        let lines = (first.parse().expect("a number"), last.parse().expect("a number"));
        let kind = if path.starts_with("commit:") { ChunkKind::Commit } else { ChunkKind::Symbol };
        HitSpan { path: path.to_owned(), lines, score: 1.0, kind }
    }

    fn ranks(
        corpus: &QuestionCorpus,
        (relevant, exclude): (&[&str], &[&str]),
        hits: &[&str],
    ) -> Vec<Option<usize>> {
        let labels = |texts: &[&str]| texts.iter().map(|text| parse_label(text)).collect();
        let question = LabelledQuestion {
            relevant: labels(relevant),
            exclude: labels(exclude),
            ..LabelledQuestion::default()
        };
        question.rank_records(corpus, &hits.iter().map(|text| hit(text)).collect::<Vec<_>>())
    }

    #[test]
    fn files_count_once_at_their_best_rank() {
        let all = QuestionCorpus::Files(None);
        let some = QuestionCorpus::Files(Some(["a", "b", "c"].map(str::to_owned).into()));
        let hits = ["b:1-2", "commit:12:1-1", "x:1-9", "b:5-6", "c:1-2", "a:1-2", "c:3-4"];
        assert_eq!(ranks(&all, (&["a", "c", "d"], &[]), &hits[..1]), [None; 3]);
        assert_eq!(
            ranks(&some, (&["a", "c"], &[]), &["b:1-2", "x:1-9", "b:5-6", "c:1-2", "a:1-2"]),
            [Some(2), Some(1)]
        );
        assert_eq!(ranks(&all, (&["a"], &["b", "c"]), &["b:1-2", "x:1-9", "c:1-2", "a:1-2"]), [Some(1)]);
    }

    #[test]
    fn parts_of_a_file_are_records() {
        let all = QuestionCorpus::Files(None);
        let lines = &["a#L10-L20", "a#L15-L30"][..];
        assert_eq!(ranks(&all, (lines, &[]), &["a:1-9", "a:21-40", "a:12-16"]), [Some(2), Some(1)]);
        assert_eq!(ranks(&all, (lines, &[]), &["a:12-16", "a:14-18", "b:1-1"]), [Some(0), Some(1)]);
        assert_eq!(ranks(&all, (lines, &["a"]), &["b:1-1", "a:1-9", "a:20-20"]), [Some(1), None]);
        // Without a heading in the tree, an anchor is found nowhere.
        assert_eq!(ranks(&all, (&["p.md#x"], &[]), &["p.md:1-9"]), [None]);
    }

    #[test]
    fn sections_are_found_by_the_first_line_of_a_hit() {
        let section = |line, id: &str| (line, id.to_owned());
        let pages = vec![section(1, "p.md"), section(10, "p.md#a"), section(20, "p.md#b")];
        let corpus = QuestionCorpus::Sections([("p.md".to_owned(), pages)].into());
        let hits = ["p.md:12-30", "p.md:19-19", "q.md:1-2", "p.md:3-4", "p.md:20-21"];
        assert_eq!(ranks(&corpus, (&["p.md#b", "p.md#a"], &[]), &hits), [Some(2), Some(0)]);
        assert_eq!(ranks(&corpus, (&["p.md#b"], &["p.md", "p.md#a"]), &hits), [Some(0)]);
    }

    #[test]
    fn texts_of_another_haystack_do_not_count() {
        let text =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let files = text(&[("c_1.md", "c:1"), ("d_1.md", "d:1"), ("c_2.md", "c:2")]);
        let haystacks = text(&[("c:1", "c"), ("d:1", "d"), ("c:2", "c")]);
        let corpus = QuestionCorpus::Texts { files, haystacks };
        assert_eq!(corpus.text_path("d:1").as_deref(), Some("d/d_1.md"));
        let mut question = LabelledQuestion {
            relevant: vec![parse_label("c:2")],
            haystack: Some("c".to_owned()),
            ..LabelledQuestion::default()
        };
        let hits = ["d/d_1.md:1-1", "c/c_1.md:1-1", "c/c_2.md:1-1"].map(hit);
        assert_eq!(question.rank_records(&corpus, &hits), [Some(1)]);
        question.haystack_ids = Some(HashSet::from(["c:2".to_owned()]));
        assert_eq!(question.rank_records(&corpus, &hits), [Some(0)]);
    }

    #[test]
    fn where_hits_are_records_a_repeat_takes_a_rank() {
        let hits = ["root/src/a:1-2", "root/src/a:5-6", "ab:1-1", "b:1-9"];
        assert_eq!(
            ranks(&QuestionCorpus::Hits, (&["src/a", "b", "src/a#L6-L9"], &[]), &hits),
            [Some(0), Some(3), Some(1)]
        );
    }
    #[test]
    fn each_hit_takes_a_rank_before_a_definition() {
        let definition = |path: &str, lines| AnswerDefinition {
            path: path.to_owned(),
            lines,
            name: String::new(),
            must: true,
        };
        let definitions = vec![definition("a", (10, 20)), definition("a", (11, 14)), definition("b", (1, 2))];
        let question = LabelledQuestion { definitions, ..LabelledQuestion::default() };
        let hits = ["c:1-2", "a:1-9", "a:12-13", "a:12-13", "a:10-20"].map(hit);
        assert_eq!(question.rank_definitions(&hits), [Some(2), Some(2), None]);
    }
}
