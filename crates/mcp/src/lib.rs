//! Serves agents over stdin and stdout by the Model Context Protocol.
//!
//! One process serves both generations of the protocol: 2026-07-28 (`server/discover`) and 2024-11-05 to 2025-11-25
//! (`initialize`). The SDK distinguishes them. `server` answers requests, `transport` moves lines, `tools` and `more_tools` are
//! tables of the tools, and `arguments` converts a call into the words of a command line. The caller passes in a
//! [`VerbRunner`], so this crate depends neither on the command line nor on the daemon.
//!
//! Invariant: the first reply waits for no daemon, no index and no repository. Invariant: for a client that sends requests and
//! does not read, at most [`transport::in_flight::MAX_IN_FLIGHT`] answers are stored.

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
pub use verbs::{IndexingProgress, ToolProfile, VerbAnswer, VerbFailure, VerbRunner};

/// Largest number of threads that run verbs. A cancelled call occupies its thread until the verb's own deadline.
const MAX_VERB_THREADS: usize = 128;

/// Why the server cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The streams of this process cannot be used, or no thread can be started.
    #[error("cannot serve on stdin and stdout: {0}")]
    Io(#[from] io::Error),
    /// The client broke the protocol before its first request showed which generation of the protocol it speaks.
    #[error("the client's first messages violate the protocol: {0}")]
    ProtocolViolation(String),
}

/// Serves one client until its input ends.
///
/// # Errors
/// When the streams of this process cannot be used, or the first messages of the client violate the protocol. A client that
/// closes the connection before its first message causes no error.
pub fn serve_client(profile: ToolProfile, verbs: Arc<dyn VerbRunner>) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(MAX_VERB_THREADS)
        .thread_name("mcp-call")
        .build()?;
    let (stdio, mut ends) = StdioTransport::open()?;
    let server = Server::new(profile, verbs, ends.input);
    let served = runtime.block_on(async {
        let served = tokio::select! {
            Some(error) = ends.output.recv() => return classify_write_failure(error),
            served = answer_requests(server, stdio) => served,
        };
        // If writing has failed too, return that error, because it is the cause. The writing thread has reported it by now.
        ends.output.try_recv().map_or(served, classify_write_failure)
    });
    // Nobody waits for the calls whose verbs still run.
    runtime.shutdown_background();
    served
}

/// Returns the result of serving after a failure to write. A broken pipe only means that the client has closed the connection.
fn classify_write_failure(error: io::Error) -> Result<(), ServeError> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error.into()) }
}

/// Answers requests until the input ends.
async fn answer_requests(server: Server, stdio: StdioTransport) -> Result<(), ServeError> {
    match server.serve(stdio).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| io::Error::other(error).into()),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(ServeError::ProtocolViolation(error.to_string())),
    }
}
