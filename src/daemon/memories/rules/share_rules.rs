//! Decides by the settings which memories are shared as files, and which with a team.

use memod_memory_db::MemoryRecord;

/// The tags and containers whose memories are shared when they are written.
#[derive(Clone, Debug, Default)]
pub(in crate::daemon) struct ShareRules {
    tags: Vec<String>,
    containers: Vec<String>,
}

impl ShareRules {
    pub(in crate::daemon::memories) fn new(tags: &str, containers: &str) -> Self {
        let [tags, containers] =
            [tags, containers].map(|list| split_names(list).map(str::to_lowercase).collect());
        Self { tags, containers }
    }

    /// Returns whether a memory is shared once it is written.
    pub(in crate::daemon::memories) fn shares_record(&self, record: &MemoryRecord) -> bool {
        self.containers.contains(&record.container) || record.tags.iter().any(|tag| self.tags.contains(tag))
    }
}

/// The reason why a repository takes part in no team.
#[derive(Clone, Debug)]
pub(in crate::daemon) struct NoTeam {
    pub(in crate::daemon) why: String,
    /// How the repository can take part in a team.
    pub(in crate::daemon) hint: &'static str,
}

/// Whether a repository takes part in a team.
#[derive(Clone, Debug)]
pub(in crate::daemon) enum TeamAccess {
    Outside(NoTeam),
    /// The name of the repository for the team, and the rules by which memories are shared with the team when they are written.
    Member(String, Box<ShareRules>),
}

impl TeamAccess {
    /// Returns whether the settings let a repository with this remote take part in a team.
    pub(in crate::daemon) fn from_config(config: &memod_config::TeamSettings, remote: Option<&str>) -> Self {
        if config.url.is_empty() {
            return Self::without_team(
                "team.url is not set",
                "`memo config set --user team.url postgres://ROLE@HOST/DATABASE`, and team.repositories",
            );
        }
        let Some(remote) = remote else {
            return Self::without_team(
                "the repository has no remote `origin` on another machine; the address of that remote is its name for the team",
                "set the remote with `git remote add origin URL`, or with `set-url` in place of `add`",
            );
        };
        if !is_listed(&config.repositories, remote) {
            return Self::without_team(
                &format!("{remote} is not in team.repositories"),
                "add it with `memo config set --user team.repositories NAMES`, with commas between the names",
            );
        }
        Self::Member(remote.to_owned(), Box::new(ShareRules::new(&config.tags, &config.containers)))
    }

    fn without_team(why: &str, hint: &'static str) -> Self {
        Self::Outside(NoTeam { why: format!("there is no team: {why}"), hint })
    }

    /// Returns whether a memory is shared with the team once it is written.
    pub(in crate::daemon::memories) fn shares_with_team(&self, record: &MemoryRecord) -> bool {
        matches!(self, Self::Member(_, rules) if rules.shares_record(record))
    }
}

/// Returns whether a list of names, or of prefixes that end with `*`, contains a repository.
pub(in crate::daemon) fn is_listed(list: &str, repository: &str) -> bool {
    split_names(list)
        .any(|name| name.strip_suffix('*').map_or(name == repository, |start| repository.starts_with(start)))
}

fn split_names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_repositories_take_part() {
        let of = |repositories: &str, remote| {
            let url = "postgres://ann@localhost/team".to_owned();
            let config = memod_config::TeamSettings {
                url,
                repositories: repositories.to_owned(),
                ..memod_config::TeamSettings::default()
            };
            matches!(TeamAccess::from_config(&config, remote), TeamAccess::Member(..))
        };
        assert!(of("github.com/acme/shop", Some("github.com/acme/shop")));
        assert!(of("x, github.com/acme/*", Some("github.com/acme/shop")));
        assert!(!of("github.com/acme/*", Some("github.com/acme-private/shop")));
        assert!(!of("github.com/acme/shop", Some("github.com/acme/shop2")));
        assert!(!of("", Some("github.com/acme/shop")));
        assert!(!of("*", None));
    }
}
