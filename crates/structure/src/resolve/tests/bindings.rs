//! Checks the bindings of names, and the choice among definitions with one name.

use super::check;

#[test]
fn what_binds_a_name_is_not_what_is_in_its_type_or_default() {
    check(
        "\
== a.py
def load(): ...
def typed(load: int): return load
def optional(load: int = 1): return load
def default(x=load()): return load(x)
def item(cache): cache[load] = 1
",
        "load",
        &["a.py:4 exact a.py#load", "a.py:4 exact a.py#load", "a.py:5 exact a.py#load"],
    );
    check(
        "\
== a.ts
export function load(a = 1) { return a; }
export function one(a = load()) { return load(a); }
export function two({ load }: any) { return load; }
export function three(o: any) { const { load = 1 } = o; return load; }
",
        "load",
        &["a.ts:2 exact a.ts#load", "a.ts:2 exact a.ts#load", "a.ts:4 nothing"],
    );
    check(
        "\
== a.c
int load(void) { return 1; }
struct ops { int (*load)(void); };
struct ops own = { .load = load };
int run(void) { int x = load(); int load = x; return load; }
== b.c
int more(void) { int y = load(); return y; }
",
        "load",
        &["a.c:3 exact a.c#ops::load", "a.c:3 exact a.c#load", "b.c:1 by name a.c#load"],
    );
    check(
        "\
== src/lib.rs
pub fn load() {}
pub fn run(x: Option<u8>) -> u8 { match x { Some(load) => load, None => 0 } }
pub fn more(x: Kind) { match x { Kind::One => load(), y if load() => {} } }
",
        "load",
        &["src/lib.rs:3 exact src/lib.rs#load", "src/lib.rs:3 exact src/lib.rs#load"],
    );
}

#[test]
fn a_type_of_the_same_name_is_another_one() {
    check(
        "\
== a.py
from lib import Base
class View(Base):
    def get(self): self.run_it()
== b.py
class View:
    def run_it(self): self.run_it()
",
        "run_it",
        &["a.py:3 likely b.py#View.run_it", "b.py:2 exact b.py#View.run_it"],
    );
    check(
        "\
== src/lib.rs
mod a;
mod b;
pub struct Store;
== src/a.rs
use super::Store;
impl Store { pub fn open(&self) {} }
== src/b.rs
use crate::Store;
impl Store { fn again(&self) { self.open() } }
",
        "open",
        &["src/b.rs:2 exact src/a.rs#Store::open"],
    );
}

#[test]
fn a_name_of_another_language_or_of_a_variable_is_another_one() {
    check(
        "\
== helper.py
def help_me(): ...
== a.c
#include \"helper.h\"
int f(void) { return help_me(1); }
",
        "help_me",
        &["a.c:2 nothing"],
    );
    check(
        "\
== config.py
def load_all(): ...
== use.py
import config
def f(config): config.load_all()
def g(): config.load_all()
",
        "load_all",
        &["use.py:2 nothing", "use.py:3 exact config.py#load_all"],
    );
}

#[test]
fn functions_that_javascript_sets_on_objects_are_members() {
    let files = "\
== lib/view.js
var resolve = require('node:path').resolve;
function View() { this.lookup('a'); lookup(); }
View.prototype.lookup = function (name) { return name; };
View.prototype.render = function () { return this.lookup('b'); };
== lib/utils.js
exports.clean = function (text) { return text; };
exports.all = function (texts) { return texts.map(exports.clean); };
== lib/app.js
var clean = require('./utils').clean;
var { all } = require('./utils');
var app = module.exports = {};
app.use = function () { return clean('a'); };
app.run = function () { return this.use(); };
";
    check(
        files,
        "lookup",
        &[
            "lib/view.js:2 exact lib/view.js#View.prototype.lookup",
            "lib/view.js:2 nothing",
            "lib/view.js:3 nothing",
            "lib/view.js:4 exact lib/view.js#View.prototype.lookup",
        ],
    );
    check(
        files,
        "clean",
        &[
            "lib/utils.js:1 nothing",
            "lib/utils.js:2 exact lib/utils.js#exports.clean",
            "lib/app.js:1 exact lib/utils.js#exports.clean",
            "lib/app.js:1 exact lib/utils.js#exports.clean",
            "lib/app.js:4 exact lib/utils.js#exports.clean",
        ],
    );
    check(files, "use", &["lib/app.js:4 nothing", "lib/app.js:5 exact lib/app.js#app.use"]);
}

#[test]
fn a_field_may_have_the_name_of_a_method() {
    let files = "\
== a/rebase.go
package a
func (self *Commands) RebaseBranch(name string) {}
== a/keys.go
package a
func press(keys Unknown) { use(keys.Branches.RebaseBranch); keys.commands.RebaseBranch(\"x\") }
";
    check(
        files,
        "RebaseBranch",
        &[
            "a/keys.go:2 by name a/rebase.go#Commands.RebaseBranch",
            "a/keys.go:2 likely a/rebase.go#Commands.RebaseBranch",
        ],
    );
}

#[test]
fn go_promotes_the_fields_of_embedded_types_and_follows_interfaces() {
    let repository = "\
== go.mod
module example.com/m
== rebase.go
package m
type Rebase struct{}
func (r *Rebase) Begin() {}
type Other struct{}
func (o *Other) Begin() {}
type Git struct { Rebase *Rebase }
type Host interface { Git() *Git }
type Common struct { host Host; other *Other }
type Shared struct { Common }
type Controller struct {
	*Shared
	own Other
}
== use.go
package m
func (c *Controller) Run() {
	c.host.Git().Rebase.Begin()
	c.other.Begin()
	c.own.Begin()
	c.Shared.Common.host.Git().Rebase.Begin()
	c.unknown.Begin()
}
";
    check(
        repository,
        "Begin",
        &[
            "use.go:3 likely rebase.go#Rebase.Begin",
            "use.go:4 likely rebase.go#Other.Begin",
            "use.go:5 exact rebase.go#Other.Begin",
            "use.go:6 exact rebase.go#Rebase.Begin",
            "use.go:7 by name rebase.go#Rebase.Begin rebase.go#Other.Begin",
        ],
    );
}

#[test]
fn c_includes_the_nearest_header_and_what_it_includes() {
    let deep: String =
        (0..100).map(|nth| format!("== src/h{nth}.h\n#include \"h{}.h\"\n", nth + 1)).collect();
    let repository = format!(
        "\
{deep}== src/h100.h
#include \"dict.h\"
== src/dict.h
int dictAdd(int d);
== src/dict.c
#include \"dict.h\"
int dictAdd(int d) {{ return d; }}
== deps/hiredis/dict.h
int dictAdd(int d);
== deps/hiredis/dict.c
#include \"dict.h\"
int dictAdd(int d) {{ return 2; }}
int both(void) {{ return dictAdd(1); }}
== deps/hiredis/client.h
int client(void);
== deps/hiredis/client.c
#include \"dict.h\"
int client(void) {{ return dictAdd(3); }}
== src/server.c
#include \"client.h\"
#include \"h0.h\"
int main(void) {{ return dictAdd(1); }}
== include/ferry.h
int ferryGo(void);
== lib/ferry.c
int ferryGo(void) {{ return dictAdd(2); }}
"
    );
    check(
        &repository,
        "dictAdd",
        &[
            "deps/hiredis/dict.c:3 exact deps/hiredis/dict.c#dictAdd",
            "deps/hiredis/client.c:2 exact deps/hiredis/dict.h#dictAdd deps/hiredis/dict.c#dictAdd",
            "src/server.c:3 exact src/dict.h#dictAdd src/dict.c#dictAdd",
            "lib/ferry.c:1 by name src/dict.h#dictAdd src/dict.c#dictAdd deps/hiredis/dict.h#dictAdd deps/hiredis/dict.c#dictAdd",
        ],
    );
}

#[test]
fn a_qualified_type_is_that_of_its_package() {
    let repository = "\
== go.mod
module example.com/m
== a.go
package m
import \"net/http\"
import \"example.com/m/sub\"
type Server struct{}
func (s *Server) Stop() {}
type Held struct { other *http.Server; theirs *sub.Server; own *Server }
func run(h *Held, s *http.Server, t *sub.Server) {
	s.Stop()
	t.Stop()
	h.other.Stop()
	h.theirs.Stop()
	h.own.Stop()
}
== sub/b.go
package sub
type Server struct{}
func (s *Server) Stop() {}
== web.py
import http.server
from shop import cart
class Server:
    def stop_it(self): ...
def run(one: http.server.Server, two: cart.Server, three: Server):
    one.stop_it()
    two.stop_it()
    three.stop_it()
== shop/cart.py
from .base import Server
== shop/base.py
class Server:
    def stop_it(self): ...
";
    check(
        repository,
        "Stop",
        &[
            "a.go:8 nothing",
            "a.go:9 exact sub/b.go#Server.Stop",
            "a.go:10 nothing",
            "a.go:11 exact sub/b.go#Server.Stop",
            "a.go:12 exact a.go#Server.Stop",
        ],
    );
    check(
        repository,
        "stop_it",
        &[
            "web.py:6 nothing",
            "web.py:7 exact shop/base.py#Server.stop_it",
            "web.py:8 exact web.py#Server.stop_it",
        ],
    );
}

#[test]
fn what_a_subclass_sets_may_hide_what_its_base_has() {
    let repository = "\
== a.py
import external
class One:
    def begin_it(self): ...
class Two:
    def begin_it(self): ...
class Base:
    def __init__(self):
        self.x = One()
class Hidden(Base):
    def __init__(self):
        self.x = external.make()
    def run(self):
        self.x.begin_it()
class Left:
    def begin_it(self): ...
class Right:
    def begin_it(self): ...
class Both(Left, Right):
    def run(self):
        self.begin_it()
";
    check(
        repository,
        "begin_it",
        &["a.py:13 likely a.py#One.begin_it", "a.py:20 by name a.py#Left.begin_it a.py#Right.begin_it"],
    );
}

#[test]
fn an_include_means_one_file() {
    let repository = "\
== lib/y.h
int yfun(int a);
== lib/b/y.h
int yfun(int a);
== lib/b/use.c
#include \"../y.h\"
int f(void) { return yfun(1); }
== x/config.h
int yfun(int a);
== z/config.h
int yfun(int a);
== inc/amb.c
#include \"config.h\"
int g(void) { return yfun(2); }
";
    check(
        repository,
        "yfun",
        &[
            "lib/b/use.c:2 exact lib/y.h#yfun",
            "inc/amb.c:2 by name lib/y.h#yfun lib/b/y.h#yfun x/config.h#yfun z/config.h#yfun",
        ],
    );
}

#[test]
fn a_variable_of_a_closure_hides_an_import_and_what_is_set_on_another() {
    let repository = "\
== a.ts
export function run() {}
export const tools = { count() {} }
== use.test.ts
import { run } from './a'
import * as a from './a'
it('one', () => {
  const run = make()
  run()
  const a = make()
  a.run()
})
it('two', () => {
  run()
  for (const run of list) { run() }
  list.map((run) => run())
  list.map(({ run }) => { run() })
  try { run() } catch (run) { run() }
  a.run()
})
";
    check(
        repository,
        "run",
        &[
            "use.test.ts:1 exact a.ts#run",
            "use.test.ts:7 nothing",
            "use.test.ts:10 exact a.ts#run",
            "use.test.ts:13 nothing",
            "use.test.ts:14 exact a.ts#run",
            "use.test.ts:15 exact a.ts#run",
        ],
    );
    let watches = "\
== watch.js
const watch = {}
watch.count = function () {}
watch.count()
function one() {
  const watch = start()
  watch.count()
}
function two() {
  const watch = start()
  watch.count = () => {}
  watch.count()
}
";
    check(
        watches,
        "count",
        &[
            "watch.js:2 nothing",
            "watch.js:3 exact watch.js#watch.count",
            "watch.js:6 by name watch.js#watch.count watch.js#two.watch.count",
            "watch.js:10 nothing",
            "watch.js:11 exact watch.js#two.watch.count",
        ],
    );
}
