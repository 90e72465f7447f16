//! Says which memories are shared by the settings, and with whom.

use memod_memory_db::Record;

/// Which memories are shared as they are written.
#[derive(Clone, Debug, Default)]
pub(in crate::daemon) struct ShareRules {
    tags: Vec<String>,
    containers: Vec<String>,
}

impl ShareRules {
    pub(super) fn new(tags: &str, containers: &str) -> Self {
        let lower = |list: &str| names(list).map(str::to_lowercase).collect();
        Self { tags: lower(tags), containers: lower(containers) }
    }

    /// Returns whether a memory is shared once it is written.
    pub(super) fn shares(&self, record: &Record) -> bool {
        self.containers.contains(&record.container) || record.tags.iter().any(|tag| self.tags.contains(tag))
    }
}

/// Why a repository takes part in no team.
#[derive(Clone, Debug)]
pub(in crate::daemon) struct NoTeam {
    pub(in crate::daemon) why: String,
    /// What to do.
    pub(in crate::daemon) hint: &'static str,
}

/// Whether a repository takes part in a team.
#[derive(Clone, Debug)]
pub(in crate::daemon) enum TeamAccess {
    No(NoTeam),
    /// Under this name, with these memories as they are written.
    Yes(String, Box<ShareRules>),
}

impl TeamAccess {
    /// Returns what the settings say of a repository with this remote.
    pub(in crate::daemon) fn of(config: &memod_config::Team, remote: Option<&str>) -> Self {
        let no = |why: String, hint| Self::No(NoTeam { why: format!("there is no team: {why}"), hint });
        if config.url.is_empty() {
            return no(
                "team.url is not set".to_owned(),
                "`memo config set --user team.url postgres://ROLE@HOST/DATABASE`, and team.repositories",
            );
        }
        let Some(remote) = remote else {
            return no(
                "the repository has no remote `origin` on another machine, whose address is its name for the team".to_owned(),
                "`git remote add origin URL`, or `set-url` in place of `add`, gives it that name",
            );
        };
        if !is_listed(&config.repositories, remote) {
            return no(
                format!("{remote} is none of team.repositories"),
                "`memo config set --user team.repositories NAMES` says which take part, with commas between them",
            );
        }
        Self::Yes(remote.to_owned(), Box::new(ShareRules::new(&config.tags, &config.containers)))
    }

    /// Returns whether a memory is the team's once it is written.
    pub(super) fn takes(&self, record: &Record) -> bool {
        matches!(self, Self::Yes(_, rules) if rules.shares(record))
    }
}

/// Returns whether a list of names, or beginnings with an `*`, has a repository.
pub(in crate::daemon) fn is_listed(list: &str, repository: &str) -> bool {
    let fits =
        |name: &str| name.strip_suffix('*').map_or(name == repository, |start| repository.starts_with(start));
    names(list).any(fits)
}

fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_repositories_take_part() {
        let of = |repositories: &str, remote| {
            let url = "postgres://ann@localhost/team".to_owned();
            let config = memod_config::Team {
                url,
                repositories: repositories.to_owned(),
                ..memod_config::Team::default()
            };
            matches!(TeamAccess::of(&config, remote), TeamAccess::Yes(..))
        };
        assert!(of("github.com/acme/shop", Some("github.com/acme/shop")));
        assert!(of("x, github.com/acme/*", Some("github.com/acme/shop")));
        assert!(!of("github.com/acme/*", Some("github.com/acme-private/shop")));
        assert!(!of("github.com/acme/shop", Some("github.com/acme/shop2")));
        assert!(!of("", Some("github.com/acme/shop")));
        assert!(!of("*", None));
    }
}
