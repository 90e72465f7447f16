//! Parses the params of a method.

use memod_engine::errors::RpcResult;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::daemon::request::request_errors::bad_params_error;

/// Parses the params of a method; absent params are an empty object.
pub(in crate::daemon) fn parse_params<P: DeserializeOwned>(params: Value) -> RpcResult<P> {
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    // serde would accept an array as the fields in order of declaration.
    if !params.is_object() {
        return Err(bad_params_error("params: an object is needed, each param by its name"));
    }
    serde_path_to_error::deserialize(params).map_err(|error| bad_params_error(format!("params: {error}")))
}
