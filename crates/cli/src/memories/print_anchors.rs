//! Prints the anchors of memories, and confirms memories.

use memod_base::paths::CallerDir;
use memod_proto::anchor::{Anchor, AnchorState};
use memod_proto::memory::{ConfirmParams, UpdateResult};
use memod_terminal::text::{escape_for_display, paint};
use memod_terminal::{CliError, CliResult, CommandContext, Output};

use super::request::new_caller;
use crate::args::IdArgs;
use crate::daemon::status::print_field;

/// Confirms that a memory still holds, and prints its id and current anchors.
pub(crate) fn confirm_memory(typed: IdArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = ConfirmParams { caller: new_caller(context), id: typed.id, ..ConfirmParams::default() };
    let result: UpdateResult = context.connect()?.call("memory.confirm", &params)?;
    let dir = context.caller_dir();
    output.write_result(&result, |output| {
        output.write_line(&result.memory.id)?;
        output.flush()?;
        let about: Vec<String> = result
            .memory
            .anchors
            .iter()
            .map(|anchor| escape_for_display(&dir.display_path(&anchor.to_string())))
            .collect();
        match about.is_empty() {
            true => output.write_note("confirmed: from now on the memory is trusted as your own"),
            false => output.write_note(&format!("confirmed for the current state of {}", about.join(", "))),
        }
        Ok(())
    })?;
    output.write_caveats(&result.caveats);
    Ok(0)
}

/// Writes the anchors of a memory with their states, one per line.
pub(super) fn print_anchors(
    anchors: &[Anchor],
    dir: &CallerDir,
    output: &mut Output,
) -> Result<(), CliError> {
    anchors.iter().try_for_each(|anchor| {
        let about = escape_for_display(&dir.display_path(&anchor.to_string()));
        print_field("about", &format!("{about}{}", describe_state(anchor, dir, output)), output)
    })
}

/// Returns the state of an anchor after a comma, with its new location and a note if there are any; empty if the state is unknown.
fn describe_state(anchor: &Anchor, dir: &CallerDir, output: &Output) -> String {
    let mut text = match anchor.state {
        None => return String::new(),
        Some(AnchorState::Fresh) => ", fresh".to_owned(),
        Some(state) => format!(", {}", paint(output.styles.bad, state.as_str())),
    };
    if let Some(now) = &anchor.now {
        text += &format!(", now {}", escape_for_display(&dir.display_path(now)));
    }
    if let Some(note) = &anchor.note {
        text += &format!(": {}", escape_for_display(note));
    }
    text
}

/// Returns the mark of a memory whose code has changed or is gone; empty for any other memory.
pub(super) fn state_mark(state: Option<AnchorState>, output: &Output) -> String {
    let bad = state.filter(|state| *state != AnchorState::Fresh);
    bad.map_or(String::new(), |state| {
        format!(" {}", paint(output.styles.bad, &format!("[{}]", state.as_str())))
    })
}
