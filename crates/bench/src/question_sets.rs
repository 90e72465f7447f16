//! Reads sets of questions with their answers.
//!
//! A set is a folder with `queries.jsonl`, or that file. `files.txt` beside that file names the files that may be answers, and
//! `corpus.jsonl` the sections or texts. A suite is a folder of sets, or a folder with `annotations/NAME.jsonl`. The first line
//! of a file of questions may name the repository of the set instead of a question; a folder of such files is a suite, too.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext, canonicalize_path};
use memod_terminal::CliError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::asked_definitions::AnswerDefinition;
use crate::label_json::{DefinitionJson, LabelJson, required_files};
use crate::labelled_question::{LabelledQuestion, QuestionCorpus, RecordLabel, text_file_name};

const QUERIES_FILE_NAME: &str = "queries.jsonl";
const ANNOTATIONS_DIR_NAME: &str = "annotations";
const MANIFEST_FILE_NAME: &str = "manifest.json";

/// Questions that are asked in one worktree.
pub(crate) struct QuestionSet {
    pub(crate) name: String,
    /// Name of the folder around the set.
    pub(crate) suite: String,
    /// The file of the questions.
    pub(crate) file: PathBuf,
    pub(crate) questions: Vec<LabelledQuestion>,
    pub(crate) corpus: QuestionCorpus,
    /// The repository and commit of the set, if the set names them.
    pub(crate) origin: Option<RepositoryCommit>,
    /// Whether the set must be asked in a particular worktree. Several such sets need `--trees`.
    pub(crate) has_own_tree: bool,
}

/// A repository at a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RepositoryCommit {
    pub(crate) repository: String,
    pub(crate) commit: String,
    /// The main programming language of the repository.
    pub(crate) language: Option<String>,
}

impl fmt::Display for RepositoryCommit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}", self.repository, self.commit)
    }
}

impl QuestionSet {
    /// Returns whether any question names definitions as answers.
    pub(crate) fn has_definitions(&self) -> bool {
        self.questions.iter().any(|question| !question.definitions.is_empty())
    }
}

/// Reads one set, or all sets of a suite, sorted by path.
pub(crate) fn read_sets(path: &Path) -> Result<Vec<QuestionSet>, CliError> {
    let path = canonicalize_path(path)?;
    if path.is_file() {
        return Ok(vec![read_set(&path)?]);
    }
    if path.join(QUERIES_FILE_NAME).is_file() {
        return Ok(vec![read_set(&path.join(QUERIES_FILE_NAME))?]);
    }
    let is_annotated = path.join(ANNOTATIONS_DIR_NAME).is_dir();
    let folder = if is_annotated { path.join(ANNOTATIONS_DIR_NAME) } else { path.clone() };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&folder).at("list", &folder)? {
        let entry = entry.at("list", &folder)?.path();
        files.push(if is_annotated { entry } else { entry.join(QUERIES_FILE_NAME) });
    }
    files.retain(|file| is_jsonl_file(file));
    if files.is_empty() {
        files = find_files_with_repository_line(&folder)?;
    }
    files.sort();
    if files.is_empty() {
        return Err(invalid_set_error(format!(
            "{}: no {QUERIES_FILE_NAME} in it or in a folder of it",
            path.display()
        )));
    }
    files
        .iter()
        .map(|file| if is_annotated { read_annotated_set(file, &path) } else { read_set(file) })
        .collect()
}

fn is_jsonl_file(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "jsonl") && file.is_file()
}

/// Returns the files of a folder whose first line names a repository.
fn find_files_with_repository_line(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).at("list", folder)? {
        let file = entry.at("list", folder)?.path();
        if is_jsonl_file(&file)
            && parse_repository_line(&fs::read_to_string(&file).at("read", &file)?).is_some()
        {
            files.push(file);
        }
    }
    Ok(files)
}

/// Reads a set from a file of questions, with the corpus and the manifest beside that file.
fn read_set(file: &Path) -> Result<QuestionSet, CliError> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let corpus = read_corpus(folder)?;
    let (head, questions) = read_questions(file, &corpus)?;
    let name = if file.ends_with(QUERIES_FILE_NAME) {
        name_of_path(folder)
    } else {
        name_of_path(&file.with_extension(""))
    };
    let suite = if head.is_some() { Some(folder) } else { folder.parent() };
    let suite = suite.map(name_of_path).unwrap_or_default();
    let manifest = folder.join(MANIFEST_FILE_NAME);
    let is_elsewhere = head.is_some() || manifest.is_file();
    let has_own_tree =
        is_elsewhere || matches!(corpus, QuestionCorpus::Sections(_) | QuestionCorpus::Texts { .. });
    let origin = head.or_else(|| read_origin(&manifest, &name));
    Ok(QuestionSet { name, suite, file: file.to_owned(), questions, corpus, origin, has_own_tree })
}

/// Reads a set of the corpus [`QuestionCorpus::Hits`] from a file in `annotations`.
fn read_annotated_set(file: &Path, suite_folder: &Path) -> Result<QuestionSet, CliError> {
    let (name, suite, corpus) =
        (name_of_path(&file.with_extension("")), name_of_path(suite_folder), QuestionCorpus::Hits);
    let (head, questions) = read_questions(file, &corpus)?;
    let origin = head.or_else(|| read_origin(&suite_folder.join(MANIFEST_FILE_NAME), &name));
    Ok(QuestionSet { name, suite, file: file.to_owned(), questions, corpus, origin, has_own_tree: true })
}

/// Returns the repository and commit of a set from a manifest, which describes one set or a list of sets.
fn read_origin(manifest: &Path, name: &str) -> Option<RepositoryCommit> {
    let manifest: Value = serde_json::from_slice(&fs::read(manifest).ok()?).ok()?;
    let set_entry = match &manifest {
        Value::Array(sets) => sets.iter().find(|set| set["name"] == name)?,
        set => set,
    };
    let commit = set_entry["commit"].as_str().or(set_entry["used_revision"].as_str())?;
    Some(RepositoryCommit {
        repository: set_entry["repo"].as_str()?.to_owned(),
        commit: commit.to_owned(),
        language: None,
    })
}

fn name_of_path(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads the corpus of a set. If no file lists records, every file of the worktree is a record.
fn read_corpus(folder: &Path) -> Result<QuestionCorpus, CliError> {
    let (records, files) = (folder.join("corpus.jsonl"), folder.join("files.txt"));
    if records.is_file() {
        let text = fs::read_to_string(&records).at("read", &records)?;
        let records: Vec<CorpusRecord> =
            parse_lines(&records, &text, 0)?.into_iter().map(|(_, record)| record).collect();
        return Ok(if records.iter().any(|record| record.start_line.is_some()) {
            build_sections_corpus(records)
        } else {
            build_texts_corpus(records)
        });
    }
    if !files.is_file() {
        return Ok(QuestionCorpus::Files(None));
    }
    let text = fs::read_to_string(&files).at("read", &files)?;
    Ok(QuestionCorpus::Files(Some(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())))
}

/// A line of `corpus.jsonl`.
#[derive(Deserialize)]
struct CorpusRecord {
    id: String,
    #[serde(default)]
    path: String,
    start_line: Option<u32>,
    haystack: Option<String>,
}

fn build_sections_corpus(records: Vec<CorpusRecord>) -> QuestionCorpus {
    let mut pages: HashMap<String, Vec<(u32, String)>> = HashMap::new();
    for CorpusRecord { id, path, start_line, .. } in records {
        pages.entry(path).or_default().push((start_line.unwrap_or(1), id));
    }
    pages.values_mut().for_each(|sections| sections.sort());
    QuestionCorpus::Sections(pages)
}

fn build_texts_corpus(records: Vec<CorpusRecord>) -> QuestionCorpus {
    let (mut files, mut haystacks) = (HashMap::new(), HashMap::new());
    for CorpusRecord { id, haystack, .. } in records {
        files.insert(text_file_name(&id), id.clone());
        haystacks.extend(haystack.map(|haystack| (id, haystack)));
    }
    QuestionCorpus::Texts { files, haystacks }
}

/// A line of questions.
#[derive(Deserialize)]
struct QuestionLine {
    qid: Option<String>,
    query: String,
    kind: Option<String>,
    relevant: Option<Vec<LabelJson>>,
    /// The definitions that answer the question; an empty list means that nothing answers it.
    answers: Option<Vec<DefinitionJson>>,
    #[serde(default)]
    secondary: Vec<LabelJson>,
    #[serde(default)]
    exclude: Vec<LabelJson>,
    haystack: Option<String>,
    haystack_ids: Option<HashSet<String>>,
}

/// Returns the repository that the first line names; `None` if that line is a question.
fn parse_repository_line(text: &str) -> Option<RepositoryCommit> {
    serde_json::from_str(text.lines().find(|line| !line.trim().is_empty())?).ok()
}

/// Reads the questions of a file, and the repository that its first line names, if any.
///
/// # Errors
/// When a line is invalid, two questions have the same id, or there are no questions.
fn read_questions(
    file: &Path,
    corpus: &QuestionCorpus,
) -> Result<(Option<RepositoryCommit>, Vec<LabelledQuestion>), CliError> {
    let text = fs::read_to_string(file).at("read", file)?;
    let head = parse_repository_line(&text);
    let mut questions: Vec<LabelledQuestion> = Vec::new();
    let mut qids = HashSet::new();
    for (number, line) in parse_lines::<QuestionLine>(file, &text, usize::from(head.is_some()))? {
        let question = build_question(line, number, corpus).and_then(|question| {
            let is_new = qids.insert(question.qid.clone());
            is_new.then_some(question).ok_or("an earlier question has the same \"qid\"")
        });
        questions
            .push(question.map_err(|why| invalid_set_error(format!("{}:{number}: {why}", file.display())))?);
    }
    if questions.is_empty() {
        return Err(invalid_set_error(format!("{}: no questions in it", file.display())));
    }
    Ok((head, questions))
}

/// Converts a line into a question.
///
/// # Errors
/// The fault in the line.
fn build_question(
    line: QuestionLine,
    number: u32,
    corpus: &QuestionCorpus,
) -> Result<LabelledQuestion, &'static str> {
    let definitions: Option<Vec<AnswerDefinition>> =
        line.answers.map(|answers| answers.into_iter().map(|answer| answer.0).collect());
    let may_be_absent = line.relevant.is_none() && definitions.as_ref().is_some_and(Vec::is_empty);
    let definitions = definitions.unwrap_or_default();
    let mut relevant = match line.relevant {
        Some(labels) => build_labels(labels, corpus),
        None => required_files(&definitions),
    };
    relevant.extend(build_labels(line.secondary, corpus));
    if !matches!(corpus, QuestionCorpus::Hits) {
        let mut seen = HashSet::new();
        relevant.retain(|label| seen.insert(label.id.clone()));
    }
    let qid = line.qid.unwrap_or_else(|| number.to_string());
    let is_reversed = definitions.iter().any(|definition| definition.lines.1 < definition.lines.0);
    if line.query.trim().is_empty() {
        return Err("\"query\" is empty");
    }
    if relevant.is_empty() && !may_be_absent {
        return Err("no \"relevant\": list the answers, as in [\"src/a.rs\"]");
    }
    if qid.contains(char::is_control) {
        return Err("its \"qid\" has a control character");
    }
    if is_reversed || relevant.iter().any(RecordLabel::is_reversed) {
        return Err("the lines of an answer end before they begin");
    }
    let (exclude, haystack_ids) = (build_labels(line.exclude, corpus), line.haystack_ids);
    let (text, kind, haystack) = (line.query, line.kind, line.haystack);
    Ok(LabelledQuestion { qid, text, kind, relevant, definitions, exclude, haystack, haystack_ids })
}

fn build_labels(labels: Vec<LabelJson>, corpus: &QuestionCorpus) -> Vec<RecordLabel> {
    labels.into_iter().map(|label| label.into_label(corpus)).collect()
}

/// Parses the lines of a file, each a JSON object, and returns them with their line numbers. Skips empty lines, and the first
/// `n_skipped` lines that are not empty.
fn parse_lines<T: for<'a> Deserialize<'a>>(
    file: &Path,
    text: &str,
    n_skipped: usize,
) -> Result<Vec<(u32, T)>, CliError> {
    let numbered = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).skip(n_skipped);
    numbered
        .map(|(number, line)| {
            let read = serde_json::from_str(line).map(|value| (number, value));
            read.map_err(|error| {
                let why = error.to_string();
                let why = why.split_once(" at line ").map_or(why.as_str(), |(why, _)| why);
                invalid_set_error(format!("{}:{number}:{}: {why}", file.display(), error.column()))
            })
        })
        .collect()
}

fn invalid_set_error(message: String) -> CliError {
    let hint = "a set is a file with one line for each question, as in {\"query\": \"where are tokens signed\", \"relevant\": [\"src/token.rs\"]}";
    CliError::Usage { message, hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labelled_question::LabelSpan;

    fn reading(files: &[(&str, &str)], path: &str) -> Result<Vec<QuestionSet>, String> {
        let dir = tempfile::tempdir().expect("there is a place for files");
        for (name, text) in files {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().expect("it is in the dir")).expect("a folder can be made");
            fs::write(file, text).expect("a file can be written");
        }
        let top = canonicalize_path(dir.path()).expect("it exists").display().to_string();
        read_sets(&dir.path().join(path))
            .map_err(|error| error.to_string().replace(&top, "TOP").replace('\\', "/"))
    }

    #[test]
    fn a_set_or_a_suite_is_read() {
        let one = r#"{"query": "q", "relevant": ["a", "a", "b"]}"#;
        let set = &reading(&[("s/queries.jsonl", one)], "s").expect("it is a set")[0];
        assert_eq!((set.name.as_str(), set.questions.len(), set.has_own_tree), ("s", 1, false));
        assert_eq!((set.questions[0].qid.as_str(), set.questions[0].relevant.len()), ("1", 2));
        assert_eq!(reading(&[("s/mine.jsonl", one)], "s/mine.jsonl").expect("it is a file")[0].name, "mine");
        let suite = reading(&[("x/b/queries.jsonl", one), ("x/a/queries.jsonl", one), ("x/README", "")], "x");
        let names: Vec<(String, String)> =
            suite.expect("it is a suite").into_iter().map(|set| (set.suite, set.name)).collect();
        assert_eq!(names, [("x".into(), "a".into()), ("x".into(), "b".into())]);
        let spans = r#"{"qid": "n", "query": "q", "relevant": ["a", {"path": "b", "start_line": 2, "end_line": 3}], "secondary": ["a"]}"#;
        let set = &reading(&[("c/annotations/n.jsonl", spans), ("c/manifest.json", "[]")], "c")
            .expect("it is a suite")[0];
        assert!(
            matches!(set.corpus, QuestionCorpus::Hits)
                && set.questions[0].relevant.len() == 3
                && set.has_own_tree
        );
        assert_eq!(set.questions[0].relevant[1].span, LabelSpan::Lines(2, 3));
    }

    #[test]
    fn a_folder_of_files_about_repositories_is_a_suite() {
        let head = r#"{"repository": "me/one", "commit": "12ab", "language": "rust"}"#;
        let asked = r#"{"kind": "topic", "query": "q", "answers": [{"path": "a", "lines": [2, 5], "must": true}, {"path": "b", "lines": [1, 2], "must": false}], "why": "w"}"#;
        let absent = r#"{"kind": "absent", "query": "r", "answers": [], "why": "w"}"#;
        let text = format!("{head}\n{asked}\n{absent}\n");
        let other = r#"{"query": "q", "relevant": ["a"]}"#;
        let files = [("x/me+one.jsonl", text.as_str()), ("x/own.jsonl", other), ("x/check.py", "")];
        let sets = reading(&files, "x").expect("it is a suite");
        let [set] = &sets[..] else { panic!("one names a repository: {}", sets.len()) };
        assert_eq!((set.name.as_str(), set.suite.as_str(), set.has_own_tree), ("me+one", "x", true));
        assert_eq!(set.origin.as_ref().map(ToString::to_string).as_deref(), Some("me/one at 12ab"));
        let [one, none] = &set.questions[..] else { panic!("two questions") };
        assert_eq!((one.qid.as_str(), one.kind.as_deref(), one.definitions.len()), ("2", Some("topic"), 2));
        assert_eq!(one.relevant.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["a"]);
        assert!(none.has_no_answer() && !one.has_no_answer() && set.has_definitions());
        let alone = &reading(&files, "x/me+one.jsonl").expect("it is a set")[0];
        assert_eq!((alone.suite.as_str(), alone.questions.len()), ("x", 2));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let check = |text: &str, expected: &str| {
            let message = reading(&[("queries.jsonl", text)], "").err().expect("it is refused");
            assert!(message.starts_with(expected), "{message}");
        };
        check("", "TOP/queries.jsonl: no questions");
        check("{\"query\": \"q\", \"relevant\": [\"a\"]}\n\n{", "TOP/queries.jsonl:3:1: EOF while parsing");
        check("{\"relevant\": [\"a\"]}", "TOP/queries.jsonl:1:19: missing field `query`");
        check("{\"query\": \"q\", \"relevant\": [1]}", "TOP/queries.jsonl:1:30: an answer is ");
        check("{\"query\": \"q\"}", "TOP/queries.jsonl:1: no \"relevant\"");
        check("{\"query\": \"q\", \"answers\": [\"a\"]}", "TOP/queries.jsonl:1:31: a definition is ");
        check(
            "{\"query\": \"q\", \"answers\": [\"a#L9-L3\"]}",
            "TOP/queries.jsonl:1: the lines of an answer end",
        );
        check(
            "{\"query\": \"q\", \"relevant\": [], \"answers\": []}",
            "TOP/queries.jsonl:1: no \"relevant\"",
        );
        check("{\"query\": \" \", \"relevant\": [\"a\"]}", "TOP/queries.jsonl:1: \"query\" is empty");
        let twice = "{\"qid\": \"x\", \"query\": \"q\", \"relevant\": [\"a\"]}\n".repeat(2);
        check(&twice, "TOP/queries.jsonl:2: an earlier question has the same");
        assert!(
            reading(&[("notes/a.txt", "")], "notes")
                .err()
                .expect("it is refused")
                .contains("no queries.jsonl")
        );
    }
}
