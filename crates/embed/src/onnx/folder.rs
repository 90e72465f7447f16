//! Installs a model from a folder that is laid out as sentence-transformers writes it.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext as _, open_regular};
use serde_json::Value;

use super::cache::{InstalledModel, ModelCache, is_name};
use super::catalogue::{CATALOGUE, CatalogueEntry};
use super::manifest::{MANIFEST, MODEL, Manifest, ModelFile, Pooling, Purpose, sha256_hex};
use super::model_client::ModelProcess;
use super::model_process::{ModelTask, StartOptions, TOKENIZER};
use super::{OnnxError, Runtime};
use crate::{Builtin, Scale, normalize};

/// Most tokens of a text that count: more cost more than they find.
const MOST_TOKENS: usize = 512;

/// Lengths that vectors may have.
const DIMS: std::ops::RangeInclusive<usize> = 8..=4_096;

/// Largest model file, bytes.
const MOST_MODEL: u64 = 4 << 30;

/// Largest other file, bytes.
const MOST_JSON: u64 = 64 << 20;

/// Longest prefix of texts, bytes.
const MOST_PREFIX: usize = 1 << 10;

/// File with the prefixes.
const PROMPTS: &str = "config_sentence_transformers.json";

/// Texts in a batch.
const BATCH: usize = 8;

/// Contents of the tokenizer's files that the folder lacks; the first one must be there.
const DEFAULTS: [&str; 4] = ["", "{}", "{}", r#"{"model_max_length":512,"pad_token":"[PAD]"}"#];

/// A model to install.
#[derive(Clone, Copy, Debug)]
pub struct ModelImport<'a> {
    /// Its folder.
    pub dir: &'a Path,
    /// Its name; the one that the folder suggests if absent.
    pub name: Option<&'a str>,
    /// Where it comes from, if not from the folder.
    pub source: Option<&'a str>,
}

/// A folder with the files of a model, which have not been read yet.
struct ModelFolder<'a> {
    dir: &'a Path,
    model: PathBuf,
}

/// Installs a model. It is loaded in a process of its own and
/// embeds some texts before it replaces a model of the same name.
///
/// # Errors
/// When a file is absent or wrong, or the model cannot be run; nothing is changed then.
pub fn import_model(
    &ModelImport { dir, name, source }: &ModelImport<'_>,
    cache: &ModelCache,
    runtime: &Runtime,
    program: &Path,
) -> Result<InstalledModel, OnnxError> {
    let folder = ModelFolder::open(dir)?;
    let known = name.and_then(CatalogueEntry::find).or_else(|| folder.find_catalogue_entry());
    let name = match name.or(known.map(|entry| entry.name)) {
        Some(name) => name.to_owned(),
        None => folder.suggest_name(),
    };
    if !is_name(&name) {
        return Err(OnnxError::bad_file(
            dir,
            format!("`{name}` cannot be the name of a model; give one with --name"),
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
            Purpose::Embed => {
                (manifest.dims, manifest.scale) =
                    try_texts(program, &start).map_err(|reason| failed_error(&name, reason))?;
            }
            Purpose::Rerank => try_pairs(program, &start).map_err(|reason| failed_error(&name, reason))?,
        }
        write_manifest(&complete, &manifest)?;
        cache.replace_model(&complete, &name)?;
        Ok(manifest)
    };
    let manifest = install().inspect_err(|_: &OnnxError| drop(fs::remove_dir_all(&complete)))?;
    Ok(InstalledModel { dir: cache.dir().join(&name), manifest })
}

/// Returns the error for a model that cannot be run.
fn failed_error(model: &str, reason: String) -> OnnxError {
    OnnxError::Failed { model: model.to_owned(), reason }
}

/// Reads a regular file, also through a link, as caches of hubs have them. A FIFO does not block.
fn read_regular_file(path: &Path, most_bytes: u64) -> Result<Vec<u8>, OnnxError> {
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(OnnxError::bad_file(path, "is not a regular file"));
    }
    let file = open_regular(path, true).at("open", path)?;
    let mut content = Vec::new();
    file.take(most_bytes + 1).read_to_end(&mut content).at("read", path)?;
    if content.len() as u64 > most_bytes {
        return Err(OnnxError::bad_file(path, format!("has more than {most_bytes} bytes")));
    }
    Ok(content)
}

/// Computes the first 12 digits of the SHA-256 of everything that makes the vectors.
fn compute_revision(files: &[ModelFile], max_tokens: usize) -> String {
    let files = files.iter().map(|file| format!("{} {}\n", file.name, file.sha256));
    sha256_hex(format!("{}{max_tokens}", files.collect::<String>()).as_bytes())[..12].to_owned()
}

/// Writes the manifest into the directory of a model.
fn write_manifest(dir: &Path, manifest: &Manifest) -> Result<(), OnnxError> {
    let path = dir.join(MANIFEST);
    let text = serde_json::to_vec_pretty(manifest).expect("plain values serialize");
    fs::write(&path, text).at("write", &path).map_err(Into::into)
}

/// Embeds some texts; returns the length of the vectors, and how their cosines compare with those of the builtin model.
fn try_texts(program: &Path, start: &StartOptions) -> Result<(usize, Scale), String> {
    let mut process = ModelProcess::start(program, start)?;
    let texts: Vec<&str> = memod_models::CALIBRATION.lines().collect();
    let mut vectors = Vec::new();
    for batch in texts.chunks(BATCH) {
        vectors.extend(
            process.run_task(&ModelTask::for_texts(batch.iter().map(|text| (*text).to_owned()).collect()))?,
        );
    }
    let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().filter_map(normalize).collect();
    let dims = vectors.first().map_or(0, Vec::len);
    if vectors.len() < texts.len()
        || vectors.iter().any(|vector| vector.len() != dims)
        || !DIMS.contains(&dims)
    {
        return Err(format!(
            "makes no vectors that can be used: {} of {}, of {dims} numbers",
            vectors.len(),
            texts.len()
        ));
    }
    let builtin = Builtin::shared().map_err(|error| error.to_string())?;
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
    Ok((dims, Scale::between(&own, &other)))
}

/// Compares some texts with one of them; they cannot all be equally good.
fn try_pairs(program: &Path, start: &StartOptions) -> Result<(), String> {
    let mut process = ModelProcess::start(program, start)?;
    let texts: Vec<String> = memod_models::CALIBRATION.lines().take(BATCH).map(str::to_owned).collect();
    let scores = process.run_task(&ModelTask { query: texts.first().cloned(), texts })?;
    let scores: Vec<f32> = scores.into_iter().flatten().flatten().collect();
    let differs = scores.iter().any(|score| score.to_bits() != scores[0].to_bits());
    if scores.len() == BATCH && differs { Ok(()) } else { Err("gives no scores that can be used".to_owned()) }
}

/// Returns the dot product of two vectors of one length.
fn dot_product(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(left, right)| f64::from(left * right)).sum()
}

impl<'a> ModelFolder<'a> {
    /// Finds the model file: `model.onnx`, also in `onnx/`, or the only one that ends in `.onnx`.
    fn open(dir: &'a Path) -> Result<Self, OnnxError> {
        let usual = [dir.join(MODEL), dir.join("onnx").join(MODEL)];
        if let Some(model) = usual.into_iter().find(|path| path.is_file()) {
            return Ok(Self { dir, model });
        }
        fs::read_dir(dir).at("read directory", dir)?; // it may not be there
        let mut found: Vec<PathBuf> = [dir.to_owned(), dir.join("onnx")]
            .iter()
            .flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "onnx"))
            .collect();
        found.sort();
        match found.as_slice() {
            [model] => Ok(Self { dir, model: model.clone() }),
            [] => Err(OnnxError::bad_file(dir, "has no file that ends in .onnx")),
            [first, second, ..] => {
                let (first, second) = (first.display(), second.display());
                Err(OnnxError::bad_file(
                    dir,
                    format!("has several models, {first} and {second}; name one {MODEL}"),
                ))
            }
        }
    }

    /// Reads the value of a JSON file; null if it is absent.
    fn read_json(&self, name: &str) -> Result<Value, OnnxError> {
        let path = self.dir.join(name);
        if !path.is_file() {
            return Ok(Value::Null);
        }
        let text = read_regular_file(&path, MOST_JSON)?;
        serde_json::from_slice(&text).map_err(|error| OnnxError::bad_file(&path, error.to_string()))
    }

    /// Finds the model of the catalogue that the configuration in the folder names.
    fn find_catalogue_entry(&self) -> Option<&'static CatalogueEntry> {
        let config = self.read_json("config.json").ok()?;
        let source = config["_name_or_path"].as_str()?.trim_end_matches('/').to_lowercase();
        CATALOGUE.iter().find(|entry| {
            let repository = entry.repository.to_lowercase();
            source == repository || repository.ends_with(&format!("/{source}"))
        })
    }

    /// Suggests a name for the model: that of the folder, with a dash for each character that a name cannot have.
    fn suggest_name(&self) -> String {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.chars().map(replace_odd_char).collect::<String>().trim_matches(['-', '.']).to_owned()
    }

    /// Copies the files into a directory, and describes them. The length of the vectors is not known yet.
    fn copy_files(
        &self,
        to: &Path,
        name: &str,
        known: Option<&CatalogueEntry>,
    ) -> Result<Manifest, OnnxError> {
        let model = read_regular_file(&self.model, MOST_MODEL)?;
        let mut files = vec![self.write_file(to, MODEL, &model)?];
        for (file, default) in TOKENIZER.into_iter().zip(DEFAULTS) {
            let path = self.dir.join(file);
            let content = match path.is_file() {
                true => read_regular_file(&path, MOST_JSON)?,
                false if default.is_empty() => return Err(OnnxError::bad_file(&path, "is absent")),
                false => default.as_bytes().to_vec(),
            };
            files.push(self.write_file(to, file, &content)?);
        }
        let max_tokens = self.read_max_tokens()?.or(known.map(|entry| entry.max_tokens));
        let max_tokens = max_tokens.unwrap_or(MOST_TOKENS).clamp(1, MOST_TOKENS);
        let prompts = &self.read_json(PROMPTS)?["prompts"];
        let (query, document) =
            (find_prompt(prompts, &["query"]), find_prompt(prompts, &["document", "passage"]));
        if [&query, &document].into_iter().flatten().any(|prefix| prefix.len() > MOST_PREFIX) {
            let reason = format!("a prefix has more than {MOST_PREFIX} bytes");
            return Err(OnnxError::bad_file(&self.dir.join(PROMPTS), reason));
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
            scale: Scale::default(),
            files,
        })
    }

    /// Writes a file into a directory, and describes it.
    fn write_file(&self, to: &Path, name: &str, content: &[u8]) -> Result<ModelFile, OnnxError> {
        let path = to.join(name);
        fs::write(&path, content).at("write", &path)?;
        Ok(ModelFile::from_content(name, content))
    }

    /// Reads the pooling of the model; `None` if the folder has no file for it.
    fn read_pooling(&self) -> Result<Option<Pooling>, OnnxError> {
        let config = self.read_json("1_Pooling/config.json")?;
        match (
            is_switched_on(&config, "pooling_mode_cls_token"),
            is_switched_on(&config, "pooling_mode_mean_tokens"),
        ) {
            (true, _) => Ok(Some(Pooling::Cls)),
            (_, true) => Ok(Some(Pooling::Mean)),
            _ if config.is_null() => Ok(None),
            _ => Err(OnnxError::bad_file(&self.dir.join("1_Pooling/config.json"), "neither mean nor cls")),
        }
    }

    /// Reads the purpose of the model.
    fn read_purpose(&self) -> Result<Purpose, OnnxError> {
        let config = self.read_json("config.json")?;
        let kind = config["architectures"][0].as_str().unwrap_or_default();
        let is_classifier = kind.ends_with("ForSequenceClassification");
        Ok(if is_classifier { Purpose::Rerank } else { Purpose::Embed })
    }

    /// Reads the number of tokens of a text that count; `None` if the folder does not limit it.
    fn read_max_tokens(&self) -> Result<Option<usize>, OnnxError> {
        let config = self.read_json("sentence_bert_config.json")?;
        Ok(config["max_seq_length"].as_u64().and_then(|tokens| usize::try_from(tokens).ok()))
    }
}

/// Returns a character of a model's name; a dash for one that a name cannot have.
fn replace_odd_char(c: char) -> char {
    if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' }
}

/// Returns the prompt under the first of these names that has one.
fn find_prompt(prompts: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| prompts[*name].as_str()).map(str::to_owned)
}

/// Returns whether a configuration switches a mode on.
fn is_switched_on(config: &Value, mode: &str) -> bool {
    config[mode].as_bool() == Some(true)
}

#[cfg(test)]
mod tests;
