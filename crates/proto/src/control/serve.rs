//! Params and result of the methods that start and end the HTTP API.

use serde::{Deserialize, Serialize};

/// Params of `serve.start`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServeParams {
    /// Absolute path inside the worktree; HTTP requests without a `cwd` refer to that worktree.
    pub cwd: String,
    /// Port to listen on; any free port when absent or 0. It is ignored if the daemon already listens.
    pub port: Option<u16>,
    /// Whether to return a `browser_url`.
    pub for_browser: bool,
}

/// Result of `serve.start`, `serve.stop` and `serve.status`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServeResult {
    /// Whether the daemon listens for HTTP.
    pub serving: bool,
    /// Address for a browser, with the token after the `#`. Anybody with the token may read and write memories.
    pub url: Option<String>,
    /// The address with a token that opens one session within a minute, because other users can see the arguments of a
    /// browser. Only for `serve.start` with `for_browser`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_url: Option<String>,
    /// Port on 127.0.0.1.
    pub port: Option<u16>,
    /// Root of the worktree for requests without a `cwd`.
    pub root: Option<String>,
    /// Number of open HTTP connections.
    pub connections: u64,
}
