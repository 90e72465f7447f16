//! Builds the params of requests from parsed flags and settings. Pure.

use memod_config::Config;
use memod_proto::{MapParams, SearchParams, StatusParams, SyncParams};

use crate::args::{MapArgs, QueryArgs, StatusArgs, SyncArgs};

/// Builds the params of a search. Flags take precedence over settings.
pub(crate) fn search_params(typed: QueryArgs, cwd: &str, config: &Config) -> SearchParams {
    let limit = typed.limit.unwrap_or(config.search.limit);
    SearchParams {
        cwd: cwd.to_owned(),
        query: typed.query.join(" "),
        mode: typed.mode.into(),
        sync: typed.fresh.sync.into(),
        kind: typed.kind,
        only: typed.only,
        path: typed.path.into_iter().chain(typed.exclude.iter().map(|glob| format!("!{glob}"))).collect(),
        lang: typed.lang,
        container: typed.memories.container,
        tag: typed.memories.tag,
        since: typed.memories.since,
        until: typed.memories.until,
        traits: typed.memories.traits.into(),
        threshold: Some(typed.threshold.unwrap_or(config.search.threshold)),
        explain: false,
        rerank: typed.rerank,
        expand: Some(typed.expand || expands_each_search(config)),
        full: typed.full,
        texts: false,
        lines_before: typed.before_context.or(typed.context),
        lines_after: typed.after_context.or(typed.context),
        without: Vec::new(),
        limit: Some(usize::try_from(limit).unwrap_or(usize::MAX)),
        wait_ms: typed.fresh.chosen_wait_ms(config),
    }
}

/// Returns whether the settings make every search ask a language model, and name its server.
fn expands_each_search(config: &Config) -> bool {
    config.search.expand && config.llm.enabled && !config.llm.url.is_empty()
}

/// Builds the params of a map. Paths stay as typed, because the daemon resolves them relative to `cwd`.
pub(crate) fn map_params(typed: MapArgs, cwd: &str) -> MapParams {
    MapParams {
        cwd: cwd.to_owned(),
        budget: Some(typed.budget),
        paths: typed.paths,
        focus: typed.focus,
        sync: typed.sync.into(),
    }
}

pub(crate) fn status_params(typed: &StatusArgs, cwd: &str) -> StatusParams {
    StatusParams { cwd: cwd.to_owned(), files: typed.files, skipped: typed.skipped }
}

pub(crate) fn sync_params(typed: &SyncArgs, cwd: &str) -> SyncParams {
    SyncParams { cwd: cwd.to_owned(), sync: typed.sync.into(), wait_ms: Some(typed.wait_ms) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{CommandLine, MemoVerb};

    fn searched(line: &str) -> SearchParams {
        let typed = CommandLine::try_parse_from(line.split(' ')).expect("the line is well-formed");
        let MemoVerb::Search(typed) = typed.verb else { panic!("not a search: {line}") };
        search_params(typed.find, "/r", &Config::default())
    }

    #[test]
    fn flags_become_params() {
        let check = |line: &str, expected: &str| {
            let mut params = serde_json::to_value(searched(line)).expect("params are JSON");
            let usual = serde_json::to_value(searched("memo search x")).expect("params are JSON");
            let object = params.as_object_mut().expect("params are an object");
            object.retain(|key, value| usual[key] != *value);
            assert_eq!(params.to_string(), expected, "{line}");
        };
        check("memo search x", "{}");
        check("memo search two words --mode keyword", r#"{"mode":"keyword","query":"two words"}"#);
        check("memo search -n 3 x --wait-ms 0", r#"{"limit":3,"wait_ms":0}"#);
        check("memo search -k doc,symbol -k text x", r#"{"kind":["doc","symbol","text"]}"#);
        check("memo search --only tests,docs x", r#"{"only":["test","docs"]}"#);
        check("memo search -p src/{a,b} -p *.md x", r#"{"path":["src/{a,b}","*.md"]}"#);
        check("memo s x --lang rust,go --sync strict", r#"{"lang":["rust","go"],"sync":"strict"}"#);
        check("memo search -A 2 x --context 5", r#"{"lines_after":2,"lines_before":5}"#);
        check("memo search --expand x", r#"{"expand":true}"#);
        check("memo search --threshold 0.7 x", r#"{"threshold":0.7}"#);
        check("memo search -- -x", r#"{"query":"-x"}"#);
    }

    #[test]
    fn settings_are_the_defaults() {
        let params = searched("memo search x");
        let mut config = Config::default();
        assert_eq!(params.limit, usize::try_from(config.search.limit).ok());
        assert_eq!(params.wait_ms, None); // so that the daemon may wait for the first index
        config.search.wait_ms = 50;
        let CommandLine { verb: MemoVerb::Search(typed), .. } =
            CommandLine::parse_from(["memo", "search", "x"])
        else {
            panic!("not a search")
        };
        assert_eq!(search_params(typed.find, "/r", &config).wait_ms, Some(50));
    }
}
