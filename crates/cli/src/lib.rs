//! The command line of `memo`: parses verbs, runs them and prints their results.
//!
//! `args` declares verbs and flags, and `build_params` turns them into requests. Each verb then asks the daemon and prints
//! through `output`, the only printer; `error` maps every failure to a code, a hint and an exit status.

mod agent_hook;
mod args;
mod bench;
mod build_params;
mod completions;
mod config_verb;
mod context;
mod daemon_process;
mod doctor;
mod error;
mod escaping_writer;
mod example_query;
mod exchange;
mod explain_hits;
mod fetch_model;
mod file_link;
mod fit_to_budget;
mod hits;
mod hooks;
mod init;
mod last_search;
mod llm;
mod logs;
mod man_pages;
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
mod print_brief;
mod print_changed;
mod print_events;
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

use args::{CommandLine, EventFormat, EventsArgs, GlobalArgs, JsonForm, MemoVerb, RowsArgs};
use context::CommandContext;
use error::{CliError, CliResult};
use output::{CapturedOutput, Output};
use rows::OutputShape;

/// Answers the command line of this process.
pub fn run() -> ExitCode {
    if completions::answer_completion() {
        return ExitCode::SUCCESS;
    }
    let typed = expand_help_verb(std::env::args_os().collect());
    ExitCode::from(match args::parse_command_line(typed.clone()) {
        Ok(typed) => run_command(typed),
        Err(error) => match args::flags_without_verb(typed) {
            Some(global) => answer_without_verb(&global),
            None => {
                let json = usage::wants_json(args_before_dashes());
                let status = usage::report_usage_error(&error, args_before_dashes(), json);
                // To agents, an exit of 2 from a hook forbids the next action.
                if usage::is_agent_hook(args_before_dashes()) { status.min(error::EXIT_NONE) } else { status }
            }
        },
    })
}

/// Returns the arguments of this process up to `--`.
fn args_before_dashes() -> impl Iterator<Item = OsString> {
    std::env::args_os().take_while(|arg| arg != "--")
}

/// Prints the next steps for a command line without a verb.
fn answer_without_verb(global: &GlobalArgs) -> u8 {
    let mut output = Output::new(global, OutputShape::without_rows(global.json));
    // Outside a repository there is no example.
    let context = CommandContext::find(global.dir.as_deref()).ok();
    let shown = next_steps::print_next_steps(context.as_ref(), &mut output);
    let outcome = shown.and_then(|exit| output.flush().map(|()| exit));
    outcome.unwrap_or_else(|error| report_error(&error, None, &mut output))
}

/// Returns `memo VERB --help` for `memo help VERB`: a subcommand of clap's would add a manual page for each verb.
fn expand_help_verb(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// Runs the command and returns the exit status.
fn run_command(mut typed: CommandLine) -> u8 {
    if let Some(dir) = &typed.global.dir {
        typed.verb.resolve_files(dir);
    }
    if let MemoVerb::Mcp(args) = &typed.verb {
        return mcp::serve_agent(args, &typed.global, capture_command); // before stdout is locked
    }
    let (global, verb) = (typed.global.clone(), typed.name.clone());
    let shape = match find_output_shape(&typed) {
        Ok(shape) => shape,
        Err((error, json)) => {
            return report_error(
                &error,
                Some(&verb),
                &mut Output::new(&global, OutputShape::without_rows(json)),
            );
        }
    };
    let is_paged = typed.verb.is_paged() && !global.no_pager;
    let mut output = if is_paged { Output::with_pager(&global, shape) } else { Output::new(&global, shape) };
    let outcome = run_verb(typed, &mut output).and_then(|exit| output.flush().map(|()| exit));
    outcome.unwrap_or_else(|error| report_error(&error, Some(&verb), &mut output))
}

/// Runs the command for a caller in this process, and returns its output instead of writing it.
fn capture_command(typed: CommandLine) -> (CliResult, CapturedOutput) {
    match find_output_shape(&typed) {
        Ok(shape) => Output::capture(shape, |output| run_verb(typed, output)),
        Err((error, _)) => (Err(error), CapturedOutput::default()),
    }
}

/// Returns the format of the answer, or an error and the form of JSON in which to report it.
fn find_output_shape(typed: &CommandLine) -> Result<OutputShape, (CliError, Option<JsonForm>)> {
    let json = typed.global.json;
    if let MemoVerb::Events(EventsArgs { format: Some(EventFormat::Jsonl), .. }) = &typed.verb {
        return Ok(OutputShape::Json(JsonForm::Full));
    }
    match rows_args(&typed.verb).zip(rows::table_of_verb(&typed.name)) {
        Some((rows, table)) => {
            let lines = rows.is_json().then_some(JsonForm::Lean);
            rows.output_shape(table, json).map_err(|error| (error, json.or(lines)))
        }
        None => Ok(OutputShape::without_rows(json)),
    }
}

/// Returns the flags for rows; `None` for a verb that lists nothing.
fn rows_args(verb: &MemoVerb) -> Option<&RowsArgs> {
    Some(match verb {
        MemoVerb::Search(typed) => &typed.find.rows,
        MemoVerb::Explain(typed) => &typed.find.rows,
        MemoVerb::Changed(typed) => &typed.rows,
        MemoVerb::Why(typed) => &typed.rows,
        MemoVerb::Outline(typed) => &typed.rows,
        MemoVerb::Refs(typed) => &typed.list.rows,
        MemoVerb::Callers(typed) | MemoVerb::Callees(typed) | MemoVerb::Implements(typed) => &typed.list.rows,
        MemoVerb::Impact(typed) | MemoVerb::Tests(typed) => &typed.list.rows,
        MemoVerb::Get(typed) => &typed.rows,
        MemoVerb::List(typed) => &typed.rows,
        MemoVerb::Recall(typed) => &typed.rows,
        MemoVerb::Recent(typed) => &typed.rows,
        MemoVerb::Tags(typed) | MemoVerb::Containers(typed) => typed,
        MemoVerb::History(typed) => &typed.rows,
        MemoVerb::Related(typed) => &typed.rows,
        MemoVerb::Links(typed) => &typed.rows,
        _ => return None,
    })
}

/// Resolves the links in the absolute paths of a verb, so that they are paths of the worktree.
fn resolve_absolute_paths(
    verb: &mut MemoVerb,
    context: impl Fn() -> Result<CommandContext, CliError>,
) -> Result<(), CliError> {
    let paths = verb.worktree_paths_mut();
    if paths.iter().any(|path| path.trim_start_matches('!').starts_with('/')) {
        let dir = context()?.dir();
        for path in paths {
            let n_marks = usize::from(path.starts_with('!'));
            let resolved = dir.without_links(path.split_off(n_marks));
            path.push_str(&resolved);
        }
    }
    Ok(())
}

fn find_context(global: &GlobalArgs) -> Result<CommandContext, CliError> {
    // The name that a person set is more exact than the name of the client.
    let agent_of_env = std::env::var("MEMO_AGENT").ok().filter(|name| !name.trim().is_empty());
    let agent = agent_of_env.or_else(|| global.agent.clone());
    Ok(CommandContext::find(global.dir.as_deref())?.for_client(global.client, agent))
}

fn run_verb(typed: CommandLine, output: &mut Output) -> CliResult {
    let CommandLine { global, mut verb, .. } = typed;
    let context = || find_context(&global);
    resolve_absolute_paths(&mut verb, context)?;
    match verb {
        MemoVerb::Init(typed) => {
            init::init_repository(&typed, &CommandContext::find_new(global.dir.as_deref())?, output)
        }
        MemoVerb::Bench(typed) => bench::run_bench(typed, context, output),
        MemoVerb::Search(typed) => hits::run_search(typed, &context()?, output),
        MemoVerb::Explain(typed) => explain_hits::explain_hits(typed, &context()?, output),
        MemoVerb::Outline(typed) => outline::print_outline(typed, &context()?, output),
        MemoVerb::Refs(typed) => uses::print_uses(typed, &context()?, output),
        MemoVerb::Callers(typed) => uses::print_related_definitions("callers", typed, &context()?, output),
        MemoVerb::Callees(typed) => uses::print_related_definitions("callees", typed, &context()?, output),
        MemoVerb::Impact(typed) => uses::print_impact("impact", typed, &context()?, output),
        MemoVerb::Tests(typed) => uses::print_impact("tests", typed, &context()?, output),
        MemoVerb::Implements(typed) => {
            uses::print_related_definitions("implements", typed, &context()?, output)
        }
        MemoVerb::Show(typed) => show_code::show_code(typed, &context()?, output),
        MemoVerb::Open(typed) => open::open_in_editor(typed, &context()?, output),
        MemoVerb::Map(typed) => map::print_map(typed, &context()?, output),
        MemoVerb::Brief(typed) => print_brief::print_brief(&typed, &context()?, output),
        MemoVerb::Changed(typed) => print_changed::print_changed(typed, &context()?, output),
        MemoVerb::Why(typed) => why::print_why(typed, &context()?, output),
        MemoVerb::Add(typed) => memories::add_memory(typed, &context()?, output),
        MemoVerb::Get(typed) => memories::get_memories(typed, &context()?, output),
        MemoVerb::List(typed) => memories::list_memories(typed, &context()?, output),
        MemoVerb::Update(typed) => memories::update_memory(typed, &context()?, output),
        MemoVerb::Confirm(typed) => memories::confirm_memory(typed, &context()?, output),
        MemoVerb::Append(typed) => memories::append_to_memory(typed, &context()?, output),
        MemoVerb::Forget(typed) => memories::forget_memories(typed, &context()?, output),
        MemoVerb::Restore(typed) => memories::restore_memories(typed, &context()?, output),
        MemoVerb::Purge(typed) => memories::purge_memories(typed, &context()?, output),
        MemoVerb::Reset(typed) => memories::reset_memories(&typed, &context()?, output),
        MemoVerb::Share(typed) => memories::share_memories(typed, &context()?, output),
        MemoVerb::Unshare(typed) => memories::unshare_memories(typed, &context()?, output),
        MemoVerb::SyncNotes(typed) => memories::sync_notes(typed, &context()?, output),
        MemoVerb::Team(typed) => team::run_team_verb(typed, &context()?, output),
        MemoVerb::Tag(typed) => memories::tag_memory(typed, &context()?, output),
        MemoVerb::Untag(typed) => memories::untag_memory(typed, &context()?, output),
        MemoVerb::Tags(_) => memories::list_tags(&context()?, output),
        MemoVerb::Containers(_) => memories::list_containers(&context()?, output),
        MemoVerb::Recall(typed) => memories::recall_memories(typed, &context()?, output),
        MemoVerb::Recent(typed) => memories::list_recent_memories(&typed, &context()?, output),
        MemoVerb::Promote(typed) => memories::promote_memory(typed, &context()?, output),
        MemoVerb::Consolidate(typed) => memories::consolidate_memories(typed, &context()?, output),
        MemoVerb::Link(typed) => memories::link_memories(typed, &context()?, output),
        MemoVerb::Unlink(typed) => memories::unlink_memories(typed, &context()?, output),
        MemoVerb::Links(typed) => memories::list_links(typed, &context()?, output),
        MemoVerb::Resolve(typed) => memories::resolve_memories(typed, &context()?, output),
        MemoVerb::Related(typed) => memories::list_related_memories(typed, &context()?, output),
        MemoVerb::Dedupe(typed) => memories::dedupe_memories(typed, &context()?, output),
        MemoVerb::History(typed) => memories::show_history(typed, &context()?, output),
        MemoVerb::Export(typed) => exchange::export_memories(typed, &context()?, output),
        MemoVerb::Backup(typed) => exchange::back_up(&typed, &context()?, output),
        MemoVerb::RestoreBackup(typed) => exchange::restore_backup(&typed, &context()?, output),
        MemoVerb::Distil(typed) => exchange::distil_transcript(&typed, &context()?, output),
        MemoVerb::Import(typed) => exchange::import_memories(&typed, &context()?, output),
        MemoVerb::Stats => memories::show_stats(&context()?, output),
        MemoVerb::Status(typed) => status::show_status(&typed, &context()?, output),
        MemoVerb::Sync(typed) => init::sync_index(&typed, &context()?, output),
        MemoVerb::Events(typed) => print_events::print_events(&typed, &context()?, output),
        MemoVerb::Stop => daemon_process::stop_daemon(&context()?, output),
        MemoVerb::Restart => daemon_process::restart_daemon(&context()?, output),
        MemoVerb::Serve(typed) => serve::control_http_api(&typed, &context()?, output),
        MemoVerb::Logs(typed) => logs::print_logs(&typed, &context()?, output),
        MemoVerb::Doctor(typed) => doctor::run_doctor(&typed, global.dir.as_deref(), output),
        MemoVerb::Reindex => init::rebuild_index(&context()?, output),
        MemoVerb::Hook(typed) => agent_hook::answer_agent_hook(typed, &global, output),
        MemoVerb::Setup(typed) => setup::set_up_agents(&typed, context, output),
        MemoVerb::Uninstall(typed) => uninstall::uninstall_memod(&typed, global.dir.as_deref(), output),
        MemoVerb::Hooks(typed) => hooks::manage_hooks(typed, &context()?, output),
        MemoVerb::Model(typed) => model::manage_models(typed, &context()?, output),
        MemoVerb::Llm => llm::show_llm_status(&context()?, output),
        MemoVerb::Config(typed) => config_verb::run_config(typed, context(), output),
        MemoVerb::Mcp(_) => Err(mcp::nested_server_error()),
        MemoVerb::Shell => shell::run_shell(&global, &context()?, run_command),
        MemoVerb::Completions(typed) => completions::print_completion_script(typed.shell, output),
        MemoVerb::Man(typed) => man_pages::show_manual(&typed, output),
        MemoVerb::Version => daemon_process::print_versions(context().ok().as_ref(), output),
    }
}

fn report_error(error: &CliError, verb: Option<&str>, output: &mut Output) -> u8 {
    if error.is_broken_pipe() {
        return 0; // the reader has seen enough, as `head` has
    }
    let shown = error.to_report_for(verb);
    // Flush what was printed before the error. If stdout fails as well, the error is reported already.
    let _ = output.flush();
    let _ = output.show_error(&shown);
    shown.exit
}
