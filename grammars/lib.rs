//! Contains the queries that find definitions and uses in the syntax trees of each language; README.md explains how to write
//! them.

/// The query in `bash/tags.scm`.
pub const BASH: &str = include_str!("bash/tags.scm");
/// The query in `c-sharp/tags.scm`.
pub const C_SHARP: &str = include_str!("c-sharp/tags.scm");
/// The query in `c/tags.scm`.
pub const C: &str = include_str!("c/tags.scm");
/// The query in `component/tags.scm`.
pub const COMPONENT: &str = include_str!("component/tags.scm");
/// The query in `cpp/tags.scm`.
pub const CPP: &str = include_str!("cpp/tags.scm");
/// The query in `elixir/tags.scm`.
pub const ELIXIR: &str = include_str!("elixir/tags.scm");
/// The query in `go/tags.scm`.
pub const GO: &str = include_str!("go/tags.scm");
/// The query in `haskell/tags.scm`.
pub const HASKELL: &str = include_str!("haskell/tags.scm");
/// The query in `java/tags.scm`.
pub const JAVA: &str = include_str!("java/tags.scm");
/// The query in `javascript/jsx.scm`.
pub const JAVASCRIPT_JSX: &str = include_str!("javascript/jsx.scm");
/// The query in `javascript/shared.scm`.
pub const JAVASCRIPT_SHARED: &str = include_str!("javascript/shared.scm");
/// The query in `javascript/tags.scm`.
pub const JAVASCRIPT: &str = include_str!("javascript/tags.scm");
/// The query in `kotlin/tags.scm`.
pub const KOTLIN: &str = include_str!("kotlin/tags.scm");
/// The query in `lua/tags.scm`.
pub const LUA: &str = include_str!("lua/tags.scm");
/// The query in `php/tags.scm`.
pub const PHP: &str = include_str!("php/tags.scm");
/// The query in `python/tags.scm`.
pub const PYTHON: &str = include_str!("python/tags.scm");
/// The query in `ruby/tags.scm`.
pub const RUBY: &str = include_str!("ruby/tags.scm");
/// The query in `rust/tags.scm`.
pub const RUST: &str = include_str!("rust/tags.scm");
/// The query in `scala/tags.scm`.
pub const SCALA: &str = include_str!("scala/tags.scm");
/// The query in `swift/tags.scm`.
pub const SWIFT: &str = include_str!("swift/tags.scm");
/// The query in `typescript/tags.scm`.
pub const TYPESCRIPT: &str = include_str!("typescript/tags.scm");
/// The query in `zig/tags.scm`.
pub const ZIG: &str = include_str!("zig/tags.scm");
