//! Holds the queries that find definitions and uses in the syntax trees of each language; README.md says how they are written.

/// `bash/tags.scm`.
pub const BASH: &str = include_str!("bash/tags.scm");
/// `c-sharp/tags.scm`.
pub const C_SHARP: &str = include_str!("c-sharp/tags.scm");
/// `c/tags.scm`.
pub const C: &str = include_str!("c/tags.scm");
/// `cpp/tags.scm`.
pub const CPP: &str = include_str!("cpp/tags.scm");
/// `elixir/tags.scm`.
pub const ELIXIR: &str = include_str!("elixir/tags.scm");
/// `go/tags.scm`.
pub const GO: &str = include_str!("go/tags.scm");
/// `haskell/tags.scm`.
pub const HASKELL: &str = include_str!("haskell/tags.scm");
/// `java/tags.scm`.
pub const JAVA: &str = include_str!("java/tags.scm");
/// `javascript/jsx.scm`.
pub const JAVASCRIPT_JSX: &str = include_str!("javascript/jsx.scm");
/// `javascript/shared.scm`.
pub const JAVASCRIPT_SHARED: &str = include_str!("javascript/shared.scm");
/// `javascript/tags.scm`.
pub const JAVASCRIPT: &str = include_str!("javascript/tags.scm");
/// `kotlin/tags.scm`.
pub const KOTLIN: &str = include_str!("kotlin/tags.scm");
/// `lua/tags.scm`.
pub const LUA: &str = include_str!("lua/tags.scm");
/// `php/tags.scm`.
pub const PHP: &str = include_str!("php/tags.scm");
/// `python/tags.scm`.
pub const PYTHON: &str = include_str!("python/tags.scm");
/// `ruby/tags.scm`.
pub const RUBY: &str = include_str!("ruby/tags.scm");
/// `rust/tags.scm`.
pub const RUST: &str = include_str!("rust/tags.scm");
/// `scala/tags.scm`.
pub const SCALA: &str = include_str!("scala/tags.scm");
/// `swift/tags.scm`.
pub const SWIFT: &str = include_str!("swift/tags.scm");
/// `typescript/tags.scm`.
pub const TYPESCRIPT: &str = include_str!("typescript/tags.scm");
/// `zig/tags.scm`.
pub const ZIG: &str = include_str!("zig/tags.scm");
