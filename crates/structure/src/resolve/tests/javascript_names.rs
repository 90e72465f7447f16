//! Checks what the name of an import of JavaScript or TypeScript means in the file that exports it.

use super::check;

#[test]
fn a_default_export_has_another_name_in_each_file() {
    for (export, title) in [
        ("export default function baz() {}", "baz"),
        ("function baz() {}\nexport default baz;", "baz"),
        ("export default class baz {}", "baz"),
        ("const baz = () => 1;\nexport default baz;", "baz"),
        ("function baz() {}\nmodule.exports = baz;", "baz"),
        ("function baz() {}\nexport = baz;", "baz"),
    ] {
        let repository =
            format!("== bar.ts\n{export}\n== use.ts\nimport Foo from './bar';\nFoo();\nbaz();\n");
        let own = export.lines().nth(1).map(|_| format!("bar.ts:2 exact bar.ts#{title}"));
        let uses = ["use.ts:1 exact bar.ts#baz", "use.ts:2 exact bar.ts#baz", "use.ts:3 nothing"];
        let expected: Vec<&str> = own.as_deref().into_iter().chain(uses).collect();
        check(&repository, "baz", &expected);
    }
    check(
        "== bar.ts\nfunction baz() {}\nexport { baz as default };\n== use.ts\nimport Foo from './bar';\nFoo();\n",
        "baz",
        &[
            "bar.ts:2 exact bar.ts#baz",
            "bar.ts:2 nothing",
            "use.ts:1 exact bar.ts#baz",
            "use.ts:2 exact bar.ts#baz",
        ],
    );
    check(
        "== bar.js\nfunction baz() {}\nexports.default = baz;\n== use.js\nimport Foo from './bar';\nFoo();\n",
        "baz",
        &[
            "bar.js:2 nothing",
            "bar.js:2 exact bar.js#baz",
            "use.js:1 exact bar.js#baz",
            "use.js:2 exact bar.js#baz",
        ],
    );
    for export in [
        "export default () => 1;",
        "export default function () {}",
        "export default class {}",
        "export default { a: 1 };",
        "export default define({ a: 1 });",
    ] {
        let repository = format!("== bar.ts\n{export}\n== use.ts\nimport Foo from './bar';\nFoo();\n");
        check(&repository, "default", &["use.ts:1 exact bar.ts#default", "use.ts:2 exact bar.ts#default"]);
    }
}

#[test]
fn another_file_with_the_name_of_a_default_import_is_not_meant() {
    check(
        "\
== bar.ts
export default function baz() {}
== other.ts
export function Foo() {}
== use.ts
import Foo from './bar';
Foo();
",
        "Foo",
        &["use.ts:1 nothing", "use.ts:2 nothing"],
    );
}

#[test]
fn exports_may_rename_and_pass_on() {
    check(
        "\
== a.ts
function one() {}
export { one as two };
export default one;
== barrel.ts
export { two as three, default as Four } from './a';
export { default } from './a';
== all.ts
export * from './barrel';
== named.ts
import { three } from './all';
import Own, { Four as five } from './barrel';
import Not from './all';
three(); five(); Own(); Not();
== space.ts
export * as tools from './barrel';
import * as more from './all';
export { more };
== use.ts
import { tools, more as rest } from './space';
import * as space from './space';
tools.three(); rest.three(); space.tools.Four(); space.more.Four(); tools.one();
",
        "one",
        &[
            "a.ts:2 exact a.ts#one",
            "a.ts:2 nothing",
            "a.ts:3 exact a.ts#one",
            "barrel.ts:1 exact a.ts#one",
            "barrel.ts:1 exact a.ts#one",
            "barrel.ts:1 exact a.ts#one",
            "barrel.ts:1 exact a.ts#one",
            "barrel.ts:2 exact a.ts#one",
            "named.ts:1 exact a.ts#one",
            "named.ts:2 exact a.ts#one",
            "named.ts:2 exact a.ts#one",
            "named.ts:2 exact a.ts#one",
            "named.ts:4 exact a.ts#one",
            "named.ts:4 exact a.ts#one",
            "named.ts:4 exact a.ts#one",
            "use.ts:3 exact a.ts#one",
            "use.ts:3 exact a.ts#one",
            "use.ts:3 exact a.ts#one",
            "use.ts:3 exact a.ts#one",
            "use.ts:3 nothing",
        ],
    );
}

#[test]
fn types_are_imported_alone() {
    check(
        "\
== a.ts
export interface Money { n: number }
export default interface Other { n: number }
== b.ts
export type { Money as Cash } from './a';
== use.ts
import type { Money } from './a';
import { type Cash } from './b';
let x: Money; let y: Cash;
let z: import('./a').Money;
",
        "Money",
        &[
            "b.ts:1 exact a.ts#Money",
            "b.ts:1 exact a.ts#Money",
            "use.ts:1 exact a.ts#Money",
            "use.ts:2 exact a.ts#Money",
            "use.ts:3 exact a.ts#Money",
            "use.ts:3 exact a.ts#Money",
            "use.ts:4 exact a.ts#Money",
        ],
    );
}

#[test]
fn modules_are_loaded_inside_of_expressions() {
    check(
        "\
== a.ts
export function load() {}
== b.ts
export function load() {}
== use.ts
async function one() {
  const { load } = await import('./a');
  load();
}
async function two() {
  const { load: other } = await import('./b');
  other();
}
async function three() {
  const m = await import('./a');
  m.load();
  (await import('./b')).load();
}
const lazily = lazy(() => import('./a').then((m) => ({ default: m.load })));
import('./b').then(({ load }) => load());
function four() { return require('./a').load(); }
const { load } = await vi.importActual<Own>('./b');
load();
",
        "load",
        &[
            "use.ts:2 exact a.ts#load",
            "use.ts:3 exact a.ts#load",
            "use.ts:6 exact b.ts#load",
            "use.ts:7 exact b.ts#load",
            "use.ts:11 exact a.ts#load",
            "use.ts:12 exact b.ts#load",
            "use.ts:14 exact a.ts#load",
            "use.ts:15 exact b.ts#load",
            "use.ts:15 exact b.ts#load",
            "use.ts:16 exact a.ts#load",
            "use.ts:17 exact b.ts#load",
            "use.ts:18 exact b.ts#load",
        ],
    );
    check(
        "\
== A.tsx
export default function Panel() {}
== use.tsx
const Lazy = lazy(() => import('./A'));
const routes = [{ component: () => import('./A') }];
async function f() {
  const { default: Own } = await import('./A');
  const m = await import('./A');
  return <Own>{m.default()}</Own>;
}
",
        "Panel",
        &[
            "use.tsx:1 exact A.tsx#Panel",
            "use.tsx:2 exact A.tsx#Panel",
            "use.tsx:4 exact A.tsx#Panel",
            "use.tsx:6 exact A.tsx#Panel",
            "use.tsx:6 exact A.tsx#Panel",
            "use.tsx:6 exact A.tsx#Panel",
        ],
    );
}

#[test]
fn commonjs_exports_objects_and_values() {
    let files = "\
== lib.js
function one() {}
function two() {}
module.exports = { one, second: two, three() {}, four: function () {}, ...require('./more') };
== more.js
exports.five = () => 1;
function local() {}
exports.six = local;
module.exports.seven = local;
== again.js
module.exports = require('./lib');
== use.js
const lib = require('./lib');
const again = require('./again');
lib.one(); lib.second(); lib.three(); lib.four(); lib.five(); lib.six();
again.one(); again.seven();
function run() {
  const { one: first, second } = require('./lib');
  first(); second();
  const { seven } = require('./more');
  seven();
}
function other(one) { one(); }
";
    check(
        files,
        "one",
        &[
            "lib.js:3 exact lib.js#one",
            "use.js:3 exact lib.js#one",
            "use.js:4 exact lib.js#one",
            "use.js:6 exact lib.js#one",
            "use.js:7 exact lib.js#one",
        ],
    );
    check(
        files,
        "two",
        &[
            "lib.js:3 exact lib.js#two",
            "use.js:3 exact lib.js#two",
            "use.js:6 exact lib.js#two",
            "use.js:7 exact lib.js#two",
        ],
    );
    check(files, "three", &["use.js:3 exact lib.js#three"]);
    check(files, "four", &["use.js:3 exact lib.js#four"]);
    check(files, "five", &["more.js:1 nothing", "use.js:3 exact more.js#exports.five"]);
    check(
        files,
        "local",
        &[
            "more.js:3 nothing",
            "more.js:3 exact more.js#local",
            "more.js:4 nothing",
            "more.js:4 exact more.js#local",
            "use.js:3 exact more.js#local",
            "use.js:4 exact more.js#local",
            "use.js:8 exact more.js#local",
            "use.js:9 exact more.js#local",
        ],
    );
}

#[test]
fn classes_and_whole_modules_are_imported_under_any_name() {
    let files = "\
== shape.ts
class Shape { static make() {} }
export = Shape;
== model.js
module.exports = class Model { static open() {} };
== use.ts
import Sh = require('./shape');
import M from './model';
import api from './api';
Sh.make(); M.open(); new M(); api.fetchAll(); api.save();
== api.ts
function load() {}
export default { fetchAll: load, save() {} };
";
    check(files, "make", &["use.ts:4 exact shape.ts#Shape.make"]);
    check(files, "open", &["use.ts:4 exact model.js#Model.open"]);
    check(
        files,
        "Model",
        &["use.ts:2 exact model.js#Model", "use.ts:4 exact model.js#Model", "use.ts:4 exact model.js#Model"],
    );
    check(files, "load", &["use.ts:4 exact api.ts#load", "api.ts:2 exact api.ts#load"]);
    check(files, "save", &["use.ts:4 exact api.ts#default.save"]);
}

#[test]
fn types_keep_their_members_under_other_names() {
    let files = "\
== base.ts
export class Store { load() {} }
== barrel.ts
export { Store as Shop, Store as default } from './base';
== other.ts
export class Shop { load() {} }
== use.ts
import Own, { Shop as Mine } from './barrel';
import * as all from './barrel';
import { Store } from 'another-library';
class Sub extends Mine { run() { this.load(); } }
function one(a: Mine, b: Own, c: all.Shop, d: Store) {
  a.load();
  b.load();
  c.load();
  d.load();
  new Own().load();
}
";
    check(
        files,
        "load",
        &[
            "use.ts:4 exact base.ts#Store.load",
            "use.ts:6 exact base.ts#Store.load",
            "use.ts:7 exact base.ts#Store.load",
            "use.ts:8 exact base.ts#Store.load",
            "use.ts:9 nothing",
            "use.ts:10 exact base.ts#Store.load",
        ],
    );
}
