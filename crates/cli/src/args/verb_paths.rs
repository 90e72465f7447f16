//! Lists the paths and files in the arguments of each verb, and the verbs with long answers.

use std::path::{Path, PathBuf};

use super::code_args::{OpenArgs, OutlineArgs, ShowArgs, WhyArgs};
use super::daemon_args::{ModelArgs, ModelVerb};
use super::exchange_args::ImportArgs;
use super::memo_verb::MemoVerb;
use super::relation_args::ConsolidateArgs;
use super::uses_args::{ImpactArgs, RefsArgs, TestsArgs, UsesArgs};
use super::verb_families::{BackupVerb, DaemonControlVerb, LinkVerb, TagVerb, VerbFamily};
use super::writing_args::{AddArgs, AppendArgs, UpdateArgs};

impl MemoVerb {
    /// Returns whether a long answer of the verb goes through a pager.
    pub(crate) fn is_paged(&self) -> bool {
        match self {
            Self::Search(args) => !args.files && !args.vimgrep,
            Self::Daemon(DaemonControlVerb::Logs(args)) => !args.follow,
            Self::Explain(_)
            | Self::Show(_)
            | Self::Outline(_)
            | Self::Refs(_)
            | Self::Callers(_)
            | Self::Callees(_)
            | Self::Impact(_)
            | Self::Tests(_)
            | Self::Implements(_)
            | Self::Map(_)
            | Self::Brief(_)
            | Self::Changed(_)
            | Self::Why(_) => true,
            Self::Get(_) | Self::List(_) | Self::Recall(_) | Self::History(_) | Self::Related(_) => true,
            Self::Tag(typed) => matches!(typed.verb, TagVerb::List(_) | TagVerb::Containers(_)),
            Self::Link(typed) => matches!(typed.verb, LinkVerb::List(_)),
            _ => false,
        }
    }

    /// Returns those arguments that are paths, globs or locations in the worktree.
    pub(crate) fn worktree_paths_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Search(args) => args.find.path.iter_mut().chain(&mut args.find.exclude).collect(),
            Self::Explain(args) => {
                args.find.path.iter_mut().chain(&mut args.find.exclude).chain(&mut args.of).collect()
            }
            Self::Impact(ImpactArgs { target, .. }) | Self::Tests(TestsArgs { target, .. }) => {
                target.iter_mut().collect()
            }
            Self::Refs(RefsArgs { target, .. })
            | Self::Callers(UsesArgs { target, .. })
            | Self::Callees(UsesArgs { target, .. })
            | Self::Implements(UsesArgs { target, .. })
            | Self::Outline(OutlineArgs { target, .. })
            | Self::Show(ShowArgs { target, .. })
            | Self::Open(OpenArgs { target, .. })
            | Self::Why(WhyArgs { target, .. }) => vec![target],
            Self::Map(args) => args.paths.iter_mut().chain(&mut args.focus).collect(),
            Self::Changed(args) => args.paths.iter_mut().collect(),
            Self::Add(args) => args.about.iter_mut().collect(),
            Self::List(args) => args.about.iter_mut().collect(),
            Self::Update(args) => args.about.iter_mut().chain(&mut args.no_about).collect(),
            _ => Vec::new(),
        }
    }

    /// Makes the paths of the files that the verb reads and writes relative to `dir`, the directory of `-C`.
    pub(crate) fn resolve_files(&mut self, dir: &Path) {
        match self {
            Self::Import(args) => {
                args.paths
                    .iter_mut()
                    .filter(|path| *path != Path::new("-"))
                    .for_each(|path| resolve_path(path, dir));
            }
            Self::Add(AddArgs { text, .. }) | Self::Append(AppendArgs { text, .. }) => {
                text.file.iter_mut().for_each(|path| resolve_path(path, dir));
            }
            Self::Distil(args) => resolve_path(&mut args.path, dir),
            Self::Export(args) => args.out.iter_mut().for_each(|path| resolve_path(path, dir)),
            Self::Uninstall(args) => args.export.iter_mut().for_each(|path| resolve_path(path, dir)),
            Self::Backup(typed) => match &mut typed.verb {
                BackupVerb::Create(args) => args.path.iter_mut().for_each(|path| resolve_path(path, dir)),
                BackupVerb::Restore(args) if args.path == Path::new("latest") => {}
                BackupVerb::Restore(args) => resolve_path(&mut args.path, dir),
            },
            Self::Man(args) => args.to.iter_mut().for_each(|path| resolve_path(path, dir)),
            Self::Model(ModelArgs { what: Some(ModelVerb::Import { folder, .. }) }) => {
                resolve_path(folder, dir);
            }
            _ => {}
        }
    }

    /// Returns the files that the verb reads.
    pub(crate) fn files_to_read(&self) -> Vec<&Path> {
        match self {
            Self::Add(AddArgs { text, .. }) | Self::Append(AppendArgs { text, .. }) => {
                text.file.iter().map(PathBuf::as_path).collect()
            }
            Self::Import(args) => args.paths.iter().map(PathBuf::as_path).collect(),
            Self::Backup(VerbFamily { verb: BackupVerb::Restore(args), .. }) => vec![args.path.as_path()],
            _ => Vec::new(),
        }
    }

    /// Returns whether the flags allow text that looks like a credential.
    pub(crate) fn allows_secrets(&self) -> bool {
        match self {
            Self::Add(AddArgs { fields, .. }) | Self::Update(UpdateArgs { fields, .. }) => {
                fields.allow_secret
            }
            Self::Append(AppendArgs { allow_secret, .. })
            | Self::Import(ImportArgs { allow_secret, .. })
            | Self::Consolidate(ConsolidateArgs { allow_secret, .. }) => *allow_secret,
            _ => false,
        }
    }
}

fn resolve_path(path: &mut PathBuf, dir: &Path) {
    *path = dir.join(&*path);
}
