//! Collects why parts of an answer may be old or missing, and writes that into the result.
//!
//! Each request has one list. Code that cannot read something adds the reason to it, and `dispatch` writes the list into the result
//! of any method, so that no method forgets or repeats it.

use std::sync::Mutex;

use memod_base::threads::lock;
use memod_base::types::{MEMORY_FILES_DIR, UnreadableEntry};
use memod_proto::{AnswerDuty, AnswerPart, Check, Method, RpcError};
use serde_json::{Map, Value, json};

/// Why parts of an answer may be old or missing.
#[derive(Default)]
pub(in crate::daemon) struct NotedCaveats {
    parts: Mutex<Vec<(AnswerPart, String)>>,
    snapshot: Mutex<SnapshotGaps>,
}

/// Returns whether an answer needs a file that may not be read.
type Needs = Box<dyn Fn(&UnreadableEntry) -> bool + Send>;

/// Changes and files that the snapshot of an answer lacks.
#[derive(Default)]
struct SnapshotGaps {
    /// Why changes are missing.
    behind: Option<String>,
    unreadable: Vec<UnreadableEntry>,
    /// Whether the answer needs a file; without it, it needs any.
    needs: Option<Needs>,
}

impl SnapshotGaps {
    /// Returns which of the needed files may not be read, besides those of memories that a noted caveat names already.
    fn why_unread(&self, noted: &[(AnswerPart, String)]) -> Option<String> {
        let is_needed = |file: &UnreadableEntry| self.needs.as_ref().is_none_or(|needs| needs(file));
        let is_named = |file: &UnreadableEntry| {
            file.path.starts_with(MEMORY_FILES_DIR) && noted.iter().any(|(_, why)| why.contains(&file.path))
        };
        let mut needed = self.unreadable.iter().filter(|file| is_needed(file) && !is_named(file));
        let first = &needed.next()?.path;
        Some(match needed.count() {
            0 => format!("{first} cannot be read, so its content is unknown"),
            n_more => format!("{first} and {n_more} more cannot be read, so their content is unknown"),
        })
    }
}

impl NotedCaveats {
    /// Notes why a part of the answer may be old or missing.
    pub(in crate::daemon) fn note_caveat(&self, part: AnswerPart, why: impl Into<String>) {
        let (mut noted, why) = (lock(&self.parts), why.into());
        if !noted.iter().any(|(other, said)| *other == part && said.contains(&why)) {
            noted.push((part, why));
        }
    }

    /// Notes what the snapshot behind the answer lacks.
    pub(in crate::daemon) fn note_snapshot(&self, behind: Option<String>, unreadable: Vec<UnreadableEntry>) {
        let mut snapshot = lock(&self.snapshot);
        (snapshot.behind, snapshot.unreadable) = (behind, unreadable);
    }

    /// Notes which of the files that may not be read the answer needs; else it needs all.
    pub(in crate::daemon) fn note_needed_files(
        &self,
        needs: impl Fn(&UnreadableEntry) -> bool + Send + 'static,
    ) {
        lock(&self.snapshot).needs = Some(Box::new(needs));
    }

    /// Adds to a not-found error why the target may exist all the same, if it may.
    pub(in crate::daemon) fn add_unknown_parts(&self, error: RpcError) -> RpcError {
        let error = self.add_missing_changes(error);
        match lock(&self.snapshot).why_unread(&lock(&self.parts)) {
            Some(why) => {
                add_unknown_part(error, &why).with_hint("`memo status --skipped` lists the unreadable files")
            }
            None => error,
        }
    }

    /// Adds to an error about a file that changes are not indexed yet, if so.
    pub(in crate::daemon) fn add_missing_changes(&self, error: RpcError) -> RpcError {
        match &lock(&self.snapshot).behind {
            Some(why) => add_unknown_part(error, why).with_hint("`memo sync` waits until all is indexed"),
            None => error,
        }
    }

    /// Forgets the caveats of a part that is no part of this answer after all.
    pub(in crate::daemon) fn drop_caveats(&self, part: AnswerPart) {
        lock(&self.parts).retain(|(other, _)| *other != part);
    }

    /// Returns why a part of the answer may be old or missing, if it may.
    pub(in crate::daemon) fn find_caveat(&self, part: AnswerPart) -> Option<String> {
        lock(&self.parts).iter().find(|(other, _)| *other == part).map(|(_, why)| why.clone())
    }

    /// Writes into a result the caveats that it owes.
    pub(in crate::daemon) fn write_into(&self, method: &Method, result: &mut Value) {
        let parts = method.owes.answer_parts();
        let mut noted = lock(&self.parts).clone();
        let unread = lock(&self.snapshot).why_unread(&noted);
        noted.extend(unread.map(|why| (AnswerPart::Unreadable, why)));
        let owed: Vec<&(AnswerPart, String)> =
            noted.iter().filter(|(part, _)| parts.contains(part)).collect();
        let Value::Object(fields) = result else { return };
        match method.owes {
            AnswerDuty::Nothing => {}
            AnswerDuty::Fresh(_) => {
                write_freshness(fields, &owed);
                add_lines(fields, "degraded", &owed, |part, why| json!(render_caveat(part, why)));
            }
            AnswerDuty::Report => {
                add_lines(fields, "degraded", &owed, |part, why| json!(render_caveat(part, why)));
                add_lines(fields, "checks", &owed, |part, why| json!(build_check(part, why)));
            }
        }
    }
}

/// Adds the unknown part to an error, unless the error has it already.
pub(in crate::daemon) fn add_unknown_part(error: RpcError, why: &str) -> RpcError {
    if error.message.contains(why) {
        return error;
    }
    RpcError { message: format!("{}, as far as is known: {why}", error.message), ..error }
}

/// Sets `fresh` and `reason`. A fresh answer has no reason, and one that is not has all that there are.
fn write_freshness(fields: &mut Map<String, Value>, owed: &[&(AnswerPart, String)]) {
    let mut reason = fields.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned();
    for (part, why) in owed {
        if reason.contains(why) {
            continue;
        }
        if !reason.is_empty() {
            reason += "; ";
        }
        reason += &render_caveat(*part, why);
    }
    let is_fresh = reason.is_empty() && fields.get("fresh") != Some(&json!(false));
    fields.insert("fresh".to_owned(), json!(is_fresh));
    if !reason.is_empty() {
        fields.insert("reason".to_owned(), json!(reason));
    }
}

/// Adds a line for each to a list that a result has, if it has one that does not say so already.
fn add_lines(
    fields: &mut Map<String, Value>,
    key: &str,
    owed: &[&(AnswerPart, String)],
    make: impl Fn(AnswerPart, &str) -> Value,
) {
    let Some(Value::Array(lines)) = fields.get_mut(key) else { return };
    for (part, why) in owed {
        if !lines.iter().any(|said| match said {
            Value::String(said) => said.contains(why),
            said => said["detail"].as_str().is_some_and(|said| said.contains(why)),
        }) {
            lines.push(make(*part, why));
        }
    }
}

/// Returns why a part may be old; a caveat about code begins with its path.
fn render_caveat(part: AnswerPart, why: &str) -> String {
    match part {
        AnswerPart::Code | AnswerPart::Unreadable => why.to_owned(),
        AnswerPart::Memories | AnswerPart::Commits => format!("{}: {why}", part.as_str()),
    }
}

fn build_check(part: AnswerPart, why: &str) -> Check {
    let name = match part {
        AnswerPart::Memories => MEMORY_FILES_DIR,
        AnswerPart::Code | AnswerPart::Commits | AnswerPart::Unreadable => part.as_str(),
    };
    let hint = "answers say so until it can be read";
    Check { name: name.to_owned(), ok: false, detail: why.to_owned(), hint: Some(hint.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a result as `dispatch` returns it.
    fn written(method: &str, noted: &[(AnswerPart, &str)], mut result: Value) -> Value {
        let noted = noted.iter().map(|(part, why)| (*part, (*why).to_owned())).collect();
        let caveats = NotedCaveats { parts: Mutex::new(noted), ..NotedCaveats::default() };
        caveats.write_into(Method::find_method(method).unwrap(), &mut result);
        result
    }

    #[test]
    fn a_result_says_what_it_is_made_of_and_nothing_else() {
        let check = |method: &str, noted: &[(AnswerPart, &str)], result: Value, expected: Value| {
            assert_eq!(written(method, noted, result), expected, "{method} {noted:?}");
        };
        let memories: &[(AnswerPart, &str)] = &[(AnswerPart::Memories, "read x: no")];
        check("memory.list", &[], json!({}), json!({ "fresh": true }));
        check(
            "memory.list",
            memories,
            json!({}),
            json!({ "fresh": false, "reason": "memories: read x: no" }),
        );
        check(
            "memory.list",
            memories,
            json!({ "fresh": false, "reason": "late" }),
            json!({ "fresh": false, "reason": "late; memories: read x: no" }),
        );
        check(
            "search",
            memories,
            json!({ "fresh": true, "reason": null, "degraded": ["knn: no"] }),
            json!({ "fresh": false, "reason": "memories: read x: no", "degraded": ["knn: no", "memories: read x: no"] }),
        );
        let said = json!({ "fresh": false, "reason": "memories: read x: no" });
        check("why", memories, said.clone(), said);
        check("outline", memories, json!({ "fresh": true }), json!({ "fresh": true }));
        check("hello", memories, json!({ "pid": 1 }), json!({ "pid": 1 }));
        check("status", memories, json!({ "degraded": [] }), json!({ "degraded": ["memories: read x: no"] }));
        let doctor = written("doctor", memories, json!({ "checks": [] }));
        assert_eq!(doctor["checks"][0]["detail"], "read x: no");
        let old = json!({ "fresh": true, "complete": false, "reason": "the time limit was reached" });
        assert_eq!(written("changed", &[], old)["fresh"], false, "a fresh answer has no reason");
    }

    #[test]
    fn a_reason_is_noted_once() {
        let caveats = NotedCaveats::default();
        caveats.note_caveat(AnswerPart::Memories, "one");
        caveats.note_caveat(AnswerPart::Memories, "one");
        caveats.note_caveat(AnswerPart::Commits, "two");
        caveats.drop_caveats(AnswerPart::Commits);
        assert_eq!(caveats.find_caveat(AnswerPart::Memories).as_deref(), Some("one"));
        assert_eq!(lock(&caveats.parts).len(), 1);
    }
}
