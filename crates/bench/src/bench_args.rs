//! Declares the flags of `memod bench`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use memod_base::types::RankingPart;
use memod_terminal::{GlobalArgs, ModeArg};

/// The command line of `memod bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) what: BenchVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchVerb {
    /// Measure how often questions find the answers that you name
    ///
    /// A set of questions is a file with a line for each: {"query": "where are tokens signed", "relevant": ["src/token.rs"]}. An
    /// answer is a file, lines of it (src/token.rs#L10-L20) or a section (docs/x.md#set-up). Prints nDCG@10, MRR@10, recall at 5
    /// and 10 in percent with their 95 % intervals, and how long a question took; of definitions that are named as "answers"
    /// recall at 5, 10 and 100. Nothing in the repository is changed. The exit status is 2 if a tree is missing; 3 if a set could
    /// not be asked. The others are measured.
    ///
    /// Example: memod bench quality questions.jsonl --leave-out
    Quality(QualityArgs),
    /// Write the best hits of each question, with everything that ranked them
    ///
    /// Writes a line of JSON for each question with its first 100 hits: signals, factors and score as in `memo explain`, and which
    /// of the answers that you name each is. Each chunk that is a hit has a line of its own, with the tokens that the builtin model
    /// sees of it. Questions without answers are asked as well.
    ///
    /// Example: memod bench candidates questions.jsonl --out ../candidates.jsonl
    Candidates(CandidatesArgs),
}

#[derive(Debug, Args)]
pub(crate) struct QualityArgs {
    /// File of questions, a folder with `queries.jsonl`, or a folder of such folders
    #[arg(value_name = "SET")]
    pub(crate) sets: PathBuf,
    /// Ask each set in the worktree DIR/SUITE/SET or DIR/SET [default: the current worktree]
    #[arg(long, value_name = "DIR")]
    pub(crate) trees: Option<PathBuf>,
    /// How to match, each in turn (comma-separated)
    #[arg(long, value_name = "MODE", value_enum, value_delimiter = ',', default_value = "hybrid")]
    pub(crate) modes: Vec<ModeArg>,
    /// Compare with the ranking without a part of it, as `memo explain` names them: each in turn, or these (comma-separated)
    #[arg(long, value_name = "PART", num_args = 0..=1, default_missing_value = "all", value_parser = parse_part_list)]
    pub(crate) leave_out: Option<PartList>,
    /// Write the hits to DIR, one folder per mode, with one file per set
    #[arg(long, value_name = "DIR")]
    pub(crate) runs: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CandidatesArgs {
    /// File of questions with `answers`, or a folder with `queries.jsonl`
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,
    /// The file to write, outside of the worktree
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

impl BenchVerb {
    /// Resolves the files that are read and written against `dir`, the directory of `-C`.
    pub(crate) fn resolve_files(&mut self, dir: &Path) {
        let paths = match self {
            Self::Quality(args) => [Some(&mut args.sets), args.trees.as_mut(), args.runs.as_mut()],
            Self::Candidates(args) => [Some(&mut args.set), Some(&mut args.out), None],
        };
        paths.into_iter().flatten().for_each(|path| *path = dir.join(&*path));
    }
}

/// Parts of the ranking, each once.
#[derive(Clone, Debug)]
pub(crate) struct PartList(pub(crate) Vec<RankingPart>);

fn parse_part_list(text: &str) -> Result<PartList, String> {
    if text == "all" {
        return Ok(PartList(RankingPart::all().collect()));
    }
    let mut parts: Vec<RankingPart> = Vec::new();
    for part in text.split(',').map(RankingPart::parse) {
        let part = part?;
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    Ok(PartList(parts))
}
