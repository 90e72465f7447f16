//! The command line of `memo`: parses verbs, runs them and prints their results.
//!
//! `args` declares what can be typed, and `ask` turns it into requests. Each verb then asks the daemon and prints
//! through `output`, the only printer; `error` maps every failure to a code, a hint and an exit status.

mod agent_hook;
mod args;
mod ask;
mod bench;
mod brief;
mod budget;
mod changed;
mod complete;
mod config;
mod context;
mod docs;
mod doctor;
mod error;
mod escaping_writer;
mod events;
mod example_query;
mod exchange;
mod explain;
mod fetch;
mod file_link;
mod hits;
mod hooks;
mod init;
mod last_search;
mod llm;
mod logs;
mod map;
mod mcp;
mod memories;
mod model;
mod next_steps;
mod open;
mod outline;
mod output;
mod pager;
mod part_file;
mod process;
mod progress;
mod rows;
mod serve;
mod setup;
mod shell;
mod show_code;
mod status;
mod team;
mod text;
mod undo_hint;
mod uninstall;
mod usage;
mod usage_hint;
mod uses;
mod why;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{CommandLine, EventFormat, EventsArgs, Global, JsonForm, RowsArgs, Verb};
use context::CommandContext;
use error::{CliError, CliResult};
use output::{Kept, Output};
use rows::Shape;

/// Answers the command line of this process.
pub fn run() -> ExitCode {
    if complete::answered() {
        return ExitCode::SUCCESS;
    }
    let typed = spelled_out(std::env::args_os().collect());
    ExitCode::from(match args::parse(typed.clone()) {
        Ok(typed) => obey(typed),
        Err(error) => match args::without_verb(typed) {
            Some(global) => begin(&global),
            None => {
                let words = || std::env::args_os().take_while(|arg| arg != "--");
                let status = usage::usage(&error, words(), usage::wants_json(words()));
                // To agents, 2 from a hook means that what they are about to do is forbidden.
                if usage::is_agent_hook(words()) { status.min(error::EXIT_NONE) } else { status }
            }
        },
    })
}

/// Answers a command line without a verb.
fn begin(global: &Global) -> u8 {
    let mut output = Output::new(global, Shape::plain(global.json));
    // Outside a repository there is no example.
    let context = CommandContext::find(global.dir.as_deref()).ok();
    let shown = next_steps::next_steps(context.as_ref(), &mut output);
    let outcome = shown.and_then(|exit| output.flush().map(|()| exit));
    outcome.unwrap_or_else(|error| failed(&error, None, &mut output))
}

/// Returns `memo VERB --help` for `memo help VERB`: a subcommand of clap's would add a manual page for each verb.
fn spelled_out(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// Runs the command and returns the exit status.
fn obey(mut typed: CommandLine) -> u8 {
    if let Some(dir) = &typed.global.dir {
        typed.verb.start_files_at(dir);
    }
    if let Verb::Mcp(args) = &typed.verb {
        return mcp::serve(args, &typed.global, keep); // before stdout is locked
    }
    let (global, verb) = (typed.global.clone(), typed.name.clone());
    let shape = match shape(&typed) {
        Ok(shape) => shape,
        Err((error, json)) => {
            return failed(&error, Some(&verb), &mut Output::new(&global, Shape::plain(json)));
        }
    };
    let is_paged = typed.verb.is_paged() && !global.no_pager;
    let mut output = if is_paged { Output::paged(&global, shape) } else { Output::new(&global, shape) };
    let outcome = answer(typed, &mut output).and_then(|exit| output.flush().map(|()| exit));
    outcome.unwrap_or_else(|error| failed(&error, Some(&verb), &mut output))
}

/// Runs the command for a caller in this process: nothing is written.
fn keep(typed: CommandLine) -> (CliResult, Kept) {
    match shape(&typed) {
        Ok(shape) => Output::kept(shape, |output| answer(typed, output)),
        Err((error, _)) => (Err(error), Kept::default()),
    }
}

/// Returns the format of the answer, or an error and whether that is to be JSON.
fn shape(typed: &CommandLine) -> Result<Shape, (CliError, Option<JsonForm>)> {
    let json = typed.global.json;
    if let Verb::Events(EventsArgs { format: Some(EventFormat::Jsonl), .. }) = &typed.verb {
        return Ok(Shape::Json(JsonForm::Full));
    }
    match rows_args(&typed.verb).zip(rows::table_of(&typed.name)) {
        Some((rows, table)) => {
            let lines = rows.is_json().then_some(JsonForm::Lean);
            rows.shape(table, json).map_err(|error| (error, json.or(lines)))
        }
        None => Ok(Shape::plain(json)),
    }
}

/// Returns the flags for rows; `None` for a verb that lists nothing.
fn rows_args(verb: &Verb) -> Option<&RowsArgs> {
    Some(match verb {
        Verb::Search(typed) => &typed.find.rows,
        Verb::Explain(typed) => &typed.find.rows,
        Verb::Changed(typed) => &typed.rows,
        Verb::Why(typed) => &typed.rows,
        Verb::Outline(typed) => &typed.rows,
        Verb::Refs(typed) => &typed.list.rows,
        Verb::Callers(typed) | Verb::Callees(typed) | Verb::Implements(typed) => &typed.list.rows,
        Verb::Impact(typed) | Verb::Tests(typed) => &typed.list.rows,
        Verb::Get(typed) => &typed.rows,
        Verb::List(typed) => &typed.rows,
        Verb::Recall(typed) => &typed.rows,
        Verb::Recent(typed) => &typed.rows,
        Verb::Tags(typed) | Verb::Containers(typed) => typed,
        Verb::History(typed) => &typed.rows,
        Verb::Related(typed) => &typed.rows,
        Verb::Links(typed) => &typed.rows,
        _ => return None,
    })
}

/// Makes the absolute places of a verb ones of the worktree, whatever links they lead through.
fn without_links(
    verb: &mut Verb,
    context: impl Fn() -> Result<CommandContext, CliError>,
) -> Result<(), CliError> {
    let places = verb.places_mut();
    if places.iter().any(|place| place.trim_start_matches('!').starts_with('/')) {
        let dir = context()?.dir();
        for place in places {
            let n_marks = usize::from(place.starts_with('!'));
            let path = dir.without_links(place.split_off(n_marks));
            place.push_str(&path);
        }
    }
    Ok(())
}

fn find_context(global: &Global) -> Result<CommandContext, CliError> {
    // What a person set is more exact than what a client calls itself.
    let of_env = std::env::var("MEMO_AGENT").ok().filter(|name| !name.trim().is_empty());
    let agent = of_env.or_else(|| global.agent.clone());
    Ok(CommandContext::find(global.dir.as_deref())?.of_client(global.client, agent))
}

fn answer(typed: CommandLine, output: &mut Output) -> CliResult {
    let CommandLine { global, mut verb, .. } = typed;
    let context = || find_context(&global);
    without_links(&mut verb, context)?;
    match verb {
        Verb::Init(typed) => init::init(&typed, &CommandContext::find_new(global.dir.as_deref())?, output),
        Verb::Bench(typed) => bench::bench(typed, context, output),
        Verb::Search(typed) => hits::search(typed, &context()?, output),
        Verb::Explain(typed) => explain::explain(typed, &context()?, output),
        Verb::Outline(typed) => outline::outline(typed, &context()?, output),
        Verb::Refs(typed) => uses::refs(typed, &context()?, output),
        Verb::Callers(typed) => uses::reach("callers", typed, &context()?, output),
        Verb::Callees(typed) => uses::reach("callees", typed, &context()?, output),
        Verb::Impact(typed) => uses::impact("impact", typed, &context()?, output),
        Verb::Tests(typed) => uses::impact("tests", typed, &context()?, output),
        Verb::Implements(typed) => uses::reach("implements", typed, &context()?, output),
        Verb::Show(typed) => show_code::show(typed, &context()?, output),
        Verb::Open(typed) => open::open(typed, &context()?, output),
        Verb::Map(typed) => map::map(typed, &context()?, output),
        Verb::Brief(typed) => brief::brief(&typed, &context()?, output),
        Verb::Changed(typed) => changed::changed(typed, &context()?, output),
        Verb::Why(typed) => why::why(typed, &context()?, output),
        Verb::Add(typed) => memories::add(typed, &context()?, output),
        Verb::Get(typed) => memories::get(typed, &context()?, output),
        Verb::List(typed) => memories::list(typed, &context()?, output),
        Verb::Update(typed) => memories::update(typed, &context()?, output),
        Verb::Confirm(typed) => memories::confirm(typed, &context()?, output),
        Verb::Append(typed) => memories::append(typed, &context()?, output),
        Verb::Forget(typed) => memories::forget(typed, &context()?, output),
        Verb::Restore(typed) => memories::restore(typed, &context()?, output),
        Verb::Purge(typed) => memories::purge(typed, &context()?, output),
        Verb::Reset(typed) => memories::reset(&typed, &context()?, output),
        Verb::Share(typed) => memories::share(typed, &context()?, output),
        Verb::Unshare(typed) => memories::unshare(typed, &context()?, output),
        Verb::SyncNotes(typed) => memories::sync_notes(typed, &context()?, output),
        Verb::Team(typed) => team::team(typed, &context()?, output),
        Verb::Tag(typed) => memories::tag(typed, &context()?, output),
        Verb::Untag(typed) => memories::untag(typed, &context()?, output),
        Verb::Tags(_) => memories::tags(&context()?, output),
        Verb::Containers(_) => memories::containers(&context()?, output),
        Verb::Recall(typed) => memories::recall(typed, &context()?, output),
        Verb::Recent(typed) => memories::recent(&typed, &context()?, output),
        Verb::Promote(typed) => memories::promote(typed, &context()?, output),
        Verb::Consolidate(typed) => memories::consolidate(typed, &context()?, output),
        Verb::Link(typed) => memories::link(typed, &context()?, output),
        Verb::Unlink(typed) => memories::unlink(typed, &context()?, output),
        Verb::Links(typed) => memories::links(typed, &context()?, output),
        Verb::Resolve(typed) => memories::resolve(typed, &context()?, output),
        Verb::Related(typed) => memories::related(typed, &context()?, output),
        Verb::Dedupe(typed) => memories::dedupe(typed, &context()?, output),
        Verb::History(typed) => memories::history(typed, &context()?, output),
        Verb::Export(typed) => exchange::export(typed, &context()?, output),
        Verb::Backup(typed) => exchange::back_up(&typed, &context()?, output),
        Verb::RestoreBackup(typed) => exchange::restore(&typed, &context()?, output),
        Verb::Distil(typed) => exchange::distil(&typed, &context()?, output),
        Verb::Import(typed) => exchange::import(&typed, &context()?, output),
        Verb::Stats => memories::stats(&context()?, output),
        Verb::Status(typed) => status::status(&typed, &context()?, output),
        Verb::Sync(typed) => init::sync(&typed, &context()?, output),
        Verb::Events(typed) => events::events(&typed, &context()?, output),
        Verb::Stop => process::stop(&context()?, output),
        Verb::Restart => process::restart(&context()?, output),
        Verb::Serve(typed) => serve::serve(&typed, &context()?, output),
        Verb::Logs(typed) => logs::logs(&typed, &context()?, output),
        Verb::Doctor(typed) => doctor::doctor(&typed, global.dir.as_deref(), output),
        Verb::Reindex => init::reindex(&context()?, output),
        Verb::Hook(typed) => agent_hook::hook(typed, &global, output),
        Verb::Setup(typed) => setup::setup(&typed, context, output),
        Verb::Uninstall(typed) => uninstall::uninstall(&typed, global.dir.as_deref(), output),
        Verb::Hooks(typed) => hooks::hooks(typed, &context()?, output),
        Verb::Model(typed) => model::model(typed, &context()?, output),
        Verb::Llm => llm::status(&context()?, output),
        Verb::Config(typed) => config::config(typed, context(), output),
        Verb::Mcp(_) => Err(mcp::nested()),
        Verb::Shell => shell::shell(&global, &context()?, obey),
        Verb::Completions(typed) => complete::script(typed.shell, output),
        Verb::Man(typed) => docs::man(&typed, output),
        Verb::Version => process::version(context().ok().as_ref(), output),
    }
}

fn failed(error: &CliError, verb: Option<&str>, output: &mut Output) -> u8 {
    if error.is_broken_pipe() {
        return 0; // the reader has seen enough, as `head` has
    }
    let shown = error.shown_of(verb);
    // Flush what was printed before the error. If stdout fails as well, the error is reported already.
    let _ = output.flush();
    let _ = output.error(&shown);
    shown.exit
}
