//! Builds the rows of questions and of the chunks that they find. A chunk has one row, even if several questions find it.

use std::collections::{BTreeMap, HashMap};

use memod_base::types::{ChunkKind, FileClass};
use memod_proto::{Explain, Hit};
use memod_tokenizer::Tokenizer;
use serde::{Serialize, Serializer};

use crate::asked_definitions::AnswerDefinition;
use crate::labelled_question::LabelledQuestion;
use crate::question_sets::RepositoryCommit;

/// A line of the candidates file. Numbers have the precision of `f32`.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum CandidatesLine<'a> {
    /// The first line: the set, the repository and the model of all lines.
    Header(HeaderRow<'a>),
    /// A chunk that is a hit, before the first question that finds it.
    Chunk(ChunkRow),
    /// A question with its answers and hits.
    Question(QuestionRow<'a>),
}

#[derive(Serialize)]
pub(crate) struct HeaderRow<'a> {
    pub(crate) set: &'a str,
    /// The repository, its commit and its language, if the set names them.
    #[serde(flatten)]
    pub(crate) origin: Option<&'a RepositoryCommit>,
    /// The model whose tokens are written.
    pub(crate) model: &'a str,
    /// Largest number of candidates of a question.
    pub(crate) limit: usize,
    pub(crate) questions: usize,
}

/// A chunk with the tokens of its fields, as they are embedded.
#[derive(Serialize)]
pub(crate) struct ChunkRow {
    /// Number of the chunk in this file, from 0.
    id: usize,
    path: String,
    lines: (u32, u32),
    kind: ChunkKind,
    symbol: Option<String>,
    title: Option<String>,
    classes: Vec<FileClass>,
    /// Tokens of the path.
    path_tokens: Vec<u32>,
    /// Tokens of the title, or of the symbol if there is no title.
    head_tokens: Vec<u32>,
    /// Tokens of the text.
    body_tokens: Vec<u32>,
}

#[derive(Serialize)]
pub(crate) struct QuestionRow<'a> {
    qid: &'a str,
    kind: Option<&'a str>,
    query: &'a str,
    tokens: Vec<u32>,
    answers: Vec<AnswerRow<'a>>,
    candidates: Vec<CandidateRow>,
}

#[derive(Serialize)]
struct AnswerRow<'a> {
    path: &'a str,
    lines: (u32, u32),
    name: &'a str,
    must: bool,
}

/// A hit of a question, best first.
#[derive(Serialize)]
struct CandidateRow {
    chunk: usize,
    #[serde(serialize_with = "serialize_as_f32")]
    score: f64,
    #[serde(serialize_with = "serialize_as_f32")]
    fused: f64,
    /// Rank and value of the hit in each arm of the search.
    signals: BTreeMap<String, (Option<u32>, Option<f32>)>,
    factors: BTreeMap<String, f32>,
    /// The positions, from 0, of the answers that it matches.
    answers: Vec<usize>,
}

fn serialize_as_f32<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f32(*value as f32)
}

/// Path, lines and title of a chunk. The title distinguishes two definitions on one line.
type ChunkKey = (String, (u32, u32), Option<String>);

/// Builds rows, and remembers the chunks that already have one.
pub(crate) struct CandidateRowBuilder {
    tokenizer: Tokenizer,
    known: HashMap<ChunkKey, usize>,
}

impl CandidateRowBuilder {
    pub(crate) fn new() -> Self {
        Self { tokenizer: Tokenizer::builtin(), known: HashMap::new() }
    }

    pub(crate) fn n_chunks(&self) -> usize {
        self.known.len()
    }

    /// Returns a row for each hit whose chunk has none yet, and then the row of the question.
    pub(crate) fn build_rows<'a>(
        &mut self,
        question: &'a LabelledQuestion,
        hits: Vec<Hit>,
    ) -> Vec<CandidatesLine<'a>> {
        let mut rows = Vec::new();
        let mut candidates = Vec::new();
        for hit in hits {
            let key = (hit.path.clone(), hit.lines, hit.title.clone());
            let next = self.known.len();
            let chunk = *self.known.entry(key).or_insert(next);
            candidates.push(build_candidate_row(chunk, &hit, &question.definitions));
            if chunk == next {
                rows.push(CandidatesLine::Chunk(self.build_chunk_row(chunk, hit)));
            }
        }
        let answers = question.definitions.iter().map(|definition| {
            let AnswerDefinition { path, lines, name, must } = definition;
            AnswerRow { path, lines: *lines, name, must: *must }
        });
        rows.push(CandidatesLine::Question(QuestionRow {
            qid: &question.qid,
            kind: question.kind.as_deref(),
            query: &question.text,
            tokens: self.tokenizer.token_ids(&question.text),
            answers: answers.collect(),
            candidates,
        }));
        rows
    }

    fn token_ids(&self, text: Option<&String>) -> Vec<u32> {
        text.map(|text| self.tokenizer.token_ids(text)).unwrap_or_default()
    }

    fn build_chunk_row(&self, id: usize, hit: Hit) -> ChunkRow {
        let Hit { path, lines, kind, symbol, title, classes, text, .. } = hit;
        ChunkRow {
            id,
            path_tokens: self.token_ids(Some(&path)),
            head_tokens: self.token_ids(title.as_ref().or(symbol.as_ref())),
            body_tokens: self.token_ids(text.as_ref()),
            path,
            lines,
            kind,
            symbol,
            title,
            classes,
        }
    }
}

fn build_candidate_row(chunk: usize, hit: &Hit, definitions: &[AnswerDefinition]) -> CandidateRow {
    let Explain { signals, fused, factors } = hit.explain.clone().unwrap_or_default();
    let answers = definitions.iter().enumerate();
    let answers =
        answers.filter(|(_, answer)| answer.is_shown_by(hit.kind, &hit.path, hit.lines)).map(|(nth, _)| nth);
    CandidateRow {
        chunk,
        score: hit.score,
        fused,
        signals: signals
            .into_iter()
            .map(|signal| (signal.arm, (signal.rank, signal.value.map(|value| value as f32))))
            .collect(),
        factors: factors.into_iter().map(|factor| (factor.name, factor.times as f32)).collect(),
        answers: answers.collect(),
    }
}
