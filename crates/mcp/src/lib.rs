//! Serves agents over stdin and stdout by the Model Context Protocol.
//!
//! Both generations of the protocol are answered in one process: 2026-07-28 (`server/discover`) and 2024-11-05 to 2025-11-25
//! (`initialize`). The SDK tells them apart; `server` answers, `transport` moves lines, `tools` and `more_tools` are tables of
//! what is offered, and `arguments` turns a call into the words of a verb. The caller passes in what runs verbs, so this
//! module knows neither the command line nor the daemon.
//!
//! Invariant: the first reply waits for no daemon, no index and no repository. Invariant: a client that asks and does not read
//! costs no more than [`transport::in_flight::MOST_IN_FLIGHT`] answers.

mod agent_text;
mod arguments;
mod instructions;
mod lean_json;
mod more_tools;
mod prompts;
mod resources;
mod server;
mod tool;
mod tools;
mod transport;
mod verbs;

use std::io;
use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use server::Server;
use transport::stdio::StdioTransport;
pub use verbs::{Answer, Failure, IndexingProgress, Profile, VerbRunner};

/// Threads that run verbs, at most. A call whose client has gone keeps its thread until the verb's own deadline.
const MOST_CALLS: usize = 128;

/// Why the server cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The streams or the threads of this process.
    #[error("cannot serve on stdin and stdout: {0}")]
    Io(#[from] io::Error),
    /// The client broke the rules before it had said which generation it speaks.
    #[error("the client did not begin as the protocol says: {0}")]
    Begin(String),
}

/// Serves one client until its input ends.
///
/// # Errors
/// When the streams of this process cannot be used, or the client does not begin as the protocol says. A client that leaves
/// before it has said anything is no error.
pub fn serve_client(profile: Profile, verbs: Arc<dyn VerbRunner>) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(MOST_CALLS)
        .thread_name("mcp-call")
        .build()?;
    let (stdio, mut ends) = StdioTransport::open()?;
    let server = Server::new(profile, verbs, ends.input);
    let served = runtime.block_on(async {
        let served = tokio::select! {
            Some(error) = ends.output.recv() => return classify_write_failure(error),
            served = answer_requests(server, stdio) => served,
        };
        // A failure to write is the cause, not its consequence. Another thread reports it first.
        ends.output.try_recv().map_or(served, classify_write_failure)
    });
    // Verbs that still run belong to calls that nobody waits for.
    runtime.shutdown_background();
    served
}

/// Returns the result of serving after a failure to write; a client that reads no more has gone.
fn classify_write_failure(error: io::Error) -> Result<(), ServeError> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error.into()) }
}

/// Answers until the input ends.
async fn answer_requests(server: Server, stdio: StdioTransport) -> Result<(), ServeError> {
    match server.serve(stdio).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| io::Error::other(error).into()),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(ServeError::Begin(error.to_string())),
    }
}
