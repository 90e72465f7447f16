//! JSON-RPC requests, responses and error codes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum nesting of a line that the daemon accepts.
pub const MAX_JSON_DEPTH: usize = 64;

/// Delay before a retry after a limit was reached, ms. In the meantime, running requests release their resources.
pub const RETRY_AFTER_MS: u64 = 100;

/// One call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// Always `2.0`.
    #[serde(default)]
    pub jsonrpc: String,
    /// Echoed in the reply; absent in a notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// Name of the method, such as `search` or `status`.
    pub method: String,
    /// An object; `cwd` in it selects the worktree.
    #[serde(default)]
    pub params: Value,
}

/// One reply: `result` or `error`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Response {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// The id of the call; null if it could not be read.
    pub id: Value,
    /// The result of the method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The error, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
}

impl Response {
    /// Returns the reply to a successful call.
    pub fn success(id: Value, result: Value) -> Self {
        Self { jsonrpc: "2.0".to_owned(), id, result: Some(result), error: None }
    }

    /// Returns the reply to a failed call.
    pub fn failure(id: Value, error: RpcError) -> Self {
        Self { jsonrpc: "2.0".to_owned(), id, result: None, error: Some(error) }
    }
}

/// A failed call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// A JSON-RPC code (negative) as listed in [`code`].
    pub code: i64,
    /// Message with the failed operation, its path and the cause.
    pub message: String,
    /// `{hint, retry_after_ms}`, each if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<ErrorData>,
}

impl RpcError {
    /// Returns an error without a hint.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.data.get_or_insert_default().hint = Some(hint.into());
        self
    }

    /// Adds a hint if there is one.
    #[must_use]
    pub fn with_hint_if(self, hint: Option<&str>) -> Self {
        match hint {
            Some(hint) => self.with_hint(hint),
            None => self,
        }
    }

    /// Adds a delay before a retry.
    #[must_use]
    pub fn with_retry(mut self, after_ms: u64) -> Self {
        self.data.get_or_insert_default().retry_after_ms = Some(after_ms);
        self
    }
}

/// Advice on a failed call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorData {
    /// Hint, one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Delay before a retry, ms; set with [`code::BUSY`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// Error codes: those of JSON-RPC 2.0 section 5.1, then the codes of memod from -32000 down.
pub mod code {
    /// Not JSON, not UTF-8, or too deep.
    pub const PARSE: i64 = -32700;
    /// Not a request object.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method.
    pub const NO_METHOD: i64 = -32601;
    /// Params are missing or of the wrong type.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The request panicked or met an unexpected state; the daemon keeps running.
    pub const INTERNAL: i64 = -32603;
    /// Over a limit; try again after `retry_after_ms`.
    pub const BUSY: i64 = -32000;
    /// `cwd` is not in this repository.
    pub const WRONG_REPOSITORY: i64 = -32001;
    /// The daemon is draining.
    pub const STOPPING: i64 = -32002;
    /// The named object does not exist.
    pub const NOT_FOUND: i64 = -32003;
    /// The store failed (disk full, input/output error, corruption).
    pub const STORE: i64 = -32004;
    /// One of git's files cannot be read or changed.
    pub const GIT: i64 = -32005;
    /// A path cannot be examined (permission, input/output error), so its state is unknown.
    pub const IO: i64 = -32006;
    /// There is no team, or its server failed.
    pub const TEAM: i64 = -32007;
}

/// Params of `hello`, which `memo` calls if the endpoint file names another version than its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HelloParams {
    /// `CARGO_PKG_VERSION` of the client.
    pub version: String,
    /// [`PROTOCOL`](crate::PROTOCOL) of the client.
    pub protocol: u32,
}

/// Result of `hello`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HelloResult {
    /// `CARGO_PKG_VERSION` of the daemon.
    pub version: String,
    /// [`PROTOCOL`](crate::PROTOCOL) of the daemon.
    pub protocol: u32,
    /// Process id of the daemon.
    pub pid: u32,
}

/// Returns the maximum nesting of brackets outside strings.
pub fn max_nesting_depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        for (text, expected) in [("{}", 1), ("[[1],[2]]", 2), (r#"{"a":"[[[\"[["}"#, 1), ("]]]", 0), ("", 0)]
        {
            assert_eq!(max_nesting_depth(text), expected, "{text}");
        }
    }
}
