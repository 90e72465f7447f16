//! Says which paths each verb is given, which files it reads and writes, and whether its answer is read from the start.

use std::path::{Path, PathBuf};

use super::bench_args::{BenchArgs, BenchVerb};
use super::code_args::{OpenArgs, OutlineArgs, ShowArgs, WhyArgs};
use super::exchange_args::ImportArgs;
use super::memory_args::{AddArgs, AppendArgs, UpdateArgs};
use super::reach_args::{ImpactArgs, ReachArgs, RefsArgs};
use super::relation_args::ConsolidateArgs;
use super::verb::Verb;
use super::verb_args::{ModelArgs, ModelVerb};

impl Verb {
    /// Returns whether a long answer of the verb is read from its start.
    pub(crate) fn is_paged(&self) -> bool {
        match self {
            Self::Search(args) => !args.files && !args.vimgrep,
            Self::Logs(args) => !args.follow,
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
            Self::Get(_) | Self::List(_) | Self::Recent(_) | Self::Recall(_) | Self::Tags(_) => true,
            Self::Containers(_) | Self::History(_) | Self::Related(_) | Self::Links(_) => true,
            _ => false,
        }
    }

    /// Returns the paths, globs and places in the worktree that the verb is given.
    pub(crate) fn places_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Search(args) => args.find.path.iter_mut().chain(&mut args.find.exclude).collect(),
            Self::Explain(args) => {
                args.find.path.iter_mut().chain(&mut args.find.exclude).chain(&mut args.of).collect()
            }
            Self::Impact(ImpactArgs { target, .. }) | Self::Tests(ImpactArgs { target, .. }) => {
                target.iter_mut().collect()
            }
            Self::Refs(RefsArgs { target, .. })
            | Self::Callers(ReachArgs { target, .. })
            | Self::Callees(ReachArgs { target, .. })
            | Self::Implements(ReachArgs { target, .. })
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

    /// Resolves the files that the verb reads and writes against `dir`, the directory of `-C`.
    pub(crate) fn start_files_at(&mut self, dir: &Path) {
        let start = |path: &mut PathBuf| *path = dir.join(&*path);
        match self {
            Self::Import(args) => {
                args.paths.iter_mut().filter(|path| *path != Path::new("-")).for_each(start);
            }
            Self::Add(AddArgs { text, .. }) | Self::Append(AppendArgs { text, .. }) => {
                text.file.iter_mut().for_each(start);
            }
            Self::Distil(args) => start(&mut args.path),
            Self::Export(args) => args.out.iter_mut().for_each(start),
            Self::Uninstall(args) => args.export.iter_mut().for_each(start),
            Self::Backup(args) => args.path.iter_mut().for_each(start),
            Self::RestoreBackup(args) if args.path != Path::new("latest") => start(&mut args.path),
            Self::Man(args) => args.to.iter_mut().for_each(start),
            Self::Bench(BenchArgs { what: BenchVerb::Quality(args) }) => {
                [Some(&mut args.sets), args.trees.as_mut(), args.runs.as_mut()]
                    .into_iter()
                    .flatten()
                    .for_each(start);
            }
            Self::Bench(BenchArgs { what: BenchVerb::Candidates(args) }) => {
                [&mut args.set, &mut args.out].into_iter().for_each(start);
            }
            Self::Model(ModelArgs { what: Some(ModelVerb::Import { folder, .. }) }) => start(folder),
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
            Self::RestoreBackup(args) => vec![args.path.as_path()],
            _ => Vec::new(),
        }
    }

    /// Returns whether the verb is told to keep what looks like a credential.
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
