//! Params and result of the methods that start and end the HTTP API.

use serde::{Deserialize, Serialize};

/// Params of `serve.start`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServeParams {
    /// Absolute path inside the worktree; HTTP requests without a `cwd` mean that worktree.
    pub cwd: String,
    /// Port to listen on; any free one when absent or 0. Ignored while the daemon listens already.
    pub port: Option<u16>,
    /// Whether a `browser_url` is wanted.
    pub for_browser: bool,
}

/// Result of `serve.start`, `serve.stop` and `serve.status`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServeResult {
    /// Whether the daemon listens for HTTP.
    pub serving: bool,
    /// Address for a browser, with the token behind the `#`: whoever has it may read and write memories.
    pub url: Option<String>,
    /// The same with a token that opens one session within a minute, because other users can see what a browser is started with.
    /// Only for `serve.start` with `for_browser`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_url: Option<String>,
    /// Port on 127.0.0.1.
    pub port: Option<u16>,
    /// Root of the worktree that requests without a `cwd` mean.
    pub root: Option<String>,
    /// Open HTTP connections.
    pub connections: u64,
}
