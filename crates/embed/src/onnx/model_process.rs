//! Implements `memod embed`, the process that runs a model for the daemon.
//!
//! The process writes a line of JSON once the model is loaded. Then it reads lines with texts, and answers each with a line of
//! vectors, until its input ends. A damaged or hostile file, or a crash of the library, ends only this process.
//!
//! Each text is embedded alone. In a batch, the vectors of a model with dynamic quantization would depend on the other texts, and
//! a batch is no faster on one thread.

use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use fastembed::{
    InitOptionsUserDefined, OnnxSource, Pooling as Pool, RerankInitOptionsUserDefined, TextEmbedding,
    TextRerank, TokenizerFiles, UserDefinedEmbeddingModel, UserDefinedRerankingModel,
};
use serde::{Deserialize, Serialize};

use super::manifest::{MODEL_FILE_NAME, Manifest};
use super::{ModelPurpose, OnnxError, Pooling};
use crate::normalize;

/// Names of a tokenizer's files, as sentence-transformers writes them.
pub(super) const TOKENIZER_FILES: [&str; 4] =
    ["tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"];

/// Address space that the process may use in addition to eight times the size of the model file, bytes. Long texts take up to 1 GB.
#[cfg(target_os = "linux")]
const EXTRA_MEMORY_BYTES: u64 = 4 << 30;

/// Nice increment of a process that works in the background.
#[cfg(unix)]
const NICE: i32 = 10;

/// The options with which the process is started.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// Directory of the model's files and manifest.
    pub model_dir: PathBuf,
    /// Identity that the model in this directory must have.
    pub identity: String,
    /// Path of the library of ONNX Runtime.
    pub runtime: PathBuf,
    /// Whether the process runs at a low priority.
    pub in_background: bool,
}

/// The first line of output: whether the model is loaded, or why not.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LoadReply {
    pub(super) is_ready: bool,
    pub(super) error: Option<String>,
}

/// A line of input: texts to embed, with their prefixes, or to score.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ModelTask {
    /// The query that a cross-encoder compares with the texts.
    pub(super) query: Option<String>,
    pub(super) texts: Vec<String>,
}

impl ModelTask {
    /// Creates a task that embeds texts.
    pub(super) fn for_embedding(texts: Vec<String>) -> Self {
        Self { query: None, texts }
    }
}

/// The answer to a task: one vector for each text, of one number if it is a score, `null` for a value that is not finite; or an
/// error.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TaskReply {
    pub(super) vectors: Vec<Option<Vec<f32>>>,
    pub(super) error: Option<String>,
}

/// Loads the model, and runs the tasks from stdin, one on each line. The process ends when stdin ends, even during a task.
///
/// # Errors
/// When a pipe breaks or a line is invalid. The caller must end the process then.
pub fn run_model_process(start: &StartOptions) -> io::Result<()> {
    let lines = spawn_stdin_reader()?;
    let mut model = match load_model(start) {
        Ok(model) => {
            write_reply(&LoadReply { is_ready: true, error: None })?;
            model
        }
        Err(error) => return write_reply(&LoadReply { is_ready: false, error: Some(error) }),
    };
    for line in lines {
        let task: ModelTask = serde_json::from_str(&line)?;
        let query = task.query.unwrap_or_default();
        let vectors: Result<Vec<_>, _> =
            task.texts.iter().map(|text| model.evaluate_text(&query, text)).collect();
        write_reply(&match vectors {
            Ok(vectors) => TaskReply { vectors, error: None },
            Err(error) => TaskReply { vectors: Vec::new(), error: Some(error.to_string()) },
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
    /// Returns the vector of a text, or its score for the query as the only number; `None` if the value is not finite.
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

/// Starts a thread that reads the lines of stdin, and returns their receiver. The thread ends the process when stdin ends: after
/// the daemon was killed, nobody needs the result of the current task.
fn spawn_stdin_reader() -> io::Result<Receiver<String>> {
    let (send, receive) = channel();
    thread::Builder::new().name("embed-input".to_owned()).spawn(move || forward_lines(&send))?;
    Ok(receive)
}

/// Forwards the lines of stdin; ends the process after the last one.
fn forward_lines(send: &Sender<String>) {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let _ = send.send(line); // fails only if the main thread is about to end the process
    }
    kill_own_process();
}

/// Ends the process at once, without running destructors of a library that another thread is using.
fn kill_own_process() {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    #[cfg(not(unix))]
    std::process::exit(0);
}

/// Writes `reply` to stdout as a line of JSON.
fn write_reply(reply: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(reply)?;
    line.push('\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}

/// Loads the library of ONNX Runtime and the model, and limits memory and priority of the process.
fn load_model(start: &StartOptions) -> Result<LoadedModel, String> {
    if start.in_background {
        lower_priority();
    }
    let (manifest, files) =
        read_model_files(&start.model_dir, &start.identity).map_err(|error| error.to_string())?;
    limit_memory(files.model.len() as u64);
    let runtime = start.runtime.display();
    let library = ort::init_from(&start.runtime).map_err(|error| format!("{runtime}: {error}"))?;
    let environment = library.with_telemetry(false).build().map_err(|error| format!("{runtime}: {error}"))?;
    match manifest.purpose {
        ModelPurpose::Embed => {
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
        ModelPurpose::Rerank => {
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

/// Returns the error message for a model that cannot be loaded.
fn load_error(model_dir: &Path, error: &fastembed::Error) -> String {
    format!("{}: {error}", model_dir.display())
}

/// The content of a model's files.
struct ModelContent {
    model: Vec<u8>,
    tokenizer: TokenizerFiles,
}

/// Reads the manifest and the files of a model. Fails if the model in the directory has another identity.
fn read_model_files(dir: &Path, identity: &str) -> Result<(Manifest, ModelContent), OnnxError> {
    let manifest = Manifest::read(dir)?;
    if manifest.identity() != identity {
        return Err(OnnxError::bad_file_error(
            dir,
            format!("has {} instead of {identity}", manifest.identity()),
        ));
    }
    let tokenizer = TokenizerFiles {
        tokenizer_file: manifest.read_verified_file(dir, TOKENIZER_FILES[0])?,
        config_file: manifest.read_verified_file(dir, TOKENIZER_FILES[1])?,
        special_tokens_map_file: manifest.read_verified_file(dir, TOKENIZER_FILES[2])?,
        tokenizer_config_file: manifest.read_verified_file(dir, TOKENIZER_FILES[3])?,
    };
    let model = manifest.read_verified_file(dir, MODEL_FILE_NAME)?;
    Ok((manifest, ModelContent { model, tokenizer }))
}

/// Lowers the priority of the process.
#[cfg(unix)]
fn lower_priority() {
    let _ = rustix::process::nice(NICE); // a failure only slows down other processes
}

#[cfg(not(unix))]
fn lower_priority() {}

/// Limits the address space of the process, and disables core files. An allocation beyond the limit ends the process.
#[cfg(target_os = "linux")]
fn limit_memory(model_bytes: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    for (resource, limit) in [(Resource::As, EXTRA_MEMORY_BYTES + 8 * model_bytes), (Resource::Core, 0)] {
        let maximum = getrlimit(resource).maximum;
        let current = Some(maximum.map_or(limit, |maximum| limit.min(maximum)));
        let _ = setrlimit(resource, Rlimit { current, maximum }); // without the limit, the timeout of the caller still applies
    }
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_: u64) {}

#[cfg(test)]
mod tests {
    use super::super::manifest::MANIFEST_FILE_NAME;
    use super::*;
    use crate::CosineScale;

    #[test]
    fn another_model_in_its_place_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let manifest = Manifest {
            name: "own".to_owned(),
            source: String::new(),
            revision: "2".to_owned(),
            purpose: ModelPurpose::Embed,
            dims: 8,
            pooling: Pooling::Mean,
            query_prefix: String::new(),
            document_prefix: String::new(),
            max_tokens: 1,
            scale: CosineScale::default(),
            files: Vec::new(),
        };
        std::fs::write(temp.path().join(MANIFEST_FILE_NAME), serde_json::to_vec(&manifest).unwrap()).unwrap();
        let error = |identity| read_model_files(temp.path(), identity).err().unwrap().to_string();
        let refused = error("own@1/8/mean");
        assert!(refused.ends_with(": has own@2/8/mean instead of own@1/8/mean"), "{refused}");
        let files = error("own@2/8/mean");
        assert!(files.ends_with("is not in the manifest"), "{files}");
    }
}
