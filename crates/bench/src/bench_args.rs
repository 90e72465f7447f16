//! Declares the flags of `memod bench`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use memod_base::types::RankingPart;
use memod_terminal::{GlobalArgs, SearchModeArg};

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
    /// A set of questions is a file with one line of JSON for each question: {"query": "where are tokens signed", "relevant":
    /// ["src/token.rs"]}. An answer is a file, some of its lines (src/token.rs#L10-L20) or a section (docs/x.md#set-up). Prints
    /// nDCG@10, MRR@10 and recall at 5 and 10 in percent with their 95 % intervals, and the time for a question. For definitions
    /// that the questions name as "answers", prints recall at 5, 10 and 100. Changes nothing in the repository. Exits with 2 if the
    /// worktree of a set is missing, and with 3 if a set could not be asked; the other sets are still measured.
    ///
    /// Example: memod bench quality questions.jsonl --leave-out
    Quality(QualityArgs),
    /// Write the best hits of each question, with all parts of their scores
    ///
    /// Writes a line of JSON for each question with its first 100 hits. Each hit has the signals, factors and score of `memo
    /// explain`, and the answers that it matches. Writes another line for each chunk that is a hit, with its tokens for the
    /// builtin model. Questions without answers are asked as well.
    ///
    /// Example: memod bench candidates questions.jsonl --out ../candidates.jsonl
    Candidates(CandidatesArgs),
}

#[derive(Debug, Args)]
pub(crate) struct QualityArgs {
    /// File of questions, folder with `queries.jsonl`, or folder of such folders
    #[arg(value_name = "SET")]
    pub(crate) sets: PathBuf,
    /// Ask each set in the worktree DIR/SUITE/SET or DIR/SET [default: the current worktree]
    #[arg(long, value_name = "DIR")]
    pub(crate) trees: Option<PathBuf>,
    /// Search modes to compare (comma-separated)
    #[arg(long, value_name = "MODE", value_enum, value_delimiter = ',', default_value = "hybrid")]
    pub(crate) modes: Vec<SearchModeArg>,
    /// Measure also without a part of the ranking: each part in turn, or these (comma-separated, names as in `memo explain`)
    #[arg(long, value_name = "PART", num_args = 0..=1, default_missing_value = "all", value_parser = parse_part_list)]
    pub(crate) leave_out: Option<PartList>,
    /// Write the hits to DIR, with a folder for each mode and a file for each set
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
    /// Resolves the paths of the arguments against `dir`, the directory of `-C`.
    pub(crate) fn resolve_files(&mut self, dir: &Path) {
        let paths = match self {
            Self::Quality(args) => [Some(&mut args.sets), args.trees.as_mut(), args.runs.as_mut()],
            Self::Candidates(args) => [Some(&mut args.set), Some(&mut args.out), None],
        };
        paths.into_iter().flatten().for_each(|path| *path = dir.join(&*path));
    }
}

/// Distinct parts of the ranking to leave out.
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
