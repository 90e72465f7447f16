//! Resolves names in small repositories that are given as text.

mod bare_names;
mod bindings;
mod field_keys;
mod field_uses;
mod function_imports;
mod held_values;
mod javascript_names;
mod javascript_paths;
mod member_fields;
mod names_alone;
mod names_in_modules;
mod names_in_strings;
mod namespaces;
mod object_members;
mod overloads;
mod packages;
mod python_fakes;
mod python_fixtures;
mod python_keys;
mod python_names;
mod python_types;
mod shadowed_names;
mod type_aliases;
mod typed_names;
mod types_of_one_name;
mod visibility;

use std::sync::Arc;

use memod_base::types::FileStructure;
use memod_extract::extract;

use super::{DefinitionCandidate, Packages, PathIndex, ResolutionCache, Resolver, StructureStore};

struct Files(Vec<Arc<FileStructure>>, ResolutionCache);

impl StructureStore for Files {
    fn structure_of(&self, file: u32) -> Arc<FileStructure> {
        Arc::clone(&self.0[file as usize])
    }

    fn reset_steps(&self) {}

    fn count_step(&self) -> bool {
        true
    }

    fn definitions_named(&self, name: &str) -> Arc<[DefinitionCandidate]> {
        let mut found = Vec::new();
        for (file, structure) in self.0.iter().enumerate() {
            for (id, declared) in structure.declared.iter().enumerate() {
                let is_it = declared.role != memod_base::types::DeclaredRole::Scope && declared.names == name;
                found.extend(is_it.then_some(DefinitionCandidate { file: file as u32, declared: id as u32 }));
            }
        }
        found.into()
    }

    fn resolution_cache(&self) -> &ResolutionCache {
        &self.1
    }
}

/// Checks the uses of `name`: place, certainty, definitions (an overload with its line). A file begins with a line `== path`.
fn check(repository: &str, name: &str, expected: &[&str]) {
    assert_eq!(show(repository, name), expected, "{repository}");
}

/// Returns the uses of `name` in a repository, as [`check`] compares them.
fn show(repository: &str, name: &str) -> Vec<String> {
    let files: Vec<(&str, &str)> = repository
        .split("== ")
        .skip(1)
        .map(|file| file.split_once('\n').expect("a path has a line"))
        .collect();
    let mut packages = Packages::default();
    files.iter().for_each(|(path, text)| packages.add_manifest(path, text));
    let paths = PathIndex::new(files.iter().map(|(path, _)| (*path).to_owned())).with_packages(packages);
    let structures = files.iter().map(|(path, text)| Arc::new(extract(path, text).structure));
    let structures = Files(structures.collect(), ResolutionCache::default());
    let candidates = structures.definitions_named(name);
    let mut resolver = Resolver::new(&paths, &structures, name, &candidates);
    let wanted = candidates.iter().map(|candidate| candidate.file).collect();
    let mut learn = |file: usize| resolver.learn_aliases(file as u32, &structures.0[file], &wanted);
    while (0..files.len()).fold(false, |any, file| !learn(file).is_empty() | any) {}
    let mut shown = Vec::new();
    for (file, structure) in structures.0.iter().enumerate() {
        for of in resolver.find_uses(file as u32, structure) {
            let (certainty, mut found) = resolver.resolve_use(file as u32, structure, of);
            found.retain(|found| !found.is_named_by(file as u32, structure, of));
            let found: Vec<String> = found
                .iter()
                .map(|found| {
                    let declared = &structures.0[found.file as usize].declared;
                    let own = &declared[found.declared as usize];
                    let (path, title) = (files[found.file as usize].0, &own.title);
                    let is_overload = declared.iter().filter(|other| other.title == *title).count() > 1;
                    let line = if is_overload { format!(":{}", own.lines.0) } else { String::new() };
                    format!("{path}#{title}{line}")
                })
                .collect();
            let found = match found.as_slice() {
                [] => "nothing".to_owned(),
                _ => format!("{} {}", certainty.as_str(), found.join(" ")),
            };
            shown.push(format!("{}:{} {found}", files[file].0, of.line));
        }
    }
    shown
}

#[test]
fn go_shares_a_package_and_names_others() {
    let repository = "\
== go.mod
module example.com/m
== m.go
package m
func Load() {}
type T struct{}
func (t *T) Load() { t.Load(); Load() }
== other.go
package m
func f() { Load() }
== cmd/main.go
package main
import \"example.com/m\"
import \"plugin\"
func main() { m.Load(); plugin.Load(); Load() }
";
    check(
        repository,
        "Load",
        &[
            "m.go:4 exact m.go#T.Load",
            "m.go:4 exact m.go#Load",
            "other.go:2 exact m.go#Load",
            "cmd/main.go:4 exact m.go#Load",
            "cmd/main.go:4 nothing",
            "cmd/main.go:4 nothing",
        ],
    );
}

#[test]
fn rust_follows_paths_and_types() {
    let repository = "\
== src/lib.rs
mod a;
pub use a::open;
== src/a.rs
pub fn open() {}
pub struct Door;
impl Door {
    pub fn open(&self) { self.open(); Self::open(self); open() }
}
== src/b.rs
use crate::a::{self, Door};
use std::fs::File;
fn f(x: &Door) {
    a::open();
    crate::a::open();
    Door::open(x);
    File::open(\"x\");
    x.open();
    crate::open();
}
";
    check(
        repository,
        "open",
        &[
            "src/lib.rs:2 exact src/a.rs#open",
            "src/a.rs:4 exact src/a.rs#Door::open",
            "src/a.rs:4 exact src/a.rs#Door::open",
            "src/a.rs:4 exact src/a.rs#open",
            "src/b.rs:4 exact src/a.rs#open",
            "src/b.rs:5 exact src/a.rs#open",
            "src/b.rs:6 exact src/a.rs#Door::open",
            "src/b.rs:7 nothing",
            "src/b.rs:8 exact src/a.rs#Door::open",
            "src/b.rs:9 exact src/a.rs#open",
        ],
    );
}

#[test]
fn javascript_follows_relative_modules() {
    let repository = "\
== src/a.ts
export function read() {}
export class Reader { read() { this.read(); read() } }
== src/index.ts
export * from './a.js';
== src/b.ts
import { read as get } from '.';
import * as a from './a';
import { read } from 'fs';
get();
a.read();
read();
";
    check(
        repository,
        "read",
        &[
            "src/a.ts:2 exact src/a.ts#Reader.read",
            "src/a.ts:2 exact src/a.ts#read",
            "src/b.ts:1 exact src/a.ts#read",
            "src/b.ts:1 exact src/a.ts#read",
            "src/b.ts:3 nothing",
            "src/b.ts:4 exact src/a.ts#read",
            "src/b.ts:5 exact src/a.ts#read",
            "src/b.ts:6 nothing",
        ],
    );
}

#[test]
fn java_sees_its_package_and_its_class() {
    let repository = "\
== p/A.java
package p;
class A { static void run() { run(); } }
== p/B.java
package p;
class B { void f() { A.run(); new A().run(); } }
== q/C.java
package q;
import p.A;
class C { void f() { A.run(); run(); } }
";
    check(
        repository,
        "run",
        &[
            "p/A.java:2 exact p/A.java#A.run",
            "p/B.java:2 exact p/A.java#A.run",
            "p/B.java:2 exact p/A.java#A.run",
            "q/C.java:3 exact p/A.java#A.run",
            "q/C.java:3 nothing",
        ],
    );
}

#[test]
fn files_that_import_each_other_end_the_search() {
    let mut repository = String::new();
    for file in 0..40 {
        let imports = (0..40).map(|other| format!("from .m{other} import *\n")).collect::<String>();
        repository += &format!("== p/m{file}.py\n{imports}find()\n");
    }
    let uses: Vec<String> = (0..40).map(|file| format!("p/m{file}.py:41 nothing")).collect();
    let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
    check(&(repository + "== q.py\ndef find(): ...\n"), "find", &uses);
}

#[test]
fn a_value_has_the_methods_of_the_type_that_is_written_for_it() {
    let repository = "\
== store.py
class Store:
    def load(self): ...
class Other:
    def load(self): ...
== views.py
from store import Store, Other
class View:
    def __init__(self, store: Store):
        self.store = store
        self.other = Other()
    def show(self, x, text: str, maybe: Store | None):
        self.other.load()
        x.load()
        text.load()
        maybe.load()
        made = Store()
        made.load()
";
    let expected = [
        "views.py:7 exact store.py#Other.load",
        "views.py:8 by name store.py#Store.load store.py#Other.load",
        "views.py:9 nothing",
        "views.py:10 exact store.py#Store.load",
        "views.py:12 exact store.py#Store.load",
    ];
    check(repository, "load", &expected);
    let repository = "\
== src/store.rs
pub struct Store { key: Key }
pub struct Key;
impl Key { pub fn load(&self) {} }
impl Store {
    pub fn load(&self) { self.key.load(); }
    pub fn open() -> Self { todo!() }
}
== src/main.rs
use crate::store::{Key, Store};
fn main(store: &Store, key: Box<dyn Fn(Key)>, all: Vec<Key>) {
    store.load();
    all.load();
    let opened = Store::open();
    opened.load();
    key.load();
}
";
    let expected = [
        "src/store.rs:5 exact src/store.rs#Key::load",
        "src/main.rs:3 exact src/store.rs#Store::load",
        "src/main.rs:4 nothing",
        "src/main.rs:6 exact src/store.rs#Store::load",
        "src/main.rs:7 by name src/store.rs#Key::load src/store.rs#Store::load",
    ];
    check(repository, "load", &expected);
    let repository = "\
== store.go
package app
type Store struct{}
func (s *Store) Load() {}
type Cache struct{ store *Store }
func (c *Cache) Load() { c.store.Load() }
func use(c *Cache, x any) { c.Load(); x.Load(); s := &Store{}; s.Load() }
";
    let expected = [
        "store.go:5 exact store.go#Store.Load",
        "store.go:6 exact store.go#Cache.Load",
        "store.go:6 by name store.go#Store.Load store.go#Cache.Load",
        "store.go:6 exact store.go#Store.Load",
    ];
    check(repository, "Load", &expected);
    let repository = "\
== store.ts
export class Store { load() {} }
export class Other { load() {} }
== view.ts
import { Store, Other } from './store';
export class View {
  other = new Other();
  constructor(private store: Store) {}
  show(x: any) { this.store.load(); this.other.load(); x.load(); }
}
";
    let expected = [
        "view.ts:5 exact store.ts#Store.load",
        "view.ts:5 exact store.ts#Other.load",
        "view.ts:5 by name store.ts#Store.load store.ts#Other.load",
    ];
    check(repository, "load", &expected);
    let repository = "\
== Store.java
class Store { void load() {} }
class Other { void load() {} }
class View {
  private Store store;
  void show(Object x) { store.load(); Other other = new Other(); other.load(); }
}
";
    let expected = ["Store.java:5 exact Store.java#Store.load", "Store.java:5 exact Store.java#Other.load"];
    check(repository, "load", &expected);
}

#[test]
fn a_value_has_the_type_of_the_function_or_field_that_it_comes_from() {
    let repository = "\
== src/store.rs
pub struct Store { pub key: Option<Key> }
pub struct Key;
impl Key { pub fn load(&self) {} }
pub struct Builder;
impl Builder {
    pub fn new() -> Self { Builder }
    pub fn size(&mut self, n: u32) -> &mut Builder { self }
    pub fn build(&self) -> Result<Store, String> { todo!() }
    pub fn guess() -> impl Fn() { || () }
}
impl Store { pub fn load(&self) {} pub fn all(&self) -> Vec<Key> { todo!() } }
trait Loads { type Key; fn load(&self); fn twice(&self) { self.load() } }
== src/main.rs
use crate::store::{Builder, Store};
fn open() -> Result<Store, String> { Builder::new().size(3).build() }
fn main() {
    Builder::new().size(1).build().unwrap().load();
    let store = open()?;
    store.load();
    store.key.load();
    store.key.as_ref().unwrap().load();
    store.all().load();
    let kept = store.clone();
    assert_eq!(kept.load(), open()?.load());
    assert!(crate::store::Builder::new().build()?.load());
}
";
    let expected = [
        "src/store.rs:12 exact src/store.rs#Loads::load",
        "src/main.rs:4 exact src/store.rs#Store::load",
        "src/main.rs:6 exact src/store.rs#Store::load",
        "src/main.rs:7 nothing",
        "src/main.rs:8 exact src/store.rs#Key::load",
        "src/main.rs:9 nothing",
        "src/main.rs:11 exact src/store.rs#Store::load",
        "src/main.rs:11 exact src/store.rs#Store::load",
        "src/main.rs:12 exact src/store.rs#Store::load",
    ];
    check(repository, "load", &expected);
    let repository = "\
== store/store.go
package store
type Store struct{ Key *Key }
type Key struct{}
type Loader interface { Load() }
type Shelf struct { *Store; n int }
var Default Loader = &Store{}
var Books = Shelf{}
func (k *Key) Load() {}
func (s *Store) Load() {}
func Open(path string) (*Store, error) { return nil, nil }
== main.go
package main
import \"x.org/app/store\"
func main() {
	s, err := store.Open(\"a\")
	s.Load()
	s.Key.Load()
	err.Load()
	store.Default.Load()
	store.Books.Load()
}
";
    let expected = [
        "main.go:5 exact store/store.go#Store.Load",
        "main.go:6 exact store/store.go#Key.Load",
        "main.go:7 by name store/store.go#Loader.Load store/store.go#Key.Load store/store.go#Store.Load",
        "main.go:8 exact store/store.go#Loader.Load",
        "main.go:9 exact store/store.go#Store.Load",
    ];
    check(repository, "Load", &expected);
    let repository = "\
== base.py
class Base:
    def load(self): ...
    def own(self) -> 'Base': ...
class Other:
    def load(self): ...
== views.py
import base
class View(base.Base):
    def show(self, other):
        self.load()
        self.find().load()
        other.load()
    def find(self) -> base.Other: ...
def open() -> View: ...
x = open()
x.load()
";
    let expected = [
        "views.py:4 exact base.py#Base.load",
        "views.py:5 exact base.py#Other.load",
        "views.py:6 by name base.py#Base.load base.py#Other.load",
        "views.py:10 exact base.py#Base.load",
    ];
    check(repository, "load", &expected);
}

#[test]
fn values_that_are_set_to_each_other_end_the_search() {
    let repository = "\
== a.py
class A:
    def load(self) -> A: ...
class B:
    def load(self): ...
def turn(n):
    a = b.load()
    b = a.load()
    a.load()
";
    let all = "a.py#A.load a.py#B.load";
    let expected = [6, 7, 8].map(|line| format!("a.py:{line} by name {all}"));
    check(repository, "load", &expected.each_ref().map(String::as_str));
}
