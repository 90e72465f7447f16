//! Checks which file an import of JavaScript or TypeScript means, by the configurations and manifests of a repository.

use super::check;

/// Checks that an import written as `import` in `from` means `file`, or nothing if that is empty. Each file of JavaScript in the
/// fixture defines `go`, so that every way to spell an import shows where it leads.
fn check_import(manifests: &str, files: &[&str], from: &str, imports: &[(&str, &str)]) {
    for (import, file) in imports {
        let defining = files.iter().map(|path| format!("== {path}\nexport function go() {{}}\n"));
        let repository = format!(
            "{manifests}{}== {from}\nimport {{ go }} from '{import}';\n",
            defining.collect::<String>()
        );
        let expected = match *file {
            "" => format!("{from}:1 nothing"),
            file => format!("{from}:1 exact {file}#go"),
        };
        check(&repository, "go", &[&expected]);
    }
}

#[test]
fn endings_and_index_files_may_be_left_out() {
    check_import(
        "",
        &[
            "src/a.ts",
            "src/b.tsx",
            "src/c/index.ts",
            "src/d.mts",
            "src/e.d.ts",
            "src/f.js",
            "index.ts",
            "src/g.jsx",
        ],
        "src/use.ts",
        &[
            ("./a", "src/a.ts"),
            ("./a.ts", "src/a.ts"),
            ("./a.js", "src/a.ts"),
            ("./a.js?raw", "src/a.ts"),
            ("./b", "src/b.tsx"),
            ("./b.jsx", "src/b.tsx"),
            ("./c", "src/c/index.ts"),
            ("./c/", "src/c/index.ts"),
            ("./c/index.js", "src/c/index.ts"),
            ("./d.mjs", "src/d.mts"),
            ("./e", "src/e.d.ts"),
            ("./f", "src/f.js"),
            ("./g.jsx", "src/g.jsx"),
            ("..", "index.ts"),
            ("../src/a", "src/a.ts"),
            ("../../a", ""),
            ("./none", ""),
            ("a", ""),
            ("@/a", "src/a.ts"),
        ],
    );
}

#[test]
fn the_nearest_configuration_decides_what_an_alias_means() {
    let manifests = "\
== tsconfig.base.json
{ // with comments
  \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@repo/ui\": [\"libs/ui/src/index.ts\"], \"@lib/*\": [\"libs/*/src\"], }, },
}
== apps/one/tsconfig.json
{\"compilerOptions\": {\"paths\": {\"@/*\": [\"./src/*\"], \"~one\": [\"./src/special/thing.ts\"]}}}
== apps/two/tsconfig.json
{\"extends\": [\"@tsconfig/node20/tsconfig.json\", \"./tsconfig.more.json\"], \"include\": [\"src\"]}
== apps/two/tsconfig.more.json
{\"compilerOptions\": {\"paths\": {\"@/*\": [\"./src/*\", \"./gen/*\"]}}}
== apps/three/tsconfig.json
{\"extends\": \"../../tsconfig.base.json\", \"references\": [{\"path\": \"./tsconfig.app.json\"}], \"files\": [], \"include\": []}
== apps/three/tsconfig.app.json
{\"extends\": \"./tsconfig.json\", \"include\": [\"src/**/*.ts\"]}
== apps/four/jsconfig.json
{\"compilerOptions\": {\"baseUrl\": \"src\"}}
== apps/five/tsconfig.json
{\"references\": [{\"path\": \"./tsconfig.app.json\"}, {\"path\": \"./tsconfig.gone.json\"}], \"files\": []}
== apps/five/tsconfig.app.json
{\"compilerOptions\": {\"paths\": {\"#a/*\": [\"./src/*\"]}}, \"include\": [\"src\"]}
== apps/six/tsconfig.json
{\"extends\": \"@repo/config/strict\"}
== tools/config/package.json
{\"name\": \"@repo/config\"}
== tools/config/strict.json
{\"compilerOptions\": {\"paths\": {\"$lib/*\": [\"${configDir}/lib/*\"]}}}
";
    let files = [
        "apps/one/src/lib/utils.ts",
        "apps/two/src/lib/utils.ts",
        "apps/two/gen/schema.ts",
        "apps/one/src/special/thing.ts",
        "libs/ui/src/index.ts",
        "libs/data/src/index.ts",
        "apps/four/src/helpers/a.js",
        "apps/five/src/b.ts",
        "apps/six/lib/c.ts",
    ];
    for (from, imports) in [
        (
            "apps/one/src/use.ts",
            &[
                ("@/lib/utils", "apps/one/src/lib/utils.ts"),
                ("~one", "apps/one/src/special/thing.ts"),
                ("@repo/ui", ""),
            ][..],
        ),
        (
            "apps/two/src/use.tsx",
            &[("@/lib/utils", "apps/two/src/lib/utils.ts"), ("@/schema", "apps/two/gen/schema.ts")],
        ),
        // A file that no configuration includes has the nearest one.
        ("apps/two/test/use.test.ts", &[("@/lib/utils", "apps/two/src/lib/utils.ts")]),
        ("apps/one/src/use.js", &[("@/lib/utils", "apps/one/src/lib/utils.ts")]),
        (
            "apps/three/src/use.ts",
            &[
                ("@repo/ui", "libs/ui/src/index.ts"),
                ("@lib/data", "libs/data/src/index.ts"),
                ("@lib/none", ""),
            ],
        ),
        ("apps/four/src/use.js", &[("helpers/a", "apps/four/src/helpers/a.js")]),
        ("apps/five/src/use.ts", &[("#a/b", "apps/five/src/b.ts")]),
        ("apps/five/other.ts", &[("#a/b", "apps/five/src/b.ts")]),
        ("apps/six/use.ts", &[("$lib/c", "apps/six/lib/c.ts")]),
    ] {
        check_import(manifests, &files, from, imports);
    }
}

#[test]
fn manifests_say_what_the_names_of_packages_mean() {
    let manifests = "\
== package.json
{\"name\": \"root\", \"workspaces\": [\"packages/*\"]}
== packages/money/package.json
{\"name\": \"@a/money\", \"main\": \"./dist/index.js\", \"types\": \"./dist/index.d.ts\"}
== packages/ui/package.json
{
  \"name\": \"ui\",
  \"exports\": {
    \".\": {\"types\": \"./dist/index.d.ts\", \"import\": \"./dist/index.mjs\", \"require\": \"./dist/index.cjs\"},
    \"./button\": {\"import\": {\"types\": \"./dist/button.d.mts\", \"default\": \"./dist/button.mjs\"}},
    \"./icons/*\": \"./src/icons/*.tsx\",
    \"./hooks\": [\"./src/hooks/index.ts\"],
    \"./private\": null
  },
  \"imports\": {\"#internal/*\": \"./src/internal/*.ts\", \"#env\": {\"node\": \"./src/env.node.ts\", \"default\": \"./src/env.ts\"}}
}
== packages/bundle/package.json
{\"name\": \"bundle\", \"main\": \"index.js\", \"module\": \"dist/bundle.esm-bundler.js\", \"exports\": {\".\": \"./dist/bundle.cjs.js\"}}
== packages/bare/package.json
{\"name\": \"bare\"}
== packages/source/package.json
{\"name\": \"sourced\", \"exports\": {\".\": {\"@own/source\": \"./src/main.ts\", \"import\": \"./dist/x.js\"}}}
== tsconfig.json
{\"compilerOptions\": {\"customConditions\": [\"@own/source\"]}}
";
    let files = [
        "packages/money/src/index.ts",
        "packages/money/src/format.ts",
        "packages/ui/src/index.ts",
        "packages/ui/src/button.tsx",
        "packages/ui/src/icons/star.tsx",
        "packages/ui/src/hooks/index.ts",
        "packages/ui/src/internal/a.ts",
        "packages/ui/src/env.node.ts",
        "packages/bundle/src/index.ts",
        "packages/bare/lib/index.js",
        "packages/bare/deep/file.js",
        "packages/source/src/main.ts",
    ];
    check_import(
        manifests,
        &files,
        "apps/web/src/use.ts",
        &[
            ("@a/money", "packages/money/src/index.ts"),
            ("@a/money/dist/format", "packages/money/src/format.ts"),
            ("@a/money/src/format", "packages/money/src/format.ts"),
            ("@a/money/format", "packages/money/src/format.ts"),
            ("ui", "packages/ui/src/index.ts"),
            ("ui/button", "packages/ui/src/button.tsx"),
            ("ui/icons/star", "packages/ui/src/icons/star.tsx"),
            ("ui/hooks", "packages/ui/src/hooks/index.ts"),
            ("bundle", "packages/bundle/src/index.ts"),
            ("bare", "packages/bare/lib/index.js"),
            ("bare/deep/file", "packages/bare/deep/file.js"),
            ("sourced", "packages/source/src/main.ts"),
            ("react", ""),
            ("node:fs", ""),
            ("#internal/a", ""),
        ],
    );
    check_import(
        manifests,
        &files,
        "packages/ui/src/use.ts",
        &[
            ("#internal/a", "packages/ui/src/internal/a.ts"),
            ("#env", "packages/ui/src/env.node.ts"),
            ("ui/button", "packages/ui/src/button.tsx"),
        ],
    );
}

#[test]
fn declarations_bring_in_the_file_that_they_describe() {
    check(
        "\
== packages/typed/package.json
{\"name\": \"typed\", \"types\": \"index.d.ts\", \"main\": \"index.js\"}
== packages/typed/index.d.ts
export function go(): void;
== packages/typed/index.js
export function go() {}
== apps/web/use.ts
import { go } from 'typed';
",
        "go",
        &["apps/web/use.ts:1 exact packages/typed/index.d.ts#go packages/typed/index.js#go"],
    );
}

#[test]
fn broken_and_circular_configurations_are_left_out() {
    let manifests = "\
== tsconfig.json
{\"compilerOptions\": {\"paths\": {\"@/*\": [\"./src/*\"]}}}
== app/tsconfig.json
{ broken
== one/tsconfig.json
{\"extends\": \"./other.json\", \"compilerOptions\": {\"paths\": {\"$/*\": [\"./src/*\"]}}}
== one/other.json
{\"extends\": \"./tsconfig.json\"}
== app/package.json
{ broken
";
    let files = ["src/a.ts", "one/src/b.ts"];
    check_import(manifests, &files, "app/use.ts", &[("@/a", "src/a.ts"), ("../src/a", "src/a.ts")]);
    check_import(manifests, &files, "one/use.ts", &[("$/b", "one/src/b.ts")]);
}
