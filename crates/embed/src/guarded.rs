//! Turns the panics of an embedding model into errors.

use std::sync::{Arc, PoisonError, RwLock};

use memod_base::threads::catch_panic;

use super::{EmbedError, Embedder};

/// A function that loads a model.
type LoadModel = fn() -> Result<Arc<dyn Embedder>, EmbedError>;

/// A model whose panics become errors. After a panic the model is reloaded before the next text, because its state may be
/// inconsistent.
pub struct GuardedModel {
    id: String,
    dims: usize,
    load: LoadModel,
    model: RwLock<Arc<dyn Embedder>>,
}

impl GuardedModel {
    /// Loads a model with `load`, which is called again after each panic of the model.
    ///
    /// # Errors
    /// When `load` fails or panics.
    pub fn load(load: LoadModel) -> Result<Self, EmbedError> {
        let model = catch_panic(load).unwrap_or_else(|why| {
            Err(EmbedError { model: "not loaded yet".to_owned(), reason: format!("panicked: {why}") })
        })?;
        Ok(Self { id: model.id().to_owned(), dims: model.dims(), load, model: RwLock::new(model) })
    }

    /// Loads the model again after a panic. If loading fails, the old model stays in use.
    fn reload_model(&self) {
        match Self::load(self.load) {
            Ok(Self { model, .. }) => {
                let model = model.into_inner().unwrap_or_else(PoisonError::into_inner);
                *self.model.write().unwrap_or_else(PoisonError::into_inner) = model;
            }
            Err(error) => tracing::error!(%error, "the embedding model panicked and cannot be loaded again"),
        }
    }
}

impl Embedder for GuardedModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn dims(&self) -> usize {
        self.dims
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        let model = Arc::clone(&self.model.read().unwrap_or_else(PoisonError::into_inner));
        catch_panic(|| model.embed(texts)).unwrap_or_else(|why| {
            self.reload_model();
            Err(EmbedError { model: self.id.clone(), reason: format!("panicked: {why}") })
        })
    }
}

/// Returns whether a model can embed a harmless text. If it can, an earlier failure was due to the earlier text.
pub fn can_embed(model: &dyn Embedder) -> bool {
    catch_panic(|| model.embed(&["the text of a note"])).is_ok_and(|vectors| vectors.is_ok())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    /// Panics forever after a bad text.
    #[derive(Default)]
    struct Fragile {
        is_broken: AtomicBool,
    }

    static LOADS: AtomicUsize = AtomicUsize::new(0);

    impl Embedder for Fragile {
        fn id(&self) -> &str {
            "fragile"
        }

        fn dims(&self) -> usize {
            1
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
            assert!(!self.is_broken.load(Ordering::SeqCst), "broken");
            self.is_broken.store(texts.contains(&"bad"), Ordering::SeqCst);
            assert!(!texts.contains(&"bad"), "met a bad text");
            Ok(texts.iter().map(|_| Some(vec![1.0])).collect())
        }
    }

    #[test]
    fn a_model_that_panicked_is_loaded_anew() {
        let model = GuardedModel::load(|| {
            LOADS.fetch_add(1, Ordering::SeqCst);
            Ok(Arc::new(Fragile::default()))
        });
        let model = model.unwrap();
        assert_eq!((model.id(), model.dims()), ("fragile", 1));
        assert_eq!(model.embed(&["good"]).unwrap().len(), 1);
        assert_eq!(LOADS.load(Ordering::SeqCst), 1);
        let error = model.embed(&["good", "bad"]).unwrap_err();
        assert_eq!(error.to_string(), "model fragile: panicked: met a bad text");
        assert_eq!(model.embed(&["good"]).unwrap().len(), 1);
        assert_eq!(LOADS.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_model_that_panics_while_it_is_loaded_is_none() {
        let error = GuardedModel::load(|| panic!("no weights")).err().unwrap();
        assert_eq!(error.to_string(), "model not loaded yet: panicked: no weights");
    }
}
