//! Declares the key of every setting, and the values that each key allows.

use std::fmt;

use memod_memory::fields;
use serde::Serialize;

use super::Config;

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SettingValue {
    /// A count, or a duration in the unit that the key names.
    Number(u64),
    /// A share, a score or a cosine.
    Fraction(f64),
    /// A switch.
    Switch(bool),
    /// One of a few words, or any text.
    Word(String),
}

impl SettingValue {
    /// Returns the value as TOML writes it.
    pub fn to_toml(&self) -> toml_edit::Value {
        match self {
            Self::Number(number) => i64::try_from(*number).unwrap_or(i64::MAX).into(),
            Self::Fraction(number) => (*number).into(),
            Self::Switch(on) => (*on).into(),
            Self::Word(word) => word.as_str().into(),
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Fraction(number) => write!(f, "{number}"),
            Self::Switch(on) => write!(f, "{on}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// The values that a key allows.
#[derive(Clone, Copy, Debug)]
pub enum AllowedValues {
    /// Whole numbers from the first to the second.
    Number(u64, u64),
    /// Numbers from the first to the second.
    Fraction(f64, f64),
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any text of one line; the string describes it for errors.
    Text(&'static str),
    /// The name of a container, as a new memory takes it.
    Container,
    /// Names: an array, or text with commas between them.
    Names,
}

impl fmt::Display for AllowedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(least, most) => write!(f, "a whole number from {least} to {most}"),
            Self::Fraction(least, most) => write!(f, "a number from {least} to {most}"),
            Self::Switch => f.write_str("true or false"),
            Self::Word(words) => write!(f, "one of {}", words.join(", ")),
            Self::Text(what) => f.write_str(what),
            Self::Container => f.write_str("the name of a container, or `auto`"),
            Self::Names => f.write_str("names with commas between them, or nothing"),
        }
    }
}

/// The key of a setting.
#[derive(Debug)]
pub struct SettingKey {
    /// `section.name`, as in the file.
    pub name: &'static str,
    /// The values that the key allows.
    pub kind: AllowedValues,
    /// The field of the value in [`Config`].
    slot: SettingSlot,
}

/// Gives access to the field of a value in [`Config`].
#[derive(Debug)]
enum SettingSlot {
    Number(fn(&mut Config) -> &mut u64),
    Fraction(fn(&mut Config) -> &mut f64),
    Switch(fn(&mut Config) -> &mut bool),
    Word(fn(&mut Config) -> &mut String),
}

/// The levels of logging.
const LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];
/// The ways to treat an expired memory.
const EXPIRY_ACTIONS: &[&str] = &["archive", "purge"];
/// Minimum of `memory.near_cosine`. Below this cosine, two memories merely share a subject. Unrelated pairs have at most 0.48,
/// paraphrases 0.42 to 0.79, and from 0.9 on a pair is likely a duplicate, according to models/builtin/README.md; the cosines of
/// other models are converted to the scale of the builtin model.
pub const LEAST_NEAR_COSINE: f64 = 0.5;
/// Minimum of `search.min_cosine`. Hits below this cosine are noise, according to models/builtin/README.md.
const MIN_SEARCH_COSINE: f64 = 0.25;
const ONE_YEAR_MINUTES: u64 = 525_600;
const ONE_MINUTE_MS: u64 = 60_000;
const TEN_MINUTES_MS: u64 = 600_000;

/// The keys of all settings, in the order of `defaults.toml`.
pub const KEYS: &[SettingKey] = &[
    number_key("daemon.idle_exit_minutes", 0, ONE_YEAR_MINUTES, |config| {
        &mut config.daemon.idle_exit_minutes
    }),
    SettingKey {
        name: "daemon.log",
        kind: AllowedValues::Word(LEVELS),
        slot: SettingSlot::Word(|config| &mut config.daemon.log),
    },
    number_key("watch.settle_ms", 0, ONE_MINUTE_MS, |config| &mut config.watch.settle_ms),
    number_key("watch.settle_max_ms", 0, ONE_MINUTE_MS, |config| &mut config.watch.settle_max_ms),
    switch_key("watch.poll", |config| &mut config.watch.poll),
    number_key("search.limit", 1, 200, |config| &mut config.search.limit),
    fraction_key("search.threshold", 0.0, |config| &mut config.search.threshold),
    fraction_key("search.min_cosine", MIN_SEARCH_COSINE, |config| &mut config.search.min_cosine),
    number_key("search.wait_ms", 0, TEN_MINUTES_MS, |config| &mut config.search.wait_ms),
    switch_key("search.expand", |config| &mut config.search.expand),
    number_key("index.keep_days", 0, 36_500, |config| &mut config.index.keep_days),
    number_key("index.max_file_bytes", 1, 1 << 30, |config| &mut config.index.max_file_bytes),
    number_key("index.commits", 0, 100_000, |config| &mut config.index.commits),
    number_key("index.vector_memory_mb", 0, 1 << 20, |config| &mut config.index.vector_memory_mb),
    text_key("model.name", "`builtin`, or the name of an installed model", |config| &mut config.model.name),
    text_key("model.reranker", "the name of an installed model, or nothing", |config| {
        &mut config.model.reranker
    }),
    text_key("model.runtime", "a path, or nothing", |config| &mut config.model.runtime),
    text_key("model.cache_dir", "a path, or nothing", |config| &mut config.model.cache_dir),
    text_key("model.index", "an address, or nothing", |config| &mut config.model.index),
    text_key("model.hub", "an address, or nothing", |config| &mut config.model.hub),
    switch_key("hooks.autostart", |config| &mut config.hooks.autostart),
    text_key("ui.pager", "a command, `auto` or `off`", |config| &mut config.ui.pager),
    SettingKey {
        name: "memory.container",
        kind: AllowedValues::Container,
        slot: SettingSlot::Word(|config| &mut config.memory.container),
    },
    number_key("memory.short_minutes", 1, ONE_YEAR_MINUTES, |config| &mut config.memory.short_minutes),
    number_key("memory.mid_minutes", 1, ONE_YEAR_MINUTES, |config| &mut config.memory.mid_minutes),
    number_key("memory.short_extension_minutes", 0, ONE_YEAR_MINUTES, |config| {
        &mut config.memory.short_extension_minutes
    }),
    number_key("memory.mid_extension_minutes", 0, ONE_YEAR_MINUTES, |config| {
        &mut config.memory.mid_extension_minutes
    }),
    number_key("memory.promote_at", 1, 1_000_000, |config| &mut config.memory.promote_at),
    switch_key("memory.refuse_near", |config| &mut config.memory.refuse_near),
    fraction_key("memory.near_cosine", LEAST_NEAR_COSINE, |config| &mut config.memory.near_cosine),
    SettingKey {
        name: "memory.on_expiry",
        kind: AllowedValues::Word(EXPIRY_ACTIONS),
        slot: SettingSlot::Word(|config| &mut config.memory.on_expiry),
    },
    list_key("share.tags", |config| &mut config.share.tags),
    list_key("share.containers", |config| &mut config.share.containers),
    text_key("team.url", "an address, or nothing", |config| &mut config.team.url),
    text_key("team.repositories", "names with commas between them, or nothing", |config| {
        &mut config.team.repositories
    }),
    text_key("team.follow", "names with commas between them, or nothing", |config| &mut config.team.follow),
    text_key("team.certificate", "a path, or nothing", |config| &mut config.team.certificate),
    list_key("team.tags", |config| &mut config.team.tags),
    list_key("team.containers", |config| &mut config.team.containers),
    text_key("llm.url", "an address, or nothing", |config| &mut config.llm.url),
    text_key("llm.model", "the name of a model, or nothing", |config| &mut config.llm.model),
    text_key("llm.key_env", "the name of an environment variable, or nothing", |config| {
        &mut config.llm.key_env
    }),
    switch_key("llm.enabled", |config| &mut config.llm.enabled),
    switch_key("llm.plain_http", |config| &mut config.llm.plain_http),
    number_key("llm.tokens_a_day", 0, 1_000_000_000, |config| &mut config.llm.tokens_a_day),
    number_key("llm.timeout_ms", 100, ONE_MINUTE_MS, |config| &mut config.llm.timeout_ms),
    number_key("llm.task_seconds", 1, 600, |config| &mut config.llm.task_seconds),
];

/// Declares a whole number from `least` to `most`.
const fn number_key(
    name: &'static str,
    least: u64,
    most: u64,
    slot: fn(&mut Config) -> &mut u64,
) -> SettingKey {
    SettingKey { name, kind: AllowedValues::Number(least, most), slot: SettingSlot::Number(slot) }
}

/// Declares a number from `least` to 1.
const fn fraction_key(name: &'static str, least: f64, slot: fn(&mut Config) -> &mut f64) -> SettingKey {
    SettingKey { name, kind: AllowedValues::Fraction(least, 1.0), slot: SettingSlot::Fraction(slot) }
}

/// Declares a text; `what` describes it for errors.
const fn text_key(
    name: &'static str,
    what: &'static str,
    slot: fn(&mut Config) -> &mut String,
) -> SettingKey {
    SettingKey { name, kind: AllowedValues::Text(what), slot: SettingSlot::Word(slot) }
}

/// Declares a list of names.
const fn list_key(name: &'static str, slot: fn(&mut Config) -> &mut String) -> SettingKey {
    SettingKey { name, kind: AllowedValues::Names, slot: SettingSlot::Word(slot) }
}

/// Declares a value that is `true` or `false`.
const fn switch_key(name: &'static str, slot: fn(&mut Config) -> &mut bool) -> SettingKey {
    SettingKey { name, kind: AllowedValues::Switch, slot: SettingSlot::Switch(slot) }
}

impl SettingKey {
    /// Returns the key with a name, `section.name`; `None` if there is none.
    pub fn find_key(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Returns the name of the environment variable for the setting: `MEMO_SEARCH_LIMIT` for `search.limit`.
    pub fn env_name(&self) -> String {
        format!("MEMO_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// Parses a value from the command line or the environment; `None` if the key does not allow the value.
    pub fn parse_value(&self, text: &str) -> Option<SettingValue> {
        let value = match self.kind {
            AllowedValues::Number(..) => SettingValue::Number(text.parse().ok()?),
            AllowedValues::Fraction(..) => SettingValue::Fraction(text.parse().ok()?),
            AllowedValues::Switch => SettingValue::Switch(text.parse().ok()?),
            AllowedValues::Word(_)
            | AllowedValues::Text(_)
            | AllowedValues::Container
            | AllowedValues::Names => SettingValue::Word(text.to_owned()),
        };
        self.is_allowed(&value).then_some(value)
    }

    /// Converts a value from a settings file; `None` if the key does not allow the value.
    pub(super) fn parse_toml_value(&self, value: &toml_edit::Value) -> Option<SettingValue> {
        let value = match self.kind {
            AllowedValues::Number(..) => SettingValue::Number(u64::try_from(value.as_integer()?).ok()?),
            // A file may have `1` for `1.0`.
            AllowedValues::Fraction(..) => {
                SettingValue::Fraction(value.as_float().or_else(|| Some(value.as_integer()? as f64))?)
            }
            AllowedValues::Switch => SettingValue::Switch(value.as_bool()?),
            AllowedValues::Names if value.is_array() => {
                let names =
                    value.as_array()?.iter().map(toml_edit::Value::as_str).collect::<Option<Vec<_>>>()?;
                SettingValue::Word(names.join(","))
            }
            AllowedValues::Word(_)
            | AllowedValues::Text(_)
            | AllowedValues::Container
            | AllowedValues::Names => SettingValue::Word(value.as_str()?.to_owned()),
        };
        self.is_allowed(&value).then_some(value)
    }

    /// Returns whether the key allows a value.
    fn is_allowed(&self, value: &SettingValue) -> bool {
        match (self.kind, value) {
            (AllowedValues::Number(least, most), SettingValue::Number(number)) => {
                (least..=most).contains(number)
            }
            (AllowedValues::Fraction(least, most), SettingValue::Fraction(number)) => {
                (least..=most).contains(number)
            }
            (AllowedValues::Switch, SettingValue::Switch(_)) => true,
            (AllowedValues::Word(words), SettingValue::Word(word)) => words.contains(&word.as_str()),
            (AllowedValues::Text(_) | AllowedValues::Names, SettingValue::Word(text)) => {
                !text.contains(char::is_control)
            }
            (AllowedValues::Container, SettingValue::Word(name)) => {
                name == fields::AUTO_CONTAINER || fields::validate_container(name).is_ok()
            }
            _ => false,
        }
    }

    /// Returns the value that the setting has in `config`.
    pub fn get(&self, config: &Config) -> SettingValue {
        // The slots need a mutable `Config`, so a copy is read. A second table, of getters, could disagree with the slots.
        let mut config = config.clone();
        match self.slot {
            SettingSlot::Number(slot) => SettingValue::Number(*slot(&mut config)),
            SettingSlot::Fraction(slot) => SettingValue::Fraction(*slot(&mut config)),
            SettingSlot::Switch(slot) => SettingValue::Switch(*slot(&mut config)),
            SettingSlot::Word(slot) => SettingValue::Word(slot(&mut config).clone()),
        }
    }

    /// Stores a value from [`SettingKey::parse`] or [`SettingKey::parse_toml_value`] in `config`.
    pub(super) fn set(&self, config: &mut Config, value: SettingValue) {
        match (&self.slot, value) {
            (SettingSlot::Number(slot), SettingValue::Number(number)) => *slot(config) = number,
            (SettingSlot::Fraction(slot), SettingValue::Fraction(number)) => *slot(config) = number,
            (SettingSlot::Switch(slot), SettingValue::Switch(on)) => *slot(config) = on,
            (SettingSlot::Word(slot), SettingValue::Word(word)) => *slot(config) = word,
            _ => unreachable!("a value has the type of its key: both come from `kind`"),
        }
    }
}
