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
use memod_memory::tiers::Tiers;
use memod_memory_db::{EarlierRequest, MemoryRows, MemoryStore};
use memod_proto::memory::Caller;
use memod_proto::{AnswerPart, RpcError, code};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::daemon::memories::calls::file_writer::FileWriter;
use crate::daemon::memories::memory_files::check_files::find_troubles;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{JobResult, refused_error};
use crate::daemon::memories::rules::share_rules::{ShareRules, TeamAccess};
use crate::daemon::memories::worktree_files::take_edits::take_edits;
use crate::daemon::request::caveats::{NotedCaveats, add_unknown_part};
use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::request::request_params::parse_params;
use crate::daemon::request::worktree_location::{locate_worktree, read_identity};

/// Longest name of a request, bytes.
const MAX_REQUEST: usize = 128;

/// One call of a method.
pub(in crate::daemon::memories) struct MethodCall<'a> {
    pub(in crate::daemon::memories) request: &'a Arc<RequestContext>,
    pub(in crate::daemon::memories) caller: Caller,
    layout: RepoLayout,
    params: Value,
    /// Name of the request, if it has one.
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

    /// Runs a method that only reads.
    pub(in crate::daemon::memories) async fn read<P: DeserializeOwned + Send + 'static, T: Serialize>(
        &self,
        run: impl Fn(&MemoryRows<'_>, &P) -> JobResult<T> + Send + 'static,
    ) -> RpcResult<Value> {
        let params: P = self.parse_params()?;
        with_store(self.request, move |store, now_ms| {
            store.read(now_ms, move |rows: &MemoryRows<'_>| Ok(json!(run(rows, &params)?)))
        })
        .await
    }

    /// Runs a method that writes. A repeated request gets its first answer.
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
            with_files(stamp, store, |files, store| {
                store.write(stamp.now_ms, |rows| {
                    answer_request(named.as_ref(), rows, || {
                        files.run_verb(rows, stamp, || Ok(json!(run(rows, &params, stamp)?)))
                    })
                })
            })
        })
        .await
    }

    /// Like [`Self::write_with`], with params that take work to find, which is skipped for a repeated request.
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

    /// Like [`Self::write_with`], after a backup of all memories, whose path `run` gets. The backup is made once `changes`, which
    /// is rolled back, has returned that there is something to change. It is deleted again if nothing was written.
    pub(in crate::daemon::memories) async fn write_backed_up<P: Send + 'static, T: Serialize>(
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
            with_files(stamp, store, |files, store| {
                let write = |rows: &MemoryRows<'_>, backup: Option<&Path>| {
                    answer_request(named.as_ref(), rows, || {
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

    /// Like [`Self::write`], for a method with a dry run.
    pub(in crate::daemon::memories) async fn write_or_rehearse<
        P: DeserializeOwned + Send + 'static,
        T: Serialize,
    >(
        &self,
        run: impl Fn(&MemoryRows<'_>, &P, &ChangeStamp) -> JobResult<T> + Send + 'static,
    ) -> RpcResult<Value> {
        self.write_or_rehearse_with(self.parse_params()?, run).await
    }

    /// Like [`Self::write_with`], for a method with a dry run, which is rolled back.
    pub(in crate::daemon::memories) async fn write_or_rehearse_with<P: Send + 'static, T: Serialize>(
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

    /// Runs a job for the caller on the thread that owns the memories, stamped with the time at which it runs.
    async fn run_stamped(
        &self,
        run: impl FnOnce(&mut MemoryStore, &ChangeStamp) -> JobResult<Value> + Send + 'static,
    ) -> RpcResult<Value> {
        let (caller, layout) = (self.caller.clone(), self.layout.clone());
        // Not on that thread: a slow read of the settings would block the memories of all requests.
        let Identity { author, repository, remote } = read_identity(&self.request.shared, &layout).await?;
        let author = author.unwrap_or_else(|| "unknown".to_owned());
        let config = &self.request.shared.engine.config.memory;
        let (tiers, container) = (Tiers::new(&config.lifetimes()), config.container.clone());
        let config = &self.request.shared.engine.config;
        let shares = ShareRules::new(&config.share.tags, &config.share.containers);
        let team = TeamAccess::from_config(&config.team, remote.as_deref());
        let outbox_bell = Arc::clone(&self.request.shared.memories.outbox_bell);
        let file_counters = self.request.shared.memories.files.counters();
        let agent = caller.agent_name.as_ref().map(|name| fields::validate_name("agent", name)).transpose();
        let agent = agent.map_err(|refused| bad_params_error(refused.to_string()))?;
        let (counters, n_written) = (file_counters.clone(), file_counters.n_written());
        let answer = with_store(self.request, move |store, now_ms| {
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
            // It may be the first file of the worktree, so its directory must be watched.
            take_edits(&self.request.shared, &self.layout);
        }
        answer
    }
}

fn deserialize_params<P: DeserializeOwned>(params: &Value) -> RpcResult<P> {
    P::deserialize(params).map_err(|error| bad_params_error(format!("params: {error}")))
}

/// A named request, which runs only once.
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

    /// Returns the answer of an earlier run; fails if the name belongs to another request.
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

    /// Returns the answer of an earlier run, or runs it and stores the answer.
    fn answer_once(&self, rows: &MemoryRows<'_>, run: impl FnOnce() -> JobResult<Value>) -> JobResult<Value> {
        if let Some(answer) = self.find_answer(rows)? {
            return Ok(answer);
        }
        let answer = run()?;
        if self.deletes {
            self.keep_answer(rows, &keep_ids_only(answer.clone()))?;
        } else {
            self.keep_answer(rows, &answer)?;
        }
        Ok(answer)
    }

    /// Stores the answer.
    pub(in crate::daemon::memories) fn keep_answer(
        &self,
        rows: &MemoryRows<'_>,
        answer: &Value,
    ) -> Result<(), DatabaseError> {
        rows.answers().store_answer(&self.name, &self.digest, answer)
    }
}

/// Runs a request, at most once if it has a name.
fn answer_request(
    request: Option<&NamedRequest>,
    rows: &MemoryRows<'_>,
    run: impl FnOnce() -> JobResult<Value>,
) -> JobResult<Value> {
    match request {
        Some(request) => request.answer_once(rows, run),
        None => run(),
    }
}

/// Reduces the memories in the answer of a deletion to their ids, because nothing else of them may be kept.
fn keep_ids_only(mut answer: Value) -> Value {
    for memory in answer["memories"].as_array_mut().into_iter().flatten() {
        *memory = json!({ "id": memory["id"] });
    }
    answer
}

/// Runs a transaction that may change files, and writes those once it is committed.
fn with_files<T>(
    stamp: &ChangeStamp,
    store: &mut MemoryStore,
    run: impl FnOnce(&FileWriter, &mut MemoryStore) -> JobResult<T>,
) -> JobResult<T> {
    let files = FileWriter::new(&stamp.layout.root, stamp.file_counters.clone());
    let value = run(&files, store).inspect_err(|_| files.remove_prepared())?;
    files.place_prepared(store, stamp.now_ms)?;
    stamp.outbox_bell.notify_one();
    Ok(value)
}

/// Checks that the caller belongs to this repository, and returns the layout of its worktree.
pub(in crate::daemon) async fn locate_caller(
    request: &Arc<RequestContext>,
    caller: &Caller,
) -> RpcResult<RepoLayout> {
    if caller.request.as_ref().is_some_and(|name| name.len() > MAX_REQUEST) {
        return Err(bad_params_error(format!("request: over {MAX_REQUEST} bytes")));
    }
    locate_worktree(request, &caller.cwd, request_deadline(request, None)).await
}

/// Returns the identity of the model whose vectors memories have, which is known once the database is open.
pub(in crate::daemon::memories) async fn model_id(request: &RequestContext) -> RpcResult<String> {
    Ok(request
        .memories()
        .run_job(|store: &mut MemoryStore| -> JobResult<String> {
            store.read(now_ms(), |_| Ok(()))?;
            Ok(store.model_id().to_owned())
        })
        .await??)
}

/// Reads on the thread that owns the memories.
pub(in crate::daemon::memories) async fn read<T: Send + 'static>(
    request: &RequestContext,
    run: impl Fn(&MemoryRows<'_>) -> JobResult<T> + Send + 'static,
) -> RpcResult<T> {
    Ok(request.memories().run_job(move |store| store.read(now_ms(), run)).await??)
}

/// Runs a job on the thread that owns the memories, and adds a notice about the database to the answer if there is one.
pub(in crate::daemon::memories) async fn with_store<E: Into<RpcError>>(
    request: &RequestContext,
    run: impl FnOnce(&mut MemoryStore, i64) -> Result<Value, E> + Send + 'static,
) -> RpcResult<Value> {
    let n_unlisted = request.memories().n_unlisted();
    let answer = request
        .memories()
        .run_job(move |store: &mut MemoryStore| {
            let now_ms = now_ms();
            let mut answer =
                run(store, now_ms).map_err(|error| add_searched_places(error.into(), store, now_ms))?;
            let notices = [store.user_notice(now_ms), find_troubles(store, now_ms, n_unlisted)];
            let notices: Vec<String> = notices.into_iter().flatten().collect();
            if !notices.is_empty() {
                add_notice(&mut answer, &notices.join("; "));
            }
            Ok(answer)
        })
        .await?;
    answer.map_err(|error| add_unread_memories(error, &request.caveats))
}

/// Adds to a not-found error why the memory may exist all the same: not all files of memories could be read.
fn add_unread_memories(error: RpcError, caveats: &NotedCaveats) -> RpcError {
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
    let Some(places) = store.describe_places().filter(|_| error.code == code::NOT_FOUND) else {
        return error;
    };
    let notice = store.user_notice(now_ms).map_or(String::new(), |notice| format!("; {notice}"));
    let message = format!("{}; looked in {places}{notice}", error.message);
    RpcError { message, ..error }
}
