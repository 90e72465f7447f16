//! Runs `memo config`: shows and changes settings.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext, LocateError, PathError, canonicalize_path, rename_over};
use memod_config::team_server::ServerAddress;
use serde_json::{Map, Value, json};

use crate::args::{ConfigArgs, ConfigVerb};
use memod_config::{DEFAULTS, KEYS, ResolvedSettings, SettingKey, SettingOrigin};
use memod_terminal::text::{escape_for_display, paint};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

/// Runs `memo config`. Outside a repository only the user's settings apply.
pub(crate) fn run_config(
    typed: ConfigArgs,
    context: Result<CommandContext, CliError>,
    output: &mut Output,
) -> CliResult {
    match typed.what {
        None => show_settings(context_if_in_repository(context)?.as_ref(), output)?,
        Some(ConfigVerb::Get { key }) => {
            print_setting(&key, context_if_in_repository(context)?.as_ref(), output)?;
        }
        Some(ConfigVerb::Set { key, value, user: true }) => {
            write_and_report(
                &key,
                &value,
                &memod_config::user_settings_file().ok_or(CliError::NoHome)?,
                output,
            )?;
        }
        Some(ConfigVerb::Set { key, value, user: false }) => {
            memod_config::check_repository_setting(&key, &value, &SettingOrigin::CommandLine)?;
            let layout = context?.layout;
            layout.create_state_dir()?;
            write_and_report(&key, &value, &layout.config_file(), output)?;
            if layout.config_files().len() > 1 {
                let file = layout.config_file();
                output.write_warning(&format!(
                    "{} applies only while the repository is read-only or its path is too long; set {key} again after that",
                    file.display()
                ));
            }
        }
        Some(ConfigVerb::Unset { key, user: true }) => {
            return unset_setting(&key, &memod_config::user_settings_file().ok_or(CliError::NoHome)?, output);
        }
        Some(ConfigVerb::Unset { key, user: false }) => {
            return unset_setting(&key, &context?.layout.config_file(), output);
        }
        Some(ConfigVerb::Path) => print_settings_paths(context_if_in_repository(context)?.as_ref(), output)?,
        Some(ConfigVerb::Template) => output.write_bytes(commented_defaults().as_bytes())?,
    }
    Ok(0)
}

fn context_if_in_repository(
    context: Result<CommandContext, CliError>,
) -> Result<Option<CommandContext>, CliError> {
    match context {
        Err(CliError::Locate(
            LocateError::GitDir(_) | LocateError::NotIndexed(_) | LocateError::HomeOrRoot(_),
        )) => Ok(None),
        context => context.map(Some),
    }
}

fn show_settings(context: Option<&CommandContext>, output: &mut Output) -> Result<(), CliError> {
    let resolved = memod_config::load_settings(context.map(|context| &context.layout))?;
    let all: Map<_, _> = KEYS.iter().map(|key| (key.name.to_owned(), setting_json(key, &resolved))).collect();
    output.write_result(&all, |output| {
        KEYS.iter().zip(&resolved.origins).try_for_each(|(key, origin)| {
            let setting = format!("{} = {}", key.name, key.get(&resolved.config).to_toml());
            let origin = paint(output.styles.title, &escape_for_display(&origin.to_string()));
            output.write_line(&format!("{setting:<36} {origin}"))
        })
    })
}

fn print_setting(name: &str, context: Option<&CommandContext>, output: &mut Output) -> Result<(), CliError> {
    let key = SettingKey::find_key(name)
        .ok_or_else(|| memod_config::unknown_key_error(name, SettingOrigin::CommandLine))?;
    let resolved = memod_config::load_settings(context.map(|context| &context.layout))?;
    output.write_result(&setting_json(key, &resolved), |output| {
        output.write_line(&key.get(&resolved.config).to_string())
    })
}

fn setting_json(key: &SettingKey, resolved: &ResolvedSettings) -> Value {
    let at = KEYS.iter().position(|known| known.name == key.name).expect("keys come from KEYS");
    let value = key.get(&resolved.config);
    json!({ "key": key.name, "value": value, "origin": resolved.origins[at].to_string() })
}

fn write_and_report(key: &str, value: &str, file: &Path, output: &mut Output) -> Result<(), CliError> {
    let file = write_setting(key, value, file)?;
    if output.write_json {
        return output.is_json_object(&json!({ "key": key, "file": file.display().to_string() }));
    }
    output.write_note(&format!("{key} = {value} in {}", file.display()));
    report_needed_restart(key, output);
    Ok(())
}

/// Writes a setting into a settings file. Returns the path of the file that was written, with symbolic links resolved.
pub(crate) fn write_setting(key: &str, value: &str, file: &Path) -> Result<PathBuf, CliError> {
    if key == "team.url" && !value.is_empty() {
        ServerAddress::parse(value)?; // refuses a password, which must not get into a settings file
    }
    let file = resolve_settings_link(file)?;
    let text = memod_config::read_settings_file(&file)?.unwrap_or_default();
    replace_file(&file, &memod_config::set_in_toml(&text, file.clone(), key, value)?)?;
    Ok(file)
}

fn unset_setting(key: &str, file: &Path, output: &mut Output) -> CliResult {
    let file = resolve_settings_link(file)?;
    let text = memod_config::read_settings_file(&file)?.unwrap_or_default();
    let without = memod_config::unset_in_toml(&text, file.clone(), key)?;
    if let Some(text) = &without {
        replace_file(&file, text)?;
    }
    if output.write_json {
        let result = json!({ "key": key, "file": file.display().to_string(), "removed": without.is_some() });
        output.is_json_object(&result)?;
    } else if without.is_some() {
        output.write_note(&format!("{key} is removed from {}", file.display()));
        report_needed_restart(key, output);
    } else {
        output.write_note(&format!("{key} is not in {}", file.display()));
    }
    Ok(if without.is_some() { 0 } else { EXIT_NOTHING_FOUND })
}

/// Returns the file to which a settings file links, or the settings file itself. Replacing that file keeps a symbolic link, such as
/// one into a collection of dotfiles.
fn resolve_settings_link(file: &Path) -> Result<PathBuf, PathError> {
    if file.exists() { canonicalize_path(file) } else { Ok(file.to_owned()) }
}

fn report_needed_restart(key: &str, output: &mut Output) {
    // Settings of searches and of the language model are read for each request, so that the model can be switched off at once.
    if !key.starts_with("search.") && !key.starts_with("llm.") {
        output.write_note("the daemon reads this setting only when it starts: run `memo daemon restart`");
    }
}

/// Writes a file completely or not at all.
fn replace_file(file: &Path, text: &str) -> Result<(), PathError> {
    let dir = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir).at("create directory", dir)?;
    let temporary = file.with_extension(format!("toml.{}", std::process::id()));
    let renamed = write_synced(&temporary, text).and_then(|()| rename_over(&temporary, file));
    renamed.inspect_err(|_| drop(fs::remove_file(&temporary))).at("write", file)
}

fn write_synced(file: &Path, text: &str) -> io::Result<()> {
    let mut new = File::create(file)?;
    new.write_all(text.as_bytes())?;
    new.sync_all()
}

fn print_settings_paths(context: Option<&CommandContext>, output: &mut Output) -> Result<(), CliError> {
    let user = memod_config::user_settings_file();
    let repository = context.map(|context| context.layout.config_file());
    if output.write_json {
        let [user, repository] = [user, repository].map(|path| path.map(|path| path.display().to_string()));
        return output.is_json_object(&json!({ "user": user, "repository": repository }));
    }
    for (label, path) in [("user", user), ("repository", repository)] {
        if let Some(path) = path {
            crate::daemon::status::print_field(
                label,
                &escape_for_display(&path.display().to_string()),
                output,
            )?;
        }
    }
    Ok(())
}

/// Returns the defaults with each value commented out, so that a saved template does not pin today's defaults.
fn commented_defaults() -> String {
    let lines = DEFAULTS.lines().map(|line| match line.chars().next() {
        None | Some('#' | '[') => format!("{line}\n"),
        _ => format!("# {line}\n"),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memod_config::{Config, SettingsLayer, resolve_layers};

    #[test]
    fn the_template_changes_nothing() {
        let text = commented_defaults();
        let layer = SettingsLayer::from_toml(&text, "template".into()).expect("the template is valid");
        let resolved = resolve_layers([layer]);
        assert_eq!(resolved.config, Config::default());
        assert!(resolved.origins.iter().all(|origin| *origin == SettingOrigin::Default));
        for key in KEYS {
            let (_, name) = key.name.split_once('.').expect("every key has a section");
            assert!(text.contains(&format!("\n# {name} = ")), "{} is in the template", key.name);
        }
    }
}
