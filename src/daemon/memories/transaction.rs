//! Runs reads and writes of memories on the thread that owns memory.db.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use memod_base::paths::RepoLayout;
use memod_database::DatabaseError;
use memod_engine::clock::now_ms;
use memod_engine::errors::RpcResult;
use memod_git::Identity;
use memod_memory::fields;
use memod_memory::tiers::Tiers;
use memod_memory_db::{Earlier, MemoryStore, Rows};
use memod_proto::memory::Caller;
use memod_proto::{RpcError, code};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::file_check::troubles;
use super::file_edits::take_edits;
use super::file_writer::FileWriter;
use super::rules::{Done, refused};
use super::share_rules::{ShareRules, TeamAccess};
use super::stamp::Stamp;
use crate::daemon::request::error::bad_params;
use crate::daemon::request::memory_scope;
use crate::daemon::request::{self, deadline, params_of};
use crate::daemon::shared::Shared;

/// Longest name of a request, bytes.
const MAX_REQUEST: usize = 128;

/// One call of a method.
pub(super) struct Call<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) caller: Caller,
    layout: RepoLayout,
    params: Value,
    /// Name of the request, if it has one.
    pub(super) request: Option<NamedRequest>,
}

impl<'a> Call<'a> {
    /// Parses the caller, and checks that the caller belongs to this repository.
    pub(super) async fn new(shared: &'a Arc<Shared>, method: &str, params: Value) -> RpcResult<Self> {
        let params = Value::Object(params_of::<Map<String, Value>>(params)?);
        let caller: Caller = typed(&params)?;
        let layout = locate(shared, &caller).await?;
        let request = caller.request.clone().map(|name| NamedRequest::new(name, method, &params));
        Ok(Self { shared, caller, layout, params, request })
    }

    /// Returns the params of the method.
    pub(super) fn params<P: DeserializeOwned>(&self) -> RpcResult<P> {
        typed(&self.params)
    }

    /// Runs a method that only reads.
    pub(super) async fn read<P: DeserializeOwned + Send + 'static, T: Serialize>(
        &self,
        run: impl Fn(&Rows<'_>, &P) -> Done<T> + Send + 'static,
    ) -> RpcResult<Value> {
        let params: P = self.params()?;
        let read = move |rows: &Rows<'_>| Ok(json!(run(rows, &params)?));
        with_store(self.shared, move |store, now_ms| store.read(now_ms, read)).await
    }

    /// Runs a method that writes. A repeated request gets its first answer.
    pub(super) async fn write<P: DeserializeOwned + Send + 'static, T: Serialize>(
        &self,
        run: impl Fn(&Rows<'_>, &P, &Stamp) -> Done<T> + Send + 'static,
    ) -> RpcResult<Value> {
        self.write_of(self.params()?, run).await
    }

    /// Like [`Self::write`], with params derived from those of the method.
    pub(super) async fn write_of<P: Send + 'static, T: Serialize>(
        &self,
        params: P,
        run: impl Fn(&Rows<'_>, &P, &Stamp) -> Done<T> + Send + 'static,
    ) -> RpcResult<Value> {
        let request = self.request.clone();
        self.stamped(move |store, stamp| {
            with_files(stamp, store, |files, store| {
                store.write(stamp.now_ms, |rows| {
                    let run = || files.changed(rows, stamp, || Ok(json!(run(rows, &params, stamp)?)));
                    match &request {
                        Some(request) => request.answer(rows, run),
                        None => run(),
                    }
                })
            })
        })
        .await
    }

    /// Like [`Self::write_of`], with params that take work to find, which is skipped for a repeated request.
    pub(super) async fn write_found<P: Send + 'static, T: Serialize>(
        &self,
        params: impl Future<Output = RpcResult<P>> + Send,
        run: impl Fn(&Rows<'_>, &P, &Stamp) -> Done<T> + Send + 'static,
    ) -> RpcResult<Value> {
        if let Some(request) = self.request.clone()
            && let Some(answer) = read(self.shared, move |rows| request.answered(rows)).await?
        {
            return Ok(answer);
        }
        self.write_of(params.await?, run).await
    }

    /// Like [`Self::write_of`], after a backup of all memories, whose path `run` gets. The backup is made once `changes`, which
    /// is rolled back, has returned that there is something to change. It is deleted again if nothing was written.
    pub(super) async fn write_backed_up<P: Send + 'static, T: Serialize>(
        &self,
        params: P,
        changes: impl Fn(&Rows<'_>, &P, &Stamp) -> Done<bool> + Send + 'static,
        run: impl Fn(&Rows<'_>, &P, &Stamp, Option<&Path>) -> Done<T> + Send + 'static,
    ) -> RpcResult<Value> {
        let request = self.request.clone();
        self.stamped(move |store, stamp| {
            let now_ms = stamp.now_ms;
            if let Some(request) = &request
                && let Some(answer) = store.read(now_ms, |rows| request.answered(rows))?
            {
                return Ok(answer);
            }
            with_files(stamp, store, |files, store| {
                let write = |rows: &Rows<'_>, backup: Option<&Path>| {
                    let run = || files.changed(rows, stamp, || Ok(json!(run(rows, &params, stamp, backup)?)));
                    match &request {
                        Some(request) => request.answer(rows, run),
                        None => run(),
                    }
                };
                match store.rehearse(now_ms, |rows| changes(rows, &params, stamp))? {
                    true => store.write_backed_up(now_ms, |rows, backup| write(rows, Some(backup))),
                    false => store.write(now_ms, |rows| write(rows, None)),
                }
            })
        })
        .await
    }

    /// Like [`Self::write`], for a method with a dry run.
    pub(super) async fn write_or_rehearse<P: DeserializeOwned + Send + 'static, T: Serialize>(
        &self,
        run: impl Fn(&Rows<'_>, &P, &Stamp) -> Done<T> + Send + 'static,
    ) -> RpcResult<Value> {
        self.write_or_rehearse_of(self.params()?, run).await
    }

    /// Like [`Self::write_of`], for a method with a dry run, which is rolled back.
    pub(super) async fn write_or_rehearse_of<P: Send + 'static, T: Serialize>(
        &self,
        params: P,
        run: impl Fn(&Rows<'_>, &P, &Stamp) -> Done<T> + Send + 'static,
    ) -> RpcResult<Value> {
        if self.params["dry_run"] != json!(true) {
            return self.write_of(params, run).await;
        }
        self.stamped(move |store, stamp| {
            store.rehearse(stamp.now_ms, |rows| Ok(json!(run(rows, &params, stamp)?)))
        })
        .await
    }

    /// Runs a job for the caller on the thread that owns the memories, stamped with the time at which it runs.
    async fn stamped(
        &self,
        run: impl FnOnce(&mut MemoryStore, &Stamp) -> Done<Value> + Send + 'static,
    ) -> RpcResult<Value> {
        let (caller, layout) = (self.caller.clone(), self.layout.clone());
        // Not on that thread: where settings hang, so would everybody's memories.
        let Identity { author, repository, remote } = request::identity(self.shared, &layout).await?;
        let author = author.unwrap_or_else(|| "unknown".to_owned());
        let config = &self.shared.engine.config.memory;
        let (tiers, container) = (Tiers::new(&config.lifetimes()), config.container.clone());
        let config = &self.shared.engine.config;
        let shares = ShareRules::new(&config.share.tags, &config.share.containers);
        let team = TeamAccess::of(&config.team, remote.as_deref());
        let outbox_bell = Arc::clone(&self.shared.memories.outbox_bell);
        let file_counters = self.shared.memories.files.counters();
        let agent = caller.agent_name.as_ref().map(|name| fields::validate_name("agent", name)).transpose();
        let agent = agent.map_err(|refused| bad_params(refused.to_string()))?;
        let (counters, n_written) = (file_counters.clone(), file_counters.n_written());
        let answer = with_store(self.shared, move |store, now_ms| {
            let source = match &*caller.client {
                _ if caller.is_agent() => fields::AGENT,
                "cli" => "cli",
                _ => "api",
            };
            let stamp = Stamp {
                now_ms,
                author,
                agent,
                source,
                layout,
                tiers,
                shares,
                team,
                outbox_bell,
                container,
                repository,
                file_counters,
                resolved: RefCell::default(),
            };
            run(store, &stamp)
        })
        .await;
        if counters.n_written() != n_written {
            // The first file of a worktree: its directory is watched from now on.
            take_edits(self.shared, &self.layout);
        }
        answer
    }
}

fn typed<P: DeserializeOwned>(params: &Value) -> RpcResult<P> {
    P::deserialize(params).map_err(|error| bad_params(format!("params: {error}")))
}

/// A named request, which is carried out only once.
#[derive(Clone)]
pub(super) struct NamedRequest {
    name: String,
    /// Hash of the method and its params.
    digest: [u8; 32],
    /// Whether the method deletes memories for good.
    deletes: bool,
}

impl NamedRequest {
    fn new(name: String, method: &str, params: &Value) -> Self {
        // The order of the params does not matter.
        let params: Option<BTreeMap<_, _>> = params.as_object().map(|params| params.iter().collect());
        let digest = *blake3::hash(json!([method, params]).to_string().as_bytes()).as_bytes();
        Self { name, digest, deletes: matches!(method, "memory.purge" | "memory.reset") }
    }

    /// Returns the answer of an earlier run; fails if the name belongs to another request.
    pub(super) fn answered(&self, rows: &Rows<'_>) -> Done<Option<Value>> {
        match rows.earlier(&self.name, &self.digest)? {
            Earlier::None => Ok(None),
            Earlier::Same(answer) => Ok(Some(answer)),
            Earlier::Other => Err(refused(
                format!(
                    "request: {} is the name of another request, which was answered; nothing was done",
                    json!(self.name)
                ),
                "give each request a name of its own; the same name only sends the same request again",
            )),
        }
    }

    /// Returns the answer of an earlier run, or runs it and stores the answer.
    fn answer(&self, rows: &Rows<'_>, run: impl FnOnce() -> Done<Value>) -> Done<Value> {
        if let Some(answer) = self.answered(rows)? {
            return Ok(answer);
        }
        let answer = run()?;
        if self.deletes {
            self.keep(rows, &without_texts(answer.clone()))?;
        } else {
            self.keep(rows, &answer)?;
        }
        Ok(answer)
    }

    /// Stores the answer.
    pub(super) fn keep(&self, rows: &Rows<'_>, answer: &Value) -> Result<(), DatabaseError> {
        rows.keep_answer(&self.name, &self.digest, answer)
    }
}

/// Returns the answer of a method that deletes memories with their ids alone: nothing else of them may be kept.
fn without_texts(mut answer: Value) -> Value {
    for memory in answer["memories"].as_array_mut().into_iter().flatten() {
        *memory = json!({ "id": memory["id"] });
    }
    answer
}

/// Runs a transaction that may change files, and writes those once it is committed.
fn with_files<T>(
    stamp: &Stamp,
    store: &mut MemoryStore,
    run: impl FnOnce(&FileWriter, &mut MemoryStore) -> Done<T>,
) -> Done<T> {
    let files = FileWriter::new(&stamp.layout.root, stamp.file_counters.clone());
    let value = run(&files, store).inspect_err(|_| files.undo())?;
    files.finish(store, stamp.now_ms)?;
    stamp.outbox_bell.notify_one();
    Ok(value)
}

/// Checks that the caller belongs to this repository; returns the worktree.
pub(in crate::daemon) async fn locate(shared: &Arc<Shared>, caller: &Caller) -> RpcResult<RepoLayout> {
    if caller.request.as_ref().is_some_and(|name| name.len() > MAX_REQUEST) {
        return Err(bad_params(format!("request: over {MAX_REQUEST} bytes")));
    }
    request::locate(shared, &caller.cwd, deadline(shared, None)).await
}

/// Returns the identity of the model whose vectors memories have, which is known once the database is open.
pub(super) async fn model_id(shared: &Shared) -> RpcResult<String> {
    let job = |store: &mut MemoryStore| -> Done<String> {
        store.read(now_ms(), |_| Ok(()))?;
        Ok(store.model().to_owned())
    };
    Ok(shared.memories.ask(job).await??)
}

/// Reads on the thread that owns the memories.
pub(super) async fn read<T: Send + 'static>(
    shared: &Shared,
    run: impl Fn(&Rows<'_>) -> Done<T> + Send + 'static,
) -> RpcResult<T> {
    Ok(shared.memories.ask(move |store| store.read(now_ms(), run)).await??)
}

/// Runs a job on the thread that owns the memories, and adds a notice about the database to the answer if there is one.
pub(super) async fn with_store<E: Into<RpcError>>(
    shared: &Shared,
    run: impl FnOnce(&mut MemoryStore, i64) -> Result<Value, E> + Send + 'static,
) -> RpcResult<Value> {
    let n_unlisted = shared.memories.files.n_unlisted(memory_scope::worktree());
    let job = move |store: &mut MemoryStore| {
        let now_ms = now_ms();
        let mut answer = run(store, now_ms).map_err(|error| looked_in(error.into(), store, now_ms))?;
        let told = [store.notice(now_ms), troubles(store, now_ms, n_unlisted)];
        let told: Vec<String> = told.into_iter().flatten().collect();
        if !told.is_empty() {
            add_notice(&mut answer, &told.join("; "));
        }
        Ok(answer)
    };
    shared.memories.ask(job).await?
}

/// Adds a notice to an answer, after the one that it has.
pub(super) fn add_notice(answer: &mut Value, note: &str) {
    let told = answer["notice"].as_str().map_or(note.to_owned(), |told| format!("{told}; {note}"));
    answer["notice"] = json!(told);
}

/// Adds to a not-found error the places that were searched, if there are several, and those that could not be read.
fn looked_in(error: RpcError, store: &MemoryStore, now_ms: i64) -> RpcError {
    let Some(places) = store.places().filter(|_| error.code == code::NOT_FOUND) else { return error };
    let notice = store.notice(now_ms).map_or(String::new(), |notice| format!("; {notice}"));
    let message = format!("{}; looked in {places}{notice}", error.message);
    RpcError { message, ..error }
}
