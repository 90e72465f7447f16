//! The process that runs a model.
//!
//! It writes a line of JSON once the model is loaded, then reads a line with texts and writes one with vectors until its input
//! ends. A damaged or hostile file costs this process, and so does a crash of the library.
//!
//! A text is embedded alone: in a batch, the vectors of a model that is quantised as it runs depend on the other texts, and one
//! thread is no faster.

use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use fastembed::{
    InitOptionsUserDefined, OnnxSource, Pooling as Pool, RerankInitOptionsUserDefined, TextEmbedding,
    TextRerank, TokenizerFiles, UserDefinedEmbeddingModel, UserDefinedRerankingModel,
};
use serde::{Deserialize, Serialize};

use super::manifest::{MODEL, Manifest};
use super::{OnnxError, Pooling, Purpose};
use crate::normalize;

/// Files of a tokenizer, as sentence-transformers names them.
pub(super) const TOKENIZER: [&str; 4] =
    ["tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"];

/// Address space beyond eight times the model file, bytes: a batch of long texts takes up to a gigabyte.
#[cfg(target_os = "linux")]
const MEMORY_BYTES: u64 = 4 << 30;

/// Difference in priority of a process that works in the background.
#[cfg(unix)]
const NICE: i32 = 10;

/// How the process is started.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// Directory of the model, with its manifest.
    pub model_dir: PathBuf,
    /// Identity of the model that must be there.
    pub identity: String,
    /// Library of ONNX Runtime.
    pub runtime: PathBuf,
    /// Whether it gives way to other processes.
    pub in_background: bool,
}

/// The first line: whether the model is loaded.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Loaded {
    pub(super) is_ready: bool,
    pub(super) error: Option<String>,
}

/// Texts with their prefixes.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ModelTask {
    /// The query that a cross-encoder compares them with.
    pub(super) query: Option<String>,
    pub(super) texts: Vec<String>,
}

impl ModelTask {
    /// Asks for vectors.
    pub(super) fn for_texts(texts: Vec<String>) -> Self {
        Self { query: None, texts }
    }
}

/// Their vectors, or one score each, `null` for one that is not finite, or why there are none.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Reply {
    pub(super) vectors: Vec<Option<Vec<f32>>>,
    pub(super) error: Option<String>,
}

/// Loads the model and embeds tasks from stdin, one per line. When stdin ends, so does this process, also amid a task.
///
/// # Errors
/// When a pipe breaks or a line is invalid; the process must end then.
pub fn run(start: &StartOptions) -> io::Result<()> {
    let lines = read_lines()?;
    let mut model = match load_model(start) {
        Ok(model) => {
            write_reply(&Loaded { is_ready: true, error: None })?;
            model
        }
        Err(error) => return write_reply(&Loaded { is_ready: false, error: Some(error) }),
    };
    for line in lines {
        let task: ModelTask = serde_json::from_str(&line)?;
        let query = task.query.unwrap_or_default();
        let vectors: Result<Vec<_>, _> =
            task.texts.iter().map(|text| model.evaluate_text(&query, text)).collect();
        write_reply(&match vectors {
            Ok(vectors) => Reply { vectors, error: None },
            Err(error) => Reply { vectors: Vec::new(), error: Some(error.to_string()) },
        })?;
    }
    Ok(())
}

/// A loaded model.
enum LoadedModel {
    Embedder(Box<TextEmbedding>),
    CrossEncoder(Box<TextRerank>),
}

impl LoadedModel {
    /// Returns the vector of a text, or its score; `None` if that is not finite.
    fn evaluate_text(&mut self, query: &str, text: &str) -> Result<Option<Vec<f32>>, fastembed::Error> {
        match self {
            Self::Embedder(model) => Ok(model.embed([text], Some(1))?.pop().and_then(normalize)),
            Self::CrossEncoder(model) => {
                let scores = model.rerank(query, [text], false, Some(1))?;
                Ok(scores
                    .first()
                    .map(|found| found.score)
                    .filter(|score| score.is_finite())
                    .map(|score| vec![score]))
            }
        }
    }
}

/// Reads lines from stdin on a thread, which ends the process with the input: nobody waits for the batch that is being made
/// when the daemon was killed.
fn read_lines() -> io::Result<Receiver<String>> {
    let (send, receive) = channel();
    thread::Builder::new().name("embed-input".to_owned()).spawn(move || forward_lines(&send))?;
    Ok(receive)
}

/// Forwards the lines of stdin; ends the process after the last one.
fn forward_lines(send: &Sender<String>) {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let _ = send.send(line); // the other thread ends the process if it cannot go on
    }
    kill_own_process();
}

/// Ends the process without the destructors of a library that another thread is in.
fn kill_own_process() {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    #[cfg(not(unix))]
    std::process::exit(0);
}

/// Writes a line of JSON to stdout.
fn write_reply(reply: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(reply)?;
    line.push('\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}

/// Loads the library and the model.
fn load_model(start: &StartOptions) -> Result<LoadedModel, String> {
    if start.in_background {
        give_way();
    }
    let (manifest, files) =
        read_model(&start.model_dir, &start.identity).map_err(|error| error.to_string())?;
    limit_memory(files.model.len() as u64);
    let runtime = start.runtime.display();
    let library = ort::init_from(&start.runtime).map_err(|error| format!("{runtime}: {error}"))?;
    let environment = library.with_telemetry(false).build().map_err(|error| format!("{runtime}: {error}"))?;
    match manifest.purpose {
        Purpose::Embed => {
            let options = InitOptionsUserDefined::new()
                .with_environment(environment)
                .with_max_length(manifest.max_tokens)
                .with_intra_threads(1);
            let pooling = match manifest.pooling {
                Pooling::Cls => Pool::Cls,
                Pooling::Mean => Pool::Mean,
            };
            let model = UserDefinedEmbeddingModel::new(files.model, files.tokenizer).with_pooling(pooling);
            let model = TextEmbedding::try_new_from_user_defined(model, options)
                .map_err(|error| load_error(&start.model_dir, &error))?;
            Ok(LoadedModel::Embedder(Box::new(model)))
        }
        Purpose::Rerank => {
            let options = RerankInitOptionsUserDefined::new()
                .with_environment(environment)
                .with_max_length(manifest.max_tokens)
                .with_intra_threads(1);
            let model = UserDefinedRerankingModel::new(OnnxSource::Memory(files.model), files.tokenizer);
            let model = TextRerank::try_new_from_user_defined(model, options)
                .map_err(|error| load_error(&start.model_dir, &error))?;
            Ok(LoadedModel::CrossEncoder(Box::new(model)))
        }
    }
}

/// Returns the message for a model that cannot be loaded.
fn load_error(model_dir: &Path, error: &fastembed::Error) -> String {
    format!("{}: {error}", model_dir.display())
}

/// The content of a model's files.
struct ModelContent {
    model: Vec<u8>,
    tokenizer: TokenizerFiles,
}

/// Reads the files of a model, unless another model or another revision has taken its place.
fn read_model(dir: &Path, identity: &str) -> Result<(Manifest, ModelContent), OnnxError> {
    let manifest = Manifest::read(dir)?;
    if manifest.identity() != identity {
        return Err(OnnxError::bad_file(dir, format!("has {} instead of {identity}", manifest.identity())));
    }
    let tokenizer = TokenizerFiles {
        tokenizer_file: manifest.read_file(dir, TOKENIZER[0])?,
        config_file: manifest.read_file(dir, TOKENIZER[1])?,
        special_tokens_map_file: manifest.read_file(dir, TOKENIZER[2])?,
        tokenizer_config_file: manifest.read_file(dir, TOKENIZER[3])?,
    };
    let model = manifest.read_file(dir, MODEL)?;
    Ok((manifest, ModelContent { model, tokenizer }))
}

/// Lowers the priority of the process.
#[cfg(unix)]
fn give_way() {
    let _ = rustix::process::nice(NICE); // it only matters for others
}

#[cfg(not(unix))]
fn give_way() {}

/// Limits the memory of the process and disables core files; a larger allocation ends it.
#[cfg(target_os = "linux")]
fn limit_memory(model_bytes: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    for (resource, limit) in [(Resource::As, MEMORY_BYTES + 8 * model_bytes), (Resource::Core, 0)] {
        let maximum = getrlimit(resource).maximum;
        let current = Some(maximum.map_or(limit, |maximum| limit.min(maximum)));
        let _ = setrlimit(resource, Rlimit { current, maximum }); // the deadline of the caller applies in any case
    }
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_: u64) {}

#[cfg(test)]
mod tests {
    use super::super::manifest::MANIFEST;
    use super::*;
    use crate::Scale;

    #[test]
    fn another_model_in_its_place_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let manifest = Manifest {
            name: "own".to_owned(),
            source: String::new(),
            revision: "2".to_owned(),
            purpose: Purpose::Embed,
            dims: 8,
            pooling: Pooling::Mean,
            query_prefix: String::new(),
            document_prefix: String::new(),
            max_tokens: 1,
            scale: Scale::default(),
            files: Vec::new(),
        };
        std::fs::write(temp.path().join(MANIFEST), serde_json::to_vec(&manifest).unwrap()).unwrap();
        let error = |identity| read_model(temp.path(), identity).err().unwrap().to_string();
        let refused = error("own@1/8/mean");
        assert!(refused.ends_with(": has own@2/8/mean instead of own@1/8/mean"), "{refused}");
        let files = error("own@2/8/mean");
        assert!(files.ends_with("is not in the manifest"), "{files}");
    }
}
