//! Does `memo tests` follow the prefixes below which routers are mounted?

use crate::closures::list_tests;
use crate::live::{Live, memo};

/// Checks the tests that each handler leads to, in the order of the answer.
fn check(live: &Live, expected: &[(&str, &[&str])]) {
    for (handler, tests) in expected {
        assert_eq!(list_tests(live, &[handler]), *tests, "{handler}");
    }
}

#[test]
fn routes_of_javascript_are_followed_to_the_prefixes_of_their_routers() {
    let live = Live::idle();
    // Hono: a base path and two routers with the same paths.
    live.write(
        "src/index.ts",
        "import { Hono } from 'hono'\nimport orders from './orders'\nimport { carts as cartRoutes } from './carts'\n\n\
         const app = new Hono().basePath('/api')\napp.route('/orders', orders)\napp.route('/carts', cartRoutes)\nexport default app\n",
    );
    live.write(
        "src/orders.ts",
        "import { Hono } from 'hono'\nconst app = new Hono()\napp.get('/', listOrders)\napp.get('/latest', latestOrder)\n\n\
         function listOrders() {}\nfunction latestOrder() {}\nexport default app\n",
    );
    live.write(
        "src/carts.ts",
        "import { Hono } from 'hono'\nconst app = new Hono()\napp.get('/', listCarts)\n\
         app.get('/latest', latestCart)\n\nfunction listCarts() {}\nfunction latestCart() {}\nexport { app as carts }\n",
    );
    live.write(
        "test/index.test.ts",
        "import app from '../src/index'\n\nit('orders', async () => {\n  await app.request('/api/orders')\n})\n\
         it('carts', async () => {\n  await app.request('/api/carts')\n})\n\
         it('latest order', async () => {\n  await app.request('/api/orders/latest')\n})\n\
         it('latest cart', async () => {\n  await app.request('/api/carts/latest')\n})\n",
    );
    // Express with modules that are required.
    live.write(
        "shop/app.js",
        "const express = require('express')\nconst app = express()\nconst BASE = '/shop'\napp.use(BASE, auth, require('./routes/items'))\nmodule.exports = app\n",
    );
    live.write(
        "shop/routes/items.js",
        "const router = require('express').Router()\nrouter.get('/', listItems)\nrouter.post('/', addItem)\n\n\
         function listItems() {}\nfunction addItem() {}\nmodule.exports = router\n",
    );
    live.write(
        "shop/test/items.test.js",
        "it('items', () => request(app).get('/shop'))\n\nit('adds', () => request(app).post('/shop'))\n\n\
         it('root', () => request(app).get('/'))\n",
    );
    live.write(
        "hidden/app.js",
        "const app = require('express')()\napp.use(process.env.HIDDEN, require('./hidden'))\nmodule.exports = app\n",
    );
    live.write(
        "hidden/hidden.js",
        "const router = require('express').Router()\nrouter.get('/latch', openLatch)\nrouter.get('/', listLatches)\n\n\
         function openLatch() {}\nfunction listLatches() {}\nmodule.exports = router\n",
    );
    live.write("hidden/test/app.test.js", "it('latch', () => request(app).get('/some/latch'))\n");
    // Fastify: a plugin and a function in the call.
    live.write(
        "server/app.js",
        "const fastify = require('fastify')()\nconst teams = require('./teams')\nfastify.register(teams, { prefix: '/teams' })\n\
         fastify.register(async (fastify) => {\n  fastify.get('/', showInfo)\n}, { prefix: '/info' })\n\nfunction showInfo() {}\nmodule.exports = fastify\n",
    );
    live.write(
        "server/teams.js",
        "async function teams (fastify, options) {\n  fastify.get('/', listTeams)\n}\n\nfunction listTeams() {}\nmodule.exports = teams\n",
    );
    live.write(
        "server/test/app.test.js",
        "test('teams', async () => {\n  await app.inject({ method: 'GET', url: '/teams' })\n})\n\n\
         test('info', async () => {\n  await app.inject({ method: 'GET', url: '/info/' })\n})\n",
    );
    live.start();
    check(
        &live,
        &[
            ("listOrders", &["orders"]),
            ("latestOrder", &["latest order"]),
            ("listCarts", &["carts"]),
            ("latestCart", &["latest cart"]),
            ("listItems", &["items"]),
            ("addItem", &["adds"]),
            ("openLatch", &["latch"]),
            ("listTeams", &["teams"]),
            ("showInfo", &["info"]),
        ],
    );
    let (_, answer) = memo(&live, &["tests", "openLatch"]);
    let expected =
        "tests of GET /latch are found by the end of the path: the prefix of its router is not followed";
    assert_eq!(answer["cut"], expected, "{answer}");
}

#[test]
fn routes_of_python_and_java_are_followed_to_the_prefixes_of_their_routers() {
    let live = Live::idle();
    // Flask: a prefix of the blueprint, one that replaces it, and one that is not known.
    live.write(
        "web/__init__.py",
        "from flask import Flask\n\nfrom . import settings\nfrom .auth import bp as auth_bp\nfrom .blog import bp\nfrom . import admin\n\n\n\
         def create_app():\n    app = Flask(__name__)\n    app.register_blueprint(auth_bp)\n    app.register_blueprint(bp, url_prefix='/posts')\n    \
         app.register_blueprint(admin.bp, url_prefix=settings.ADMIN)\n    return app\n",
    );
    let blueprint = |prefix: &str, path: &str, name: &str| {
        format!(
            "from flask import Blueprint\n\nbp = Blueprint('x', __name__{prefix})\n\n\n@bp.route('{path}')\ndef {name}():\n    return ''\n"
        )
    };
    live.write("web/auth.py", blueprint(", url_prefix='/auth'", "/edit", "edit_login"));
    live.write("web/blog.py", blueprint(", url_prefix='/blog'", "/edit", "edit_post"));
    live.write("web/admin.py", blueprint("", "/users", "admin_users"));
    live.write(
        "tests/test_web.py",
        "def test_login(client):\n    client.get('/auth/edit')\n\n\ndef test_post(client):\n    client.get('/posts/edit')\n\n\n\
         def test_users(client):\n    client.get('/secret/users')\n",
    );
    // FastAPI: both prefixes count.
    live.write(
        "api/main.py",
        "from fastapi import FastAPI\n\nfrom api.routers import pets\n\napp = FastAPI()\napp.include_router(pets.router, prefix='/v1', tags=['a'])\n",
    );
    live.write("api/routers/__init__.py", "");
    live.write(
        "api/routers/pets.py",
        "from fastapi import APIRouter\n\nrouter = APIRouter(prefix='/pets')\n\n\n@router.get('/')\nasync def list_pets():\n    return []\n",
    );
    live.write(
        "tests/test_pets.py",
        "def test_pets(client):\n    client.get('/v1/pets/')\n\n\ndef test_root(client):\n    client.get('/')\n",
    );
    // Django
    live.write(
        "site/urls.py",
        "from django.urls import include, path\n\nurlpatterns = [\n    path('store/', include('store.urls')),\n]\n",
    );
    live.write("store/__init__.py", "");
    live.write(
        "store/urls.py",
        "from django.urls import path\n\nfrom .views import show_shelf\n\nurlpatterns = [\n    path('', show_shelf),\n]\n",
    );
    live.write("store/views.py", "def show_shelf(request):\n    return None\n");
    live.write("store/tests.py", "def test_shelf(client):\n    client.get('/store/')\n");
    // Spring
    live.write(
        "src/main/java/shop/BookController.java",
        "package shop;\n\n@RestController\n@RequestMapping(\"/books\")\npublic class BookController {\n  @GetMapping(\"/top\")\n  \
         public String topBook() {\n    return \"\";\n  }\n}\n",
    );
    live.write(
        "src/test/java/shop/BookControllerTest.java",
        "package shop;\n\nclass BookControllerTest {\n  @Test\n  void top() {\n    mvc.perform(get(\"/books/top\"));\n  }\n\n  @Test\n  \
         void other() {\n    mvc.perform(get(\"/games/top\"));\n  }\n}\n",
    );
    live.start();
    check(
        &live,
        &[
            ("edit_login", &["test_login"]),
            ("edit_post", &["test_post"]),
            ("admin_users", &["test_users"]),
            ("list_pets", &["test_pets"]),
            ("show_shelf", &["test_shelf"]),
            ("topBook", &["BookControllerTest.top"]),
        ],
    );
    let (_, answer) = memo(&live, &["tests", "admin_users"]);
    let expected =
        "tests of /users are found by the end of the path: the prefix of its router is not followed";
    assert_eq!(answer["cut"], expected, "{answer}");
    let (_, answer) = memo(&live, &["tests", "edit_login"]);
    assert_ne!(answer["cut"], expected, "{answer}");
}
