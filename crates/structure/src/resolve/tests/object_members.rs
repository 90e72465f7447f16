//! Checks uses of functions in objects that constants are set to, and of private names of classes.

use super::check;

#[test]
fn functions_of_a_constant_are_reached_through_its_import() {
    for object in [
        "export const api = { load() {} };",
        "export const api = { load: async () => {} };",
        "export const api = { get load() { return 1; } };",
        "export const api = Object.freeze({ load() {} });",
        "export const api = { load() {} } as const;",
        "export const api = { load() {} } satisfies Api;",
        "export const api = { 'load': () => 1 };",
        "export const api = { *load() {} };",
        "const api = { load() {} };\nexport { api };",
    ] {
        let repository = format!(
            "\
== api.ts
{object}
== other.ts
export const other = {{ load() {{}} }};
== use.ts
import {{ api }} from './api';
import {{ api as renamed }} from './api';
import * as all from './api';
export function go() {{
  api.load();
  renamed.load();
  all.api.load();
  load();
}}
"
        );
        check(
            &repository,
            "load",
            &[
                "use.ts:5 exact api.ts#api.load",
                "use.ts:6 exact api.ts#api.load",
                "use.ts:7 exact api.ts#api.load",
                "use.ts:8 nothing",
            ],
        );
    }
}

#[test]
fn functions_of_an_inner_object_have_its_key() {
    check(
        "\
== resolvers.js
export const resolvers = { Query: { user() {} }, Mutation: { user: async () => {} } };
resolvers.Query.user();
== use.js
import { resolvers } from './resolvers';
resolvers.Mutation.user();
",
        "user",
        &[
            "resolvers.js:2 exact resolvers.js#resolvers.Query.user",
            "use.js:2 exact resolvers.js#resolvers.Mutation.user",
        ],
    );
}

#[test]
fn the_function_that_makes_an_object_does_not_hide_its_functions() {
    check(
        "\
== make.ts
export class Store { other() {} }
export function makeStore(o): Store { return new Store(); }
== store.ts
import { makeStore } from './make';
export const store = makeStore({ actions: { login() { this.logout(); }, logout() {} } });
== use.ts
import { store } from './store';
store.actions.logout();
",
        "logout",
        &["store.ts:2 exact store.ts#store.actions.logout", "use.ts:2 exact store.ts#store.actions.logout"],
    );
}

#[test]
fn a_private_name_is_that_of_the_class_around_it() {
    check(
        "\
== a.js
export class A {
  #clone() {}
  clone() { return this.#clone(); }
  equals(other) { return #clone in other && other.#clone(); }
  static { new A().#clone(); }
}
class B {
  #clone = () => {};
  copy() { [1].map(() => this.#clone()); }
}
",
        "#clone",
        &[
            "a.js:3 exact a.js#A.#clone",
            "a.js:4 exact a.js#A.#clone",
            "a.js:4 exact a.js#A.#clone",
            "a.js:5 exact a.js#A.#clone",
            "a.js:9 exact a.js#B.#clone",
        ],
    );
    check(
        "\
== a.ts
class A {
  #clone() {}
  clone() { this.#clone(); this.clone(); }
  #taken: number = 0;
  take() { this.#taken += 1; }
}
",
        "clone",
        &["a.ts:3 exact a.ts#A.clone"],
    );
}

#[test]
fn private_and_static_fields_are_used_where_they_are_named() {
    let repository = "\
== a.ts
export class Row {
  #taken: number = 0;
  static MAX = 3;
  take() { this.#taken += Row.MAX; }
}
== use.ts
import { Row } from './a';
Row.MAX;
";
    check(repository, "#taken", &["a.ts:4 exact a.ts#Row.#taken"]);
    check(repository, "MAX", &["a.ts:4 exact a.ts#Row.MAX", "use.ts:2 exact a.ts#Row.MAX"]);
}
