//! Answers the hooks of coding agents.
//!
//! Reads the JSON of an agent on stdin and prints what that agent expects, or nothing.
//!
//! Invariant: a hook never makes an agent wait beyond the time limit and never makes an agent fail. The exit status is always 0,
//! and the output is always in the form that the agent expects. `--explain` shows what happened.

mod explain_hook;
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
    Client, ClientError, ClientOptions, claim_background_replacement, run_self_in_background,
    start_in_background,
};
use memod_proto::{AdviseParams, AdviseResult, Occasion};
use memod_terminal::{CliError, CliResult, CommandContext, GlobalArgs, Output};

use super::args::HookArgs;
use explain_hook::explain_hook;
use hook_input::HookInput;
use reply_form::ReplyForm;

/// Largest input that is parsed, bytes. A larger input is read to its end too, because an agent may fail when it cannot write.
const MAX_INPUT_BYTES: usize = 16 << 20;
/// Least time allowed for sending a receipt, which the daemon answers at once.
const LEAST_RECEIPT_TIME: Duration = Duration::from_millis(5);
/// Pause between two attempts to reach a daemon that is being started.
const CONNECT_PAUSE: Duration = Duration::from_millis(10);

/// Prints the answer to an agent's hook, or explains that answer to a person. Exits with 0 whatever happens, unless the answer is
/// explained.
pub(super) fn answer_agent_hook(typed: HookArgs, global: &GlobalArgs, output: &mut Output) -> CliResult {
    if typed.explain || global.json.is_some() {
        return explain_hook(&typed, global, output);
    }
    let deadline = Instant::now() + Duration::from_millis(typed.within_ms);
    let dir = global.dir.clone();
    let (reply, answer) = mpsc::sync_channel(1);
    let older_daemon = Arc::new(OnceLock::new());
    let thread_older_daemon = Arc::clone(&older_daemon);
    let spawned = thread::Builder::new().name("hook".to_owned()).spawn(move || {
        let _ = reply.send(fetch_hook_answer(&typed, dir.as_deref(), deadline, &thread_older_daemon)); // nobody may wait any more
    });
    if spawned.is_err() {
        return Ok(0);
    }
    let time_left = deadline.saturating_duration_since(Instant::now());
    if let Ok(Ok(Some(answer))) = answer.recv_timeout(time_left) {
        // An agent that does not read the answer has no use for an error either.
        if output.try_write_line(&answer.text) {
            answer.send_receipt(deadline);
        }
    }
    // Replace an older daemon last, because the agent waits for the answer. Replace it also where there is no answer, because an
    // older daemon may be slow.
    if let Some(layout) = older_daemon.get() {
        replace_daemon_in_background(layout);
    }
    Ok(0)
}

/// A text for the agent, and the connection and receipt to confirm to the daemon that the text was delivered.
struct HookAnswer {
    /// The text to print.
    text: String,
    receipt: Option<String>,
    client: Client,
    cwd: String,
}

impl HookAnswer {
    /// Confirms to the daemon that the text was delivered. Without a receipt the daemon gives the same advice again later: advice
    /// that comes twice is better than advice that is lost.
    fn send_receipt(self, deadline: Instant) {
        let Self { receipt: Some(receipt), mut client, cwd, .. } = self else { return };
        client.set_answer_limit(deadline.saturating_duration_since(Instant::now()).max(LEAST_RECEIPT_TIME));
        let params = AdviseParams { cwd, receipt: Some(receipt), ..AdviseParams::default() };
        let _: Result<AdviseResult, ClientError> = client.call("advise", &params);
    }
}

/// Asks the daemon for advice and returns the answer to print; `None` if there is no advice. Sets `older_daemon`, before asking,
/// if the daemon is older than this program and is to be replaced.
fn fetch_hook_answer(
    typed: &HookArgs,
    dir: Option<&Path>,
    deadline: Instant,
    older_daemon: &OnceLock<RepoLayout>,
) -> Result<Option<HookAnswer>, SilenceReason> {
    let input = read_input(typed)?;
    let form = ReplyForm::choose_for_agent(typed.agent.as_deref(), &input);
    form.check_agent_passes_answer_on(typed.event.into(), &input).map_err(SilenceReason::Agent)?;
    let context = find_context(dir, &input)?;
    let mut client = connect_before_deadline(&context, typed, deadline)?;
    if client.is_daemon_older() {
        // The new daemon serves the next hook; this hook is answered by the older daemon.
        let _ = older_daemon.set(context.layout.clone()); // no other thread sets it
    }
    let within_ms =
        u64::try_from(deadline.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(0);
    let params = AdviseParams {
        within_ms: Some(within_ms),
        gives_receipt: true,
        ..advise_params(typed, &input, &context)
    };
    let AdviseResult { text, receipt, .. } = client.call("advise", &params)?;
    if text.is_empty() {
        return Ok(None);
    }
    let text = form.format_reply(typed.event.into(), &input, &text);
    Ok(Some(HookAnswer { text, receipt, client, cwd: params.cwd }))
}

/// Why a hook prints nothing.
#[derive(Debug, thiserror::Error)]
enum SilenceReason {
    #[error("stdin: {0}")]
    Input(String),
    #[error("{0}")]
    Agent(&'static str),
    #[error("this worktree has no index; `memo init` makes one")]
    NoIndex,
    #[error(transparent)]
    Cli(#[from] CliError),
}

impl From<ClientError> for SilenceReason {
    fn from(error: ClientError) -> Self {
        Self::Cli(error.into())
    }
}

/// Returns the input of the hook: from the JSON on stdin, or from the words of the command line if there are any.
fn read_input(typed: &HookArgs) -> Result<HookInput, SilenceReason> {
    let input = if typed.text.is_empty() {
        hook_input::parse_hook_input(&read_limited_input(&mut io::stdin().lock())?)
            .map_err(SilenceReason::Input)?
    } else {
        HookInput::from_words(typed.event.into(), &typed.text)
    };
    input.check_worth_a_request(typed.event.into()).map_err(SilenceReason::Agent)?;
    Ok(input)
}

fn read_limited_input(reader: &mut impl Read) -> Result<Vec<u8>, SilenceReason> {
    let mut text = Vec::new();
    reader.take(MAX_INPUT_BYTES as u64 + 1).read_to_end(&mut text).map_err(|error| stdin_error(&error))?;
    if text.len() > MAX_INPUT_BYTES {
        io::copy(reader, &mut io::sink()).map_err(|error| stdin_error(&error))?;
        return Err(SilenceReason::Input(format!("over {} MiB", MAX_INPUT_BYTES >> 20)));
    }
    Ok(text)
}

fn stdin_error(error: &io::Error) -> SilenceReason {
    SilenceReason::Input(error.to_string())
}

fn advise_params(typed: &HookArgs, input: &HookInput, context: &CommandContext) -> AdviseParams {
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

/// Finds the worktree around `dir`, else around the directory that the agent names, else around the current directory. Creates
/// nothing, and fails if the worktree has no index.
fn find_context(dir: Option<&Path>, input: &HookInput) -> Result<CommandContext, SilenceReason> {
    let dir = dir.or(input.cwd.as_deref().filter(|dir| dir.is_absolute()));
    let context = CommandContext::find(dir)?;
    if context.layout.index_file().exists() { Ok(context) } else { Err(SilenceReason::NoIndex) }
}

/// Connects to the daemon. If none runs, starts one. Only the hook at the start of a session waits for the started daemon, because
/// no later hook gives the brief.
fn connect_before_deadline(
    context: &CommandContext,
    typed: &HookArgs,
    deadline: Instant,
) -> Result<Client, SilenceReason> {
    let mut has_started = false;
    loop {
        let answer_within = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let options = ClientOptions { answer_within, ..ClientOptions::read().without_start() };
        match Client::connect(&context.layout, &context.env, options.clone()) {
            Err(ClientError::NotRunning { .. }) if !has_started => {
                start_in_background(&context.layout, &options)?;
                has_started = true;
            }
            Err(ClientError::NotRunning { .. }) if Instant::now() < deadline => {}
            result => return Ok(result?),
        }
        if Occasion::from(typed.event) != Occasion::SessionStart {
            return Err(ClientError::NotRunning { root: context.layout.root.clone() }.into());
        }
        pause(CONNECT_PAUSE);
    }
}

/// Replaces the daemon in the background by running `memo status`, which, like any verb but `hook`, replaces an older daemon
/// first.
fn replace_daemon_in_background(layout: &RepoLayout) {
    if !claim_background_replacement(layout).unwrap_or(false) {
        return;
    }
    let root = layout.root.as_os_str();
    // If the replacement fails, the next command tries again.
    let _ = run_self_in_background(&["-C".as_ref(), root, "status".as_ref()]);
}
