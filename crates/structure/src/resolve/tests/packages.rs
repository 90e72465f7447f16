//! Checks the files that the module of an import means.

use super::check;

#[test]
fn modules_of_go_are_known_by_go_mod() {
    check(
        "\
== go.mod
module example.com/gin
== gin.go
package gin
func NewEngine() {}
== errors/errors.go
package errors
func NewEngine() {}
== use.go
package gin
import (
\t\"github.com/go-playground/validator/v10\"
\t\"github.com/pkg/errors\"
\town \"example.com/gin/errors\"
)
func use() { validator.NewEngine(); errors.NewEngine(); own.NewEngine() }
",
        "NewEngine",
        &["use.go:7 nothing", "use.go:7 nothing", "use.go:7 exact errors/errors.go#NewEngine"],
    );
}

#[test]
fn crates_are_known_by_the_names_in_their_manifests() {
    check(
        "\
== crates/matcher/Cargo.toml
[package]
name = \"grep-matcher\"
== crates/matcher/src/lib.rs
pub trait Matcher {}
== crates/regex/src/lib.rs
use grep_matcher::Matcher;
pub fn f<M: Matcher>(_: M) {}
",
        "Matcher",
        &[
            "crates/regex/src/lib.rs:1 exact crates/matcher/src/lib.rs#Matcher",
            "crates/regex/src/lib.rs:2 exact crates/matcher/src/lib.rs#Matcher",
        ],
    );
}

#[test]
fn packages_of_npm_are_known_by_package_json() {
    check(
        "\
== packages/server/package.json
{\"name\": \"@t/server\"}
== packages/server/src/index.ts
export function serve() {}
== packages/client/src/a.ts
import { serve } from '@t/server';
import { serve as other } from 'express';
serve(); other();
",
        "serve",
        &[
            "packages/client/src/a.ts:1 exact packages/server/src/index.ts#serve",
            "packages/client/src/a.ts:2 nothing",
            "packages/client/src/a.ts:3 exact packages/server/src/index.ts#serve",
        ],
    );
}

#[test]
fn what_is_required_is_imported() {
    check(
        "\
== lib/parser.js
function Parser() {}
module.exports = Parser
== lib/names.js
function Parser() {}
module.exports = { Parser }
== main.js
const Parser = require('./lib/parser')
const { Parser: Other } = require('./lib/names')
const names = require('./lib/names')
new Parser(); new Other(); names.Parser()
",
        "Parser",
        &[
            "lib/parser.js:2 exact lib/parser.js#Parser",
            "lib/names.js:2 exact lib/names.js#Parser",
            "main.js:1 exact lib/parser.js#Parser",
            "main.js:2 exact lib/names.js#Parser",
            "main.js:4 exact lib/parser.js#Parser",
            "main.js:4 exact lib/names.js#Parser",
            "main.js:4 exact lib/names.js#Parser",
        ],
    );
}

#[test]
fn packages_of_python_begin_outside_of_packages_and_the_nearest_counts() {
    check(
        "\
== src/app/__init__.py
x = 1
== src/app/json.py
def dumps(): ...
== src/app/use.py
import json
from app.json import dumps as own
json.dumps(); own()
== one/utils.py
def dumps(): ...
== one/main.py
from utils import dumps
dumps()
== two/utils.py
def dumps(): ...
",
        "dumps",
        &[
            "src/app/use.py:2 exact src/app/json.py#dumps",
            "src/app/use.py:2 exact src/app/json.py#dumps",
            "src/app/use.py:3 nothing",
            "src/app/use.py:3 exact src/app/json.py#dumps",
            "one/main.py:1 exact one/utils.py#dumps",
            "one/main.py:2 exact one/utils.py#dumps",
        ],
    );
}
