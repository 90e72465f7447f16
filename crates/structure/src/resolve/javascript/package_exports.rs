//! Reads what a `package.json` says its names mean: `exports`, `imports`, and the entries of a package.

use serde_json::{Map, Value};

/// Conditions of `exports` and `imports`, the most preferred first: sources, then types, then what runs.
const CONDITIONS: [&str; 14] = [
    "source",
    "types",
    "import",
    "module",
    "require",
    "node",
    "development",
    "default",
    "browser",
    "svelte",
    "bun",
    "deno",
    "worker",
    "production",
];
/// Fields that name the entry of a package, the most preferred first.
const MAIN_FIELDS: [&str; 6] = ["source", "types", "typings", "svelte", "module", "main"];

/// Returns the targets of a name in `exports` or `imports`, relative to the package, the most preferred first. `custom` are
/// conditions of the repository, which come before the others.
pub(super) fn find_targets(field: &Value, name: &str, custom: &[String]) -> Vec<String> {
    let Some(names) = field.as_object().filter(|names| names.keys().any(|key| key.starts_with(['.', '#'])))
    else {
        // Without names, the value is that of the package itself.
        return if name == "." { list_targets(field, "", custom) } else { Vec::new() };
    };
    if let Some(target) = names.get(name) {
        return list_targets(target, "", custom);
    }
    let patterns = names.iter().filter_map(|(pattern, target)| {
        let (start, end) = pattern.split_once('*')?;
        let inner = name.strip_prefix(start)?.strip_suffix(end)?;
        Some((start.len(), inner, target))
    });
    let best = patterns.max_by_key(|(n_bytes, _, _)| *n_bytes);
    best.map_or_else(Vec::new, |(_, inner, target)| list_targets(target, inner, custom))
}

/// Returns the entries of a package that has no `exports`.
pub(super) fn list_entries(manifest: &Map<String, Value>) -> impl Iterator<Item = &str> {
    MAIN_FIELDS.iter().filter_map(|field| manifest.get(*field)?.as_str())
}

fn list_targets(target: &Value, inner: &str, custom: &[String]) -> Vec<String> {
    match target {
        Value::String(path) => vec![path.replace('*', inner)],
        Value::Array(list) => list.iter().flat_map(|target| list_targets(target, inner, custom)).collect(),
        Value::Object(conditions) => {
            let known = custom.iter().map(String::as_str).chain(CONDITIONS);
            let targets = known.filter_map(|condition| conditions.get(condition));
            targets.flat_map(|target| list_targets(target, inner, custom)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_lead_to_targets() {
        let exports = json!({
            ".": { "import": { "types": "./d.ts", "default": "./m.js" }, "require": "./c.js" },
            "./a/*": "./src/a/*.ts",
            "./a/b/*": ["./src/b/*.ts"],
            "./none": null,
            "./own": { "@own": "./o.ts", "types": "./t.ts" }
        });
        let custom = ["@own".to_owned()];
        for (name, expected) in [
            (".", &["./d.ts", "./m.js", "./c.js"][..]),
            ("./a/x", &["./src/a/x.ts"]),
            ("./a/b/x", &["./src/b/x.ts"]),
            ("./none", &[]),
            ("./other", &[]),
            ("./own", &["./o.ts", "./t.ts"]),
        ] {
            assert_eq!(find_targets(&exports, name, &custom), expected, "{name}");
        }
        assert_eq!(find_targets(&json!("./x.js"), ".", &custom), ["./x.js"]);
        assert_eq!(find_targets(&json!({ "#env": "./e.ts" }), "#env", &custom), ["./e.ts"]);
    }
}
