//! Holds the models whose vectors the daemon makes.
//!
//! The index and the memories each use the model that their database names, and switch to the chosen model at different times.
//! So callers request models by identity.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use memod_base::threads::lock;
use memod_embed::onnx::{
    ModelCache, ModelPurpose, OutOfProcessModel, Reranker, RuntimeLocations, name_in_identity,
};
use memod_embed::{BUILTIN_DIMS, BUILTIN_ID, BuiltinModel, Embedder, GuardedModel, MODEL_LOADING};

/// A model, or why it cannot be used.
pub type ModelResult = Result<Arc<dyn Embedder>, String>;

/// Name of the builtin model in the settings.
pub const BUILTIN: &str = "builtin";

/// The models, each opened when it is needed first.
pub struct ModelRegistry {
    builtin: OnceLock<ModelResult>,
    /// Installed models.
    pub cache: ModelCache,
    /// The library that runs installed models.
    pub runtime: RuntimeLocations,
    /// Path of the program `memod`, which runs installed models in processes of their own.
    pub program: PathBuf,
    /// Name of the cross-encoder in the settings; any that is installed if empty.
    reranker_name: Mutex<String>,
    reranker: Mutex<Option<Arc<Reranker>>>,
    opened: Mutex<HashMap<String, Arc<dyn Embedder>>>,
    /// Identity of the chosen model, or why it cannot be used.
    chosen: Mutex<Result<String, String>>,
    /// Identity of the model that was chosen and has been loaded since.
    usable: Mutex<Option<String>>,
    /// Why the chosen model is not in use yet, if something failed.
    problem: Mutex<Option<String>>,
}

impl ModelRegistry {
    /// Returns a registry in which the model of this name is chosen.
    pub fn new(cache: ModelCache, runtime: RuntimeLocations, program: PathBuf, name: &str) -> Self {
        let chosen = model_identity(&cache, name);
        Self {
            builtin: OnceLock::new(),
            cache,
            runtime,
            program,
            reranker_name: Mutex::default(),
            reranker: Mutex::default(),
            opened: Mutex::default(),
            chosen: Mutex::new(chosen),
            usable: Mutex::default(),
            problem: Mutex::default(),
        }
    }

    /// Makes the model of this name the one that reranks; an empty name means any that is installed.
    pub fn with_reranker(self, name: &str) -> Self {
        self.choose_reranker(name);
        self
    }

    /// Makes the model of this name the one that reranks; an empty name means any that is installed.
    pub fn choose_reranker(&self, name: &str) {
        name.clone_into(&mut lock(&self.reranker_name));
        *lock(&self.reranker) = None;
    }

    /// Returns the model that reranks.
    ///
    /// # Errors
    /// Why no model can rerank.
    pub fn load_reranker(&self) -> Result<Arc<Reranker>, String> {
        let mut opened = lock(&self.reranker);
        // Another process may have replaced the files of the model.
        if let Some(reranker) =
            opened.as_ref().filter(|model| self.cache.find_by_identity(model.id()).is_ok())
        {
            return Ok(Arc::clone(reranker));
        }
        let name = lock(&self.reranker_name).clone();
        let installed = match name.is_empty() {
            true => self
                .cache
                .list_models()
                .into_iter()
                .find(|model| model.manifest.purpose == ModelPurpose::Rerank),
            false => Some(self.cache.get(&name).map_err(|error| error.to_string())?),
        };
        let installed = installed
            .ok_or("no model for reranking is installed; `memo model use ms-marco-l6` downloads one")?;
        if installed.manifest.purpose != ModelPurpose::Rerank {
            return Err(format!("{name} is not a model for reranking"));
        }
        let reranker = Reranker::new(&installed, &self.runtime, &self.program);
        let reranker = Arc::new(reranker.map_err(|error| error.to_string())?);
        *opened = Some(Arc::clone(&reranker));
        Ok(reranker)
    }

    /// Returns the builtin model alone.
    #[cfg(test)]
    pub(crate) fn only_builtin() -> Self {
        let nowhere = std::path::Path::new("/nonexistent");
        Self::new(ModelCache::new(nowhere), RuntimeLocations::default(), nowhere.to_owned(), BUILTIN)
    }

    /// Returns the model with this identity, and opens it first if necessary. Loading the builtin one takes some milliseconds.
    ///
    /// # Errors
    /// Why the model cannot be used.
    pub fn load_model(&self, id: &str) -> ModelResult {
        if id == BUILTIN_ID {
            return self.builtin.get_or_init(load_builtin).clone();
        }
        if let Some(model) = lock(&self.opened).get(id) {
            return Ok(Arc::clone(model));
        }
        let installed = self.cache.find_by_identity(id).map_err(|error| error.to_string())?;
        let model = OutOfProcessModel::new(&installed, &self.runtime, &self.program);
        let model: Arc<dyn Embedder> = Arc::new(model.map_err(|error| error.to_string())?);
        lock(&self.opened).insert(id.to_owned(), Arc::clone(&model));
        Ok(model)
    }

    /// Drops the opened model with this name, whose files were replaced or removed. Its processes end once they are unused.
    pub fn forget_model(&self, name: &str) {
        lock(&self.opened).retain(|id, _| name_in_identity(id) != name);
        lock(&self.reranker).take_if(|reranker| name_in_identity(reranker.id()) == name);
    }

    /// Makes the model of this name the chosen one; returns its identity.
    ///
    /// # Errors
    /// Why the model cannot be used; the former choice stays then.
    pub fn choose_model(&self, name: &str) -> Result<String, String> {
        let id = model_identity(&self.cache, name)?;
        self.load_model(&id)?;
        *lock(&self.usable) = None;
        *lock(&self.chosen) = Ok(id.clone());
        self.set_choice_problem(None);
        Ok(id)
    }

    /// Like [`Self::load_model`], but fails instead of waiting if the builtin model is not loaded yet.
    ///
    /// # Errors
    /// Why the model cannot be used now.
    pub fn load_if_ready(&self, id: &str) -> ModelResult {
        if id == BUILTIN_ID {
            return self.builtin.get().cloned().unwrap_or_else(|| Err(MODEL_LOADING.to_owned()));
        }
        self.load_model(id)
    }

    /// Returns the number of dimensions of a model's vectors, without loading the builtin model.
    pub(crate) fn vector_dims(&self, id: &str) -> Result<usize, String> {
        if id == BUILTIN_ID { Ok(BUILTIN_DIMS) } else { Ok(self.load_model(id)?.dims()) }
    }

    /// Returns the identity of the chosen model.
    ///
    /// # Errors
    /// Why the chosen model cannot be used.
    pub fn chosen_model_id(&self) -> Result<String, String> {
        lock(&self.chosen).clone()
    }

    /// Returns whether a model has been loaded since it was chosen.
    pub fn is_usable(&self, id: &str) -> bool {
        lock(&self.usable).as_deref() == Some(id)
    }

    /// Records that the chosen model has been loaded, so that queries need not wait for it.
    pub(crate) fn mark_usable(&self, id: &str) {
        *lock(&self.usable) = Some(id.to_owned());
    }

    /// Returns why the chosen model is not in use yet, if something failed.
    pub fn choice_problem(&self) -> Option<String> {
        lock(&self.problem).clone()
    }

    /// Records why the chosen model is not in use yet; `None` if nothing failed.
    pub(crate) fn set_choice_problem(&self, problem: Option<String>) {
        *lock(&self.problem) = problem;
    }
}

/// Returns the identity of the model with this name, which must make vectors.
fn model_identity(cache: &ModelCache, name: &str) -> Result<String, String> {
    if name == BUILTIN {
        return Ok(BUILTIN_ID.to_owned());
    }
    let installed = cache.get(name).map_err(|error| error.to_string())?;
    match installed.manifest.purpose {
        ModelPurpose::Embed => Ok(installed.manifest.identity()),
        ModelPurpose::Rerank => Err(format!("{name} is a model for reranking, which makes no vectors")),
    }
}

fn load_builtin() -> ModelResult {
    let loaded = GuardedModel::load(|| Ok(BuiltinModel::shared()?));
    loaded.map(|model| Arc::new(model) as Arc<dyn Embedder>).map_err(|error| {
        tracing::error!(%error, "cannot load the builtin model, so there are no embeddings");
        error.to_string()
    })
}
