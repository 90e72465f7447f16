//! Is each name that an outline shows accepted as the name of a definition?

use crate::javascript_imports::uses;
use crate::live::{Live, memo};

#[test]
fn names_of_an_outline_can_be_asked_for() {
    let live = Live::new();
    live.write(
        "api.ts",
        "\
export const api = { load() { return 1; }, save: async () => api.load() };
export const store = createStore({ mutations: { setUser(state) {} } });
export class Row {
  #taken = 0;
  #clone() { return this.#taken; }
  copy() { return this.#clone(); }
}
export function outer() {
  function inner() {}
  inner();
}
",
    );
    live.write(
        "use.ts",
        "import { api, store } from './api';\nexport function go() {\n  api.load();\n  store.mutations.setUser({});\n}\n",
    );
    let (_, outline) = memo(&live, &["outline", "api.ts"]);
    let items = outline["items"].as_array().expect("an outline has items").clone();
    let titles: Vec<&str> = items.iter().filter_map(|item| item["title"].as_str()).collect();
    let expected = [
        "api",
        "api.load",
        "api.save",
        "store",
        "store.mutations.setUser",
        "Row",
        "Row.#taken",
        "Row.#clone",
        "Row.copy",
        "outer",
        "outer.inner",
    ];
    assert_eq!(titles, expected, "{outline}");
    for title in expected {
        let own = title.rsplit('.').next().unwrap_or(title);
        for (verb, name) in [("show", title), ("refs", title), ("callers", title), ("refs", own)] {
            let (code, answer) = memo(&live, &[verb, name]);
            assert!(matches!(code, 0 | 1) && answer["error"].is_null(), "{verb} {name}: {code} {answer}");
        }
    }
    for (name, line) in [("api.load", 3), ("store.mutations.setUser", 4)] {
        let uses = uses(&live, name);
        assert!(uses.contains(&format!("use.ts:{line} exact")), "{uses:?}");
    }
}
