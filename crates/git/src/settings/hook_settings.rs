//! Reads the hooks that git's configuration names.

use std::path::{Path, PathBuf};

use gix::config::file::{Metadata, init};
use gix::config::{File, Source};
use memod_base::paths::RepoLayout;

use super::{UserDirs, is_true, load_config, path_value};
use crate::git_error::GitError;

/// The hook settings of one worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookSettings {
    /// `core.hooksPath`, absolute.
    pub hooks_path: Option<PathBuf>,
    /// The requested hook.
    pub named: NamedHook,
}

/// One hook of the configuration, `hook.<name>.*` (git 2.54 and later).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedHook {
    /// The command of the hook.
    pub command: Option<String>,
    /// The events on which the hook runs.
    pub events: Vec<String>,
    /// Whether the hook is enabled.
    pub enabled: bool,
}

impl HookSettings {
    /// Reads `core.hooksPath` and `hook.<name>.*` as git does in the worktree.
    ///
    /// # Errors
    /// When a file does not parse, or the repository's own file cannot be read. The error names the file.
    pub fn read(layout: &RepoLayout, dirs: &UserDirs, name: &str) -> Result<Self, GitError> {
        let Some(config) = load_config(layout, dirs)? else { return Ok(Self::default()) };
        let hooks_path = path_value(&config, "core.hooksPath", &layout.root, dirs);
        Ok(Self { hooks_path, named: NamedHook::from_config(&config, name) })
    }
}

impl NamedHook {
    /// Reads a hook from the text of one configuration file; includes are not followed.
    ///
    /// # Errors
    /// When the text does not parse. The error names `path`.
    pub fn parse(text: &[u8], path: &Path, name: &str) -> Result<Self, GitError> {
        let mut text = text.to_owned();
        let metadata = Metadata::from(Source::Local).at(path);
        let config = File::from_bytes_owned(&mut text, metadata, init::Options::default())
            .map_err(|error| GitError::Config { path: path.to_owned(), reason: error.to_string() })?;
        Ok(Self::from_config(&config, name))
    }

    /// Reads a hook from the configuration.
    fn from_config(config: &File, name: &str) -> Self {
        let values = config.strings(hook_key(name, "event").as_str()).unwrap_or_default();
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        // An empty value clears the values before it; see git-config(1).
        let start = values.iter().rposition(String::is_empty).map_or(0, |at| at + 1);
        let enabled = hook_key(name, "enabled");
        Self {
            command: config.string(hook_key(name, "command").as_str()).map(|command| command.to_string()),
            events: values[start..].to_vec(),
            enabled: config.string(enabled.as_str()).is_none() || is_true(config, &enabled),
        }
    }
}

/// Returns the full key of a setting of a hook.
fn hook_key(name: &str, key: &str) -> String {
    format!("hook.{name}.{key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_hooks_are_read_as_git_reads_them() {
        let check = |text: &str, expected: &str| {
            let hook = NamedHook::parse(text.as_bytes(), Path::new("config"), "memo").expect("it parses");
            let shown = format!("{:?} {} {}", hook.command, hook.events.join(","), hook.enabled);
            assert_eq!(shown, expected, "{text}");
        };
        check("", "None  true");
        check("[hook \"other\"]\ncommand = x\n", "None  true");
        check(
            "[hook \"memo\"]\ncommand = \"a \\\"b\\\"; c\"\nevent = x\nevent = y\n",
            "Some(\"a \\\"b\\\"; c\") x,y true",
        );
        check("[hook \"memo\"]\nevent = x\nevent =\nevent = y\nenabled = false\n", "None y false");
    }

    #[test]
    fn what_does_not_parse_is_an_error() {
        assert!(NamedHook::parse(b"[hook \"memo", Path::new("config"), "memo").is_err());
    }
}
