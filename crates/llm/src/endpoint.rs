//! Finds and checks the server of the language model and its key, from the settings.

use std::fmt;
use std::net::IpAddr;

use memod_config::LlmSettings;
use ureq::http::Uri;

/// The path of the chat completions API below `llm.url`.
const COMPLETIONS_PATH: &str = "/chat/completions";

/// A server to which requests may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The URL of the server's chat completions API.
    pub url: String,
    /// Name of the model; empty if the server chooses.
    pub model: String,
    /// The API key; `None` if the server needs none.
    pub(crate) key: Option<ApiKey>,
    /// Whether the server is on this machine, so that no proxy is used.
    pub(crate) is_local: bool,
}

/// An API key. Its debug form hides the key, so that no message and no log shows it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ApiKey(String);

impl ApiKey {
    /// Returns the key itself, to send it, and to remove it from texts.
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Why no request can be sent to a language model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// `llm.url` is empty.
    #[error("llm.url is not set, so no language model is asked")]
    Unset,
    /// `llm.enabled` is false.
    #[error("llm.enabled is false")]
    Disabled,
    /// `llm.url` is no usable address.
    #[error("llm.url: {0}")]
    BadUrl(&'static str),
    /// `llm.url` would send texts unencrypted to another machine.
    #[error("llm.url: {0} is not this machine, and http is not encrypted")]
    PlainHttp(String),
    /// The settings cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The environment of the daemon lacks the variable with the key.
    #[error("llm.key_env names {0}, which the environment of the daemon does not have")]
    NoKey(String),
    /// The key has characters that an HTTP header cannot contain.
    #[error("llm.key_env names {0}, whose value has spaces or other characters that no key contains")]
    BadKey(String),
}

impl EndpointError {
    /// Returns what a user can do about the error.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unset => {
                "`memo config set --user llm.url http://localhost:11434/v1` asks a model of Ollama"
            }
            Self::Disabled => "run `memo config unset llm.enabled`, with --user if the user settings set it",
            Self::BadUrl(_) => "write an address such as https://host/v1",
            Self::PlainHttp(_) => {
                "use https; or `memo config set --user llm.plain_http true` in a network that you trust"
            }
            Self::Unreadable(_) => "`memo config path` shows which settings files are read",
            Self::NoKey(_) | Self::BadKey(_) => {
                "set the variable in a shell, and run `memo daemon restart` there"
            }
        }
    }
}

impl Endpoint {
    /// Creates an endpoint from the settings. `look_up` returns the value of an environment variable.
    ///
    /// # Errors
    /// When no server is set, its address is invalid or would send texts unencrypted, or the key cannot be used.
    pub fn from_settings(
        settings: &LlmSettings,
        look_up: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, EndpointError> {
        if settings.url.trim().is_empty() {
            return Err(EndpointError::Unset);
        }
        if !settings.enabled {
            return Err(EndpointError::Disabled);
        }
        let url = settings.url.trim();
        let (address, query) = url.split_once('?').map_or((url, None), |(url, query)| (url, Some(query)));
        let address = address.trim_end_matches('/').trim_end_matches(COMPLETIONS_PATH).trim_end_matches('/');
        let uri: Uri = address.parse().map_err(|_| EndpointError::BadUrl("the value is not a URL"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(EndpointError::BadUrl("the URL needs http:// or https:// and a host"));
        };
        if authority.as_str().contains('@') {
            return Err(EndpointError::BadUrl("the URL contains a password; use llm.key_env for the key"));
        }
        if url.contains('#') {
            return Err(EndpointError::BadUrl("the URL contains a #"));
        }
        let is_local = is_local(authority.host());
        match scheme {
            "https" => {}
            "http" if is_local || settings.plain_http => {}
            "http" => return Err(EndpointError::PlainHttp(authority.host().to_owned())),
            _ => return Err(EndpointError::BadUrl("the URL must begin with http:// or https://")),
        }
        let key = match settings.key_env.trim() {
            "" => None,
            name => {
                let key = look_up(name).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
                let key = key.ok_or_else(|| EndpointError::NoKey(name.to_owned()))?;
                if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
                    return Err(EndpointError::BadKey(name.to_owned()));
                }
                Some(ApiKey(key))
            }
        };
        let query = query.map_or(String::new(), |query| format!("?{query}"));
        let model = settings.model.trim().to_owned();
        Ok(Self { url: format!("{address}{COMPLETIONS_PATH}{query}"), model, key, is_local })
    }

    /// Returns the API key, to remove it from texts.
    pub fn secret(&self) -> Option<&str> {
        self.key.as_ref().map(ApiKey::secret)
    }

    /// Returns the URL without its query, which may contain a key, for display.
    pub fn display_url(&self) -> &str {
        self.url.split('?').next().unwrap_or_default()
    }
}

/// Returns whether a host is `localhost` or a loopback address, without asking a resolver.
fn is_local(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use memod_config::Config;

    fn check(url: &str, expected: Result<&str, &str>) {
        let settings = LlmSettings { url: url.to_owned(), ..Config::default().llm };
        let found = Endpoint::from_settings(&settings, |_| None).map(|endpoint| endpoint.url);
        let found = found.map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{url}");
    }

    #[test]
    fn plain_http_stays_on_this_machine() {
        let local = "http://localhost:11434/v1/chat/completions";
        check("http://localhost:11434/v1", Ok(local));
        check(" http://localhost:11434/v1/ ", Ok(local));
        check(local, Ok(local));
        check("http://127.0.0.2/v1", Ok("http://127.0.0.2/v1/chat/completions"));
        check("http://[::1]:80/v1", Ok("http://[::1]:80/v1/chat/completions"));
        check("https://api.example/v1?version=2", Ok("https://api.example/v1/chat/completions?version=2"));
        let plain = |host: &str| format!("llm.url: {host} is not this machine, and http is not encrypted");
        check("http://192.168.1.5:11434/v1", Err(&plain("192.168.1.5")));
        check("http://localhost.example/v1", Err(&plain("localhost.example")));
        check("http://127.0.0.1.example/v1", Err(&plain("127.0.0.1.example")));
        check("ftp://localhost/", Err("llm.url: the URL must begin with http:// or https://"));
        check("localhost:11434", Err("llm.url: the URL needs http:// or https:// and a host"));
        check(
            "http://me:pw@localhost/v1",
            Err("llm.url: the URL contains a password; use llm.key_env for the key"),
        );
        check("", Err("llm.url is not set, so no language model is asked"));
    }

    #[test]
    fn a_key_is_read_and_not_shown() {
        let settings = LlmSettings {
            url: "https://api.example/v1".to_owned(),
            key_env: "API_KEY".to_owned(),
            ..Config::default().llm
        };
        let endpoint =
            Endpoint::from_settings(&settings, |name| (name == "API_KEY").then(|| " secret\n".to_owned()));
        let endpoint = endpoint.unwrap();
        assert_eq!(endpoint.key.as_ref().unwrap().secret(), "secret");
        assert!(!format!("{endpoint:?}").contains("secret"));
        assert_eq!(
            Endpoint::from_settings(&settings, |_| None),
            Err(EndpointError::NoKey("API_KEY".to_owned()))
        );
        let broken = Endpoint::from_settings(&settings, |_| Some("sec\nret".to_owned()));
        assert_eq!(broken, Err(EndpointError::BadKey("API_KEY".to_owned())));
        let off = LlmSettings { enabled: false, ..settings };
        assert_eq!(Endpoint::from_settings(&off, |_| None), Err(EndpointError::Disabled));
    }
}
