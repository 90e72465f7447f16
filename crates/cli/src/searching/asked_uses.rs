//! Answers a search that asks for the uses of a definition, such as `who calls NAME`, with these uses.

use memod_client::ClientError;
use memod_proto::{
    AskedUses, ReachParams, ReachResult, ReachedDefinition, RefUse, RefsParams, RefsResult, SearchMode,
    SearchParams, code,
};
use memod_terminal::text::{escape_for_display, format_count, paint, shell_word};
use memod_terminal::{CliError, CommandContext, Output};

use super::last_search::HitLocation;
use super::uses_question::{UsesQuestion, parse_uses_question};

/// Least number of uses that are shown, because a list of uses is of little use if it is cut as short as a list of hits.
const LEAST_SHOWN: usize = 20;

/// Returns the uses that a query asks for, which may be none; `None` if it asks for something else, or about a name that is not
/// defined.
///
/// `is_fresh` says whether the hits are up to date: if not, the search has waited for that, and this does not wait again.
pub(super) fn find_asked_uses(
    params: &SearchParams,
    is_fresh: bool,
    context: &CommandContext,
) -> Option<AskedUses> {
    if params.has_filters() || params.mode != SearchMode::Hybrid {
        return None;
    }
    let (question, name) = parse_uses_question(&params.query)?;
    let (n_found, uses) = match fetch_uses(question, name, params, is_fresh, context) {
        Ok(found) => found?,
        // A plain word may be meant as a word: "tests for speed".
        Err(CliError::Client(ClientError::Rpc(error)))
            if error.code == code::NOT_FOUND && !is_plain_word(name) =>
        {
            (0, Vec::new())
        }
        Err(_) => return None,
    };
    // An empty list is certain only when everything is indexed.
    let ask = format!("{} {} {}", context.memo_command, question.method_name(), shell_word(name));
    (is_fresh || !uses.is_empty()).then_some(AskedUses { ask, n_found, uses })
}

/// Asks for the uses of a name. Returns their number and the first of them; `None` if none was found, but not all files were searched.
fn fetch_uses(
    question: UsesQuestion,
    name: &str,
    params: &SearchParams,
    is_fresh: bool,
    context: &CommandContext,
) -> Result<Option<(usize, Vec<RefUse>)>, CliError> {
    let mut client = context.connect()?;
    let limit = Some(params.limit.unwrap_or_default().max(LEAST_SHOWN));
    let (cwd, target, sync) = (params.cwd.clone(), name.to_owned(), params.sync);
    let wait_ms = if is_fresh { params.wait_ms } else { Some(0) };
    let (n_found, uses, cut) = match question {
        UsesQuestion::Uses => {
            let params = RefsParams { cwd, target, limit, sync, wait_ms, ..RefsParams::default() };
            let result: RefsResult = client.call(question.method_name(), &params)?;
            let counts = result.counts;
            (counts.exact + counts.likely + counts.by_name, result.uses, result.cut)
        }
        UsesQuestion::Callers | UsesQuestion::Tests => {
            let target = Some(target);
            let params = ReachParams { cwd, target, limit, sync, wait_ms, ..ReachParams::default() };
            let result: ReachResult = client.call(question.method_name(), &params)?;
            (result.n_found, result.found.into_iter().map(describe_use).collect(), result.cut)
        }
    };
    Ok((!uses.is_empty() || cut.is_none()).then_some((n_found, uses)))
}

/// Returns the use by which a definition was reached.
fn describe_use(found: ReachedDefinition) -> RefUse {
    RefUse {
        path: found.path,
        cwd_path: found.cwd_path,
        line: if found.line == 0 { found.lines.0 } else { found.line },
        column: 1,
        within: found.title,
        certainty: found.certainty,
        text: found.text,
    }
}

fn is_plain_word(name: &str) -> bool {
    name.chars().all(char::is_lowercase)
}

/// Returns the locations of the uses, for `memo open N`.
pub(super) fn list_use_locations(asked: &AskedUses) -> Vec<HitLocation> {
    let location = |used: &RefUse| HitLocation::File {
        path: used.path.clone(),
        line: used.line,
        lines: (used.line, used.line),
    };
    asked.uses.iter().map(location).collect()
}

/// Prints the place, the enclosing definition and the line of each use.
pub(super) fn print_asked_uses(
    asked: &AskedUses,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), CliError> {
    let styles = output.styles;
    for (number, used) in (1..).zip(&asked.uses) {
        if output.is_on_terminal {
            output.write_bytes(paint(styles.line, &format!("{number} ")).as_bytes())?;
        }
        let file = context.layout.root.join(&used.path);
        let path = output.styled_path(used.cwd_path.as_ref().unwrap_or(&used.path), &file);
        let within = used.within.as_deref().map(|title| paint(styles.title, &escape_for_display(title)));
        let within = within.map(|title| format!("  {title}")).unwrap_or_default();
        let doubt = if used.certainty == "exact" { String::new() } else { format!("  ({})", used.certainty) };
        output
            .write_line(&format!("{path}:{}{within}{doubt}", paint(styles.line, &used.line.to_string())))?;
        output.write_line(&format!("  {}", escape_for_display(&used.text)))?;
    }
    Ok(())
}

/// Returns the note that says how to ask for the uses directly.
pub(super) fn describe_direct_question(asked: &AskedUses) -> String {
    let n_more = asked.n_found.saturating_sub(asked.uses.len());
    let more = match n_more {
        0 => String::new(),
        n_more => format!(", and {} more", format_count(n_more as u64, "use", "uses")),
    };
    format!("these are the answer of `{}`{more}", asked.ask)
}
