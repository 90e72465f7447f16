//! Shows and changes settings.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext, LocateError, PathError, canonical, rename_over};
use serde_json::{Map, Value, json};

use super::args::{ConfigArgs, ConfigVerb};
use super::context::CommandContext;
use super::error::{CliError, CliResult, EXIT_NONE};
use super::output::Output;
use super::text::{escape, paint};
use memod_config::team_server::Address;
use memod_config::{DEFAULTS, KEYS, Key, Origin, Resolved};

/// Outside a repository only the user's settings apply.
pub(super) fn config(
    typed: ConfigArgs,
    context: Result<CommandContext, CliError>,
    output: &mut Output,
) -> CliResult {
    match typed.what {
        None => show(optional(context)?.as_ref(), output)?,
        Some(ConfigVerb::Get { key }) => get(&key, optional(context)?.as_ref(), output)?,
        Some(ConfigVerb::Set { key, value, user: true }) => {
            set(&key, &value, &memod_config::user_file().ok_or(CliError::NoHome)?, output)?;
        }
        Some(ConfigVerb::Set { key, value, user: false }) => {
            memod_config::check_of_repository(&key, &value, &Origin::CommandLine)?;
            let layout = context?.layout;
            layout.create_state_dir()?;
            set(&key, &value, &layout.config_file(), output)?;
            if layout.config_files().len() > 1 {
                let file = layout.config_file();
                output.warn(&format!(
                    "{} holds while the repository is read-only or its path is too long; set it again after that",
                    file.display()
                ));
            }
        }
        Some(ConfigVerb::Unset { key, user: true }) => {
            return unset(&key, &memod_config::user_file().ok_or(CliError::NoHome)?, output);
        }
        Some(ConfigVerb::Unset { key, user: false }) => {
            return unset(&key, &context?.layout.config_file(), output);
        }
        Some(ConfigVerb::Path) => path(optional(context)?.as_ref(), output)?,
        Some(ConfigVerb::Template) => output.raw(template().as_bytes())?,
    }
    Ok(0)
}

fn optional(context: Result<CommandContext, CliError>) -> Result<Option<CommandContext>, CliError> {
    match context {
        Err(CliError::Locate(
            LocateError::GitDir(_) | LocateError::NotIndexed(_) | LocateError::TooWide(_),
        )) => Ok(None),
        context => context.map(Some),
    }
}

fn show(context: Option<&CommandContext>, output: &mut Output) -> Result<(), CliError> {
    let resolved = memod_config::load(context.map(|context| &context.layout))?;
    let all: Map<_, _> = KEYS.iter().map(|key| (key.name.to_owned(), as_json(key, &resolved))).collect();
    output.value(&all, |output| {
        KEYS.iter().zip(&resolved.origins).try_for_each(|(key, origin)| {
            let setting = format!("{} = {}", key.name, key.get(&resolved.config).to_toml());
            let origin = paint(output.styles.title, &escape(&origin.to_string()));
            output.line(&format!("{setting:<36} {origin}"))
        })
    })
}

fn get(name: &str, context: Option<&CommandContext>, output: &mut Output) -> Result<(), CliError> {
    let key = Key::find(name).ok_or_else(|| memod_config::unknown(name, Origin::CommandLine))?;
    let resolved = memod_config::load(context.map(|context| &context.layout))?;
    output.value(&as_json(key, &resolved), |output| output.line(&key.get(&resolved.config).to_string()))
}

fn as_json(key: &Key, resolved: &Resolved) -> Value {
    let at = KEYS.iter().position(|known| known.name == key.name).expect("keys come from KEYS");
    let value = key.get(&resolved.config);
    json!({ "key": key.name, "value": value, "origin": resolved.origins[at].to_string() })
}

fn set(key: &str, value: &str, file: &Path, output: &mut Output) -> Result<(), CliError> {
    let file = write(key, value, file)?;
    if output.json {
        return output.json(&json!({ "key": key, "file": file.display().to_string() }));
    }
    output.say(&format!("{key} = {value} in {}", file.display()));
    say_when(key, output);
    Ok(())
}

/// Writes a setting; returns the file that was written.
pub(super) fn write(key: &str, value: &str, file: &Path) -> Result<PathBuf, CliError> {
    if key == "team.url" && !value.is_empty() {
        Address::parse(value)?; // a password may not come into a file of settings
    }
    let file = behind_links(file)?;
    let text = memod_config::read_file(&file)?.unwrap_or_default();
    replace(&file, &memod_config::with_value(&text, file.clone(), key, value)?)?;
    Ok(file)
}

fn unset(key: &str, file: &Path, output: &mut Output) -> CliResult {
    let file = behind_links(file)?;
    let text = memod_config::read_file(&file)?.unwrap_or_default();
    let without = memod_config::without_value(&text, file.clone(), key)?;
    if let Some(text) = &without {
        replace(&file, text)?;
    }
    if output.json {
        let shown = json!({ "key": key, "file": file.display().to_string(), "removed": without.is_some() });
        output.json(&shown)?;
    } else if without.is_some() {
        output.say(&format!("{key} is taken out of {}", file.display()));
        say_when(key, output);
    } else {
        output.say(&format!("{key} is not in {}", file.display()));
    }
    Ok(if without.is_some() { 0 } else { EXIT_NONE })
}

/// A symbolic link, into a collection of dotfiles for example, stays a link.
fn behind_links(file: &Path) -> Result<PathBuf, PathError> {
    if file.exists() { canonical(file) } else { Ok(file.to_owned()) }
}

fn say_when(key: &str, output: &mut Output) {
    // The language model is asked as the settings are at that time, so that it can be switched off at once.
    if !key.starts_with("search.") && !key.starts_with("llm.") {
        output.say("the daemon reads it when it starts: `memo restart`");
    }
}

/// Writes a file completely or not at all.
fn replace(file: &Path, text: &str) -> Result<(), PathError> {
    let dir = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir).at("create directory", dir)?;
    let temporary = file.with_extension(format!("toml.{}", std::process::id()));
    let write = || {
        let mut new = File::create(&temporary)?;
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        rename_over(&temporary, file)
    };
    write().inspect_err(|_| drop(fs::remove_file(&temporary))).at("write", file)
}

fn path(context: Option<&CommandContext>, output: &mut Output) -> Result<(), CliError> {
    let user = memod_config::user_file();
    let repository = context.map(|context| context.layout.config_file());
    if output.json {
        let shown = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        return output.json(&json!({ "user": shown(&user), "repository": shown(&repository) }));
    }
    for (label, path) in [("user", user), ("repository", repository)] {
        if let Some(path) = path {
            super::status::row(label, &escape(&path.display().to_string()), output)?;
        }
    }
    Ok(())
}

/// Returns the defaults with each value commented out, so that a saved template does not pin today's defaults.
fn template() -> String {
    let comment = |line: &str| match line.chars().next() {
        None | Some('#' | '[') => format!("{line}\n"),
        _ => format!("# {line}\n"),
    };
    DEFAULTS.lines().map(comment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memod_config::{Config, Layer, resolve};

    #[test]
    fn the_template_changes_nothing() {
        let text = template();
        let layer = Layer::from_toml(&text, "template".into()).expect("the template is valid");
        let resolved = resolve([layer]);
        assert_eq!(resolved.config, Config::default());
        assert!(resolved.origins.iter().all(|origin| *origin == Origin::Default));
        for key in KEYS {
            let (_, name) = key.name.split_once('.').expect("every key has a section");
            assert!(text.contains(&format!("\n# {name} = ")), "{} is in the template", key.name);
        }
    }
}
