//! Finds the files that imports of JavaScript and TypeScript mean, by the rules of Node.js and of the TypeScript compiler.
//!
//! It knows the paths of the worktree and the texts of its manifests, and reads nothing else.

mod built_files;
mod compiler_configs;
mod config_globs;
mod module_resolver;
mod package_exports;

pub(super) use self::compiler_configs::is_compiler_config;
pub(super) use self::module_resolver::{JavaScriptManifests, ModuleResolver};
