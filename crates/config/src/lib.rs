//! Loads settings: defaults, the user's file, the repository's file and the environment.
//!
//! Each source of settings is a layer, and later layers take precedence: defaults, the user's file, the repository's file, the
//! environment, flags. Layers are parsed from texts; only [`load_settings`] and [`read_settings_file`] read files, and only
//! [`load_settings`] and the module `user_files` read the environment.

mod sections;
mod setting_key;
pub mod team_server;
mod user_files;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use memod_base::paths::{self, IoContext, PathError, RepoLayout};
use toml_edit::{DocumentMut, Item};

pub use sections::{
    AutostartSettings, DaemonSettings, IndexSettings, LlmSettings, MemorySettings, SearchModelSettings,
    SearchSettings, ShareSettings, TeamSettings, UiSettings, WatchSettings,
};
pub use setting_key::{KEYS, LEAST_NEAR_COSINE, SettingKey, SettingValue};
pub use user_files::{libpq_password_file, team_password_file, user_settings_file};

/// The commented defaults, as `memo config template` prints them.
pub const DEFAULTS: &str = include_str!("defaults.toml");

/// The values of all settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `[daemon]`
    pub daemon: DaemonSettings,
    /// `[watch]`
    pub watch: WatchSettings,
    /// `[search]`
    pub search: SearchSettings,
    /// `[index]`
    pub index: IndexSettings,
    /// `[model]`
    pub model: SearchModelSettings,
    /// `[hooks]`
    pub hooks: AutostartSettings,
    /// `[ui]`
    pub ui: UiSettings,
    /// `[memory]`
    pub memory: MemorySettings,
    /// `[share]`
    pub share: ShareSettings,
    /// `[team]`
    pub team: TeamSettings,
    /// `[llm]`
    pub llm: LlmSettings,
}

impl Default for Config {
    /// Returns the values of `defaults.toml` without parsing that file, because the client must start within a millisecond.
    fn default() -> Self {
        Self {
            daemon: DaemonSettings { idle_exit_minutes: 30, log: "info".to_owned() },
            watch: WatchSettings { settle_ms: 50, settle_max_ms: 500, poll: false },
            search: SearchSettings {
                limit: 10,
                threshold: 0.0,
                min_cosine: 0.25,
                wait_ms: 1_000,
                expand: false,
            },
            index: IndexSettings {
                keep_days: 30,
                max_file_bytes: 1_048_576,
                commits: 2_000,
                vector_memory_mb: 64,
            },
            model: SearchModelSettings { name: "builtin".to_owned(), ..SearchModelSettings::default() },
            hooks: AutostartSettings { autostart: false },
            ui: UiSettings { pager: "auto".to_owned() },
            memory: MemorySettings {
                container: "project".to_owned(),
                short_minutes: 6 * 60,
                mid_minutes: 7 * 24 * 60,
                short_extension_minutes: 60,
                mid_extension_minutes: 24 * 60,
                promote_at: 5,
                refuse_near: true,
                near_cosine: 0.9,
                on_expiry: "archive".to_owned(),
            },
            share: ShareSettings::default(),
            team: TeamSettings::default(),
            llm: LlmSettings {
                url: String::new(),
                model: String::new(),
                key_env: String::new(),
                enabled: true,
                plain_http: false,
                tokens_a_day: 200_000,
                timeout_ms: 2_000,
                task_seconds: 60,
            },
        }
    }
}

/// Where the value of a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// `defaults.toml`
    Default,
    /// A file of the user or of the repository.
    File(PathBuf),
    /// A variable of the environment, by name.
    Env(String),
    /// The command line.
    CommandLine,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Env(name) => f.write_str(name),
            Self::CommandLine => f.write_str("command line"),
        }
    }
}

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] PathError),
    /// A file is not TOML.
    #[error("{origin}: not valid TOML: {reason}")]
    Syntax {
        /// The file.
        origin: SettingOrigin,
        /// Line, column and cause.
        reason: String,
    },
    /// There is no setting with this key.
    #[error("{origin}: unknown key {key}")]
    UnknownKey {
        /// The file, or the command line.
        origin: SettingOrigin,
        /// The key as written.
        key: String,
        /// The known key with the most similar spelling.
        nearest: Option<&'static str>,
    },
    /// A repository has a setting that only the user's own settings may have.
    #[error("{origin}: {key} may stand only in the user's settings")]
    UserOnly {
        /// The file, or the command line.
        origin: SettingOrigin,
        /// The key as written.
        key: String,
    },
    /// A repository switches on a setting that it may only switch off.
    #[error("{origin}: {key} may only be false in the settings of a repository")]
    OnlyFalseAllowed {
        /// The file, or the command line.
        origin: SettingOrigin,
        /// The key as written.
        key: String,
    },
    /// A value has the wrong type or is out of range.
    #[error("{origin}: {key} = {found}: expected {expected}")]
    BadValue {
        /// The file, variable or command line with the value.
        origin: SettingOrigin,
        /// Key of the setting.
        key: &'static str,
        /// The value as written.
        found: String,
        /// The allowed values.
        expected: String,
    },
}

/// The values that one source of settings has.
#[derive(Clone, Debug, Default)]
pub struct SettingsLayer {
    values: Vec<(&'static SettingKey, SettingValue, SettingOrigin)>,
}

impl SettingsLayer {
    /// Parses the text of a settings file; `file` is its path.
    ///
    /// # Errors
    /// When the text is not TOML, has an unknown key, or a value that its key does not allow.
    pub fn from_toml(text: &str, file: PathBuf) -> Result<Self, ConfigError> {
        let origin = SettingOrigin::File(file);
        let document = parse_toml(text, &origin)?;
        let mut values = Vec::new();
        for (section, item) in document.iter() {
            let Some(table) = item.as_table_like() else {
                return Err(unknown_key_error(section, origin));
            };
            for (name, item) in table.iter() {
                let full = format!("{section}.{name}");
                let key =
                    SettingKey::find_key(&full).ok_or_else(|| unknown_key_error(&full, origin.clone()))?;
                values.push((key, read_item_value(key, item, &origin)?, origin.clone()));
            }
        }
        Ok(Self { values })
    }

    /// Parses the environment variables of all settings; `look_up` returns the value of a variable.
    ///
    /// # Errors
    /// When a variable has a value that its key does not allow.
    pub fn from_env(look_up: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut values = Vec::new();
        for key in KEYS {
            let name = key.env_name();
            if let Some(text) = look_up(&name) {
                let origin = SettingOrigin::Env(name);
                let value =
                    key.parse_value(&text).ok_or_else(|| bad_value_error(key, text, origin.clone()))?;
                values.push((key, value, origin));
            }
        }
        Ok(Self { values })
    }
}

/// The settings in force, and where each value comes from.
#[derive(Clone, Debug)]
pub struct ResolvedSettings {
    /// The values in force.
    pub config: Config,
    /// Origin of the value of each of [`KEYS`], in the same order.
    pub origins: Vec<SettingOrigin>,
}

/// Returns the settings after applying layers to the defaults; later layers take precedence.
pub fn resolve_layers(layers: impl IntoIterator<Item = SettingsLayer>) -> ResolvedSettings {
    let mut resolved =
        ResolvedSettings { config: Config::default(), origins: vec![SettingOrigin::Default; KEYS.len()] };
    for (key, value, origin) in layers.into_iter().flat_map(|layer| layer.values) {
        key.set(&mut resolved.config, value);
        if let Some(at) = KEYS.iter().position(|known| known.name == key.name) {
            resolved.origins[at] = origin;
        }
    }
    resolved
}

/// Returns the text of the settings file `file` with the key `name` set to `value`. Comments, order and spacing stay.
///
/// # Errors
/// When the text is not valid, the key is unknown, or the key does not allow the value.
pub fn set_in_toml(text: &str, file: PathBuf, name: &str, value: &str) -> Result<String, ConfigError> {
    let key = SettingKey::find_key(name)
        .ok_or_else(|| unknown_key_error(name, SettingOrigin::File(file.clone())))?;
    SettingsLayer::from_toml(text, file.clone())?;
    let origin = SettingOrigin::File(file);
    let value =
        key.parse_value(value).ok_or_else(|| bad_value_error(key, value.to_owned(), origin.clone()))?;
    let mut document = parse_toml(text, &origin)?;
    let (section, name) = key.name.split_once('.').expect("every key has a section");
    let table = document.entry(section).or_insert(toml_edit::table());
    let slot = table.as_table_like_mut().expect("the layer was read: sections are tables").entry(name);
    let mut new = value.to_toml();
    let item = slot.or_insert(Item::None);
    if let Some(old) = item.as_value() {
        *new.decor_mut() = old.decor().clone();
    }
    *item = Item::Value(new);
    Ok(document.to_string())
}

/// Returns the text of the settings file `file` without the key `name`; `None` if the key is not set.
///
/// # Errors
/// When the text is not TOML, or the key is unknown.
pub fn unset_in_toml(text: &str, file: PathBuf, name: &str) -> Result<Option<String>, ConfigError> {
    let origin = SettingOrigin::File(file);
    let key = SettingKey::find_key(name).ok_or_else(|| unknown_key_error(name, origin.clone()))?;
    let mut document = parse_toml(text, &origin)?;
    let (section, name) = key.name.split_once('.').expect("every key has a section");
    let table = document.get_mut(section).and_then(Item::as_table_like_mut);
    Ok(table.and_then(|table| table.remove(name)).map(|_| document.to_string()))
}

/// Reads the settings that apply in the repository with this layout, or without a layout only the user's settings.
///
/// # Errors
/// When a file cannot be read, or a file or variable has an invalid setting. An absent file counts as empty.
pub fn load_settings(layout: Option<&RepoLayout>) -> Result<ResolvedSettings, ConfigError> {
    let mut layers = Vec::new();
    if let Some(file) = user_settings_file() {
        layers.extend(
            read_settings_file(&file)?.map(|text| SettingsLayer::from_toml(&text, file)).transpose()?,
        );
    }
    for file in layout.map(RepoLayout::config_files).unwrap_or_default() {
        let layer =
            read_settings_file(&file)?.map(|text| SettingsLayer::from_toml(&text, file)).transpose()?;
        for (key, value, origin) in layer.iter().flat_map(|layer| &layer.values) {
            check_repository_setting(key.name, &value.to_toml().to_string(), origin)?;
        }
        layers.extend(layer);
    }
    layers.push(SettingsLayer::from_env(|name| std::env::var(name).ok())?);
    Ok(resolve_layers(layers))
}

/// Checks that the settings of a repository may have a value. Others may have written these settings, and some keys name code to
/// run, or decide which texts are sent to whom and at which cost.
///
/// # Errors
/// When only the user's own settings may have the value.
pub fn check_repository_setting(key: &str, value: &str, origin: &SettingOrigin) -> Result<(), ConfigError> {
    match key {
        "llm.enabled" if value == "false" => Ok(()),
        "llm.enabled" => Err(ConfigError::OnlyFalseAllowed { origin: origin.clone(), key: key.to_owned() }),
        "ui.pager" | "model.runtime" | "model.cache_dir" | "model.index" | "model.hub" | "llm.url"
        | "llm.model" | "llm.key_env" | "llm.plain_http" | "llm.tokens_a_day" | "search.expand" => {
            Err(ConfigError::UserOnly { origin: origin.clone(), key: key.to_owned() })
        }
        key if key.starts_with("team.") => {
            Err(ConfigError::UserOnly { origin: origin.clone(), key: key.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Returns the text of a settings file; `None` if the file is absent.
///
/// # Errors
/// When the file exists but cannot be read, or is not UTF-8.
pub fn read_settings_file(file: &Path) -> Result<Option<String>, ConfigError> {
    let text = paths::read_file(file).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
    match text {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => Ok(Some(read.at("read", file)?)),
    }
}

/// Returns the error for a key that does not exist, with the known key that has the most similar spelling.
pub fn unknown_key_error(key: &str, origin: SettingOrigin) -> ConfigError {
    let alike = KEYS.iter().map(|known| (strsim::jaro_winkler(known.name, key), known.name));
    let nearest = alike.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(likeness, _)| *likeness > 0.7);
    ConfigError::UnknownKey { origin, key: key.to_owned(), nearest: nearest.map(|(_, name)| name) }
}

/// Parses the TOML of a settings file.
fn parse_toml(text: &str, origin: &SettingOrigin) -> Result<DocumentMut, ConfigError> {
    text.parse::<DocumentMut>().map_err(|error| ConfigError::Syntax {
        origin: origin.clone(),
        reason: error.to_string().trim_end().to_owned(),
    })
}

/// Returns the value of a setting in a settings file.
fn read_item_value(
    key: &'static SettingKey,
    item: &Item,
    origin: &SettingOrigin,
) -> Result<SettingValue, ConfigError> {
    let value = item.as_value().and_then(|value| key.parse_toml_value(value));
    value.ok_or_else(|| bad_value_error(key, item.to_string().trim().to_owned(), origin.clone()))
}

/// Returns the error for a value that a key does not allow.
fn bad_value_error(key: &'static SettingKey, found: String, origin: SettingOrigin) -> ConfigError {
    ConfigError::BadValue { origin, key: key.name, found, expected: key.kind.to_string() }
}

#[cfg(test)]
mod tests;
