//! Adds our hook to git's configuration, and removes it.

use memod_base::paths::PathError;
use memod_git::NamedHook;

use super::{HOOK_EVENTS, Hooks, HooksError, InstallOutcome, block, file, is_our_named_hook, section};

impl Hooks<'_> {
    /// Writes our section into git's configuration; returns false if the configuration has another hook of the same name.
    pub(super) fn install_config(&mut self, done: &mut InstallOutcome) -> Result<bool, HooksError> {
        let text = self.read_config()?;
        let named = self.parse_named_hook(&text)?;
        if named.command.is_some() && !is_our_named_hook(&named) {
            return Ok(false);
        }
        let without = section::remove_section(&text);
        let with = section::insert_section(without.as_ref().unwrap_or(&text));
        let written = self.parse_named_hook(&with)?;
        if !is_current_named_hook(&written) {
            return Err(HooksError::Unreadable(self.config.clone()));
        }
        if is_current_named_hook(&named) {
            return Ok(true); // also if the user has disabled it, which must stay so
        }
        self.write_config(&text, &with, done)?;
        self.settings.named = written;
        Ok(true)
    }

    /// Removes our section from git's configuration, if there is one.
    pub(super) fn uninstall_config(&mut self, done: &mut InstallOutcome) -> Result<(), HooksError> {
        let text = self.read_config()?;
        let Some(left) = section::remove_section(&text)
            .filter(|_| self.parse_named_hook(&text).is_ok_and(|named| is_our_named_hook(&named)))
        else {
            return Ok(());
        };
        self.write_config(&text, &left, done)?;
        self.settings.named = NamedHook::default();
        Ok(())
    }

    fn read_config(&self) -> Result<Vec<u8>, PathError> {
        Ok(file::read_if_exists(&self.config)?.unwrap_or_default())
    }

    fn parse_named_hook(&self, config: &[u8]) -> Result<NamedHook, HooksError> {
        Ok(NamedHook::parse(config, &self.config, section::HOOK_NAME)?)
    }

    fn write_config(&self, before: &[u8], text: &[u8], done: &mut InstallOutcome) -> Result<(), HooksError> {
        if file::is_locked_by_git(&self.config) {
            return Err(HooksError::Locked(file::lock_path(&self.config)));
        }
        file::replace_text(&self.config, before, text)?;
        done.changed.push(self.config.clone());
        Ok(())
    }
}

/// Returns whether a named hook equals what this version writes.
fn is_current_named_hook(named: &NamedHook) -> bool {
    named.command == Some(block::block_as_one_line()) && named.events == HOOK_EVENTS
}
