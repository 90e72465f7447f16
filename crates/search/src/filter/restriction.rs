//! Turns the operators and filters of a query into the set of chunks to which every arm is restricted.
//!
//! The symbol, title and body of a chunk together must satisfy the operators. The path of a chunk does not count.

use std::borrow::Cow;

use jiff::Timestamp;
use memod_base::types::{ChunkId, IdSet, WorktreeId};
use memod_database::DatabaseError;
use memod_index_db::IndexReader;

use super::SearchFilter;
use crate::query::{Query, symbol_names};

/// Conditions on definitions and commits. The index is needed to find the chunks that satisfy them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchConditions {
    /// Names; a chunk must define one of them. Empty for any chunk.
    pub symbols: Vec<String>,
    /// Names that a chunk must not define.
    pub not_symbols: Vec<String>,
    /// Conditions that only commits satisfy; `None` for any commit and any file.
    pub commits: Option<CommitConditions>,
    /// Parts of the names or addresses of authors whose commits are excluded.
    pub not_authors: Vec<String>,
}

impl SearchConditions {
    /// Returns the names of [`Self::symbols`] without qualifiers.
    pub(crate) fn unqualified_symbols(&self) -> Vec<String> {
        self.symbols.iter().map(|name| split_qualified_name(name).1.to_owned()).collect()
    }
}

/// Returns the whole of a typed name, and its last part: `login` of `Session::login`.
fn split_qualified_name(typed: &str) -> (&str, &str) {
    symbol_names::parse_name(typed).map_or((typed, typed), |name| (name.full, name.last))
}

/// Conditions that only commits satisfy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitConditions {
    /// Earliest time of a commit, unix ms.
    pub since: Option<i64>,
    /// A commit must be earlier than this time, unix ms.
    pub before: Option<i64>,
    /// Lists of parts of an author's name or address. The author must contain a part of each list, ignoring case.
    pub authors: Vec<Vec<String>>,
}

/// Returns the filter, restricted to the chunks that satisfy the operators of a query and the conditions.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn restrict_filter<'a>(
    reader: &IndexReader,
    worktree: WorktreeId,
    filter: &'a SearchFilter,
    query: &Query,
    conditions: &SearchConditions,
) -> Result<Cow<'a, SearchFilter>, DatabaseError> {
    let mut filter = Cow::Borrowed(filter);
    let restriction = query.restriction();
    if let Some(expression) = restriction.required {
        filter.to_mut().restrict_to_chunks(reader.read_postings()?.find_matching(&expression)?);
    }
    if let Some(expression) = restriction.excluded {
        exclude_chunks(reader, filter.to_mut(), &reader.read_postings()?.find_matching(&expression)?)?;
    }
    if !conditions.symbols.is_empty() {
        filter.to_mut().restrict_to_chunks(find_definitions(reader, &conditions.symbols)?);
    }
    if !conditions.not_symbols.is_empty() {
        exclude_chunks(reader, filter.to_mut(), &find_definitions(reader, &conditions.not_symbols)?)?;
    }
    if let Some(wanted) = &conditions.commits {
        filter.to_mut().restrict_to_chunks(find_commits(reader, worktree, |date, author| {
            wanted.admits_commit(date, author)
        })?);
    }
    if !conditions.not_authors.is_empty() {
        exclude_chunks(
            reader,
            filter.to_mut(),
            &find_commits(reader, worktree, |_: &str, author: &str| {
                matches_author(author, &conditions.not_authors)
            })?,
        )?;
    }
    Ok(filter)
}

/// Excludes the chunks in `set` from a filter.
fn exclude_chunks(reader: &IndexReader, filter: &mut SearchFilter, set: &IdSet) -> Result<(), DatabaseError> {
    if filter.chunks.is_none() {
        filter.chunks = Some(reader.all_chunk_ids()?);
    }
    filter.chunks.iter_mut().for_each(|chunks| chunks.difference_with(set));
    Ok(())
}

impl CommitConditions {
    /// Returns whether a commit with this date and author satisfies the conditions. A commit without a valid date satisfies no
    /// condition on time.
    fn admits_commit(&self, date: &str, author: &str) -> bool {
        let is_in_time = self.since.is_none() && self.before.is_none()
            || date.parse::<Timestamp>().is_ok_and(|date| {
                let date = date.as_millisecond();
                self.since.is_none_or(|since| date >= since) && self.before.is_none_or(|before| date < before)
            });
        is_in_time && self.authors.iter().all(|parts| matches_author(author, parts))
    }
}

/// Returns whether an author contains one of the parts, ignoring case.
fn matches_author(author: &str, parts: &[String]) -> bool {
    let author = author.to_lowercase();
    parts.iter().any(|part| author.contains(&part.to_lowercase()))
}

/// Returns the chunks that define one of the names. A chunk for a qualified name (`Session::login`) must have all qualifiers.
fn find_definitions(reader: &IndexReader, names: &[String]) -> Result<IdSet, DatabaseError> {
    let mut ids = Vec::new();
    for typed in names {
        let (full, last) = split_qualified_name(typed);
        let found = reader.find_definitions_named(last)?.into_iter();
        ids.extend(
            found.filter(|(_, title)| last == full || contains_qualified_name(title, full)).map(|(id, _)| id),
        );
    }
    Ok(ids.into_iter().collect())
}

/// Returns whether a title contains a qualified name, ignoring case, and not as a part of a name that begins earlier.
fn contains_qualified_name(title: &str, full: &str) -> bool {
    let (title, full) = (title.to_lowercase(), full.to_lowercase());
    title
        .match_indices(&full)
        .any(|(at, _)| !title[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Returns the commits of a worktree whose date and author `admit` accepts.
fn find_commits(
    reader: &IndexReader,
    worktree: WorktreeId,
    admit: impl Fn(&str, &str) -> bool,
) -> Result<IdSet, DatabaseError> {
    let mut ids: Vec<ChunkId> = Vec::new();
    reader.each_commit(worktree, |id, header| {
        let mut words = header.splitn(3, ' ').skip(1);
        let (date, author) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if admit(date, author) {
            ids.push(id);
        }
    })?;
    Ok(ids.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_by_date_and_author() {
        let at = |time: &str| Some(time.parse::<Timestamp>().unwrap().as_millisecond());
        let check = |conditions: &CommitConditions, date: &str, author: &str, expected: bool| {
            assert_eq!(conditions.admits_commit(date, author), expected, "{date} {author}");
        };
        let in_may = CommitConditions {
            since: at("2026-05-01T00:00:00Z"),
            before: at("2026-06-01T00:00:00Z"),
            authors: vec![vec!["ann".to_owned(), "BOB".to_owned()], vec!["example.org".to_owned()]],
        };
        check(&in_may, "2026-05-01T00:00:00Z", "Ann <a@example.org>", true);
        check(&in_may, "2026-05-31T23:59:59Z", "bob <b@EXAMPLE.org>", true);
        check(&in_may, "2026-06-01T01:00:00+02:00", "Ann <a@example.org>", true);
        check(&in_may, "2026-06-01T00:00:00Z", "Ann <a@example.org>", false);
        check(&in_may, "2026-05-01T01:00:00+02:00", "Ann <a@example.org>", false);
        check(&in_may, "2026-05-02T00:00:00Z", "Ann <a@example.com>", false);
        check(&in_may, "2026-05-02T00:00:00Z", "Carl <c@example.org>", false);
        check(&in_may, "", "Ann <a@example.org>", false);
        check(&CommitConditions::default(), "", "", true);
    }

    #[test]
    fn a_qualified_name_begins_where_a_word_does() {
        for (title, full, expected) in [
            ("Session::login", "session::Login", true),
            ("auth::Session::login", "Session::login", true),
            ("MySession::login", "Session::login", false),
            ("Session::logout", "Session::login", false),
            ("", "a::b", false),
        ] {
            assert_eq!(contains_qualified_name(title, full), expected, "{title} {full}");
        }
    }
}
