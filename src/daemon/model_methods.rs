//! Answers the methods about models.

use std::path::Path;
use std::sync::Arc;

use memod_database::DatabaseError;
use memod_embed::onnx::{
    CATALOGUE, CatalogueEntry, InstalledModel, ModelImport, OnnxError, Purpose, import_model, name_of,
};
use memod_embed::{BUILTIN_DIMS, BUILTIN_ID};
use memod_engine::errors::RpcResult;
use memod_engine::models::BUILTIN;
use memod_index_db::Reader;
use memod_proto::{ModelEntry, ModelParams, ModelsResult, NextModel, RpcError, code};

use crate::daemon::request::blocking;
use crate::daemon::request::error::bad_params;
use crate::daemon::shared::Shared;

/// Which method is called.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verb {
    List,
    Import,
    Use,
    Remove,
}

/// Runs a method, and returns all models after it. Blocks while a model is tried.
pub(super) async fn call(shared: &Arc<Shared>, verb: Verb, params: ModelParams) -> RpcResult<ModelsResult> {
    blocking(shared, move |shared| {
        match verb {
            Verb::List => {}
            Verb::Import => install(shared, &params)?,
            Verb::Use => choose(shared, name(&params)?)?,
            Verb::Remove => remove(shared, name(&params)?)?,
        }
        list(shared)
    })
    .await
}

fn name(params: &ModelParams) -> RpcResult<&str> {
    params.name.as_deref().ok_or_else(|| bad_params("name: absent; `model.list` has the names"))
}

fn install(shared: &Shared, params: &ModelParams) -> RpcResult<()> {
    let dir = params.dir.as_deref().map(Path::new).filter(|dir| dir.is_absolute());
    let dir = dir.ok_or_else(|| bad_params("dir: the absolute path of a folder is needed"))?;
    let models = &shared.engine.models;
    let program = &models.program;
    let wanted = ModelImport { dir, name: params.name.as_deref(), source: None };
    let installed =
        import_model(&wanted, &models.cache, &models.runtime, program).map_err(|error| told(&error))?;
    let name = &installed.manifest.name;
    models.forget(name);
    // Another revision of the model in use: its vectors are made anew.
    let is_chosen = models.chosen().is_ok_and(|id| name_of(&id) == name);
    if is_chosen { choose(shared, name) } else { Ok(()) }
}

fn choose(shared: &Shared, name: &str) -> RpcResult<()> {
    if name != BUILTIN {
        let installed = shared.engine.models.cache.get(name).map_err(|error| told(&error))?;
        shared.engine.models.runtime.find_library().map_err(|error| told(&error))?;
        if installed.manifest.purpose == Purpose::Rerank {
            shared.engine.models.choose_reranker(name);
            return Ok(());
        }
    }
    shared.engine.models.choose(name).map_err(|why| RpcError::new(code::STORE, why))?;
    shared.memories.note_choice();
    shared.engine.note_chosen_model();
    Ok(())
}

fn remove(shared: &Shared, name: &str) -> RpcResult<()> {
    let id = shared.engine.models.cache.get(name).map(|installed| installed.manifest.identity());
    let chosen = shared.engine.models.chosen().ok();
    let in_use = [Some(shared.engine.read(Reader::model)?), chosen, Some(shared.memories.model_id())];
    if id.as_ref().is_ok_and(|id| in_use.iter().flatten().any(|used| used == id)) {
        return Err(RpcError::new(code::STORE, format!("{name} is in use in this repository")).with_hint(
            "`memo model use builtin` first, and wait until `memo model status` says that it answers",
        ));
    }
    shared.engine.models.cache.remove(name).map_err(|error| told(&error))?;
    shared.engine.models.forget(name);
    Ok(())
}

fn told(error: &OnnxError) -> RpcError {
    let code = match error {
        OnnxError::Absent(_) | OnnxError::BadFile { .. } => code::INVALID_PARAMS,
        OnnxError::Io(_) | OnnxError::Busy(_) | OnnxError::NoRuntime(_) | OnnxError::Failed { .. } => {
            code::IO
        }
    };
    let refusal = RpcError::new(code, error.to_string());
    match error.hint() {
        Some(hint) => refusal.with_hint(hint),
        None => refusal,
    }
}

fn list(shared: &Shared) -> RpcResult<ModelsResult> {
    let models = &shared.engine.models;
    let installed = models.cache.list_models();
    let is_installed =
        |entry: &&CatalogueEntry| installed.iter().any(|model| model.manifest.name == entry.name);
    let known = CATALOGUE.iter().filter(|entry| !is_installed(entry)).map(known);
    let runtime = models.runtime.find_library();
    Ok(ModelsResult {
        active: shared.engine.read(Reader::model)?,
        active_for_memories: shared.memories.model_id(),
        next: shared.engine.read(next)?,
        reranker: models.reranker().ok().map(|reranker| reranker.id().to_owned()),
        problem: models.problem().or_else(|| models.chosen().err()),
        has_runtime: runtime.is_ok(),
        runtime: runtime.map_or_else(|error| error.to_string(), |path| path.display().to_string()),
        dir: models.cache.dir().display().to_string(),
        models: std::iter::once(builtin()).chain(installed.iter().map(found)).chain(known).collect(),
    })
}

/// Returns the model that is to follow, and how far it is.
pub(super) fn next(reader: &Reader) -> Result<Option<NextModel>, DatabaseError> {
    let Some(id) = reader.next_model()? else { return Ok(None) };
    let (done, total) = reader.n_embedded(&id)?;
    Ok(Some(NextModel { id, done, total }))
}

fn builtin() -> ModelEntry {
    ModelEntry {
        name: BUILTIN.to_owned(),
        id: Some(BUILTIN_ID.to_owned()),
        purpose: Purpose::Embed.as_str().to_owned(),
        dims: BUILTIN_DIMS,
        licence: Some("Apache-2.0".to_owned()),
        source: "memod".to_owned(),
        note: "English and code; always there".to_owned(),
        ..ModelEntry::default()
    }
}

fn found(model: &InstalledModel) -> ModelEntry {
    let manifest = &model.manifest;
    let known = CatalogueEntry::find(&manifest.name);
    ModelEntry {
        name: manifest.name.clone(),
        id: Some(manifest.identity()),
        purpose: manifest.purpose.as_str().to_owned(),
        dims: manifest.dims,
        bytes: manifest.total_bytes(),
        licence: known.map(|entry| entry.licence.to_owned()),
        source: manifest.source.clone(),
        note: known.map_or(String::new(), |entry| entry.note.to_owned()),
    }
}

fn known(entry: &CatalogueEntry) -> ModelEntry {
    ModelEntry {
        name: entry.name.to_owned(),
        id: None,
        purpose: entry.purpose.as_str().to_owned(),
        dims: entry.dims,
        bytes: entry.megabytes * 1_000_000,
        licence: Some(entry.licence.to_owned()),
        source: entry.repository.to_owned(),
        note: entry.note.to_owned(),
    }
}
