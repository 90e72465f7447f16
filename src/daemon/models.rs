//! Holds the models whose vectors the daemon makes.
//!
//! The index and the memories each have a model that answers, which their databases name, and change to the chosen one in
//! their own time. So models are asked for by identity.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::embed::{BUILTIN_DIMS, BUILTIN_ID, Builtin, Embedder, Guarded};

/// A model, or why there is none.
pub(super) type Loaded = Result<Arc<dyn Embedder>, String>;

/// Why a model that will be there soon cannot be used yet.
pub(super) const LOADING: &str = "model loading";

/// Opens a model of the user by its identity.
type Open = Box<dyn Fn(&str) -> Loaded + Send + Sync>;

/// The models, each opened when it is needed first.
pub(super) struct Models {
    builtin: OnceLock<Loaded>,
    open: Open,
    opened: Mutex<HashMap<String, Arc<dyn Embedder>>>,
    /// Identity of the model that is to answer, or why it cannot.
    chosen: Mutex<Result<String, String>>,
    /// Why the chosen model does not answer yet, if something failed.
    problem: Mutex<Option<String>>,
}

impl Models {
    /// Returns the builtin model alone.
    pub(super) fn builtin() -> Self {
        Self::new(Box::new(|id| Err(format!("no model {id}"))), Ok(BUILTIN_ID.to_owned()))
    }

    pub(super) fn new(open: Open, chosen: Result<String, String>) -> Self {
        Self {
            builtin: OnceLock::new(),
            open,
            opened: Mutex::default(),
            chosen: Mutex::new(chosen),
            problem: Mutex::default(),
        }
    }

    /// Returns a model; loads the builtin one, which takes some milliseconds.
    pub(super) fn load(&self, id: &str) -> Loaded {
        if id == BUILTIN_ID {
            return self.builtin.get_or_init(load_builtin).clone();
        }
        if let Some(model) = locked(&self.opened).get(id) {
            return Ok(Arc::clone(model));
        }
        let model = (self.open)(id)?;
        locked(&self.opened).insert(id.to_owned(), Arc::clone(&model));
        Ok(model)
    }

    /// Returns a model for somebody who waits: the builtin one only if it is loaded.
    pub(super) fn ready(&self, id: &str) -> Loaded {
        if id == BUILTIN_ID {
            return self.builtin.get().cloned().unwrap_or_else(|| Err(LOADING.to_owned()));
        }
        self.load(id)
    }

    /// Returns the length of a model's vectors, without loading the builtin one.
    pub(super) fn dims(&self, id: &str) -> Result<usize, String> {
        if id == BUILTIN_ID { Ok(BUILTIN_DIMS) } else { Ok(self.load(id)?.dims()) }
    }

    /// Returns the identity of the model that is to answer.
    ///
    /// # Errors
    /// Why it cannot.
    pub(super) fn chosen(&self) -> Result<String, String> {
        locked(&self.chosen).clone()
    }

    /// Records why the chosen model does not answer yet; nothing if nothing failed.
    pub(super) fn note_problem(&self, problem: Option<String>) {
        *locked(&self.problem) = problem;
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn load_builtin() -> Loaded {
    let loaded = Guarded::load(|| Ok(Arc::new(Builtin::load()?)));
    loaded.map(|model| Arc::new(model) as Arc<dyn Embedder>).map_err(|error| {
        tracing::error!(%error, "no embeddings");
        error.to_string()
    })
}
