//! Does a brief say first what the project is, whatever it is written in?

use crate::live::Live;

/// Returns the lines of the brief's first section.
fn project(live: &Live) -> Vec<String> {
    // The brief waits two seconds for the index, which takes longer for thousands of targets while other tests run.
    live.memo(&["search", "anything", "--wait-ms=60000"]).output().unwrap();
    let output = live.memo(&["brief", "--budget", "2000"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let Some(rest) = text.strip_prefix("## Project\n") else { return Vec::new() };
    rest.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn repository(files: &[(&str, &str)]) -> Live {
    let live = Live::new();
    for (path, text) in files {
        live.write(path, text);
    }
    live
}

#[test]
fn a_workspace_of_rust() {
    let live = repository(&[
        (
            "README.md",
            "[![ci](a)](b)\n\n# Shop\n\n<p align=\"center\">buy</p>\n\nShop sells [things](x) over a counter. It is small.\n\nMore of it.\n",
        ),
        (
            "Cargo.toml",
            "[package]\nname = \"shop\"\n[workspace]\nmembers = [\"crates/till\"]\n[dependencies]\naxum = \"1\"\n",
        ),
        ("crates/till/Cargo.toml", "[package]\nname = \"till\"\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("crates/till/src/bin/count.rs", "fn main() { println!(\"counted, one by one\"); }\n"),
        ("crates/till/build.rs", "fn main() {}\n"),
        ("examples/buy.rs", "fn main() {}\n"),
        ("vendor/lib/big.c", &"int vendored(void) { return 1; }\n".repeat(99)),
        ("tests/fixtures/page.py", &"def page(): pass\n".repeat(99)),
    ]);
    let expected = [
        "Shop sells things over a counter. It is small.",
        "- languages: rust 100 %",
        "- entry points: shop = src/main.rs, count = crates/till/src/bin/count.rs",
        "- cargo build, cargo test (Cargo.toml)",
        "- built with axum (Cargo.toml)",
        "- packages crates/till (Cargo.toml)",
    ];
    assert_eq!(project(&live), expected);
    live.write("web/app.ts", "export function vended(): number { return 1; }\n".repeat(3));
    live.remove("src/main.rs");
    let lines = project(&live);
    assert!(lines[1].contains("typescript") && lines[1].contains("rust"), "{lines:?}");
    assert_eq!(lines[2], "- entry points: count = crates/till/src/bin/count.rs", "{lines:?}");
}

#[test]
fn packages_of_python_go_and_javascript() {
    let python = repository(&[
        ("README.rst", "Scales\n======\n\n.. image:: x.png\n\nScales weighs what is sold in shops.\n"),
        (
            "pyproject.toml",
            "[project]\nname = \"scales\"\n[project.scripts]\nweigh = \"scales.cli:main\"\n[dependency-groups]\ndev = [\"pytest>=8\"]\n",
        ),
        ("src/scales/__main__.py", "from scales.cli import main\n\nmain()\n"),
        ("src/scales/cli.py", "def main(): pass\n"),
        ("uv.lock", "version = 1\n"),
    ]);
    let expected = [
        "Scales weighs what is sold in shops.",
        "- languages: python 100 %",
        "- entry points: weigh = scales.cli:main, python -m scales",
        "- uv run pytest (pyproject.toml)",
    ];
    assert_eq!(project(&python), expected);
    let go = repository(&[
        ("go.mod", "module example.org/till\n\ngo 1.25\n"),
        ("README.md", "# Till\n\nWe are happy to announce a release!\n\nTill is a till for shops.\n"),
        ("cmd/till/main.go", "package main\n\nfunc main() {}\n"),
        ("cmd/till/main_test.go", "package main\n\nfunc TestMain() {}\n"),
        ("till.go", "package till\n\nfunc Count() int { return 1 }\n"),
    ]);
    let expected = [
        "Till is a till for shops.",
        "- languages: go 100 %",
        "- entry points: ./cmd/till",
        "- go build ./..., go test ./... (go.mod)",
    ];
    assert_eq!(project(&go), expected);
    let node = repository(&[
        (
            "package.json",
            "{\"private\": true, \"repository\": {\"url\": \"git+https://x.y/a/web-shop.git\"}, \"scripts\": {\"test\": \"vitest\"}}",
        ),
        ("pnpm-lock.yaml", "lockfileVersion: 9\n"),
        (
            "packages/web-shop/package.json",
            "{\"name\": \"@a/web-shop\", \"bin\": {\"shop\": \"./dist/cli.js\"}}",
        ),
        ("packages/web-shop/README.md", "Sells things in the browser.\n"),
        ("packages/web-shop/src/index.ts", "export const price = 1;\n"),
        ("packages/other/README.md", "Does something else entirely.\n"),
    ]);
    let expected = [
        "web-shop: Sells things in the browser.",
        "- languages: typescript 100 %",
        "- entry points: shop = packages/web-shop/dist/cli.js",
        "- pnpm run test (package.json)",
    ];
    assert_eq!(project(&node), expected);
}

#[test]
fn no_manifest_is_too_odd() {
    let deep = format!("{{\"scripts\": {}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let toml = format!("[project]\nname = {}1{}\n", "[".repeat(5_000), "]".repeat(5_000));
    let targets: String = (0..5_000).map(|nth| format!("target-{nth}:\n")).collect();
    let live = repository(&[
        ("package.json", &deep),
        ("pyproject.toml", &toml),
        ("Cargo.toml", "[package]\nname = 3\n[[bin]]\nname = [\"x\"]\n[workspace]\nmembers = \"all\"\n"),
        ("composer.json", "[]"),
        ("go.mod", "module"),
        ("Makefile", &targets),
        ("README.md", &format!("Sells {} at once.\n", "a\u{202e}b\u{1b}[2J ".repeat(9_000))),
        ("src/a.rs", "pub fn a() {}\n"),
    ]);
    let lines = project(&live);
    assert!(lines[0].starts_with("Sells a\\u{202e}b\\u{1b}[2J a"), "{lines:?}");
    assert!(lines.iter().any(|line| line == "- cargo build, cargo test (Cargo.toml)"), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("- make target-0 | target-1 ")), "{lines:?}");
    assert!(lines.iter().all(|line| line.chars().count() < 1_000), "{lines:?}");
}

#[test]
fn what_may_not_be_read_is_not_told() {
    let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let live = repository(&[
        ("README.md", &format!("Shop is a shop whose token is {token} today.\n")),
        ("src/a.rs", "pub fn a() {}\n"),
    ]);
    let lines = project(&live);
    assert!(lines[0].starts_with("Shop is a shop") && !lines[0].contains(&token), "{lines:?}");
    live.write(".gitignore", "README.md\n");
    assert_eq!(project(&live), ["- languages: rust 100 %"], "what is not indexed is not told");
}
