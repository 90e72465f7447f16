//! Replaces the words that earlier versions and other programs use for a verb.

use std::ffi::{OsStr, OsString};

/// Words that are typed for a verb, and the words that run it.
const VERB_WORDS: &[(&str, &[&str])] = &[
    // Verbs of earlier versions.
    ("untag", &["tag", "remove"]),
    ("tags", &["tag", "list"]),
    ("containers", &["tag", "containers"]),
    ("unlink", &["link", "remove"]),
    ("links", &["link", "list"]),
    ("unshare", &["share", "remove"]),
    ("sync-notes", &["share", "sync"]),
    ("team", &["share", "team"]),
    ("stop", &["daemon", "stop"]),
    ("restart", &["daemon", "restart"]),
    ("logs", &["daemon", "logs"]),
    ("events", &["daemon", "events"]),
    ("restore-backup", &["backup", "restore"]),
    ("purge", &["forget", "purge"]),
    ("reset", &["forget", "reset"]),
    ("hook", &["hooks", "agent"]),
    ("recent", &["list", "--sort", "updated"]),
    // Words of other programs. None runs a verb that deletes for good or writes outside the repository.
    ("find", &["search"]),
    ("grep", &["search"]),
    ("ask", &["search"]),
    ("query", &["search"]),
    ("note", &["add"]),
    ("remember", &["add"]),
    ("rm", &["forget"]),
    ("remove", &["forget"]),
    ("delete", &["forget"]),
    ("edit", &["update"]),
    ("modify", &["update"]),
    ("cat", &["show"]),
    ("def", &["show"]),
    ("definition", &["show"]),
    ("symbols", &["outline"]),
    ("usages", &["refs"]),
    ("uses", &["refs"]),
    ("references", &["refs"]),
    ("blame", &["why"]),
    ("log", &["why"]),
    ("diff", &["changed"]),
    ("tree", &["map"]),
    ("summary", &["brief"]),
    ("index", &["sync"]),
    ("namespaces", &["tag", "containers"]),
];

/// Verbs whose target people type after a word such as `of`.
const VERBS_WITH_TARGET: [&str; 10] =
    ["callers", "callees", "refs", "tests", "impact", "implements", "open", "outline", "show", "why"];

/// Words before a target that say nothing about it.
const WORDS_BEFORE_TARGET: [&str; 6] = ["of", "for", "to", "on", "from", "the"];

/// Replaces the verb of a command line, whose first word is the program name, if it is a word for another verb. Also removes a word
/// such as `of` before the target of a verb.
pub(crate) fn replace_verb_word(mut words: Vec<OsString>) -> Vec<OsString> {
    if let [_, only] = words.as_mut_slice() {
        strip_arrow(only);
    }
    let Some(at) = find_verb(&words) else { return words };
    if let Some(verb) = words.get(at + 1).and_then(|target| find_verb_for_target(&words[at], target)) {
        words[at] = verb.into();
    }
    if let Some((_, meant)) = VERB_WORDS.iter().find(|(word, _)| words[at] == *word) {
        words.splice(at..=at, meant.iter().map(OsString::from));
    }
    let has_target = VERBS_WITH_TARGET.iter().any(|verb| words[at] == *verb);
    if has_target {
        words.iter_mut().skip(at + 1).for_each(strip_arrow);
    }
    // A name such as `of` with nothing after it is the target.
    while has_target
        && words.get(at + 2).is_some_and(|word| !word.as_encoded_bytes().starts_with(b"-"))
        && WORDS_BEFORE_TARGET.iter().any(|before| words[at + 1] == *before)
    {
        words.remove(at + 1);
    }
    words
}

/// Removes the `-->` or `---` at the start of a line that rustc or diff has printed, which is no flag.
fn strip_arrow(word: &mut OsString) {
    let line =
        word.to_str().and_then(|word| ["--> ", "--- "].iter().find_map(|arrow| word.strip_prefix(arrow)));
    if let Some(line) = line.map(OsString::from) {
        *word = line;
    }
}

/// Returns the verb that is meant by `ls` before a name, and by `history` before a place in a file instead of the id of a memory.
fn find_verb_for_target(verb: &OsStr, target: &OsStr) -> Option<&'static str> {
    let target = target.as_encoded_bytes();
    if target.starts_with(b"-") {
        return None;
    }
    let is_place = target.iter().any(|byte| b"/.#:".contains(byte));
    match verb.to_str()? {
        "ls" => Some("outline"),
        "history" if is_place => Some("why"),
        _ => None,
    }
}

/// Returns the position of the verb in a command line, whose first word is the program name; `None` if it has only flags.
pub(crate) fn find_verb(words: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if has_separate_value(word) {
            at += 1;
        } else if !word.as_encoded_bytes().starts_with(b"-") {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Returns whether the next word is the value of a global flag: of `-C`, also after other short flags as in `-qC`, or of `--color`.
pub(crate) fn has_separate_value(word: &OsStr) -> bool {
    word == "--color" || find_dir_flag(word).is_some_and(|at| at + 1 == word.len())
}

/// Returns the position of `C` in `-C`, `-CDIR` and `-qC`; `None` in any other word.
pub(crate) fn find_dir_flag(word: &OsStr) -> Option<usize> {
    let bytes = word.as_encoded_bytes();
    let is_short = bytes.starts_with(b"-") && !bytes.starts_with(b"--");
    bytes.iter().position(|byte| *byte == b'C').filter(|_| is_short)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::CommandLine;

    #[test]
    fn only_the_verb_is_replaced() {
        for (typed, expected) in [
            ("memo untag mem_1 a", "memo tag remove mem_1 a"),
            ("memo -C untag tags", "memo -C untag tag list"),
            ("memo --json recent -n 5", "memo --json list --sort updated -n 5"),
            ("memo -qC store note x", "memo -qC store add x"),
            ("memo -qCstore find", "memo -qCstore search"),
            ("memo search find", "memo search find"),
            ("memo --color", "memo --color"),
            ("memo", "memo"),
            ("memo usages of parse", "memo refs parse"),
            ("memo tests for the parse -n 5", "memo tests parse -n 5"),
            ("memo callers of", "memo callers of"),
            ("memo callers of --json", "memo callers of --json"),
            ("memo search for it", "memo search for it"),
            ("memo ls", "memo ls"),
            ("memo ls src", "memo outline src"),
            ("memo history src/a.rs", "memo why src/a.rs"),
            ("memo history mem_01KAJ", "memo history mem_01KAJ"),
        ] {
            let words = replace_verb_word(typed.split(' ').map(OsString::from).collect());
            assert_eq!(words, expected.split(' ').map(OsString::from).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_arrow_before_a_place_is_no_flag() {
        let check = |words: &[&str], expected: &[&str]| {
            let replaced = replace_verb_word(words.iter().map(OsString::from).collect());
            assert_eq!(replaced, expected.iter().map(OsString::from).collect::<Vec<_>>());
        };
        check(&["memo", "show", "--> a.rs:1:2"], &["memo", "show", "a.rs:1:2"]);
        check(&["memo", "--> a.rs:1:2"], &["memo", "a.rs:1:2"]);
        check(&["memo", "add", "--- a rule"], &["memo", "add", "--- a rule"]);
        check(&["memo", "why", "--json", "--- a/a.rs"], &["memo", "why", "--json", "a/a.rs"]);
    }

    #[test]
    fn each_word_runs_a_verb_and_is_none_itself() {
        let memo = CommandLine::command();
        for (word, meant) in VERB_WORDS {
            assert!(memo.find_subcommand(word).is_none(), "{word} is a verb");
            let verb = memo.find_subcommand(meant[0]).unwrap_or_else(|| panic!("{word} runs no verb"));
            let is_subcommand = verb.has_subcommands() && meant.len() > 1;
            assert!(!is_subcommand || verb.find_subcommand(meant[1]).is_some(), "{word}");
        }
    }
}
