//! Answers the methods about models.

use std::path::Path;
use std::sync::Arc;

use memod_database::DatabaseError;
use memod_embed::onnx::{
    CATALOGUE, CatalogueEntry, InstalledModel, ModelImport, ModelPurpose, OnnxError, import_model,
    name_in_identity,
};
use memod_embed::{BUILTIN_DIMS, BUILTIN_ID};
use memod_engine::errors::RpcResult;
use memod_engine::model_registry::BUILTIN;
use memod_index_db::IndexReader;
use memod_proto::{ModelEntry, ModelParams, ModelsResult, NextModel, RpcError, code};

use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::shared::Shared;

/// A method about models.
#[derive(Clone, Copy, Debug)]
pub(super) enum ModelMethod {
    List,
    Import,
    Use,
    Remove,
}

/// Runs a method about models, and returns the list of all models afterwards. Importing a model waits until the model was tried.
pub(super) async fn answer_models(
    request: &Arc<RequestContext>,
    verb: ModelMethod,
    params: ModelParams,
) -> RpcResult<ModelsResult> {
    run_blocking(request, move |request| {
        match verb {
            ModelMethod::List => {}
            ModelMethod::Import => install_model(&request.shared, &params)?,
            ModelMethod::Use => choose_model(&request.shared, required_name(&params)?)?,
            ModelMethod::Remove => remove_model(&request.shared, required_name(&params)?)?,
        }
        list_models(&request.shared)
    })
    .await
}

fn required_name(params: &ModelParams) -> RpcResult<&str> {
    params.name.as_deref().ok_or_else(|| bad_params_error("name: missing; `model.list` lists the names"))
}

fn install_model(shared: &Shared, params: &ModelParams) -> RpcResult<()> {
    let dir = params.dir.as_deref().map(Path::new).filter(|dir| dir.is_absolute());
    let dir = dir.ok_or_else(|| bad_params_error("dir: the absolute path of a folder is needed"))?;
    let models = &shared.engine.models;
    let program = &models.program;
    let wanted = ModelImport { dir, name: params.name.as_deref(), source: None };
    let installed = import_model(&wanted, &models.cache, &models.runtime, program)
        .map_err(|error| to_rpc_error(&error))?;
    let name = &installed.manifest.name;
    models.forget_model(name);
    // If this is a new revision of the model in use, choosing the model again makes its vectors be computed again.
    let is_chosen = models.chosen_model_id().is_ok_and(|id| name_in_identity(&id) == name);
    if is_chosen { choose_model(shared, name) } else { Ok(()) }
}

fn choose_model(shared: &Shared, name: &str) -> RpcResult<()> {
    if name != BUILTIN {
        let installed = shared.engine.models.cache.get(name).map_err(|error| to_rpc_error(&error))?;
        shared.engine.models.runtime.find_library().map_err(|error| to_rpc_error(&error))?;
        if installed.manifest.purpose == ModelPurpose::Rerank {
            shared.engine.models.choose_reranker(name);
            return Ok(());
        }
    }
    shared.engine.models.choose_model(name).map_err(|why| RpcError::new(code::STORE, why))?;
    shared.memories.check_chosen_model();
    shared.engine.request_model_preparation();
    Ok(())
}

fn remove_model(shared: &Shared, name: &str) -> RpcResult<()> {
    if name == BUILTIN {
        let message = format!("{BUILTIN} is a part of memod and cannot be removed");
        return Err(RpcError::new(code::INVALID_PARAMS, message));
    }
    let id = shared.engine.models.cache.get(name).map(|installed| installed.manifest.identity());
    let chosen = shared.engine.models.chosen_model_id().ok();
    let in_use =
        [Some(shared.engine.with_reader(IndexReader::model_id)?), chosen, Some(shared.memories.model_id())];
    if id.as_ref().is_ok_and(|id| in_use.iter().flatten().any(|used| used == id)) {
        return Err(RpcError::new(code::STORE, format!("{name} is in use in this repository")).with_hint(
            "run `memo model use builtin`, and wait until `memo model status` shows that it is in use",
        ));
    }
    shared.engine.models.cache.remove(name).map_err(|error| to_rpc_error(&error))?;
    shared.engine.models.forget_model(name);
    Ok(())
}

fn to_rpc_error(error: &OnnxError) -> RpcError {
    let code = match error {
        OnnxError::NotInstalled(_) | OnnxError::BadFile { .. } => code::INVALID_PARAMS,
        OnnxError::Io(_) | OnnxError::Locked(_) | OnnxError::NoRuntime(_) | OnnxError::CannotRun { .. } => {
            code::IO
        }
    };
    let refusal = RpcError::new(code, error.to_string());
    match error.hint() {
        Some(hint) => refusal.with_hint(hint),
        None => refusal,
    }
}

fn list_models(shared: &Shared) -> RpcResult<ModelsResult> {
    let models = &shared.engine.models;
    let installed = models.cache.list_models();
    let is_installed =
        |entry: &&CatalogueEntry| installed.iter().any(|model| model.manifest.name == entry.name);
    let known = CATALOGUE.iter().filter(|entry| !is_installed(entry)).map(catalogue_entry);
    let runtime = models.runtime.find_library();
    Ok(ModelsResult {
        active: shared.engine.with_reader(IndexReader::model_id)?,
        active_for_memories: shared.memories.model_id(),
        next: shared.engine.with_reader(next_model)?,
        reranker: models.load_reranker().ok().map(|reranker| reranker.id().to_owned()),
        problem: models.choice_problem().or_else(|| models.chosen_model_id().err()),
        has_runtime: runtime.is_ok(),
        runtime: runtime.map_or_else(|error| error.to_string(), |path| path.display().to_string()),
        dir: models.cache.dir().display().to_string(),
        models: std::iter::once(builtin_entry())
            .chain(installed.iter().map(installed_entry))
            .chain(known)
            .collect(),
    })
}

/// Returns the model that will replace the active one, with how many of its vectors are computed; `None` if there is no such model.
pub(super) fn next_model(reader: &IndexReader) -> Result<Option<NextModel>, DatabaseError> {
    let Some(id) = reader.next_model()? else { return Ok(None) };
    let (done, total) = reader.count_embedded_chunks(&id)?;
    Ok(Some(NextModel { id, done, total }))
}

fn builtin_entry() -> ModelEntry {
    ModelEntry {
        name: BUILTIN.to_owned(),
        id: Some(BUILTIN_ID.to_owned()),
        purpose: ModelPurpose::Embed.as_str().to_owned(),
        dims: BUILTIN_DIMS,
        licence: Some("Apache-2.0".to_owned()),
        source: "memod".to_owned(),
        note: "English and code; always there".to_owned(),
        ..ModelEntry::default()
    }
}

fn installed_entry(model: &InstalledModel) -> ModelEntry {
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

fn catalogue_entry(entry: &CatalogueEntry) -> ModelEntry {
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
