//! Installs a model from a folder that is laid out as sentence-transformers writes it.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext as _, open_regular};
use serde_json::Value;

use super::cache::{Installed, ModelCache, is_name};
use super::catalogue::{CATALOGUE, CatalogueEntry};
use super::manifest::{MANIFEST, MODEL, Manifest, ModelFile, Pooling, Purpose, sha256};
use super::model_client::Process;
use super::model_process::{Start, TOKENIZER, Task};
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

/// What the tokenizer is told if the folder does not say it.
const DEFAULTS: [&str; 4] = ["", "{}", "{}", r#"{"model_max_length":512,"pad_token":"[PAD]"}"#];

/// A model to install.
#[derive(Clone, Copy, Debug)]
pub struct Import<'a> {
    /// Its folder.
    pub dir: &'a Path,
    /// Its name; the one that the folder suggests if absent.
    pub name: Option<&'a str>,
    /// Where it comes from, if not from the folder.
    pub source: Option<&'a str>,
}

/// A folder with the files of a model, which were not looked into yet.
struct Folder<'a> {
    dir: &'a Path,
    model: PathBuf,
}

/// Installs a model. It is loaded in a process of its own and
/// embeds some texts before it takes the place of another one.
///
/// # Errors
/// When a file is absent or wrong, or the model cannot be run; nothing is changed then.
pub fn import(
    &Import { dir, name, source }: &Import<'_>,
    cache: &ModelCache,
    runtime: &Runtime,
    program: &Path,
) -> Result<Installed, OnnxError> {
    let folder = Folder::open(dir)?;
    let known = name.and_then(CatalogueEntry::find).or_else(|| folder.known());
    let name = match name.or(known.map(|entry| entry.name)) {
        Some(name) => name.to_owned(),
        None => folder.name(),
    };
    if !is_name(&name) {
        return Err(OnnxError::bad(
            dir,
            format!("`{name}` cannot be the name of a model; give one with --name"),
        ));
    }
    let library = runtime.find()?;
    let _lock = cache.lock(&name)?;
    let complete = cache.temporary(&name)?;
    let install = || {
        let mut manifest = folder.copy(&complete, &name, known)?;
        manifest.source = source.map_or(manifest.source, str::to_owned);
        write(&complete, &manifest)?;
        let identity = manifest.identity();
        let start = Start { model_dir: complete.clone(), identity, runtime: library, in_background: true };
        let failed = |reason| OnnxError::Failed { model: name.clone(), reason };
        match manifest.purpose {
            Purpose::Embed => (manifest.dims, manifest.scale) = tried(program, &start).map_err(failed)?,
            Purpose::Rerank => try_pairs(program, &start).map_err(failed)?,
        }
        write(&complete, &manifest)?;
        cache.put(&complete, &name)?;
        Ok(manifest)
    };
    let manifest = install().inspect_err(|_: &OnnxError| drop(fs::remove_dir_all(&complete)))?;
    Ok(Installed { dir: cache.dir().join(&name), manifest })
}

/// Reads a regular file, also through a link, as caches of hubs have them. A FIFO does not block.
fn read(path: &Path, most_bytes: u64) -> Result<Vec<u8>, OnnxError> {
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(OnnxError::bad(path, "is not a regular file"));
    }
    let file = open_regular(path, true).at("open", path)?;
    let mut content = Vec::new();
    file.take(most_bytes + 1).read_to_end(&mut content).at("read", path)?;
    if content.len() as u64 > most_bytes {
        return Err(OnnxError::bad(path, format!("has more than {most_bytes} bytes")));
    }
    Ok(content)
}

/// Returns the first 12 digits of the SHA-256 of what makes the vectors.
fn revision(files: &[ModelFile], max_tokens: usize) -> String {
    let files = files.iter().map(|file| format!("{} {}\n", file.name, file.sha256));
    sha256(format!("{}{max_tokens}", files.collect::<String>()).as_bytes())[..12].to_owned()
}

fn write(dir: &Path, manifest: &Manifest) -> Result<(), OnnxError> {
    let path = dir.join(MANIFEST);
    let text = serde_json::to_vec_pretty(manifest).expect("plain values serialize");
    fs::write(&path, text).at("write", &path).map_err(Into::into)
}

/// Embeds some texts; returns the length of the vectors, and how their cosines compare with those of the builtin model.
fn tried(program: &Path, start: &Start) -> Result<(usize, Scale), String> {
    let mut process = Process::start(program, start)?;
    let texts: Vec<&str> = memod_models::CALIBRATION.lines().collect();
    let mut vectors = Vec::new();
    for batch in texts.chunks(BATCH) {
        vectors.extend(process.ask(&Task::embed(batch.iter().map(|text| (*text).to_owned()).collect()))?);
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
                own.push(dot(&vectors[left], &vectors[right]));
                other.push(dot(a, b));
            }
        }
    }
    Ok((dims, Scale::between(&own, &other)))
}

/// Compares some texts with one of them; they cannot all be equally good.
fn try_pairs(program: &Path, start: &Start) -> Result<(), String> {
    let mut process = Process::start(program, start)?;
    let texts: Vec<String> = memod_models::CALIBRATION.lines().take(BATCH).map(str::to_owned).collect();
    let scores = process.ask(&Task { query: texts.first().cloned(), texts })?;
    let scores: Vec<f32> = scores.into_iter().flatten().flatten().collect();
    let differs = scores.iter().any(|score| score.to_bits() != scores[0].to_bits());
    if scores.len() == BATCH && differs { Ok(()) } else { Err("gives no scores that can be used".to_owned()) }
}

fn dot(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(left, right)| f64::from(left * right)).sum()
}

impl<'a> Folder<'a> {
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
            [] => Err(OnnxError::bad(dir, "has no file that ends in .onnx")),
            [first, second, ..] => {
                let (first, second) = (first.display(), second.display());
                Err(OnnxError::bad(
                    dir,
                    format!("has several models, {first} and {second}; name one {MODEL}"),
                ))
            }
        }
    }

    /// Returns the value of a JSON file; null if it is absent.
    fn json(&self, name: &str) -> Result<Value, OnnxError> {
        let path = self.dir.join(name);
        if !path.is_file() {
            return Ok(Value::Null);
        }
        let text = read(&path, MOST_JSON)?;
        serde_json::from_slice(&text).map_err(|error| OnnxError::bad(&path, error.to_string()))
    }

    /// Returns the model of the catalogue that the folder says it is.
    fn known(&self) -> Option<&'static CatalogueEntry> {
        let config = self.json("config.json").ok()?;
        let source = config["_name_or_path"].as_str()?.trim_end_matches('/').to_lowercase();
        CATALOGUE.iter().find(|entry| {
            let repository = entry.repository.to_lowercase();
            source == repository || repository.ends_with(&format!("/{source}"))
        })
    }

    /// Returns the name of the folder as that of a model.
    fn name(&self) -> String {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
        name.chars().map(allowed).collect::<String>().trim_matches(['-', '.']).to_owned()
    }

    /// Copies the files into a directory, and describes them. The length of the vectors is not known yet.
    fn copy(&self, to: &Path, name: &str, known: Option<&CatalogueEntry>) -> Result<Manifest, OnnxError> {
        let model = read(&self.model, MOST_MODEL)?;
        let mut files = vec![self.put(to, MODEL, &model)?];
        for (file, default) in TOKENIZER.into_iter().zip(DEFAULTS) {
            let path = self.dir.join(file);
            let content = match path.is_file() {
                true => read(&path, MOST_JSON)?,
                false if default.is_empty() => return Err(OnnxError::bad(&path, "is absent")),
                false => default.as_bytes().to_vec(),
            };
            files.push(self.put(to, file, &content)?);
        }
        let max_tokens = self.max_tokens()?.or(known.map(|entry| entry.max_tokens));
        let max_tokens = max_tokens.unwrap_or(MOST_TOKENS).clamp(1, MOST_TOKENS);
        let prompts = &self.json(PROMPTS)?["prompts"];
        let prompt =
            |names: &[&str]| names.iter().find_map(|name| prompts[*name].as_str()).map(str::to_owned);
        let (query, document) = (prompt(&["query"]), prompt(&["document", "passage"]));
        if [&query, &document].into_iter().flatten().any(|prefix| prefix.len() > MOST_PREFIX) {
            let reason = format!("a prefix has more than {MOST_PREFIX} bytes");
            return Err(OnnxError::bad(&self.dir.join(PROMPTS), reason));
        }
        let of_known = |prefix: fn(&CatalogueEntry) -> &'static str| known.map_or("", prefix).to_owned();
        Ok(Manifest {
            name: name.to_owned(),
            source: self.dir.display().to_string(),
            revision: revision(&files, max_tokens),
            purpose: known.map_or_else(|| self.purpose(), |entry| Ok(entry.purpose))?,
            dims: 0,
            pooling: self.pooling()?.or(known.map(|entry| entry.pooling)).unwrap_or(Pooling::Mean),
            query_prefix: query.unwrap_or_else(|| of_known(|entry| entry.query_prefix)),
            document_prefix: document.unwrap_or_else(|| of_known(|entry| entry.document_prefix)),
            max_tokens,
            scale: Scale::default(),
            files,
        })
    }

    fn put(&self, to: &Path, name: &str, content: &[u8]) -> Result<ModelFile, OnnxError> {
        let path = to.join(name);
        fs::write(&path, content).at("write", &path)?;
        Ok(ModelFile::of(name, content))
    }

    /// Returns what the folder says of pooling.
    fn pooling(&self) -> Result<Option<Pooling>, OnnxError> {
        let config = self.json("1_Pooling/config.json")?;
        let is_on = |mode: &str| config[mode].as_bool() == Some(true);
        match (is_on("pooling_mode_cls_token"), is_on("pooling_mode_mean_tokens")) {
            (true, _) => Ok(Some(Pooling::Cls)),
            (_, true) => Ok(Some(Pooling::Mean)),
            _ if config.is_null() => Ok(None),
            _ => Err(OnnxError::bad(&self.dir.join("1_Pooling/config.json"), "neither mean nor cls")),
        }
    }

    /// Returns what the folder says that the model is for.
    fn purpose(&self) -> Result<Purpose, OnnxError> {
        let config = self.json("config.json")?;
        let kind = config["architectures"][0].as_str().unwrap_or_default();
        let is_classifier = kind.ends_with("ForSequenceClassification");
        Ok(if is_classifier { Purpose::Rerank } else { Purpose::Embed })
    }

    fn max_tokens(&self) -> Result<Option<usize>, OnnxError> {
        let config = self.json("sentence_bert_config.json")?;
        Ok(config["max_seq_length"].as_u64().and_then(|tokens| usize::try_from(tokens).ok()))
    }
}

#[cfg(test)]
mod tests;
