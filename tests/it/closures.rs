//! Do `memo impact` and `memo tests` lead from a closure to the function that makes it, and from a handler to the requests of tests?

use crate::live::{Live, memo};
use crate::reached::{check, found};

/// Returns the names of the listed tests.
pub(crate) fn list_tests(live: &Live, words: &[&str]) -> Vec<String> {
    let (_, answer) = memo(live, &[&["tests"], words, &["--wait-ms=60000"]].concat());
    let found = answer["found"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    found.map(|of| of["test"].as_str().or(of["title"].as_str()).unwrap_or("the file").to_owned()).collect()
}

#[test]
fn a_closure_leads_to_the_function_that_makes_it() {
    let live = Live::idle();
    live.write(
        "src/link.ts",
        "export function sendBatch(op: string) {\n  return op\n}\n\nexport function batchLink() {\n  return {\n    request(op: string) {\n      \
         return sendBatch(op)\n    },\n    close: () => closeLink(),\n  }\n}\n\nexport function closeLink() {}\n\n\
         export const retryLink = () => ({\n  retry: function () {\n    return { again() { return retryOnce() } }\n  },\n})\n\nexport function retryOnce() {}\n",
    );
    live.write(
        "src/app.ts",
        "import { createApp } from 'some'\nimport { loadState } from './state'\n\nexport const app = createApp({\n  setup() {\n    loadState()\n  },\n})\n\n\
         export const helpers = {\n  one() { loadState() },\n  two() {},\n}\n",
    );
    live.write("src/state.ts", "export function loadState() {}\n");
    live.write(
        "test/link.test.ts",
        "import { batchLink, retryLink } from '../src/link'\nimport { app, helpers } from '../src/app'\n\n\
         it('sends a batch', () => {\n  batchLink()\n})\nit('tries again', () => {\n  retryLink()\n})\n\
         it('has an app', () => {\n  app.mount()\n})\nit('has a helper', () => {\n  helpers.two()\n})\n",
    );
    live.write(
        "tests/test_make.py",
        "from shop.make import make_job\n\n\ndef test_job():\n    make_job().start()\n",
    );
    live.write(
        "shop/make.py",
        "def stop_job():\n    pass\n\n\ndef make_job():\n    class Job:\n        def start(self):\n            stop_job()\n    return Job()\n",
    );
    live.start();
    let file = "test/link.test.ts the file 2 exact";
    check(&live, &["impact", "sendBatch"], &["src/link.ts batchLink.request 1 exact", file]);
    assert_eq!(list_tests(&live, &["sendBatch"]), ["sends a batch"]);
    assert_eq!(list_tests(&live, &["closeLink"]), ["sends a batch"]);
    assert_eq!(list_tests(&live, &["retryOnce"]), ["tries again"]);
    assert_eq!(list_tests(&live, &["stop_job"]), ["test_job"]);
    assert_eq!(list_tests(&live, &["src/link.ts#batchLink.request"]), ["sends a batch"]);
    // The members of a plain object are used one by one.
    assert_eq!(list_tests(&live, &["loadState"]), ["has an app"]);
}

#[test]
fn all_uses_in_a_file_of_tests_are_followed() {
    let live = Live::idle();
    live.write("src/sum.ts", "export function sumAll(x: number) {\n  return x\n}\n");
    let tests = (0..150).map(|number| format!("it('case {number}', () => {{\n  sumAll({number})\n}})\n"));
    let tests = tests.collect::<String>();
    live.write("src/sum.test.ts", format!("import {{ sumAll }} from './sum'\n\n{tests}"));
    live.start();
    let (_, answer) = memo(&live, &["tests", "sumAll", "--limit=200"]);
    assert_eq!(answer["n_found"], 150, "{answer}");
    assert_eq!(answer["found"][149]["test"], "case 149", "{answer}");
}

#[test]
fn a_handler_leads_to_the_tests_that_request_its_path() {
    let live = Live::idle();
    live.write("app/money.py", "def format_price(x):\n    return x\n");
    live.write(
        "app/shop.py",
        "from flask import Flask\nfrom .money import format_price\n\napp = Flask(__name__)\n\n\n@app.route('/orders/<int:id>')\ndef show_order(id):\n    \
         return format_price(id)\n\n\n@app.route('/health')\ndef check_health():\n    return 'ok'\n",
    );
    live.write(
        "tests/test_shop.py",
        "def test_order(client):\n    assert client.get('/orders/1').status_code == 200\n\n\ndef test_alive(client):\n    client.get('/health')\n\n\n\
         def test_other(client):\n    client.get('/others')\n",
    );
    live.write(
        "api/users.py",
        "from fastapi import APIRouter\n\nrouter = APIRouter(prefix='/users')\n\n\n@router.post('/{name}/keys')\nasync def add_key(name):\n    return name\n",
    );
    live.write(
        "tests/test_users.py",
        "def test_key(client):\n    client.post(f'/users/{name}/keys')\n\n\ndef test_read(client):\n    client.get('/users/a/keys')\n",
    );
    live.write(
        "src/server.ts",
        "import { Hono } from 'hono'\nimport { listBooks } from './books'\n\nconst app = new Hono()\n\napp.get('/books', (c) => {\n  return c.json(listBooks())\n})\n\
         app.get('/authors', showAuthors)\n\nfunction showAuthors() {}\n\nexport default app\n",
    );
    live.write("src/books.ts", "export function listBooks() {\n  return []\n}\n");
    live.write(
        "test/server.test.ts",
        "import app from '../src/server'\n\nit('lists books', async () => {\n  await app.request('/books')\n})\n\
         it('shows authors', async () => {\n  await fetch(`${base}/authors`)\n})\n",
    );
    live.write(
        "src/admin.ts",
        "import express from 'express'\nconst router = express.Router()\nrouter.delete('/secrets', dropSecrets)\n\nfunction dropSecrets() {}\n",
    );
    live.start();
    assert_eq!(list_tests(&live, &["format_price"]), ["test_order"]);
    assert_eq!(list_tests(&live, &["check_health"]), ["test_alive"]);
    assert_eq!(list_tests(&live, &["add_key"]), ["test_key"]);
    assert_eq!(list_tests(&live, &["listBooks"]), ["lists books"]);
    assert_eq!(list_tests(&live, &["showAuthors"]), ["shows authors"]);
    let (_, answer) = memo(&live, &["tests", "check_health"]);
    assert_eq!(found(&answer), ["tests/test_shop.py test_alive 1 likely"], "{answer}");
    let (_, answer) = memo(&live, &["tests", "dropSecrets"]);
    let expected =
        "tests that call it over HTTP are not followed: none has the path of DELETE /secrets as a text";
    assert_eq!((found(&answer), &answer["cut"]), (vec![], &expected.into()), "{answer}");
}

#[test]
fn a_handler_leads_only_to_requests_of_its_own_route_and_method() {
    let live = Live::idle();
    live.write(
        "src/server.ts",
        "import { Hono } from 'hono'\nconst app = new Hono()\napp.get('/first', showFirst)\napp.get('/second', showSecond)\n\
         app.post('/second', saveSecond)\napp.get(\n  '/third',\n  showThird,\n)\napp.get('/fourth', showFourth)\n\n\
         function showFirst() {}\nfunction showSecond() {}\nfunction saveSecond() {}\nfunction showThird() {}\n\
         function showFourth() {}\n\nexport default app\n",
    );
    live.write(
        "test/server.test.ts",
        "import app from '../src/server'\n\nit('first', async () => {\n  await app.request('/first')\n})\n\
         it('second', async () => {\n  await app.request('/second')\n})\n\
         it('saves', async () => {\n  await app.request('/second', { method: 'POST' })\n})\n\
         it('third', async () => {\n  await app.request('/third')\n})\nit('fourth', async () => {\n  await app.request('/fourth')\n})\n",
    );
    live.write(
        "app/notes.py",
        "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.route('/notes')\ndef list_notes():\n    return []\n\n\n\
         @app.route('/notes', methods=['POST'])\ndef add_note():\n    return 1\n",
    );
    live.write(
        "tests/test_notes.py",
        "def test_list(client):\n    client.get('/notes')\n\n\ndef test_add(client):\n    client.post('/notes')\n",
    );
    live.write("go.mod", "module example.com/x\n\ngo 1.22\n");
    live.write(
        "web.go",
        "package x\n\nimport \"net/http\"\n\nfunc routes(mux *http.ServeMux) {\n\tmux.HandleFunc(\"/alpha\", showAlpha)\n\
         \tmux.HandleFunc(\"/beta\", showBeta)\n}\n\nfunc showAlpha(w http.ResponseWriter, r *http.Request) {}\n\n\
         func showBeta(w http.ResponseWriter, r *http.Request) {}\n",
    );
    live.write(
        "web_test.go",
        "package x\n\nimport (\n\t\"net/http/httptest\"\n\t\"testing\"\n)\n\nfunc TestAlpha(t *testing.T) {\n\
         \thttptest.NewRequest(\"GET\", \"/alpha\", nil)\n}\n\nfunc TestBeta(t *testing.T) {\n\
         \thttptest.NewRequest(\"GET\", \"/beta\", nil)\n}\n",
    );
    live.start();
    for (handler, test) in [
        ("showFirst", "first"),
        ("showSecond", "second"),
        ("saveSecond", "saves"),
        ("showThird", "third"),
        ("showFourth", "fourth"),
        ("list_notes", "test_list"),
        ("add_note", "test_add"),
        ("showAlpha", "TestAlpha"),
        ("showBeta", "TestBeta"),
    ] {
        assert_eq!(list_tests(&live, &[handler]), [test], "{handler}");
    }
}
