//! The command line of `memo`: parses verbs, runs them and prints their results.
//!
//! `args` declares verbs and flags, and turns them into requests. Each verb then asks the daemon and prints
//! through the crate `terminal`, which also maps every failure to a code, a hint and an exit status.

mod agent_hook;
mod args;
mod code;
mod daemon;
mod exchange;
mod help;
mod llm;
mod mcp;
mod memories;
mod place_worktree;
mod searching;
mod set_up;
mod shell;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memod_terminal::rows::OutputShape;
use memod_terminal::{
    CapturedOutput, CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, GlobalArgs, JsonForm, Output,
};

use args::{
    BackupVerb, CommandLine, DaemonControlVerb, EventFormat, EventsArgs, ForgetVerb, GitHooksVerb, HooksVerb,
    LinkVerb, MemoVerb, ShareVerb, TagVerb,
};
use code::{map, open, outline, print_brief, print_changed, show_code, uses, why};
use daemon::{daemon_process, doctor, logs, print_events, serve, status};
use help::{completions, man_pages, next_steps, usage, words_without_verb};
use memories::team;
use searching::{explain_hits, hits};
use set_up::{config_verb, demo, hooks, init, model, setup, uninstall};

/// Runs the command line of this process, or answers a request for completions. Returns the exit status.
pub fn run() -> ExitCode {
    if completions::answer_completion() {
        return ExitCode::SUCCESS;
    }
    ExitCode::from(run_words(std::env::args_os().collect()))
}

/// Parses and runs a command line, whose first word is the program name. Returns the exit status.
fn run_words(words: Vec<OsString>) -> u8 {
    let words = args::replace_verb_word(words);
    let error = match args::parse_command_line(words.clone()) {
        Ok(typed) => return run_command(typed),
        Err(error) => error,
    };
    if let Some(with_verb) = words_without_verb::add_missing_verb(&error, words.clone()) {
        return run_words(with_verb);
    }
    if let Some(global) = args::parse_flags_without_verb(words.clone()) {
        return answer_without_verb(&global);
    }
    let before_dashes: Vec<OsString> = words.into_iter().take_while(|word| word != "--").collect();
    let json = usage::requested_json_form(before_dashes.iter().cloned());
    let is_agent_hook = usage::is_agent_hook(before_dashes.iter().cloned());
    let status = usage::report_usage_error(&error, before_dashes.into_iter(), json);
    // To agents, an exit of 2 from a hook forbids the next action.
    if is_agent_hook { status.min(EXIT_NOTHING_FOUND) } else { status }
}

/// Prints the next steps for a command line without a verb. Returns the exit status.
fn answer_without_verb(global: &GlobalArgs) -> u8 {
    let mut output = Output::new(global, OutputShape::for_single_result(global.json));
    // Outside a repository, the next steps have no example.
    let context = CommandContext::find(global.dir.as_deref()).ok();
    let shown = next_steps::print_next_steps(context.as_ref(), &mut output);
    let outcome = shown.and_then(|exit| output.flush().map(|()| exit));
    outcome.unwrap_or_else(|error| output.report_error(&error, None))
}

/// Runs the command and returns the exit status.
fn run_command(mut typed: CommandLine) -> u8 {
    if let Some(dir) = &typed.global.dir {
        typed.verb.resolve_files(dir);
    }
    if let MemoVerb::Mcp(args) = &typed.verb {
        return mcp::serve_agent(args, &typed.global, capture_command); // before stdout is locked
    }
    let (global, verb) = (typed.global.clone(), typed.verb_name.clone());
    let shape = match find_output_shape(&typed) {
        Ok(shape) => shape,
        Err((error, json)) => {
            return Output::new(&global, OutputShape::for_single_result(json))
                .report_error(&error, Some(&verb));
        }
    };
    let is_paged = typed.verb.is_paged() && !global.no_pager;
    let mut output = if is_paged { Output::with_pager(&global, shape) } else { Output::new(&global, shape) };
    let outcome = run_verb(typed, &mut output).and_then(|exit| output.flush().map(|()| exit));
    outcome.unwrap_or_else(|error| output.report_error(&error, Some(&verb)))
}

/// Runs the command for a caller in this process, and returns its output instead of writing it.
fn capture_command(typed: CommandLine) -> (CliResult, CapturedOutput) {
    match find_output_shape(&typed) {
        Ok(shape) => Output::capture(shape, |output| run_verb(typed, output)),
        Err((error, _)) => (Err(error), CapturedOutput::default()),
    }
}

/// Returns the format of the answer; if the flags are wrong, an error and the form of JSON in which to report the error.
fn find_output_shape(typed: &CommandLine) -> Result<OutputShape, (CliError, Option<JsonForm>)> {
    let json = typed.global.json;
    if let MemoVerb::Daemon(DaemonControlVerb::Events(EventsArgs {
        format: Some(EventFormat::Jsonl), ..
    })) = &typed.verb
    {
        return Ok(OutputShape::Json(JsonForm::Full));
    }
    match typed.verb.rows_args().zip(args::find_row_schema(&typed.verb_name)) {
        Some((rows, table)) => {
            let lines = rows.is_json().then_some(JsonForm::Lean);
            rows.output_shape(table, json).map_err(|error| (error, json.or(lines)))
        }
        None => Ok(OutputShape::for_single_result(json)),
    }
}

/// Resolves symbolic links in the absolute paths among a verb's arguments, so that they are paths in the worktree, and removes from
/// its places what was copied with them.
fn resolve_places(
    verb: &mut MemoVerb,
    context: impl Fn() -> Result<CommandContext, CliError>,
) -> Result<(), CliError> {
    let are_globs = matches!(verb, MemoVerb::Search(_) | MemoVerb::Explain(_));
    let places = verb.worktree_paths_mut();
    let is_absolute = |path: &str| path.starts_with('/') || path.starts_with("file:");
    let is_copied = |path: &str| {
        path.starts_with(['"', '\'', '`', '@']) || path.ends_with(':') || path.contains(['/', ' '])
    };
    if !places.iter().any(|path| is_absolute(path.trim_start_matches('!')) || is_copied(path)) {
        return Ok(());
    }
    let context = context()?;
    let dir = context.caller_dir();
    for place in places {
        if !are_globs
            && let Some(cleaned) =
                args::find_copied_place(place, Path::new(&context.cwd), &context.layout.root)
        {
            *place = cleaned;
        }
        let n_marks = place.len() - place.trim_start_matches('!').len();
        let resolved = dir.rewrite_linked_root(place.split_off(n_marks));
        place.push_str(&resolved);
    }
    Ok(())
}

/// Returns the root of another worktree of the repository if the places of a verb lie there.
fn follow_places(
    verb: &mut MemoVerb,
    verb_name: &str,
    global: &GlobalArgs,
) -> Result<Option<PathBuf>, CliError> {
    if verb.worktree_paths_mut().is_empty() {
        return Ok(None);
    }
    // Without a worktree, the verb itself says so.
    let Ok(context) = find_context(global) else { return Ok(None) };
    place_worktree::find_other_worktree(verb, verb_name, &context)
}

fn find_context(global: &GlobalArgs) -> Result<CommandContext, CliError> {
    // A name that a person set in MEMO_AGENT takes precedence, because it is more exact than the name of the MCP client.
    let agent_of_env = std::env::var("MEMO_AGENT").ok().filter(|name| !name.trim().is_empty());
    let agent = agent_of_env.or_else(|| global.agent.clone());
    Ok(CommandContext::find(global.dir.as_deref())?.for_client(global.client, agent))
}

fn run_verb(typed: CommandLine, output: &mut Output) -> CliResult {
    let CommandLine { mut global, mut verb, verb_name, .. } = typed;
    resolve_places(&mut verb, || find_context(&global))?;
    if let Some(root) = follow_places(&mut verb, &verb_name, &global)? {
        output.write_note(&format!("answered from another worktree of this repository: {}", root.display()));
        global.dir = Some(root);
    }
    let context = || find_context(&global);
    match verb {
        MemoVerb::Init(typed) => {
            init::init_repository(&typed, &CommandContext::find_or_register(global.dir.as_deref())?, output)
        }
        MemoVerb::Search(typed) => hits::run_search(typed, &context()?, output),
        MemoVerb::Explain(typed) => explain_hits::explain_hits(typed, &context()?, output),
        MemoVerb::Outline(typed) => outline::print_outline(typed, &context()?, output),
        MemoVerb::Refs(typed) => uses::print_uses(typed, &context()?, output),
        MemoVerb::Callers(typed) => uses::print_related_definitions("callers", typed, &context()?, output),
        MemoVerb::Callees(typed) => uses::print_related_definitions("callees", typed, &context()?, output),
        MemoVerb::Impact(typed) => uses::print_impact(typed, &context()?, output),
        MemoVerb::Tests(typed) => uses::print_tests(typed, &context()?, output),
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
        MemoVerb::Forget(typed) => run_forget_verb(typed.verb, &context()?, output),
        MemoVerb::Share(typed) => run_share_verb(typed.verb, &context()?, output),
        MemoVerb::Tag(typed) => run_tag_verb(typed.verb, &context()?, output),
        MemoVerb::Link(typed) => run_link_verb(typed.verb, &context()?, output),
        MemoVerb::Restore(typed) => memories::restore_memories(typed, &context()?, output),
        MemoVerb::Recall(typed) => memories::recall_memories(typed, &context()?, output),
        MemoVerb::Promote(typed) => memories::promote_memory(typed, &context()?, output),
        MemoVerb::Consolidate(typed) => memories::consolidate_memories(typed, &context()?, output),
        MemoVerb::Resolve(typed) => memories::resolve_memories(typed, &context()?, output),
        MemoVerb::Related(typed) => memories::list_related_memories(typed, &context()?, output),
        MemoVerb::Dedupe(typed) => memories::dedupe_memories(typed, &context()?, output),
        MemoVerb::History(typed) => memories::show_history(typed, &context()?, output),
        MemoVerb::Export(typed) => exchange::export_memories(typed, &context()?, output),
        MemoVerb::Backup(typed) => match typed.verb {
            BackupVerb::Create(typed) => exchange::back_up(&typed, &context()?, output),
            BackupVerb::Restore(typed) => exchange::restore_backup(&typed, &context()?, output),
        },
        MemoVerb::Distil(typed) => exchange::distil_transcript(&typed, &context()?, output),
        MemoVerb::Import(typed) => exchange::import_memories(&typed, &context()?, output),
        MemoVerb::Stats => memories::show_stats(&context()?, output),
        MemoVerb::Status(typed) => status::show_status(&typed, &context()?, output),
        MemoVerb::Sync(typed) => init::sync_index(&typed, &context()?, output),
        MemoVerb::Daemon(verb) => run_daemon_verb(verb, &context()?, output),
        MemoVerb::Serve(typed) => serve::control_http_api(&typed, &context()?, output),
        MemoVerb::Doctor(typed) => doctor::run_doctor(&typed, global.dir.as_deref(), output),
        MemoVerb::Reindex => init::rebuild_index(&context()?, output),
        MemoVerb::Demo(typed) => demo::run_demo(&typed, &global, run_verb, output),
        MemoVerb::Setup(typed) => setup::set_up_agents(&typed, context, output),
        MemoVerb::Uninstall(typed) => uninstall::uninstall_memod(&typed, global.dir.as_deref(), output),
        MemoVerb::Hooks(typed) => match typed.what.unwrap_or(HooksVerb::Git(GitHooksVerb::Status)) {
            HooksVerb::Git(verb) => hooks::manage_hooks(verb, &context()?, output),
            HooksVerb::Agent(typed) => agent_hook::answer_agent_hook(typed, &global, output),
        },
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

fn run_forget_verb(verb: ForgetVerb, context: &CommandContext, output: &mut Output) -> CliResult {
    match verb {
        ForgetVerb::Archive(typed) => memories::forget_memories(typed, context, output),
        ForgetVerb::Purge(typed) => memories::purge_memories(typed, context, output),
        ForgetVerb::Reset(typed) => memories::reset_memories(&typed, context, output),
    }
}

fn run_share_verb(verb: ShareVerb, context: &CommandContext, output: &mut Output) -> CliResult {
    match verb {
        ShareVerb::Add(typed) => memories::share_memories(typed, context, output),
        ShareVerb::Remove(typed) => memories::unshare_memories(typed, context, output),
        ShareVerb::Sync(typed) => memories::sync_notes(typed, context, output),
        ShareVerb::Team(typed) => team::run_team_verb(typed, context, output),
    }
}

fn run_tag_verb(verb: TagVerb, context: &CommandContext, output: &mut Output) -> CliResult {
    match verb {
        TagVerb::Add(typed) => memories::tag_memory(typed, context, output),
        TagVerb::Remove(typed) => memories::untag_memory(typed, context, output),
        TagVerb::List(_) => memories::list_tags(context, output),
        TagVerb::Containers(_) => memories::list_containers(context, output),
    }
}

fn run_link_verb(verb: LinkVerb, context: &CommandContext, output: &mut Output) -> CliResult {
    match verb {
        LinkVerb::Add(typed) => memories::link_memories(typed, context, output),
        LinkVerb::Remove(typed) => memories::unlink_memories(typed, context, output),
        LinkVerb::List(typed) => memories::list_links(typed, context, output),
    }
}

fn run_daemon_verb(verb: DaemonControlVerb, context: &CommandContext, output: &mut Output) -> CliResult {
    match verb {
        DaemonControlVerb::Stop => daemon_process::stop_daemon(context, output),
        DaemonControlVerb::Restart => daemon_process::restart_daemon(context, output),
        DaemonControlVerb::Logs(typed) => logs::print_logs(&typed, context, output),
        DaemonControlVerb::Events(typed) => print_events::print_events(&typed, context, output),
    }
}
