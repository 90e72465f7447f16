//! Answers the hooks of coding agents.
//!
//! Reads the JSON of an agent on stdin and prints what that agent expects, or nothing.
//!
//! Invariant: an agent is never held up and never fails because of us. Whatever happens, the exit status is 0 and nothing is
//! printed that the agent does not expect, within the time limit. `--explain` says what happened.

mod explained;
mod hook_input;
mod reply_form;

use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use memod_base::paths::RepoLayout;
use memod_base::threads::pause;
use memod_client::{
    Client, ClientError, Options, may_replace_in_background, run_in_background, start_in_background,
};
use memod_proto::{AdviseParams, AdviseResult, Occasion};

use super::args::{Global, HookArgs};
use super::context::CommandContext;
use super::error::{CliError, CliResult};
use super::output::Output;
use hook_input::HookInput;
use reply_form::ReplyForm;

/// Largest input that is parsed, bytes. The rest is read too, because an agent may fail when it cannot write.
const MAX_INPUT: usize = 16 << 20;
/// Least time for a receipt, which the daemon takes at once.
const RECEIPT_WITHIN: Duration = Duration::from_millis(5);
/// Pause between two attempts to reach a daemon that is being started.
const AGAIN: Duration = Duration::from_millis(10);

/// Answers an agent, or explains to a person what would be answered.
pub(super) fn hook(typed: HookArgs, global: &Global, output: &mut Output) -> CliResult {
    if typed.explain || global.json.is_some() {
        return explained::explain(&typed, global, output);
    }
    let until = Instant::now() + Duration::from_millis(typed.within_ms);
    let dir = global.dir.clone();
    let (reply, answer) = mpsc::sync_channel(1);
    let older = Arc::new(OnceLock::new());
    let found_older = Arc::clone(&older);
    let work = move || {
        let _ = reply.send(answer_for(&typed, dir.as_deref(), until, &found_older)); // nobody waits any more
    };
    if thread::Builder::new().name("hook".to_owned()).spawn(work).is_err() {
        return Ok(0);
    }
    let left = until.saturating_duration_since(Instant::now());
    if let Ok(Ok(Some(answer))) = answer.recv_timeout(left) {
        // An agent that does not read the answer has no use for an error either.
        if output.line_if_possible(&answer.text) {
            answer.give_receipt(until);
        }
    }
    // Only now, because the agent waits for the answer; and without one too, because an older daemon may be the slow one.
    if let Some(layout) = older.get() {
        replace_daemon(layout);
    }
    Ok(0)
}

/// A text for the agent, and how its receipt is sent to the daemon.
struct HookAnswer {
    /// The text to print.
    text: String,
    receipt: Option<String>,
    client: Client,
    cwd: String,
}

impl HookAnswer {
    /// Confirms to the daemon that the text was passed on. Without a receipt the daemon repeats it: twice is better than never.
    fn give_receipt(self, until: Instant) {
        let Self { receipt: Some(receipt), mut client, cwd, .. } = self else { return };
        client.answer_within(until.saturating_duration_since(Instant::now()).max(RECEIPT_WITHIN));
        let params = AdviseParams { cwd, receipt: Some(receipt), ..AdviseParams::default() };
        let _: Result<AdviseResult, ClientError> = client.call("advise", &params);
    }
}

/// Returns what to print; `None` to be silent. Tells `older` of a daemon that is to be replaced, before it is asked.
fn answer_for(
    typed: &HookArgs,
    dir: Option<&Path>,
    until: Instant,
    older: &OnceLock<RepoLayout>,
) -> Result<Option<HookAnswer>, Silence> {
    let input = read_input(typed)?;
    let form = ReplyForm::of(typed.agent.as_deref(), &input);
    form.carries(typed.event.into(), &input).map_err(Silence::Agent)?;
    let context = context(dir, &input)?;
    let mut client = connect(&context, typed, until)?;
    if client.is_daemon_older() {
        // For the next hook: this one takes what the older daemon knows.
        let _ = older.set(context.layout.clone()); // nobody else sets it
    }
    let within_ms = u64::try_from(until.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(0);
    let params =
        AdviseParams { within_ms: Some(within_ms), gives_receipt: true, ..params(typed, &input, &context) };
    let AdviseResult { text, receipt, .. } = client.call("advise", &params)?;
    if text.is_empty() {
        return Ok(None);
    }
    let text = form.reply(typed.event.into(), &input, &text);
    Ok(Some(HookAnswer { text, receipt, client, cwd: params.cwd }))
}

/// Why nothing is told.
#[derive(Debug, thiserror::Error)]
enum Silence {
    #[error("stdin: {0}")]
    Input(String),
    #[error("{0}")]
    Agent(&'static str),
    #[error("no index was made here; `memo init` makes one")]
    NoIndex,
    #[error(transparent)]
    Cli(#[from] CliError),
}

impl From<ClientError> for Silence {
    fn from(error: ClientError) -> Self {
        Self::Cli(error.into())
    }
}

/// Reads what the agent says, or takes the words of the command line.
fn read_input(typed: &HookArgs) -> Result<HookInput, Silence> {
    let input = if typed.text.is_empty() {
        hook_input::parse(&read_all(&mut io::stdin().lock())?).map_err(Silence::Input)?
    } else {
        HookInput::typed(typed.event.into(), &typed.text)
    };
    input.is_worth_asking(typed.event.into()).map_err(Silence::Agent)?;
    Ok(input)
}

fn read_all(from: &mut impl Read) -> Result<Vec<u8>, Silence> {
    let mut text = Vec::new();
    let failed = |error: io::Error| Silence::Input(error.to_string());
    from.take(MAX_INPUT as u64 + 1).read_to_end(&mut text).map_err(failed)?;
    if text.len() > MAX_INPUT {
        io::copy(from, &mut io::sink()).map_err(failed)?;
        return Err(Silence::Input(format!("over {} MiB", MAX_INPUT >> 20)));
    }
    Ok(text)
}

fn params(typed: &HookArgs, input: &HookInput, context: &CommandContext) -> AdviseParams {
    AdviseParams {
        cwd: context.cwd.clone(),
        occasion: typed.event.into(),
        session: input.session.clone(),
        beginning: input.beginning,
        prompt: input.prompt.clone(),
        paths: input.paths.clone(),
        budget: typed.budget,
        ..AdviseParams::default()
    }
}

/// Finds the worktree around `dir`, else around the directory that the agent names, else around the current one. Nothing is
/// created in it, and it fails where nobody made an index.
fn context(dir: Option<&Path>, input: &HookInput) -> Result<CommandContext, Silence> {
    let named = dir.or(input.cwd.as_deref().filter(|dir| dir.is_absolute()));
    let context = CommandContext::find(named)?;
    if context.layout.index_file().exists() { Ok(context) } else { Err(Silence::NoIndex) }
}

/// Connects to the daemon. If none runs, starts one; only the start of a session waits for it, because it has no other chance.
fn connect(context: &CommandContext, typed: &HookArgs, until: Instant) -> Result<Client, Silence> {
    let mut has_started = false;
    loop {
        let answer_within = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let options = Options { answer_within, ..Options::read().never_start() };
        match Client::connect(&context.layout, &context.env, options.clone()) {
            Err(ClientError::NotRunning { .. }) if !has_started => {
                start_in_background(&context.layout, &options)?;
                has_started = true;
            }
            Err(ClientError::NotRunning { .. }) if Instant::now() < until => {}
            done => return Ok(done?),
        }
        if Occasion::from(typed.event) != Occasion::SessionStart {
            return Err(ClientError::NotRunning { root: context.layout.root.clone() }.into());
        }
        pause(AGAIN);
    }
}

/// Replaces the daemon in the background, as any other verb does before it asks: `status` is one that does nothing else.
fn replace_daemon(layout: &RepoLayout) {
    if !may_replace_in_background(layout).unwrap_or(false) {
        return;
    }
    let root = layout.root.as_os_str();
    // If it fails, whoever asks next tries again.
    let _ = run_in_background(&["-C".as_ref(), root, "status".as_ref()]);
}
