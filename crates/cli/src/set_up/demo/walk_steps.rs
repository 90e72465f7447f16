//! Lists the commands that `memo demo` runs, with a sentence before each.

/// A step of the demo.
pub(super) struct WalkStep {
    pub(super) sentence: &'static str,
    /// The command as a user types it; `None` for the edit of a file.
    pub(super) command: Option<&'static str>,
}

const fn step(sentence: &'static str, command: &'static str) -> WalkStep {
    WalkStep { sentence, command: Some(command) }
}

pub(super) const INTRODUCTION: &str =
    "A shop that signs its sessions: seven files, four commits, and one mistake to find.";

/// The text of the memory that the demo adds.
pub(super) const NOTE: &str = "half a day was too short: people were logged out in the middle of a shift";

/// The command to type after the demo.
pub(super) const NEXT_COMMAND: &str = "memo brief";

/// The steps in their order.
pub(super) const WALK: &[WalkStep] = &[
    step("Index the repository; from now on a daemon watches it:", "memo init --no-hooks"),
    step("Ask in your own words:", "memo search -n 1 \"how long is a token valid\""),
    step("Ask why a definition is as it is, and the commit answers:", "memo why src/session.rs#LIFETIME_S"),
    step(
        "Keep what you learned, tied to the definition that it is about:",
        "memo add --about src/session.rs#LIFETIME_S \"half a day was too short: people were logged out in the middle of a shift\"",
    ),
    step("Two functions accept a token:", "memo callers Session::verify"),
    step(
        "Only one of them asks whether it has expired, so an old token still opens the account page; that is the mistake:",
        "memo callers Session::is_expired",
    ),
    WalkStep {
        sentence: "Now somebody halves the lifetime, and does not ask why it was a day:",
        command: None,
    },
    step("The note says that its definition has changed since:", "memo list --state drifted"),
    step("And a search has the new text at once:", "memo search -n 1 \"how long is a token valid\""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_is_that_of_the_command() {
        let adds = WALK.iter().filter_map(|step| step.command).filter(|command| command.contains(" add "));
        assert!(adds.map(|command| command.contains(NOTE)).eq([true]));
    }
}
