//! Runs reads and writes of memories on the thread that owns memory.db.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use memod_base::clock::now_ms;
use memod_base::paths::RepoLayout;
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_git::Identity;
use memod_memory::fields;
use memod_memory::tiers::TierLifetimes;
use memod_memory_db::{EarlierRequest, MemoryRows, MemoryStore};
use memod_proto::memory::Caller;
use memod_proto::{AnswerPart, RpcError, code};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::daemon::memories::calls::file_writer::FileWriter;
use crate::daemon::memories::memory_files::check_files::build_files_notice;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{JobResult, refused_error};
use crate::daemon::memories::rules::share_rules::{ShareRules, TeamAccess};
use crate::daemon::memories::worktree_files::take_edits::start_storing_edits;
use crate::daemon::request::caveats::{NotedCaveats, add_unknown_part};
use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::request::request_params::parse_params;
use crate::daemon::request::worktree_location::{locate_worktree, read_identity};

/// Longest name of a request, bytes.
const MAX_REQUEST_NAME_BYTES: usize = 128;

/// One call of a memory method.
pub(in crate::daemon::memories) struct MethodCall<'a> {
    pub(in crate::daemon::memories) request: &'a Arc<RequestContext>,
    pub(in crate::daemon::memories) caller: Caller,
    layout: RepoLayout,
    params: Value,
    /// The request, if the client gave it a name so that it runs only once.
    pub(in crate::daemon::memories) named: Option<NamedRequest>,
}

impl<'a> MethodCall<'a> {
    /// Parses the caller, and checks that its worktree belongs to this repository.
    pub(in crate::daemon::memories) async fn new(
        request: &'a Arc<RequestContext>,
        method: &str,
        params: Value,
    ) -> RpcResult<Self> {
        let params = Value::Object(parse_params::<Map<String, Value>>(params)?);
        let caller: Caller = deserialize_params(&params)?;
        let layout = locate_caller(request, &caller).await?;
        let named = caller.request.clone().map(|name| NamedRequest::new(name, method, &params));
        Ok(Self { request, caller, layout, params, named })
    }

    /// Returns the params of the method.
    pub(in crate::daemon::memories) fn parse_params<P: DeserializeOwned>(&self) -> RpcResult<P> {
        deserialize_params(&self.params)
    }

    /// Runs a method that only reads memories, and returns its answer.
    pub(in crate::daemon::memories) async fn read<P: DeserializeOwned + Send + 'static, T: Serialize>(
        &self,
        run: impl Fn(&MemoryRows<'_>, &P) -> JobResult<T> + Send + 'static,
    ) -> RpcResult<Value> {
        let params: P = self.parse_params()?;
        run_on_store(self.request, move |store, now_ms| {
            store.read(now_ms, move |rows: &MemoryRows<'_>| Ok(json!(run(rows, &params)?)))
        })
        .await
    }

    /// Runs a method that changes memories in one transaction, and returns its answer. A repeated request gets the first answer.
    pub(in crate::daemon::memories) async fn write<P: DeserializeOwned + Send + 'static, T: Serialize>(
        &self,
        run: impl Fn(&MemoryRows<'_>, &P, &ChangeStamp) -> JobResult<T> + Send + 'static,
    ) -> RpcResult<Value> {
        self.write_with(self.parse_params()?, run).await
    }

    /// Like [`Self::write`], with params derived from those of the method.
    pub(in crate::daemon::memories) async fn write_with<P: Send + 'static, T: Serialize>(
        &self,
        params: P,
        run: impl Fn(&MemoryRows<'_>, &P, &ChangeStamp) -> JobResult<T> + Send + 'static,
    ) -> RpcResult<Value> {
        let named = self.named.clone();
        self.run_stamped(move |store, stamp| {
            write_files_after_commit(stamp, store, |files, store| {
                store.write(stamp.now_ms, |rows| {
                    run_request_once(named.as_ref(), rows, || {
                        files.run_verb(rows, stamp, || Ok(json!(run(rows, &params, stamp)?)))
                    })
                })
            })
        })
        .await
    }

    /// Like [`Self::write_with`], with params that must first be computed. A repeated request skips the computation.
    pub(in crate::daemon::memories) async fn write_with_found<P: Send + 'static, T: Serialize>(
        &self,
        params: impl Future<Output = RpcResult<P>> + Send,
        run: impl Fn(&MemoryRows<'_>, &P, &ChangeStamp) -> JobResult<T> + Send + 'static,
    ) -> RpcResult<Value> {
        if let Some(named) = self.named.clone()
            && let Some(answer) = read(self.request, move |rows| named.find_answer(rows)).await?
        {
            return Ok(answer);
        }
        self.write_with(params.await?, run).await
    }

    /// Like [`Self::write_with`], but first makes a backup of all memories, and passes its path to `run`. `changes` is rolled back,
    /// and returns whether there is something to change; otherwise no backup is made. If `run` fails, the backup is deleted.
    pub(in crate::daemon::memories) async fn write_after_backup<P: Send + 'static, T: Serialize>(
        &self,
        params: P,
        changes: impl Fn(&MemoryRows<'_>, &P, &ChangeStamp) -> JobResult<bool> + Send + 'static,
        run: impl Fn(&MemoryRows<'_>, &P, &ChangeStamp, Option<&Path>) -> JobResult<T> + Send + 'static,
    ) -> RpcResult<Value> {
        let named = self.named.clone();
        self.run_stamped(move |store, stamp| {
            let now_ms = stamp.now_ms;
            if let Some(named) = &named
                && let Some(answer) = store.read(now_ms, |rows| named.find_answer(rows))?
            {
                return Ok(answer);
            }
            write_files_after_commit(stamp, store, |files, store| {
                let write = |rows: &MemoryRows<'_>, backup: Option<&Path>| {
                    run_request_once(named.as_ref(), rows, || {
                        files.run_verb(rows, stamp, || Ok(json!(run(rows, &params, stamp, backup)?)))
                    })
                };
                match store.write_dry_run(now_ms, |rows| changes(rows, &params, stamp))? {
                    true => store.write_after_backup(now_ms, |rows, backup| write(rows, Some(backup))),
                    false => store.write(now_ms, |rows| write(rows, None)),
                }
            })
        })
        .await
    }

    /// Like [`Self::write`], but rolls the change back if the param `dry_run` is true.
    pub(in crate::daemon::memories) async fn write_or_dry_run<
        P: DeserializeOwned + Send + 'static,
        T: Serialize,
    >(
        &self,
        run: impl Fn(&MemoryRows<'_>, &P, &ChangeStamp) -> JobResult<T> + Send + 'static,
    ) -> RpcResult<Value> {
        self.write_or_dry_run_with_params(self.parse_params()?, run).await
    }

    /// Like [`Self::write_with`], but rolls the change back if the param `dry_run` is true.
    pub(in crate::daemon::memories) async fn write_or_dry_run_with_params<P: Send + 'static, T: Serialize>(
        &self,
        params: P,
        run: impl Fn(&MemoryRows<'_>, &P, &ChangeStamp) -> JobResult<T> + Send + 'static,
    ) -> RpcResult<Value> {
        if self.params["dry_run"] != json!(true) {
            return self.write_with(params, run).await;
        }
        self.run_stamped(move |store, stamp| {
            store.write_dry_run(stamp.now_ms, |rows| Ok(json!(run(rows, &params, stamp)?)))
        })
        .await
    }

    /// Runs a job on the thread that owns the memories. The stamp that the job gets names the caller and the time of the run.
    async fn run_stamped(
        &self,
        run: impl FnOnce(&mut MemoryStore, &ChangeStamp) -> JobResult<Value> + Send + 'static,
    ) -> RpcResult<Value> {
        let (caller, layout) = (self.caller.clone(), self.layout.clone());
        // Read before the job is sent: a slow read of git's settings on that thread would block all requests about memories.
        let Identity { author, repository, remote } = read_identity(&self.request.shared, &layout).await?;
        let author = author.unwrap_or_else(|| "unknown".to_owned());
        let config = &self.request.shared.engine.config.memory;
        let (tiers, container) = (TierLifetimes::new(&config.lifetimes()), config.container.clone());
        let config = &self.request.shared.engine.config;
        let shares = ShareRules::new(&config.share.tags, &config.share.containers);
        let team = TeamAccess::from_config(&config.team, remote.as_deref());
        let outbox_bell = Arc::clone(&self.request.shared.memories.outbox_notify);
        let file_counters = self.request.shared.memories.files.counters();
        let agent = caller.agent_name.as_ref().map(|name| fields::validate_name("agent", name)).transpose();
        let agent = agent.map_err(|refused| bad_params_error(refused.to_string()))?;
        let (counters, n_written) = (file_counters.clone(), file_counters.n_written());
        let answer = run_on_store(self.request, move |store, now_ms| {
            let source = match &*caller.client {
                _ if caller.is_agent() => fields::AGENT,
                "cli" => "cli",
                _ => "api",
            };
            let stamp = ChangeStamp {
                now_ms,
                author,
                agent,
                source,
                layout,
                tiers,
                share_rules: shares,
                team,
                outbox_notify: outbox_bell,
                container,
                repository,
                file_counters,
                resolved: RefCell::default(),
            };
            run(store, &stamp)
        })
        .await;
        if counters.n_written() != n_written {
            // The first file of a worktree may have been written, so the directory of memories must be watched.
            start_storing_edits(&self.request.shared, &self.layout);
        }
        answer
    }
}

fn deserialize_params<P: DeserializeOwned>(params: &Value) -> RpcResult<P> {
    P::deserialize(params).map_err(|error| bad_params_error(format!("params: {error}")))
}

/// A request to which the client gave a name, so that it runs only once even if the client repeats it.
#[derive(Clone)]
pub(in crate::daemon::memories) struct NamedRequest {
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

    /// Returns the answer of an earlier run, if there was one. Fails if the name belongs to another request.
    pub(in crate::daemon::memories) fn find_answer(&self, rows: &MemoryRows<'_>) -> JobResult<Option<Value>> {
        match rows.answers().find_earlier_request(&self.name, &self.digest)? {
            EarlierRequest::None => Ok(None),
            EarlierRequest::Same(answer) => Ok(Some(answer)),
            EarlierRequest::Other => Err(refused_error(
                format!(
                    "request: {} is the name of another request, which was answered; nothing was done",
                    json!(self.name)
                ),
                "give each request its own name; only a repeated request has the same name",
            )),
        }
    }

    /// Returns the stored answer of an earlier run. Without one, runs the request and stores its answer.
    fn run_once(&self, rows: &MemoryRows<'_>, run: impl FnOnce() -> JobResult<Value>) -> JobResult<Value> {
        if let Some(answer) = self.find_answer(rows)? {
            return Ok(answer);
        }
        let answer = run()?;
        if self.deletes {
            self.keep_answer(rows, &reduce_memories_to_ids(answer.clone()))?;
        } else {
            self.keep_answer(rows, &answer)?;
        }
        Ok(answer)
    }

    /// Stores the answer, for the case that the client repeats the request.
    pub(in crate::daemon::memories) fn keep_answer(
        &self,
        rows: &MemoryRows<'_>,
        answer: &Value,
    ) -> Result<(), DatabaseError> {
        rows.answers().store_answer(&self.name, &self.digest, answer)
    }
}

/// Runs a request, at most once if it has a name.
fn run_request_once(
    request: Option<&NamedRequest>,
    rows: &MemoryRows<'_>,
    run: impl FnOnce() -> JobResult<Value>,
) -> JobResult<Value> {
    match request {
        Some(request) => request.run_once(rows, run),
        None => run(),
    }
}

/// Reduces the memories in the answer of a deletion to their ids, because no other data of deleted memories may be stored.
fn reduce_memories_to_ids(mut answer: Value) -> Value {
    for memory in answer["memories"].as_array_mut().into_iter().flatten() {
        *memory = json!({ "id": memory["id"] });
    }
    answer
}

/// Runs a transaction that may change files of memories, and puts the changed files in place after the commit.
fn write_files_after_commit<T>(
    stamp: &ChangeStamp,
    store: &mut MemoryStore,
    run: impl FnOnce(&FileWriter, &mut MemoryStore) -> JobResult<T>,
) -> JobResult<T> {
    let files = FileWriter::new(&stamp.layout.root, stamp.file_counters.clone());
    let value = run(&files, store).inspect_err(|_| files.remove_prepared())?;
    files.put_prepared_files_in_place(store, stamp.now_ms)?;
    stamp.outbox_notify.notify_one();
    Ok(value)
}

/// Checks that the caller belongs to this repository, and returns the layout of its worktree.
pub(in crate::daemon) async fn locate_caller(
    request: &Arc<RequestContext>,
    caller: &Caller,
) -> RpcResult<RepoLayout> {
    if caller.request.as_ref().is_some_and(|name| name.len() > MAX_REQUEST_NAME_BYTES) {
        return Err(bad_params_error(format!(
            "request: the name is longer than {MAX_REQUEST_NAME_BYTES} bytes"
        )));
    }
    locate_worktree(request, &caller.cwd, request_deadline(request, None)).await
}

/// Returns the identity of the model whose vectors the memories have. Opens the database, which stores the identity.
pub(in crate::daemon::memories) async fn read_model_id(request: &RequestContext) -> RpcResult<String> {
    Ok(request
        .memories()
        .run_job(|store: &mut MemoryStore| -> JobResult<String> {
            store.read(now_ms(), |_| Ok(()))?;
            Ok(store.model_id().to_owned())
        })
        .await??)
}

/// Reads memories on the thread that owns them, and returns the result of `run`.
pub(in crate::daemon::memories) async fn read<T: Send + 'static>(
    request: &RequestContext,
    run: impl Fn(&MemoryRows<'_>) -> JobResult<T> + Send + 'static,
) -> RpcResult<T> {
    Ok(request.memories().run_job(move |store| store.read(now_ms(), run)).await??)
}

/// Runs a job on the thread that owns the memories. Adds notices about the database and about files of memories to the answer.
pub(in crate::daemon::memories) async fn run_on_store<E: Into<RpcError>>(
    request: &RequestContext,
    run: impl FnOnce(&mut MemoryStore, i64) -> Result<Value, E> + Send + 'static,
) -> RpcResult<Value> {
    let n_unlisted = request.memories().count_unlisted_files();
    let answer = request
        .memories()
        .run_job(move |store: &mut MemoryStore| {
            let now_ms = now_ms();
            let mut answer =
                run(store, now_ms).map_err(|error| add_searched_places(error.into(), store, now_ms))?;
            let notices = [store.user_notice(now_ms), build_files_notice(store, now_ms, n_unlisted)];
            let notices: Vec<String> = notices.into_iter().flatten().collect();
            if !notices.is_empty() {
                add_notice(&mut answer, &notices.join("; "));
            }
            Ok(answer)
        })
        .await?;
    answer.map_err(|error| add_unread_files_reason(error, &request.caveats))
}

/// Adds to a not-found error that some files of memories could not be read, so the memory may exist all the same.
fn add_unread_files_reason(error: RpcError, caveats: &NotedCaveats) -> RpcError {
    match caveats.find_caveat(AnswerPart::Memories).filter(|_| error.code == code::NOT_FOUND) {
        Some(why) => add_unknown_part(error, &why),
        None => error,
    }
}

/// Appends a notice to those of an answer.
pub(in crate::daemon::memories) fn add_notice(answer: &mut Value, note: &str) {
    let notice = answer["notice"].as_str().map_or(note.to_owned(), |notice| format!("{notice}; {note}"));
    answer["notice"] = json!(notice);
}

/// Adds to a not-found error the places that were searched, if there are several, and those that could not be read.
fn add_searched_places(error: RpcError, store: &MemoryStore, now_ms: i64) -> RpcError {
    let Some(places) = store.describe_databases().filter(|_| error.code == code::NOT_FOUND) else {
        return error;
    };
    let notice = store.user_notice(now_ms).map_or(String::new(), |notice| format!("; {notice}"));
    let message = format!("{}; looked in {places}{notice}", error.message);
    RpcError { message, ..error }
}
