//! Records the names of a format without a grammar.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use memod_base::types::{ImportedName, UseRole};

use super::node_text::create_import;
use super::{FoundNames, FoundReceiver, FoundUse, MAX_NAME_BYTES};

impl<'a> FoundNames<'a> {
    /// Adds a use of the name at `bytes` of the text. `receiver` is the path before the name, with `.` between its parts.
    pub(crate) fn add_format_use(
        &mut self,
        text: &'a str,
        bytes: Range<usize>,
        receiver: Option<String>,
        is_call: bool,
    ) {
        let role = if is_call { UseRole::Call } else { UseRole::Mention };
        self.add_use_in_role(text, bytes, receiver, role);
    }

    /// Adds a use as [`Self::add_format_use`] does, in any role.
    pub(crate) fn add_use_in_role(
        &mut self,
        text: &'a str,
        bytes: Range<usize>,
        receiver: Option<String>,
        role: UseRole,
    ) {
        let at = bytes.start;
        let name = text.get(bytes).unwrap_or_default();
        let is_long = receiver.as_ref().is_some_and(|path| path.len() > MAX_NAME_BYTES);
        if name.is_empty() || name.len() > MAX_NAME_BYTES || is_long {
            return;
        }
        self.uses.push(FoundUse {
            name: Cow::Borrowed(name),
            at,
            receiver: receiver.map_or(FoundReceiver::None, FoundReceiver::Named),
            role,
            n_arguments: None,
            is_value: false,
        });
    }

    /// Adds an import of another file or directory, which `local` names in this file.
    pub(crate) fn add_format_import(&mut self, local: &str, module: &str, line: u32) {
        self.imports.push(ImportedName { line, ..create_import(local, module, "") });
    }

    pub(crate) fn set_package(&mut self, package: String) {
        self.package = package;
    }

    /// Sorts the uses by position, and drops all but one at each position.
    pub(crate) fn sort_uses(&mut self) {
        self.uses.sort_by_key(|found| found.at);
        self.uses.dedup_by_key(|found| found.at);
    }

    /// Returns the used names, each with the number of its uses, sorted by name.
    pub(crate) fn count_uses(&self) -> Vec<(String, u32)> {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for found in &self.uses {
            *counts.entry(&*found.name).or_default() += 1;
        }
        counts.into_iter().map(|(name, n)| (name.to_owned(), n)).collect()
    }
}
