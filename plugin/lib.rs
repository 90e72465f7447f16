//! Embeds the instructions and skills that `memo setup` writes into the settings of agents.

/// The instructions for agents. They have at most 120 words, because an agent reads them in every session.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");

/// Name and text of each skill. The plugins for agents contain the same skills.
pub const SKILLS: [(&str, &str); 4] = [
    ("memod-search", include_str!("skills/memod-search/SKILL.md")),
    ("memod-remember", include_str!("skills/memod-remember/SKILL.md")),
    ("memod-duplicates", include_str!("skills/memod-duplicates/SKILL.md")),
    ("memod-contradictions", include_str!("skills/memod-contradictions/SKILL.md")),
];
