//! Finds credentials in texts.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, Input, MatchKind};
use regex::Regex;

use super::credentials::RULES;

/// The kind of a text, which decides what a word without quotes means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Documents, settings, messages and shell scripts: a word without quotes may be a value.
    Prose,
    /// Source code, and formats that quote every string: a word without quotes is an expression.
    Code,
}

/// A credential in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Kind of the credential, for messages: `GitHub token`.
    pub name: &'static str,
    /// Byte span of the credential in the text.
    pub bytes: Range<usize>,
}

/// Returns the byte spans of likely credentials, ascending and disjoint. Takes time linear in the length of the text.
pub fn find_secret_spans(text: &str, syntax: Syntax) -> Vec<Range<usize>> {
    find_secrets(text, syntax).into_iter().map(|secret| secret.bytes).collect()
}

/// Returns likely credentials, ascending and disjoint. Takes time linear in the length of the text.
pub fn find_secrets(text: &str, syntax: Syntax) -> Vec<Secret> {
    find_secrets_in(text, syntax, 0..text.len(), 0).0
}

/// Returns the credentials whose anchors begin in `range`, and the offset at which the search can continue. `known_to` is the end
/// of the last known credential; anchors before it are ignored.
pub(super) fn find_secrets_in(
    text: &str,
    syntax: Syntax,
    range: Range<usize>,
    mut known_to: usize,
) -> (Vec<Secret>, usize) {
    let mut found: Vec<Secret> = Vec::new();
    let mut searched_to = range.end;
    let haystack = range.start..text.len().min(range.end + SCANNER.anchors.max_pattern_len());
    let anchors = SCANNER.anchors.find_iter(Input::new(text).span(haystack));
    for anchor in anchors.take_while(|anchor| anchor.start() < range.end) {
        searched_to = searched_to.max(anchor.end());
        if anchor.start() < known_to {
            continue;
        }
        let rules = SCANNER.rules_of_anchor[anchor.pattern().as_usize()].iter();
        if let Some(secret) = rules.filter_map(|rule| match_rule(text, syntax, anchor.start(), *rule)).next()
        {
            known_to = secret.bytes.end;
            found.push(secret);
        }
    }
    (found, searched_to)
}

/// Finds the anchors of all rules in one pass over a text. The pattern of a rule is tried only at its anchors.
struct SecretScanner {
    anchors: AhoCorasick,
    /// By anchor: the indices in [`RULES`] of the rules with this anchor, ascending.
    rules_of_anchor: Vec<Vec<usize>>,
    /// The compiled pattern of each rule.
    patterns: Vec<Regex>,
}

static SCANNER: LazyLock<SecretScanner> = LazyLock::new(|| {
    let mut anchors: Vec<&str> = RULES.iter().flat_map(|rule| rule.anchors.iter().copied()).collect();
    anchors.sort_unstable();
    anchors.dedup();
    let rules_of_anchor = anchors.iter().map(|anchor| rules_with_anchor(anchor)).collect();
    let patterns = RULES.iter().map(|rule| Regex::new(rule.pattern).expect("a test compiles every rule"));
    let automaton = AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA)) // the fastest kind: every hit is searched
        .build(&anchors)
        .expect("a few short words make a small automaton");
    SecretScanner { anchors: automaton, rules_of_anchor, patterns: patterns.collect() }
});

/// Returns the indices in [`RULES`] of the rules with this anchor, ascending.
fn rules_with_anchor(anchor: &str) -> Vec<usize> {
    (0..RULES.len()).filter(|at| RULES[*at].anchors.contains(&anchor)).collect()
}

/// Returns the credential that a rule finds at the anchor at offset `at`; `None` if the rule does not match.
fn match_rule(text: &str, syntax: Syntax, at: usize, rule_at: usize) -> Option<Secret> {
    let rule = &RULES[rule_at];
    if syntax == Syntax::Code && !rule.in_code {
        return None;
    }
    let before = text[..at].bytes().next_back();
    let in_word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if in_word && !rule.within_word {
        return None;
    }
    let captures = SCANNER.patterns[rule_at].captures(&text[at..])?;
    let secret = captures.iter().skip(1).flatten().next().or_else(|| captures.get(0))?;
    let bytes = at + secret.start()..at + secret.end();
    (rule.is_real)(secret.as_str()).then_some(Secret { name: rule.name, bytes })
}

#[cfg(test)]
mod tests;
