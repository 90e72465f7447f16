//! Lists the arguments of the verbs that list, remove, share and recall memories.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use memod_base::types::parse_with_exact_numbers;
use memod_proto::anchor::AnchorState;
use memod_proto::memory::{MemoryScope, MemorySort, Selection, Tier, Traits};
use memod_terminal::{RowsArgs, SearchModeArg};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TierArg {
    /// Lasts memory.short_minutes
    Short,
    /// Lasts memory.mid_minutes
    Mid,
    /// Lasts forever
    Long,
}

impl From<TierArg> for Tier {
    fn from(arg: TierArg) -> Self {
        match arg {
            TierArg::Short => Self::Short,
            TierArg::Mid => Self::Mid,
            TierArg::Long => Self::Long,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceArg {
    /// Stated by a person
    User,
    /// Found out by an agent
    Agent,
    /// Written automatically by a hook or another program
    Hook,
    /// Imported from another place
    Import,
}

impl SourceArg {
    /// Returns the word for the source in requests to the daemon.
    pub(crate) fn socket_word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Hook => "hook",
            Self::Import => "import",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// Shared with nobody
    Mine,
    /// Shared through files of the repository
    Repo,
    /// Shared with the team, through its server
    Team,
}

impl From<ScopeArg> for MemoryScope {
    fn from(arg: ScopeArg) -> Self {
        match arg {
            ScopeArg::Mine => Self::Mine,
            ScopeArg::Repo => Self::Repo,
            ScopeArg::Team => Self::Team,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortArg {
    /// Newest first
    Created,
    /// Last changed first
    Updated,
    /// Highest first, then newest
    Priority,
}

impl From<SortArg> for MemorySort {
    fn from(arg: SortArg) -> Self {
        match arg {
            SortArg::Created => Self::Created,
            SortArg::Updated => Self::Updated,
            SortArg::Priority => Self::Priority,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct IdsArgs {
    /// Ids, or beginnings of ids
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    pub(crate) ids: IdsArgs,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Id, or the beginning of one
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// Id, or the beginning of one
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// Id, or the beginning of one
    pub(crate) id: String,
    /// Tags, comma-separated or as several words
    #[arg(required = true, value_name = "TAG", value_delimiter = ',')]
    pub(crate) tags: Vec<String>,
}

/// Conditions on the fields of memories, combined with AND.
#[derive(Debug, Args)]
pub(crate) struct TraitsArgs {
    /// Only memories of this tier
    #[arg(long, value_enum)]
    tier: Option<TierArg>,
    /// Only memories (in a search: also commits) whose author's name or address contains TEXT
    #[arg(long, value_name = "TEXT")]
    author: Option<String>,
    /// Only memories that were added by an agent whose name contains TEXT
    #[arg(long, value_name = "TEXT")]
    agent: Option<String>,
    /// Only memories from this source: cli, api, agent, user, hook, import, consolidation
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// Only memories with priority N or higher
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    min_priority: Option<i64>,
    /// Only memories with this scope
    #[arg(long, value_enum)]
    scope: Option<ScopeArg>,
    /// Only memories with this value in their metadata (may be given again)
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_metadata)]
    meta: Vec<(String, Value)>,
}

impl From<TraitsArgs> for Traits {
    fn from(arg: TraitsArgs) -> Self {
        let TraitsArgs { tier, author, agent, source, min_priority, scope, meta } = arg;
        let (tier, scope, metadata) =
            (tier.map(Into::into), scope.map(Into::into), meta.into_iter().collect());
        Self { tier, author, agent, source, min_priority, scope, metadata }
    }
}

/// The memories to be searched.
#[derive(Debug, Args)]
pub(crate) struct MemoryScopeArgs {
    /// Only memories of this container
    #[arg(short, long, value_name = "NAME")]
    pub(crate) container: Option<String>,
    /// Only memories with all of these tags (comma-separated, or given again)
    #[arg(short, long, value_name = "TAG", value_delimiter = ',')]
    pub(crate) tag: Vec<String>,
    /// Only commits and memories since WHEN: 2026-11-01, or 3d for three days ago
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Only commits and memories before WHEN, as for --since
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) traits: TraitsArgs,
}

/// Conditions on memories, combined with AND.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Only memories of this container
    #[arg(short, long, value_name = "NAME")]
    container: Option<String>,
    /// Only memories with all of these tags (comma-separated, or given again)
    #[arg(short, long, value_name = "TAG", value_delimiter = ',')]
    tag: Vec<String>,
    #[command(flatten)]
    traits: TraitsArgs,
    /// Only memories added (in the archive: archived) since WHEN: 2026-11-01, or 3d for three days ago
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only memories added (in the archive: archived) before WHEN, as for --since
    #[arg(long, visible_alias = "before", value_name = "WHEN", allow_hyphen_values = true)]
    until: Option<String>,
    /// Only memories with all of these words in title, tags or text
    #[arg(long = "match", value_name = "WORDS")]
    words: Option<String>,
}

impl FilterArgs {
    pub(crate) fn into_selection(self, ids: Vec<String>) -> Selection {
        Selection {
            ids,
            container: self.container,
            tags: self.tag,
            traits: self.traits.into(),
            since: self.since,
            until: self.until,
            words: self.words,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// List the archive: forgotten and expired memories
    #[arg(long)]
    pub(crate) archived: bool,
    /// Only memories about code in these states: fresh (unchanged), drifted (changed) or orphaned (gone) (comma-separated, or
    /// given again)
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = state_parser())]
    pub(crate) state: Vec<AnchorState>,
    /// Only memories about this file, these lines, this definition or anything below this directory (may be given again)
    #[arg(long, value_name = "PATH[:LINE|#SYMBOL]|NAME")]
    pub(crate) about: Vec<String>,
    /// Sort order
    #[arg(long, value_enum, default_value_t = SortArg::Created)]
    pub(crate) sort: SortArg,
    /// Maximum number of memories
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, conflicts_with = "all",
        value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) limit: u64,
    /// Skip the first N memories
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,
    /// List all memories
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

/// The flags that confirm a removal, or only show what would be removed.
#[derive(Debug, Args)]
pub(crate) struct RemovalConfirmArgs {
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Show the memories that would be affected, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Ids, or beginnings of ids
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) consent: RemovalConfirmArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShareArgs {
    /// Ids, or beginnings of ids
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Show the files that would be written or removed, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShareWithArgs {
    #[command(flatten)]
    pub(crate) share: ShareArgs,
    /// Share the memories with the team of `team.url` instead of as files
    #[arg(long)]
    pub(crate) team: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SyncNotesArgs {
    /// Remote to exchange files with [default: origin, if there is one]
    #[arg(value_name = "REMOTE")]
    pub(crate) remote: Option<String>,
    /// Also remove for everybody the files that were removed here without memo, as with rm or git clean
    #[arg(long)]
    pub(crate) removed: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// Words, "phrases", prefix*, AND OR NOT
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// How to match
    #[arg(short, long, value_enum, default_value_t = SearchModeArg::Hybrid)]
    pub(crate) mode: SearchModeArg,
    #[command(flatten)]
    pub(crate) memories: MemoryScopeArgs,
    /// Maximum number of memories
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=200))]
    pub(crate) limit: u64,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PromoteArgs {
    /// Id, or the beginning of one
    pub(crate) id: String,
    /// Tier to move the memory up to [default: the next tier]
    #[arg(long, value_enum, value_name = "TIER")]
    pub(crate) to: Option<TierArg>,
}

/// Parses `KEY=VALUE`; the value is JSON, or else plain text.
pub(super) fn parse_metadata(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    if key.is_empty() {
        return Err("the key is empty".to_owned());
    }
    Ok((key.to_owned(), parse_with_exact_numbers(value).unwrap_or_else(|_| Value::from(value))))
}

fn state_parser() -> impl TypedValueParser<Value = AnchorState> {
    PossibleValuesParser::new(AnchorState::ALL.map(AnchorState::as_str))
        .map(|word| AnchorState::parse(&word).expect("the parser accepts only names of states"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_is_json_or_text() {
        let cases = [("a=1", ("a", json!(1))), ("a=b=c", ("a", json!("b=c"))), ("a=", ("a", json!("")))];
        for (typed, (key, value)) in cases {
            assert_eq!(parse_metadata(typed), Ok((key.to_owned(), value)));
        }
        assert!(parse_metadata("a").is_err() && parse_metadata("=a").is_err());
    }

    #[test]
    fn a_number_that_would_be_written_otherwise_stays_text() {
        for typed in ["1.10", "7654321e12", "123456789012345678901234567890", "1e400"] {
            assert_eq!(parse_metadata(&format!("k={typed}")).unwrap().1, Value::from(typed));
        }
        assert_eq!(parse_metadata("k=-12").unwrap().1, Value::from(-12));
    }
}
