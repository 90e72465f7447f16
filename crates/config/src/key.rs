//! Declares every setting, its type and its range.

use std::fmt;

use memod_memory::fields;
use serde::Serialize;

use super::Config;

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A count, or a duration in the unit of its name.
    Number(u64),
    /// A share, a score or a cosine.
    Fraction(f64),
    /// A switch.
    Switch(bool),
    /// One of a few words, or any text.
    Word(String),
}

impl Value {
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

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Fraction(number) => write!(f, "{number}"),
            Self::Switch(on) => write!(f, "{on}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// Which values a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Whole numbers from the first to the second.
    Number(u64, u64),
    /// Numbers from the first to the second.
    Fraction(f64, f64),
    /// `true` or `false`.
    Switch,
    /// One of these.
    Word(&'static [&'static str]),
    /// Any text of one line; what it is.
    Text(&'static str),
    /// The name of a container, as a new memory takes it.
    Container,
    /// Names: an array, or text with commas between them.
    Names,
}

impl fmt::Display for Takes {
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

/// One setting.
#[derive(Debug)]
pub struct Key {
    /// `section.name`, as in the file.
    pub name: &'static str,
    /// Which values it takes.
    pub kind: Takes,
    slot: Slot,
}

/// Where the value lives in [`Config`].
#[derive(Debug)]
enum Slot {
    Number(fn(&mut Config) -> &mut u64),
    Fraction(fn(&mut Config) -> &mut f64),
    Switch(fn(&mut Config) -> &mut bool),
    Word(fn(&mut Config) -> &mut String),
}

const LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];
/// What can happen to an expired memory.
const ENDS: &[&str] = &["archive", "purge"];
/// Below this cosine, two memories merely share a subject. Unrelated pairs have at most 0.48, paraphrases 0.42 to 0.79, and
/// from 0.9 on a pair is likely a duplicate, according to models/builtin/README.md; other models are brought to its scale.
pub const LEAST_NEAR_COSINE: f64 = 0.5;
/// Below this cosine all is noise, according to models/builtin/README.md.
const LEAST_MIN_COSINE: f64 = 0.25;
const ONE_YEAR_MINUTES: u64 = 525_600;
const ONE_MINUTE_MS: u64 = 60_000;
const TEN_MINUTES_MS: u64 = 600_000;

/// Every setting, in the order of `defaults.toml`.
pub const KEYS: &[Key] = &[
    number("daemon.idle_exit_minutes", 0, ONE_YEAR_MINUTES, |config| &mut config.daemon.idle_exit_minutes),
    Key { name: "daemon.log", kind: Takes::Word(LEVELS), slot: Slot::Word(|config| &mut config.daemon.log) },
    number("watch.settle_ms", 0, ONE_MINUTE_MS, |config| &mut config.watch.settle_ms),
    number("watch.settle_max_ms", 0, ONE_MINUTE_MS, |config| &mut config.watch.settle_max_ms),
    switch("watch.poll", |config| &mut config.watch.poll),
    number("search.limit", 1, 200, |config| &mut config.search.limit),
    fraction("search.threshold", 0.0, |config| &mut config.search.threshold),
    fraction("search.min_cosine", LEAST_MIN_COSINE, |config| &mut config.search.min_cosine),
    number("search.wait_ms", 0, TEN_MINUTES_MS, |config| &mut config.search.wait_ms),
    switch("search.expand", |config| &mut config.search.expand),
    number("index.keep_days", 0, 36_500, |config| &mut config.index.keep_days),
    number("index.max_file_bytes", 1, 1 << 30, |config| &mut config.index.max_file_bytes),
    number("index.commits", 0, 100_000, |config| &mut config.index.commits),
    number("index.vector_memory_mb", 0, 1 << 20, |config| &mut config.index.vector_memory_mb),
    text("model.name", "`builtin`, or the name of an installed model", |config| &mut config.model.name),
    text("model.reranker", "the name of an installed model, or nothing", |config| &mut config.model.reranker),
    text("model.runtime", "a path, or nothing", |config| &mut config.model.runtime),
    text("model.cache_dir", "a path, or nothing", |config| &mut config.model.cache_dir),
    text("model.index", "an address, or nothing", |config| &mut config.model.index),
    text("model.hub", "an address, or nothing", |config| &mut config.model.hub),
    switch("hooks.autostart", |config| &mut config.hooks.autostart),
    text("ui.pager", "a command, `auto` or `off`", |config| &mut config.ui.pager),
    Key {
        name: "memory.container",
        kind: Takes::Container,
        slot: Slot::Word(|config| &mut config.memory.container),
    },
    number("memory.short_minutes", 1, ONE_YEAR_MINUTES, |config| &mut config.memory.short_minutes),
    number("memory.mid_minutes", 1, ONE_YEAR_MINUTES, |config| &mut config.memory.mid_minutes),
    number("memory.short_extension_minutes", 0, ONE_YEAR_MINUTES, |config| {
        &mut config.memory.short_extension_minutes
    }),
    number("memory.mid_extension_minutes", 0, ONE_YEAR_MINUTES, |config| {
        &mut config.memory.mid_extension_minutes
    }),
    number("memory.promote_at", 1, 1_000_000, |config| &mut config.memory.promote_at),
    switch("memory.refuse_near", |config| &mut config.memory.refuse_near),
    fraction("memory.near_cosine", LEAST_NEAR_COSINE, |config| &mut config.memory.near_cosine),
    Key {
        name: "memory.on_expiry",
        kind: Takes::Word(ENDS),
        slot: Slot::Word(|config| &mut config.memory.on_expiry),
    },
    list("share.tags", |config| &mut config.share.tags),
    list("share.containers", |config| &mut config.share.containers),
    text("team.url", "an address, or nothing", |config| &mut config.team.url),
    text("team.repositories", "names with commas between them, or nothing", |config| {
        &mut config.team.repositories
    }),
    text("team.follow", "names with commas between them, or nothing", |config| &mut config.team.follow),
    text("team.certificate", "a path, or nothing", |config| &mut config.team.certificate),
    list("team.tags", |config| &mut config.team.tags),
    list("team.containers", |config| &mut config.team.containers),
    text("llm.url", "an address, or nothing", |config| &mut config.llm.url),
    text("llm.model", "the name of a model, or nothing", |config| &mut config.llm.model),
    text("llm.key_env", "the name of a variable, or nothing", |config| &mut config.llm.key_env),
    switch("llm.enabled", |config| &mut config.llm.enabled),
    switch("llm.plain_http", |config| &mut config.llm.plain_http),
    number("llm.tokens_a_day", 0, 1_000_000_000, |config| &mut config.llm.tokens_a_day),
    number("llm.timeout_ms", 100, ONE_MINUTE_MS, |config| &mut config.llm.timeout_ms),
    number("llm.task_seconds", 1, 600, |config| &mut config.llm.task_seconds),
];

const fn number(name: &'static str, least: u64, most: u64, slot: fn(&mut Config) -> &mut u64) -> Key {
    Key { name, kind: Takes::Number(least, most), slot: Slot::Number(slot) }
}

/// Declares a number from `least` to 1.
const fn fraction(name: &'static str, least: f64, slot: fn(&mut Config) -> &mut f64) -> Key {
    Key { name, kind: Takes::Fraction(least, 1.0), slot: Slot::Fraction(slot) }
}

const fn text(name: &'static str, what: &'static str, slot: fn(&mut Config) -> &mut String) -> Key {
    Key { name, kind: Takes::Text(what), slot: Slot::Word(slot) }
}

const fn list(name: &'static str, slot: fn(&mut Config) -> &mut String) -> Key {
    Key { name, kind: Takes::Names, slot: Slot::Word(slot) }
}

const fn switch(name: &'static str, slot: fn(&mut Config) -> &mut bool) -> Key {
    Key { name, kind: Takes::Switch, slot: Slot::Switch(slot) }
}

impl Key {
    /// Returns the key of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Returns the variable that sets it: `MEMO_SEARCH_LIMIT` for `search.limit`.
    pub fn env_name(&self) -> String {
        format!("MEMO_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// Parses a value from the command line or the environment; `None` if it is not allowed.
    pub fn parse(&self, text: &str) -> Option<Value> {
        let value = match self.kind {
            Takes::Number(..) => Value::Number(text.parse().ok()?),
            Takes::Fraction(..) => Value::Fraction(text.parse().ok()?),
            Takes::Switch => Value::Switch(text.parse().ok()?),
            Takes::Word(_) | Takes::Text(_) | Takes::Container | Takes::Names => Value::Word(text.to_owned()),
        };
        self.takes(&value).then_some(value)
    }

    /// Converts a value from a file; `None` if it is not allowed.
    pub(super) fn take(&self, value: &toml_edit::Value) -> Option<Value> {
        let value = match self.kind {
            Takes::Number(..) => Value::Number(u64::try_from(value.as_integer()?).ok()?),
            // `1` is a number too.
            Takes::Fraction(..) => {
                Value::Fraction(value.as_float().or_else(|| Some(value.as_integer()? as f64))?)
            }
            Takes::Switch => Value::Switch(value.as_bool()?),
            Takes::Names if value.is_array() => {
                let names =
                    value.as_array()?.iter().map(toml_edit::Value::as_str).collect::<Option<Vec<_>>>()?;
                Value::Word(names.join(","))
            }
            Takes::Word(_) | Takes::Text(_) | Takes::Container | Takes::Names => {
                Value::Word(value.as_str()?.to_owned())
            }
        };
        self.takes(&value).then_some(value)
    }

    fn takes(&self, value: &Value) -> bool {
        match (self.kind, value) {
            (Takes::Number(least, most), Value::Number(number)) => (least..=most).contains(number),
            (Takes::Fraction(least, most), Value::Fraction(number)) => (least..=most).contains(number),
            (Takes::Switch, Value::Switch(_)) => true,
            (Takes::Word(words), Value::Word(word)) => words.contains(&word.as_str()),
            (Takes::Text(_) | Takes::Names, Value::Word(text)) => !text.contains(char::is_control),
            (Takes::Container, Value::Word(name)) => {
                name == fields::AUTO_CONTAINER || fields::validate_container(name).is_ok()
            }
            _ => false,
        }
    }

    /// Returns the value in force.
    pub fn get(&self, config: &Config) -> Value {
        // A copy, because the slots give mutable access and a second table of getters could disagree.
        let mut config = config.clone();
        match self.slot {
            Slot::Number(slot) => Value::Number(*slot(&mut config)),
            Slot::Fraction(slot) => Value::Fraction(*slot(&mut config)),
            Slot::Switch(slot) => Value::Switch(*slot(&mut config)),
            Slot::Word(slot) => Value::Word(slot(&mut config).clone()),
        }
    }

    /// Puts a value that [`Key::parse`] or a file gave.
    pub(super) fn set(&self, config: &mut Config, value: Value) {
        match (&self.slot, value) {
            (Slot::Number(slot), Value::Number(number)) => *slot(config) = number,
            (Slot::Fraction(slot), Value::Fraction(number)) => *slot(config) = number,
            (Slot::Switch(slot), Value::Switch(on)) => *slot(config) = on,
            (Slot::Word(slot), Value::Word(word)) => *slot(config) = word,
            _ => unreachable!("a value has the type of its key: both come from `kind`"),
        }
    }
}
