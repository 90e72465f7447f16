//! Collects the caveats of an answer, which say why its parts may be old or missing, and writes them into the result.
//!
//! Each request has one list of caveats. Code that cannot read something adds the reason to the list, and `dispatch` writes the
//! list into the result of any method, so that no method forgets or repeats a caveat.

use std::sync::Mutex;

use memod_base::threads::lock;
use memod_base::types::{MEMORY_FILES_DIR, UnreadableEntry};
use memod_proto::{AnswerPart, Check, Method, RequiredCaveats, RpcError};
use serde_json::{Map, Value, json};

/// The caveats of one request.
#[derive(Default)]
pub(in crate::daemon) struct NotedCaveats {
    parts: Mutex<Vec<(AnswerPart, String)>>,
    snapshot: Mutex<SnapshotGaps>,
}

/// Returns whether an answer needs a file that may not be read.
type NeedsFile = Box<dyn Fn(&UnreadableEntry) -> bool + Send>;

/// Changes and files that the snapshot of an answer lacks.
#[derive(Default)]
struct SnapshotGaps {
    /// Why changes are missing, if they are.
    behind: Option<String>,
    unreadable: Vec<UnreadableEntry>,
    /// Decides whether the answer needs a file; `None` if the answer needs every file.
    needs: Option<NeedsFile>,
}

impl SnapshotGaps {
    /// Returns a message about the needed files that cannot be read, except files of memories that a noted caveat names already;
    /// `None` if there are no such files.
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

    /// Notes which of the unreadable files the answer needs. Until this is called, the answer needs all of them.
    pub(in crate::daemon) fn note_needed_files(
        &self,
        needs: impl Fn(&UnreadableEntry) -> bool + Send + 'static,
    ) {
        lock(&self.snapshot).needs = Some(Box::new(needs));
    }

    /// Adds to a not-found error why the target may exist nevertheless: changes are not indexed yet, or files cannot be read.
    pub(in crate::daemon) fn add_unknown_parts(&self, error: RpcError) -> RpcError {
        let error = self.add_missing_changes(error);
        match lock(&self.snapshot).why_unread(&lock(&self.parts)) {
            Some(why) => {
                add_unknown_part(error, &why).with_hint("`memo status --skipped` lists the unreadable files")
            }
            None => error,
        }
    }

    /// Adds to an error about a file why the latest changes are not indexed yet, if they are not.
    pub(in crate::daemon) fn add_missing_changes(&self, error: RpcError) -> RpcError {
        match &lock(&self.snapshot).behind {
            Some(why) => add_unknown_part(error, why).with_hint("`memo sync` waits until all is indexed"),
            None => error,
        }
    }

    /// Removes the caveats of a part that this answer does not contain.
    pub(in crate::daemon) fn drop_caveats(&self, part: AnswerPart) {
        lock(&self.parts).retain(|(other, _)| *other != part);
    }

    /// Returns the first caveat of a part of the answer, if the part has one.
    pub(in crate::daemon) fn find_caveat(&self, part: AnswerPart) -> Option<String> {
        lock(&self.parts).iter().find(|(other, _)| *other == part).map(|(_, why)| why.clone())
    }

    /// Writes the caveats into the result of a method, as far as the method has to carry them.
    pub(in crate::daemon) fn write_into_result(&self, method: &Method, result: &mut Value) {
        let parts = method.required_caveats.answer_parts();
        let mut noted = lock(&self.parts).clone();
        let unread = lock(&self.snapshot).why_unread(&noted);
        noted.extend(unread.map(|why| (AnswerPart::Unreadable, why)));
        let owed: Vec<&(AnswerPart, String)> =
            noted.iter().filter(|(part, _)| parts.contains(part)).collect();
        let Value::Object(fields) = result else { return };
        match method.required_caveats {
            RequiredCaveats::Nothing => {}
            RequiredCaveats::Fresh(_) => {
                write_freshness(fields, &owed);
                add_caveat_lines(fields, "degraded", &owed, |part, why| json!(render_caveat(part, why)));
            }
            RequiredCaveats::Report => {
                add_caveat_lines(fields, "degraded", &owed, |part, why| json!(render_caveat(part, why)));
                add_caveat_lines(fields, "checks", &owed, |part, why| json!(build_check(part, why)));
            }
        }
    }
}

/// Adds to an error the reason why its message may be wrong, unless the message contains the reason already.
pub(in crate::daemon) fn add_unknown_part(error: RpcError, why: &str) -> RpcError {
    if error.message.contains(why) {
        return error;
    }
    RpcError { message: format!("{}, as far as is known: {why}", error.message), ..error }
}

/// Sets `fresh` and `reason` of a result. A fresh answer has no reason; the reason of an answer that is not fresh lists all
/// caveats.
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

/// Adds a line for each caveat to the list `key` of a result, unless a line there contains the caveat already. Does nothing if the
/// result has no such list.
fn add_caveat_lines(
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

/// Returns a caveat with the name of its part in front; one about code begins with a path instead.
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
    let hint = "answers repeat this until the cause is gone";
    Check { name: name.to_owned(), ok: false, detail: why.to_owned(), hint: Some(hint.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a result as `dispatch` returns it.
    fn written(method: &str, noted: &[(AnswerPart, &str)], mut result: Value) -> Value {
        let noted = noted.iter().map(|(part, why)| (*part, (*why).to_owned())).collect();
        let caveats = NotedCaveats { parts: Mutex::new(noted), ..NotedCaveats::default() };
        caveats.write_into_result(Method::find_method(method).unwrap(), &mut result);
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
