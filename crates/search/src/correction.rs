//! Corrects the unknown words of a query with the words of the index.

pub mod similar_names;
mod typo;

use memod_base::types::Phrase;
use memod_database::DatabaseError;
use memod_index_db::PostingLists;
use memod_text::stems::{is_stem, marked_stem};
use memod_text::words::{TokenForm, write_words};

use super::query::{Query, is_stop_word, swap_plural};
use super::worktree_chunks::WorktreeChunks;

/// A query is corrected if fewer hits than this have a word of the query.
pub const MIN_EXACT_HITS: usize = 3;

/// Most unknown words of a query that are corrected.
const MOST_CORRECTED: usize = 8;

/// The words of a set of texts, with their frequencies.
pub trait Vocabulary {
    /// Returns the number of texts that contain a word.
    ///
    /// # Errors
    /// When the database cannot be read.
    fn count_texts_with(&self, term: &str) -> Result<u64, DatabaseError>;

    /// Calls `see` with every word of the texts, and perhaps with words that no text contains any more.
    ///
    /// # Errors
    /// When the database cannot be read.
    fn each_term(&self, see: &mut dyn FnMut(&str)) -> Result<(), DatabaseError>;
}

/// The words of the chunks of a worktree.
///
/// The postings also contain chunks of other worktrees and deleted chunks. These are not counted, because otherwise corrections
/// would depend on former texts of the files.
pub struct WorktreeVocabulary<'a> {
    /// The postings of all chunks.
    pub postings: PostingLists<'a>,
    /// The chunks of the worktree.
    pub chunks: &'a WorktreeChunks,
}

impl Vocabulary for WorktreeVocabulary<'_> {
    fn count_texts_with(&self, term: &str) -> Result<u64, DatabaseError> {
        let word = Phrase { tokens: term.to_owned(), is_prefix: false };
        let mut n_chunks = 0;
        self.postings
            .each_match(&word, |id, _| n_chunks += u64::from(self.chunks.position_of(id).is_some()))?;
        Ok(n_chunks)
    }

    fn each_term(&self, see: &mut dyn FnMut(&str)) -> Result<(), DatabaseError> {
        self.postings.each_term(see)
    }
}

/// Returns the query with unknown words replaced by the nearest words of `known`; `None` if no word is replaced.
///
/// Operators and filters stay. Words after `NOT` and prefixes are not corrected.
///
/// # Errors
/// When a vocabulary cannot be read.
pub fn correct_query(query: &Query, known: &[&dyn Vocabulary]) -> Result<Option<Query>, DatabaseError> {
    let mut words = WordCorrector { known, terms: None, n_left: MOST_CORRECTED };
    let mut error = None;
    let replaced = query.with_replaced_words(&mut |text| match words.correct_text(text) {
        Ok(text) => text,
        Err(failed) => {
            error.get_or_insert(failed);
            None
        }
    });
    error.map_or(Ok(replaced), Err)
}

/// Returns the name that a query consists of, if no text of `known` contains it as a whole; `None` if the query is no single name.
///
/// # Errors
/// When a vocabulary cannot be read.
pub fn find_unknown_name(query: &Query, known: &[&dyn Vocabulary]) -> Result<Option<String>, DatabaseError> {
    let [name] = query.wanted_texts()[..] else { return Ok(None) };
    if !query.is_one_word() || query.words().iter().any(|word| word.is_prefix) {
        return Ok(None);
    }
    let words = WordCorrector { known, terms: None, n_left: 0 };
    let tokens = split_tokens(name, TokenForm::Whole);
    Ok((!tokens.is_empty() && !words.are_all_known(&tokens)?).then(|| name.to_owned()))
}

/// Returns a query of one name with another name in its place; filters stay.
pub fn replace_name(query: &Query, name: &str) -> Option<Query> {
    query.with_replaced_words(&mut |_| Some(name.to_owned()))
}

/// Corrects words with the words of some vocabularies.
struct WordCorrector<'a> {
    known: &'a [&'a dyn Vocabulary],
    /// All words, which are read when the first unknown word appears, because reading takes long.
    terms: Option<Vec<String>>,
    /// Number of words that may still be corrected.
    n_left: usize,
}

impl WordCorrector<'_> {
    /// Returns a text with its words corrected; `None` if no word is corrected.
    fn correct_text(&mut self, text: &str) -> Result<Option<String>, DatabaseError> {
        let mut corrected = Vec::new();
        let mut is_changed = false;
        for word in text.split_whitespace() {
            let other = self.correct_word(word)?;
            is_changed |= other.is_some();
            corrected.push(other.unwrap_or_else(|| word.to_owned()));
        }
        Ok(is_changed.then(|| corrected.join(" ")))
    }

    /// Corrects a word as a whole, or else the parts of a name; returns `None` if nothing is corrected.
    fn correct_word(&mut self, word: &str) -> Result<Option<String>, DatabaseError> {
        let [whole, parts] = [TokenForm::Whole, TokenForm::Parts].map(|form| split_tokens(word, form));
        let corrected = self.correct_tokens(&whole, "-")?;
        match corrected.is_none() && parts != whole && !self.are_all_known(&whole)? {
            true => self.correct_tokens(&parts, "_"),
            false => Ok(corrected),
        }
    }

    fn are_all_known(&self, tokens: &[String]) -> Result<bool, DatabaseError> {
        tokens.iter().try_fold(true, |all, token| Ok(all && self.is_known(token)?))
    }

    /// Returns whether some text contains the token, or its stem, plural or singular, which a search finds too.
    fn is_known(&self, token: &str) -> Result<bool, DatabaseError> {
        let forms = [Some(token.to_owned()), marked_stem(token), swap_plural(token)];
        let mut has_any = false;
        for form in forms.into_iter().flatten() {
            for vocabulary in self.known {
                has_any = has_any || vocabulary.count_texts_with(&form)? > 0;
            }
        }
        Ok(has_any)
    }

    /// Corrects each token, and joins the tokens with `between`; returns `None` if no token is corrected.
    fn correct_tokens(&mut self, tokens: &[String], between: &str) -> Result<Option<String>, DatabaseError> {
        let mut corrected = tokens.to_vec();
        for token in &mut corrected {
            if let Some(other) = self.nearest_word(token)? {
                *token = other;
            }
        }
        Ok((corrected != tokens).then(|| corrected.join(between)))
    }

    /// Returns the known word that is nearest to an unknown one; `None` for a known word, and if no known word is near.
    fn nearest_word(&mut self, token: &str) -> Result<Option<String>, DatabaseError> {
        if self.n_left == 0 || self.is_known(token)? {
            return Ok(None);
        }
        self.n_left -= 1;
        let terms = match &mut self.terms {
            Some(terms) => terms,
            terms => {
                let mut all = Vec::new();
                for vocabulary in self.known {
                    vocabulary.each_term(&mut |term| {
                        if !is_stem(term) && !is_stop_word(term) {
                            all.push(term.to_owned());
                        }
                    })?;
                }
                terms.insert(all)
            }
        };
        let found = typo::find_corrections(token, terms.iter().map(String::as_str), |term: &str| {
            self.known
                .iter()
                .map(|vocabulary| vocabulary.count_texts_with(term))
                .sum::<Result<u64, DatabaseError>>()
        })?;
        Ok(found.into_iter().next().map(|nearest| nearest.term))
    }
}

fn split_tokens(text: &str, form: TokenForm) -> Vec<String> {
    let mut stream = String::new();
    write_words(text, form, &mut stream);
    stream.split_ascii_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{parse_query, parse_with_filters};
    use memod_index_db::test_rows::{embeddable_chunk, put_change, worktree_key};
    use memod_index_db::{IndexReader, IndexWriter, NewChunk};

    struct Words(&'static [&'static str]);

    impl Vocabulary for Words {
        fn count_texts_with(&self, term: &str) -> Result<u64, DatabaseError> {
            Ok(u64::from(self.0.contains(&term)))
        }

        fn each_term(&self, see: &mut dyn FnMut(&str)) -> Result<(), DatabaseError> {
            self.0.iter().for_each(|term| see(term));
            see("sessian"); // no text has it any more
            Ok(())
        }
    }

    #[test]
    fn unknown_words_are_corrected_where_they_stand() {
        let index = Words(&["session", "token", "store", "verify", "sessionstore"]);
        let memories = Words(&["deployment", "asked", "·ask", "as"]);
        let check = |query: &str, expected: &str| {
            let query = parse_with_filters(query, &|_, _| Ok(()));
            let found = correct_query(&query, &[&index, &memories]).unwrap();
            assert_eq!(found.map(|query| query.to_string()).unwrap_or_default(), expected);
        };
        check("session", "");
        check("the sesion of token", "session token");
        check("deploymnet", "deployment");
        check(
            "\"sesion token\" AND (verfy OR stroe) NOT sesion",
            "\"session token\" AND (verify OR store) NOT sesion",
        );
        check("sesion path:src/sesion kind:doc", "session path:src/sesion kind:doc");
        check("sesion-store", "session-store");
        check("SesionStore", "sessionstore");
        check("verfyToken", "verify_token");
        check("sesio*", "");
        check("tokens that verifies", "");
        check("what did they ask", "");
        check("ass", "");
        check("zzzzzzzz", "");
        check("", "");
    }

    #[test]
    fn a_name_that_exists_nowhere() {
        let index = Words(&["session", "store", "sessionstore", "get", "user"]);
        let memories = Words(&["deployment"]);
        let check = |query: &str, expected: Option<&str>| {
            let parsed = parse_with_filters(query, &|_, _| Ok(()));
            let found = find_unknown_name(&parsed, &[&index, &memories]).unwrap();
            assert_eq!(found.as_deref(), expected, "{query}");
        };
        check("getUser", Some("getUser"));
        check("get_user", Some("get_user"));
        check("SessionStore", None);
        check("session_store", None);
        check("sessions", None);
        check("deployment", None);
        check("zebra", Some("zebra"));
        check("zebra path:src", Some("zebra"));
        check("zebr*", None);
        check("zebra session", None);
        check("", None);
        check("kind:doc", None);
    }

    #[test]
    fn what_files_said_before_does_not_count() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index.db");
        let mut writer = IndexWriter::open(&path, "model").unwrap();
        let view = writer.find_or_add_worktree(&worktree_key()).unwrap();
        let mut save = |path: &str, texts: &[&str]| {
            let chunk = |text: &&str| {
                let words = [String::new(), String::new(), (*text).to_owned()];
                NewChunk {
                    gets_vector: false,
                    words,
                    ..embeddable_chunk(*blake3::hash(text.as_bytes()).as_bytes())
                }
            };
            let hash = *blake3::hash(texts.concat().as_bytes()).as_bytes();
            writer
                .apply_changes(view, &[put_change(path, hash, texts.iter().map(chunk).collect())], 0)
                .unwrap();
        };
        save("a", &["sessiona", "sessiona too"]);
        save("b", &["sessionb", "sessionb too", "sessionb again"]);
        let reader = IndexReader::open(&path).unwrap();
        let nearest = || {
            let mut list = Vec::new();
            reader.each_path(view, |path, first| list.push((path.into(), first))).unwrap();
            let mut chunks = WorktreeChunks::default();
            chunks.replace_paths(list, |first| reader.read_content(first)).unwrap();
            let words = WorktreeVocabulary { postings: reader.read_postings().unwrap(), chunks: &chunks };
            correct_query(&parse_query("sessionc"), &[&words]).unwrap().unwrap().to_string()
        };
        assert_eq!(nearest(), "sessionb");
        save("b", &["sessionb"]);
        assert_eq!(nearest(), "sessiona");
        save("a", &["nothing"]);
        save("b", &["sessionb"]);
        assert_eq!(nearest(), "sessionb");
    }

    #[test]
    fn only_so_many_words_are_corrected() {
        let known = Words(&["session"]);
        let query = parse_query(&"sesion ".repeat(20));
        let text = correct_query(&query, &[&known]).unwrap().unwrap().to_string();
        assert_eq!(text.matches("session").count(), MOST_CORRECTED);
    }
}
