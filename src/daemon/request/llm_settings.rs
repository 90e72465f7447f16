//! Reads the settings of the language model again for each request, because a user may have changed them to switch the model off.

use std::sync::Arc;

use memod_config::{Config, LlmSettings};
use memod_engine::errors::RpcResult;
use memod_llm::{Endpoint, EndpointError};

use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_context::RequestContext;

/// Returns the settings as they are now, and the server to ask, or why none can be asked.
pub(in crate::daemon) async fn read_settings(
    request: &Arc<RequestContext>,
) -> RpcResult<(LlmSettings, Result<Endpoint, EndpointError>)> {
    run_blocking(request, |request| {
        Ok(match memod_config::load_settings(Some(&request.shared.engine.layout)) {
            Ok(loaded) => {
                let llm = loaded.config.llm;
                let endpoint = Endpoint::from_settings(&llm, |name| std::env::var(name).ok());
                (llm, endpoint)
            }
            Err(error) => (Config::default().llm, Err(EndpointError::Unreadable(error.to_string()))),
        })
    })
    .await
}
