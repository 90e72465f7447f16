//! Runs reads and writes of memories on the thread that owns memory.db.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::file_check::troubles;
use super::file_look::worktree_key;
use super::file_writer::FileWriter;
use super::keeper::derive;
use super::known_files::FileCounters;
use super::rules::{Done, refused};
use super::share_rules::ShareRules;
use super::show;
use crate::daemon::clock::now_ms;
use crate::daemon::error::{RpcResult, bad_params};
use crate::daemon::memory_scope;
use crate::daemon::request::{self, deadline, params_of};
use crate::daemon::shared::Shared;
use crate::git::Identity;
use crate::memory::file::MemoryFile;
use crate::memory::tiers::Tiers;
use crate::memory::{Refused, fields};
use crate::paths::RepoLayout;
use crate::proto::memory::Caller;
use crate::proto::{RpcError, code};
use crate::store::{Earlier, MemoryEvent, MemoryStore, Record, Rows};

/// Longest name of a request, bytes.
const MAX_REQUEST: usize = 128;

/// One call of a method.
pub(super) struct Call<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) caller: Caller,
    layout: RepoLayout,
    params: Value,
    request: Option<Request>,
}

impl<'a> Call<'a> {
    /// Parses the caller, and checks that the caller belongs to this repository.
    pub(super) async fn new(shared: &'a Arc<Shared>, method: &str, params: Value) -> RpcResult<Self> {
        let params = Value::Object(params_of::<Map<String, Value>>(params)?);
        let caller: Caller = typed(&params)?;
        let layout = locate(shared, &caller).await?;
        let request = caller.request.clone().map(|name| Request::new(name, method, &params));
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
            stamp.with_files(store, |files, store| {
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
            stamp.with_files(store, |files, store| {
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
        let Identity { author, repository } = request::identity(self.shared, &layout).await?;
        let author = author.unwrap_or_else(|| "unknown".to_owned());
        let config = &self.shared.config.memory;
        let (tiers, container) = (Tiers::of(config), config.container.clone());
        let shares = ShareRules::of(&self.shared.config.share);
        let file_counters = self.shared.memories.files.counters();
        let agent = caller.agent_name.as_ref().map(|name| fields::name("agent", name)).transpose();
        let agent = agent.map_err(|refused| bad_params(refused.to_string()))?;
        with_store(self.shared, move |store, now_ms| {
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
                container,
                repository,
                file_counters,
                resolved: RefCell::default(),
            };
            run(store, &stamp)
        })
        .await
    }
}

fn typed<P: DeserializeOwned>(params: &Value) -> RpcResult<P> {
    P::deserialize(params).map_err(|error| bad_params(format!("params: {error}")))
}

/// A named request, which is carried out only once.
#[derive(Clone)]
struct Request {
    name: String,
    /// Hash of the method and its params.
    digest: [u8; 32],
    /// Whether the method deletes memories for good.
    deletes: bool,
}

impl Request {
    fn new(name: String, method: &str, params: &Value) -> Self {
        // The order of the params does not matter.
        let params: Option<BTreeMap<_, _>> = params.as_object().map(|params| params.iter().collect());
        let digest = *blake3::hash(json!([method, params]).to_string().as_bytes()).as_bytes();
        Self { name, digest, deletes: matches!(method, "memory.purge" | "memory.reset") }
    }

    /// Returns the answer of an earlier run; fails if the name belongs to another request.
    fn answered(&self, rows: &Rows<'_>) -> Done<Option<Value>> {
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
            rows.keep_answer(&self.name, &self.digest, &without_texts(answer.clone()))?;
        } else {
            rows.keep_answer(&self.name, &self.digest, &answer)?;
        }
        Ok(answer)
    }
}

/// Returns the answer of a method that deletes memories with their ids alone: nothing else of them may be kept.
fn without_texts(mut answer: Value) -> Value {
    for memory in answer["memories"].as_array_mut().into_iter().flatten() {
        *memory = json!({ "id": memory["id"] });
    }
    answer
}

/// The data that the daemon adds to a change.
pub(super) struct Stamp {
    pub(super) now_ms: i64,
    pub(super) author: String,
    /// Name of the agent that asks.
    pub(super) agent: Option<String>,
    pub(super) source: &'static str,
    /// The worktree of the caller.
    pub(super) layout: RepoLayout,
    pub(super) tiers: Tiers,
    /// Which memories are shared as they are written.
    pub(super) shares: ShareRules,
    /// The container of a memory that is added without one, or `auto`.
    container: String,
    /// Name of the repository.
    repository: Option<String>,
    file_counters: FileCounters,
    /// The outcome of a conflict.
    resolved: RefCell<Option<(String, MemoryFile)>>,
}

impl Stamp {
    /// Returns whether an agent asks.
    pub(super) fn is_agent(&self) -> bool {
        self.source == fields::AGENT
    }

    /// Returns the name of the caller's worktree.
    pub(super) fn worktree_key(&self) -> String {
        worktree_key(&self.layout)
    }

    /// Runs a transaction that may change files, and writes those once it is committed.
    fn with_files<T>(
        &self,
        store: &mut MemoryStore,
        run: impl FnOnce(&FileWriter, &mut MemoryStore) -> Done<T>,
    ) -> Done<T> {
        let files = FileWriter::new(&self.layout.root, self.file_counters.clone());
        let value = run(&files, store).inspect_err(|_| files.undo())?;
        files.finish(store, self.now_ms)?;
        Ok(value)
    }

    /// Says which side of a conflict was chosen, as its file is to be.
    pub(super) fn set_resolved(&self, id: &str, chosen: MemoryFile) {
        self.resolved.replace(Some((id.to_owned(), chosen)));
    }

    /// Takes what [`Self::set_resolved`] said of a memory.
    pub(super) fn take_resolved(&self, id: &str) -> Option<MemoryFile> {
        self.resolved.borrow_mut().take_if(|(of, _)| of == id).map(|(_, chosen)| chosen)
    }

    pub(super) fn event(&self, action: &str) -> MemoryEvent {
        let (author, source) = (self.author.clone(), self.source.to_owned());
        MemoryEvent { at: self.now_ms, action: action.to_owned(), author, source, ..MemoryEvent::default() }
    }

    /// Returns the container that was named, or else that of the settings; `auto` is that of the repository, without whose name
    /// it is refused.
    pub(super) fn container(&self, named: Option<&str>) -> Result<String, Refused> {
        match named.unwrap_or(&self.container) {
            fields::AUTO_CONTAINER => {
                let own = self.repository.as_deref().and_then(|name| fields::container(name).ok());
                own.ok_or_else(|| Refused {
                    field: "container",
                    why: "auto: the name of the repository is not known".to_owned(),
                    hint: Some("name a container, as in `--container NAME`"),
                })
            }
            name => fields::container(name),
        }
    }

    /// Stores a changed memory, if anything differs. Returns it with the names of the changed fields.
    pub(super) fn put(
        &self,
        rows: &Rows<'_>,
        action: &str,
        before: &Record,
        mut after: Record,
    ) -> Done<(Record, Vec<String>)> {
        let fields = show::differences(before, &after);
        let changed = fields.keys().cloned().collect();
        if !fields.is_empty() {
            after.updated = self.now_ms.max(before.updated + 1);
            rows.put(&after, &derive(&after), &MemoryEvent { fields, ..self.event(action) })?;
        }
        Ok((after, changed))
    }
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
    let failure = shared.memories.files.failure(memory_scope::worktree());
    let job = move |store: &mut MemoryStore| {
        let now_ms = now_ms();
        let mut answer = run(store, now_ms).map_err(|error| looked_in(error.into(), store, now_ms))?;
        let told = [store.notice(now_ms), troubles(store, now_ms, failure)];
        let told: Vec<String> = told.into_iter().flatten().collect();
        if !told.is_empty() {
            answer["notice"] = json!(told.join("; "));
        }
        Ok(answer)
    };
    shared.memories.ask(job).await?
}

/// Adds to a not-found error the places that were searched, if there are several, and those that could not be read.
fn looked_in(error: RpcError, store: &MemoryStore, now_ms: i64) -> RpcError {
    let Some(places) = store.places().filter(|_| error.code == code::NOT_FOUND) else { return error };
    let notice = store.notice(now_ms).map_or(String::new(), |notice| format!("; {notice}"));
    let message = format!("{}; looked in {places}{notice}", error.message);
    RpcError { message, ..error }
}
