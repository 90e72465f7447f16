//! Checks layers, files and defaults of the settings.

use std::path::PathBuf;

use super::*;

fn file() -> PathBuf {
    PathBuf::from("config.toml")
}

fn shown(text: &str) -> String {
    match SettingsLayer::from_toml(text, file()) {
        Ok(layer) => layer
            .values
            .iter()
            .map(|(key, value, _)| format!("{}={value}", key.name))
            .collect::<Vec<_>>()
            .join(" "),
        Err(ConfigError::UnknownKey { key, nearest, .. }) => {
            format!("unknown {key}, nearest {}", nearest.unwrap_or("none"))
        }
        Err(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn defaults_file_equals_the_struct() {
    let layer = SettingsLayer::from_toml(DEFAULTS, file()).expect("the defaults are valid");
    let names: Vec<_> = layer.values.iter().map(|(key, ..)| key.name).collect();
    let known: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(names, known, "defaults.toml names every key, in the order of KEYS");
    assert_eq!(resolve_layers([layer]).config, Config::default());
    for key in KEYS {
        assert!(DEFAULTS.contains(&key.env_name()), "defaults.toml does not name {}", key.env_name());
    }
}

#[test]
fn files_are_read_strictly() {
    let cases = [
        ("", ""),
        ("[search]\nlimit = 20 # more\n", "search.limit=20"),
        ("search.limit = 20\n[daemon]\nlog = 'debug'\n", "search.limit=20 daemon.log=debug"),
        ("search = { limit = 5 }", "search.limit=5"),
        ("[search]\nlimits = 20\n", "unknown search.limits, nearest search.limit"),
        ("[serach]\nlimit = 20\n", "unknown serach.limit, nearest search.limit"),
        ("limit = 20\n", "unknown limit, nearest none"),
        ("[[search]]\nlimit = 2\n", "unknown search, nearest search.limit"),
        ("[search]\nlimit = 0\n", "config.toml: search.limit = 0: expected a whole number from 1 to 200"),
        ("[search]\nlimit = -1\n", "config.toml: search.limit = -1: expected a whole number from 1 to 200"),
        (
            "[search]\nlimit = \"9\"\n",
            "config.toml: search.limit = \"9\": expected a whole number from 1 to 200",
        ),
        ("[watch]\npoll = 1\n", "config.toml: watch.poll = 1: expected true or false"),
        (
            "[daemon]\nlog = 'loud'\n",
            "config.toml: daemon.log = 'loud': expected one of error, warn, info, debug, trace",
        ),
        ("[search]\nthreshold = 1\n", "search.threshold=1"),
        ("memory.near_cosine = 0.85", "memory.near_cosine=0.85"),
        (
            "memory.near_cosine = 0.4",
            "config.toml: memory.near_cosine = 0.4: expected a number from 0.5 to 1",
        ),
        ("search.min_cosine = 0.6", "search.min_cosine=0.6"),
        ("search.min_cosine = 0.2", "config.toml: search.min_cosine = 0.2: expected a number from 0.25 to 1"),
        ("search.threshold = nan", "config.toml: search.threshold = nan: expected a number from 0 to 1"),
        ("memory.container = 'auto'", "memory.container=auto"),
        ("memory.container = 'My Project'", "memory.container=My Project"),
        (
            "memory.container = '…'",
            "config.toml: memory.container = '…': expected the name of a container, or `auto`",
        ),
        ("[search\n", "config.toml: not valid TOML: TOML parse error at line 1, column 8"),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn later_layers_win() {
    let user = SettingsLayer::from_toml("search.limit = 20\nwatch.poll = true", "user.toml".into()).unwrap();
    let repository = SettingsLayer::from_toml("search.limit = 30", "repo.toml".into()).unwrap();
    let env =
        SettingsLayer::from_env(|name| (name == "MEMO_INDEX_KEEP_DAYS").then(|| "7".to_owned())).unwrap();
    let resolved = resolve_layers([user, repository, env]);
    assert_eq!(resolved.config.search.limit, 30);
    assert!(resolved.config.watch.poll);
    assert_eq!(resolved.config.index.keep_days, 7);
    let origins = resolved.origins.iter().map(ToString::to_string).filter(|origin| origin != "default");
    assert_eq!(origins.collect::<Vec<_>>(), ["user.toml", "repo.toml", "MEMO_INDEX_KEEP_DAYS"]);
}

#[test]
fn a_bad_variable_names_itself() {
    let error =
        SettingsLayer::from_env(|name| (name == "MEMO_SEARCH_LIMIT").then(|| "many".to_owned())).unwrap_err();
    let expected = "MEMO_SEARCH_LIMIT: search.limit = many: expected a whole number from 1 to 200";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn taking_a_value_out_keeps_comments() {
    let check = |text: &str, key: &str, expected: Option<&str>| {
        assert_eq!(unset_in_toml(text, file(), key).unwrap().as_deref(), expected, "{key} of {text}");
    };
    check("", "search.limit", None);
    check("[search]\nwait_ms = 0\n", "search.limit", None);
    let text = "# mine\n[search] # s\nlimit = 1 # few\nwait_ms = 0 # none\n";
    check(text, "search.limit", Some("# mine\n[search] # s\nwait_ms = 0 # none\n"));
    check("search.limit = 1\nsearch.wait_ms = 0\n", "search.limit", Some("search.wait_ms = 0\n"));
    // What a later version set, or a slip of the pen, does not keep the rest in.
    check("[search]\nlimit = 0\nnew = 1\n", "search.limit", Some("[search]\nnew = 1\n"));
    assert!(unset_in_toml("", file(), "search.limi").is_err());
    assert!(unset_in_toml("[", file(), "search.limit").is_err());
}

#[test]
fn setting_a_value_keeps_comments() {
    let cases = [
        ("", "search.limit", "5", "[search]\nlimit = 5\n"),
        (
            "# mine\n[search] # s\nlimit = 1 # few\n",
            "search.limit",
            "5",
            "# mine\n[search] # s\nlimit = 5 # few\n",
        ),
        ("[search]\nlimit = 1\n", "daemon.log", "warn", "[search]\nlimit = 1\n\n[daemon]\nlog = \"warn\"\n"),
        ("search.limit = 1\n", "search.wait_ms", "0", "search.limit = 1\nsearch.wait_ms = 0\n"),
    ];
    for (text, key, value, expected) in cases {
        assert_eq!(set_in_toml(text, file(), key, value).unwrap(), expected, "{text}");
    }
    for (text, key, value) in
        [("", "search.limi", "5"), ("", "search.limit", "x"), ("[", "search.limit", "5")]
    {
        assert!(set_in_toml(text, file(), key, value).is_err(), "{key} = {value} in {text}");
    }
}

#[test]
fn a_repository_may_switch_the_model_off_and_not_on() {
    let check = |key: &str, value: &str, expected: Option<&str>| {
        let error = check_repository_setting(key, value, &SettingOrigin::File(file())).err();
        assert_eq!(error.map(|error| error.to_string()).as_deref(), expected, "{key} = {value}");
    };
    check("llm.enabled", "false", None);
    let only_off = "config.toml: llm.enabled may only be false in the settings of a repository";
    check("llm.enabled", "true", Some(only_off));
    check("llm.url", "x", Some("config.toml: llm.url may stand only in the user's settings"));
    check("search.limit", "5", None);
}
