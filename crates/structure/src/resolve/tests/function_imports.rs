//! Checks that an import in a function holds there alone.

use super::check;

#[test]
fn an_import_in_a_function_of_javascript_holds_there_alone() {
    let repository = "\
== a.js
class Store { load() {} }
function open() {}
module.exports = { Store, open };
== b.js
class Store { load() {} }
function open() {}
module.exports = { Store, open };
== use.js
function one() {
  const { Store, open } = require('./a');
  const store = new Store();
  store.load();
  open();
}
async function two(
  path,
) {
  const { Store, open } = await import('./b');
  const store = new Store();
  store.load();
  open();
}
function three() {
  open();
}
const four = () => {
  let b;
  if (x) {
    b = require('./b');
  }
  b.open();
};
function five() {
  b.open();
}
";
    check(repository, "load", &["use.js:4 exact a.js#Store.load", "use.js:12 exact b.js#Store.load"]);
    check(
        repository,
        "open",
        &[
            "a.js:3 exact a.js#open",
            "b.js:3 exact b.js#open",
            "use.js:2 exact a.js#open",
            "use.js:5 exact a.js#open",
            "use.js:10 exact b.js#open",
            "use.js:13 exact b.js#open",
            "use.js:16 nothing",
            "use.js:23 exact b.js#open",
            "use.js:26 nothing",
        ],
    );
}

#[test]
fn an_import_in_a_function_of_typescript_hides_what_is_around_it() {
    let repository = "\
== a.ts
export function run() {}
export class Job { start() {} }
== use.ts
function run() {}
class Job { start() {} }
function one() {
  const { run, Job } = require('./a');
  run();
  new Job().start();
}
class Worker {
  async work() {
    const a = await import('./a');
    a.run();
    run();
    const job = new a.Job();
    job.start();
  }
}
";
    check(
        repository,
        "run",
        &[
            "use.ts:4 exact a.ts#run",
            "use.ts:5 exact a.ts#run",
            "use.ts:11 exact a.ts#run",
            "use.ts:12 exact use.ts#run",
        ],
    );
    check(repository, "start", &["use.ts:6 exact a.ts#Job.start", "use.ts:14 exact a.ts#Job.start"]);
}

#[test]
fn a_use_in_a_function_of_rust_holds_there_alone() {
    let repository = "\
== Cargo.toml
[package]
name = \"shop\"
== src/lib.rs
mod a;
mod b;
mod user;
== src/a.rs
pub struct Store;
impl Store { pub fn load(&self) {} pub fn new() -> Self { Store } }
pub fn open() {}
== src/b.rs
pub struct Store;
impl Store { pub fn load(&self) {} pub fn new() -> Self { Store } }
pub fn open() {}
== src/user.rs
fn one() {
    use crate::a::{Store, open};
    let store = Store::new();
    store.load();
    open();
}
fn two() {
    use crate::b::{Store, open};
    Store::new().load();
    open();
}
fn three() {
    use crate::b::*;
    open();
    Store::new().load();
}
mod inner {
    use crate::a::Store;
    fn four(store: &Store) { store.load(); }
}
fn five() { crate::a::open(); }
";
    check(
        repository,
        "open",
        &[
            "src/user.rs:2 exact src/a.rs#open",
            "src/user.rs:5 exact src/a.rs#open",
            "src/user.rs:8 exact src/b.rs#open",
            "src/user.rs:10 exact src/b.rs#open",
            "src/user.rs:14 exact src/b.rs#open",
            "src/user.rs:21 exact src/a.rs#open",
        ],
    );
    check(
        repository,
        "load",
        &[
            "src/user.rs:4 exact src/a.rs#Store::load",
            "src/user.rs:9 exact src/b.rs#Store::load",
            "src/user.rs:15 exact src/b.rs#Store::load",
            "src/user.rs:19 exact src/a.rs#Store::load",
        ],
    );
}
