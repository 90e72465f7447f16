//! Installs a model from a folder with the layout of sentence-transformers.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext as _, open_regular};
use serde_json::Value;

use super::cache::{InstalledModel, ModelCache, is_model_name};
use super::catalogue::{CATALOGUE, CatalogueEntry};
use super::manifest::{
    MANIFEST_FILE_NAME, MODEL_FILE_NAME, Manifest, ModelFile, ModelPurpose, Pooling, sha256_hex,
};
use super::model_client::ModelProcess;
use super::model_process::{ModelTask, StartOptions, TOKENIZER_FILES};
use super::{OnnxError, RuntimeLocations};
use crate::{BuiltinModel, CosineScale, normalize};

/// Largest number of tokens after which a text is cut: more take time and hardly improve results.
const MOST_TOKENS: usize = 512;

/// Numbers of dimensions that the vectors of a model may have.
const ALLOWED_DIMS: std::ops::RangeInclusive<usize> = 8..=4_096;

/// Largest model file, bytes.
const MAX_MODEL_BYTES: u64 = 4 << 30;

/// Largest other file, bytes.
const MAX_JSON_BYTES: u64 = 64 << 20;

/// Longest prefix of queries or documents, bytes.
const MAX_PREFIX_BYTES: usize = 1 << 10;

/// Name of the file with the prefixes of queries and documents.
const PROMPTS_FILE_NAME: &str = "config_sentence_transformers.json";

/// Number of texts in one task for the model process.
const BATCH: usize = 8;

/// Contents for files of [`TOKENIZER_FILES`] that the folder lacks, in the same order. The first file is required, so it has no
/// default.
const DEFAULT_TOKENIZER_FILES: [&str; 4] =
    ["", "{}", "{}", r#"{"model_max_length":512,"pad_token":"[PAD]"}"#];

/// A model to install.
#[derive(Clone, Copy, Debug)]
pub struct ModelImport<'a> {
    /// Folder with the files of the model.
    pub dir: &'a Path,
    /// Name for the model; `None` for the name in the catalogue, or else one made from the folder's name.
    pub name: Option<&'a str>,
    /// Origin to record in the manifest; `None` for the path of the folder.
    pub source: Option<&'a str>,
}

/// A folder with a model file. The files have not been read yet.
struct ModelFolder<'a> {
    dir: &'a Path,
    /// Path of the model file.
    model: PathBuf,
}

/// Installs a model and returns the installed model. The model must first pass a trial in a process of its own, and then replaces
/// a model of the same name. `program` is the path of `memod`, which is started as the process.
///
/// # Errors
/// When a file is missing or wrong, or the model cannot be run. Nothing is changed then.
pub fn import_model(
    &ModelImport { dir, name, source }: &ModelImport<'_>,
    cache: &ModelCache,
    runtime: &RuntimeLocations,
    program: &Path,
) -> Result<InstalledModel, OnnxError> {
    let folder = ModelFolder::open(dir)?;
    let known = name.and_then(CatalogueEntry::find).or_else(|| folder.find_catalogue_entry());
    let name = match name.or(known.map(|entry| entry.name)) {
        Some(name) => name.to_owned(),
        None => folder.suggest_name(),
    };
    if !is_model_name(&name) {
        return Err(OnnxError::bad_file_error(
            dir,
            format!("`{name}` is no valid model name (a-z, 0-9, `.`, `-`, `_`); give another with --name"),
        ));
    }
    let library = runtime.find_library()?;
    let _lock = cache.lock_model(&name)?;
    let complete = cache.create_temporary_dir(&name)?;
    let install = || {
        let mut manifest = folder.copy_files(&complete, &name, known)?;
        manifest.source = source.map_or(manifest.source, str::to_owned);
        write_manifest(&complete, &manifest)?;
        let identity = manifest.identity();
        let start =
            StartOptions { model_dir: complete.clone(), identity, runtime: library, in_background: true };
        match manifest.purpose {
            ModelPurpose::Embed => {
                (manifest.dims, manifest.scale) =
                    embed_calibration_texts(program, &start).map_err(|reason| failed_error(&name, reason))?;
            }
            ModelPurpose::Rerank => {
                check_reranker_scores(program, &start).map_err(|reason| failed_error(&name, reason))?;
            }
        }
        write_manifest(&complete, &manifest)?;
        cache.replace_model(&complete, &name)?;
        Ok(manifest)
    };
    let manifest = install().inspect_err(|_: &OnnxError| drop(fs::remove_dir_all(&complete)))?;
    Ok(InstalledModel { dir: cache.dir().join(&name), manifest })
}

/// Returns the error for a model that fails its trial.
fn failed_error(model: &str, reason: String) -> OnnxError {
    OnnxError::CannotRun { model: model.to_owned(), reason }
}

/// Reads a regular file of at most `most_bytes` bytes. Follows symbolic links, which the caches of model hubs use. Never blocks on
/// a FIFO.
fn read_regular_file(path: &Path, most_bytes: u64) -> Result<Vec<u8>, OnnxError> {
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(OnnxError::bad_file_error(path, "is not a regular file"));
    }
    let file = open_regular(path, true).at("open", path)?;
    let mut content = Vec::new();
    file.take(most_bytes + 1).read_to_end(&mut content).at("read", path)?;
    if content.len() as u64 > most_bytes {
        return Err(OnnxError::bad_file_error(path, format!("is larger than {most_bytes} bytes")));
    }
    Ok(content)
}

/// Returns the revision of a model: the first 12 digits of a SHA-256 over everything that determines the vectors.
fn compute_revision(files: &[ModelFile], max_tokens: usize) -> String {
    let files = files.iter().map(|file| format!("{} {}\n", file.name, file.sha256));
    sha256_hex(format!("{}{max_tokens}", files.collect::<String>()).as_bytes())[..12].to_owned()
}

/// Writes the manifest into the directory of a model.
fn write_manifest(dir: &Path, manifest: &Manifest) -> Result<(), OnnxError> {
    let path = dir.join(MANIFEST_FILE_NAME);
    let text = serde_json::to_vec_pretty(manifest).expect("plain values serialize");
    fs::write(&path, text).at("write", &path).map_err(Into::into)
}

/// Embeds the calibration texts with the model. Returns the number of dimensions, and the map from the model's cosines to the
/// scale of the builtin model.
fn embed_calibration_texts(program: &Path, start: &StartOptions) -> Result<(usize, CosineScale), String> {
    let mut process = ModelProcess::start(program, start)?;
    let texts: Vec<&str> = memod_models::CALIBRATION_TEXTS.lines().collect();
    let mut vectors = Vec::new();
    for batch in texts.chunks(BATCH) {
        vectors
            .extend(process.run_task(&ModelTask::for_embedding(
                batch.iter().map(|text| (*text).to_owned()).collect(),
            ))?);
    }
    let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().filter_map(normalize).collect();
    let dims = vectors.first().map_or(0, Vec::len);
    if vectors.len() < texts.len()
        || vectors.iter().any(|vector| vector.len() != dims)
        || !ALLOWED_DIMS.contains(&dims)
    {
        return Err(format!(
            "returned no usable vectors: {} vectors of {dims} numbers for {} texts",
            vectors.len(),
            texts.len()
        ));
    }
    let builtin = BuiltinModel::shared().map_err(|error| error.to_string())?;
    let by_builtin: Vec<Option<Vec<f32>>> = texts.iter().map(|text| builtin.embed_one(text)).collect();
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for left in 0..texts.len() {
        for right in 0..left {
            if let (Some(a), Some(b)) = (&by_builtin[left], &by_builtin[right]) {
                own.push(dot_product(&vectors[left], &vectors[right]));
                other.push(dot_product(a, b));
            }
        }
    }
    Ok((dims, CosineScale::fit(&own, &other)))
}

/// Scores some texts against one of them. A usable model gives finite scores that are not all equal.
fn check_reranker_scores(program: &Path, start: &StartOptions) -> Result<(), String> {
    let mut process = ModelProcess::start(program, start)?;
    let texts: Vec<String> = memod_models::CALIBRATION_TEXTS.lines().take(BATCH).map(str::to_owned).collect();
    let scores = process.run_task(&ModelTask { query: texts.first().cloned(), texts })?;
    let scores: Vec<f32> = scores.into_iter().flatten().flatten().collect();
    let differs = scores.iter().any(|score| score.to_bits() != scores[0].to_bits());
    match scores.len() == BATCH && differs {
        true => Ok(()),
        false => Err("returned no usable scores: they are not finite, or all equal".to_owned()),
    }
}

/// Returns the dot product of two vectors of one length.
fn dot_product(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(left, right)| f64::from(left * right)).sum()
}

impl<'a> ModelFolder<'a> {
    /// Finds the model file in the folder or in its subfolder `onnx`: `model.onnx`, or the only file that ends in `.onnx`.
    fn open(dir: &'a Path) -> Result<Self, OnnxError> {
        let usual = [dir.join(MODEL_FILE_NAME), dir.join("onnx").join(MODEL_FILE_NAME)];
        if let Some(model) = usual.into_iter().find(|path| path.is_file()) {
            return Ok(Self { dir, model });
        }
        fs::read_dir(dir).at("read directory", dir)?; // reports a missing folder
        let mut found: Vec<PathBuf> = [dir.to_owned(), dir.join("onnx")]
            .iter()
            .flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "onnx"))
            .collect();
        found.sort();
        match found.as_slice() {
            [model] => Ok(Self { dir, model: model.clone() }),
            [] => Err(OnnxError::bad_file_error(dir, "has no file that ends in .onnx")),
            [first, second, ..] => {
                let (first, second) = (first.display(), second.display());
                Err(OnnxError::bad_file_error(
                    dir,
                    format!(
                        "has several models, {first} and {second}; rename the one to install to {MODEL_FILE_NAME}"
                    ),
                ))
            }
        }
    }

    /// Reads a JSON file of the folder; returns `null` if the file does not exist.
    fn read_json(&self, name: &str) -> Result<Value, OnnxError> {
        let path = self.dir.join(name);
        if !path.is_file() {
            return Ok(Value::Null);
        }
        let text = read_regular_file(&path, MAX_JSON_BYTES)?;
        serde_json::from_slice(&text).map_err(|error| OnnxError::bad_file_error(&path, error.to_string()))
    }

    /// Returns the catalogue entry of the model that `config.json` in the folder names.
    fn find_catalogue_entry(&self) -> Option<&'static CatalogueEntry> {
        let config = self.read_json("config.json").ok()?;
        let source = config["_name_or_path"].as_str()?.trim_end_matches('/').to_lowercase();
        CATALOGUE.iter().find(|entry| {
            let repository = entry.repository.to_lowercase();
            source == repository || repository.ends_with(&format!("/{source}"))
        })
    }

    /// Makes a model name from the folder's name, with a dash for each character that a model name cannot contain.
    fn suggest_name(&self) -> String {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.chars().map(replace_odd_char).collect::<String>().trim_matches(['-', '.']).to_owned()
    }

    /// Copies the files of the model into the directory `to`, and returns the manifest. `dims` and `scale` of the manifest are not
    /// known yet.
    fn copy_files(
        &self,
        to: &Path,
        name: &str,
        known: Option<&CatalogueEntry>,
    ) -> Result<Manifest, OnnxError> {
        let model = read_regular_file(&self.model, MAX_MODEL_BYTES)?;
        let mut files = vec![self.write_file(to, MODEL_FILE_NAME, &model)?];
        for (file, default) in TOKENIZER_FILES.into_iter().zip(DEFAULT_TOKENIZER_FILES) {
            let path = self.dir.join(file);
            let content = match path.is_file() {
                true => read_regular_file(&path, MAX_JSON_BYTES)?,
                false if default.is_empty() => {
                    return Err(OnnxError::bad_file_error(&path, "does not exist"));
                }
                false => default.as_bytes().to_vec(),
            };
            files.push(self.write_file(to, file, &content)?);
        }
        let max_tokens = self.read_max_tokens()?.or(known.map(|entry| entry.max_tokens));
        let max_tokens = max_tokens.unwrap_or(MOST_TOKENS).clamp(1, MOST_TOKENS);
        let prompts = &self.read_json(PROMPTS_FILE_NAME)?["prompts"];
        let (query, document) =
            (find_prompt(prompts, &["query"]), find_prompt(prompts, &["document", "passage"]));
        if [&query, &document].into_iter().flatten().any(|prefix| prefix.len() > MAX_PREFIX_BYTES) {
            let reason = format!("has a prefix of more than {MAX_PREFIX_BYTES} bytes");
            return Err(OnnxError::bad_file_error(&self.dir.join(PROMPTS_FILE_NAME), reason));
        }
        Ok(Manifest {
            name: name.to_owned(),
            source: self.dir.display().to_string(),
            revision: compute_revision(&files, max_tokens),
            purpose: known.map_or_else(|| self.read_purpose(), |entry| Ok(entry.purpose))?,
            dims: 0,
            pooling: self.read_pooling()?.or(known.map(|entry| entry.pooling)).unwrap_or(Pooling::Mean),
            query_prefix: query.unwrap_or_else(|| known.map_or("", |entry| entry.query_prefix).to_owned()),
            document_prefix: document
                .unwrap_or_else(|| known.map_or("", |entry| entry.document_prefix).to_owned()),
            max_tokens,
            scale: CosineScale::default(),
            files,
        })
    }

    /// Writes a file into the directory `to`; returns its name, size and hash.
    fn write_file(&self, to: &Path, name: &str, content: &[u8]) -> Result<ModelFile, OnnxError> {
        let path = to.join(name);
        fs::write(&path, content).at("write", &path)?;
        Ok(ModelFile::from_content(name, content))
    }

    /// Reads the pooling of the model; `None` if the folder has no `1_Pooling/config.json`.
    fn read_pooling(&self) -> Result<Option<Pooling>, OnnxError> {
        let config = self.read_json("1_Pooling/config.json")?;
        match (
            is_switched_on(&config, "pooling_mode_cls_token"),
            is_switched_on(&config, "pooling_mode_mean_tokens"),
        ) {
            (true, _) => Ok(Some(Pooling::Cls)),
            (_, true) => Ok(Some(Pooling::Mean)),
            _ if config.is_null() => Ok(None),
            _ => {
                let path = self.dir.join("1_Pooling/config.json");
                Err(OnnxError::bad_file_error(&path, "sets neither mean nor cls pooling"))
            }
        }
    }

    /// Reads from `config.json` whether the model embeds or reranks.
    fn read_purpose(&self) -> Result<ModelPurpose, OnnxError> {
        let config = self.read_json("config.json")?;
        let kind = config["architectures"][0].as_str().unwrap_or_default();
        let is_classifier = kind.ends_with("ForSequenceClassification");
        Ok(if is_classifier { ModelPurpose::Rerank } else { ModelPurpose::Embed })
    }

    /// Reads the number of tokens after which a text is cut; `None` if the folder sets no limit.
    fn read_max_tokens(&self) -> Result<Option<usize>, OnnxError> {
        let config = self.read_json("sentence_bert_config.json")?;
        Ok(config["max_seq_length"].as_u64().and_then(|tokens| usize::try_from(tokens).ok()))
    }
}

/// Returns the character, or a dash if a model name cannot contain the character.
fn replace_odd_char(c: char) -> char {
    if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' }
}

/// Returns the text of the first of these prompts that exists.
fn find_prompt(prompts: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| prompts[*name].as_str()).map(str::to_owned)
}

/// Returns whether `mode` is `true` in a configuration.
fn is_switched_on(config: &Value, mode: &str) -> bool {
    config[mode].as_bool() == Some(true)
}

#[cfg(test)]
mod tests;
