//! Answers the hooks of coding agents.
//!
//! Reads the JSON of an agent on stdin and prints what that agent expects, or nothing.
//!
//! Invariant: an agent is never held up and never fails because of us. Whatever happens, the exit status is 0 and nothing is
//! printed that the agent does not expect, within the time limit. `--explain` says what happened.

mod call;
mod explained;
mod forms;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::client::{Client, ClientError, Options, pause, start_in_background};
use crate::paths::{Env, RepoLayout, canonical};
use crate::proto::{AdviseParams, AdviseResult, Occasion};

use super::args::{Global, HookArgs};
use super::error::{CliError, CliResult};
use super::output::Output;
use call::Call;
use forms::Form;

/// Largest input that is parsed, bytes. The rest is read too, because an agent may fail when it cannot write.
const MAX_INPUT: usize = 16 << 20;
/// Pause between two attempts to reach a daemon that is being started.
const AGAIN: Duration = Duration::from_millis(10);

/// Answers an agent, or explains to a person what would be answered.
pub(super) fn hook(typed: HookArgs, global: &Global, output: &mut Output) -> CliResult {
    if typed.explain || global.json {
        return explained::explain(&typed, global, output);
    }
    let until = Instant::now() + Duration::from_millis(typed.within_ms);
    let dir = global.dir.clone();
    let (reply, answer) = mpsc::sync_channel(1);
    let work = move || {
        let _ = reply.send(answer_for(&typed, dir.as_deref(), until)); // nobody waits any more
    };
    if thread::Builder::new().name("hook".to_owned()).spawn(work).is_err() {
        return Ok(0);
    }
    let left = until.saturating_duration_since(Instant::now());
    if let Ok(Ok(Some(text))) = answer.recv_timeout(left) {
        // An agent that does not read the answer has no use for an error either.
        output.line_if_possible(&text);
    }
    Ok(0)
}

/// Returns what to print; `None` to be silent.
fn answer_for(typed: &HookArgs, dir: Option<&Path>, until: Instant) -> Result<Option<String>, Silence> {
    let call = read_call(typed)?;
    let form = Form::of(typed.agent.as_deref(), &call);
    form.carries(typed.event.into(), &call).map_err(Silence::Agent)?;
    let place = Place::find(dir, &call)?;
    let mut client = place.connect(typed, until)?;
    let within_ms = u64::try_from(until.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(0);
    let params = AdviseParams { within_ms: Some(within_ms), ..params(typed, &call, &place) };
    let result: AdviseResult = client.call("advise", &params)?;
    let text = Some(result.text).filter(|text| !text.is_empty());
    Ok(text.map(|text| form.reply(typed.event.into(), &call, &text)))
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
fn read_call(typed: &HookArgs) -> Result<Call, Silence> {
    let call = if typed.text.is_empty() {
        call::parse(&read_all(&mut io::stdin().lock())?).map_err(Silence::Input)?
    } else {
        Call::typed(typed.event.into(), &typed.text)
    };
    call.is_worth_asking(typed.event.into()).map_err(Silence::Agent)?;
    Ok(call)
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

fn params(typed: &HookArgs, call: &Call, place: &Place) -> AdviseParams {
    AdviseParams {
        cwd: place.cwd.display().to_string(),
        occasion: typed.event.into(),
        session: call.session.clone(),
        beginning: call.beginning,
        prompt: call.prompt.clone(),
        paths: call.paths.clone(),
        budget: typed.budget,
        ..AdviseParams::default()
    }
}

/// The worktree of a session. Nothing is created in it.
struct Place {
    env: Env,
    layout: RepoLayout,
    cwd: PathBuf,
}

impl Place {
    /// Finds the worktree around `dir`, else around the directory that the agent names, else around the current one. Fails
    /// where nobody made an index.
    fn find(dir: Option<&Path>, call: &Call) -> Result<Self, Silence> {
        let named = dir.map(Path::to_owned).or_else(|| call.cwd.clone().filter(|dir| dir.is_absolute()));
        let start = named.unwrap_or_else(|| PathBuf::from("."));
        let env = Env::read();
        let layout = RepoLayout::locate(&start, &env).map_err(CliError::from)?;
        let cwd = canonical(&start).map_err(CliError::from)?;
        let place = Self { env, layout, cwd };
        if place.layout.index_file().exists() { Ok(place) } else { Err(Silence::NoIndex) }
    }

    /// Connects to the daemon. If none runs, starts one; only the start of a session waits for it, because it has no other
    /// chance.
    fn connect(&self, typed: &HookArgs, until: Instant) -> Result<Client, Silence> {
        let mut has_started = false;
        loop {
            let answer_within = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let options = Options { answer_within, ..Options::read().never_start() };
            match Client::connect(&self.layout, &self.env, options.clone()) {
                Err(ClientError::NotRunning { .. }) if !has_started => {
                    start_in_background(&self.layout, &options)?;
                    has_started = true;
                }
                Err(ClientError::NotRunning { .. }) if Instant::now() < until => {}
                done => return Ok(done?),
            }
            if Occasion::from(typed.event) != Occasion::SessionStart {
                return Err(ClientError::NotRunning { root: self.layout.root.clone() }.into());
            }
            pause(AGAIN);
        }
    }
}
