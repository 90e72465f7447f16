//! Checks that tests of pytest use the fixtures that their parameters name.

use super::check;

#[test]
fn the_nearest_fixture_is_meant() {
    let repository = "\
== conftest.py
import pytest
@pytest.fixture
def db(): pass
== app/conftest.py
import pytest
@pytest.fixture
def db(db): pass
== app/test_a.py
def test_a(db): pass
== test_b.py
import pytest
@pytest.fixture
def db(): pass
class TestB:
    @pytest.fixture
    def db(self, db): pass
    def test_own(self, db): pass
def test_b(db): pass
== test_c.py
def test_c(db): pass
def load(db): return db
== src/db.py
def db(): pass
";
    check(
        repository,
        "db",
        &[
            "app/conftest.py:3 exact conftest.py#db",
            "app/test_a.py:1 exact app/conftest.py#db",
            "test_b.py:6 exact test_b.py#db",
            "test_b.py:7 exact test_b.py#TestB.db",
            "test_b.py:8 exact test_b.py#db",
            "test_c.py:1 exact conftest.py#db",
        ],
    );
}

#[test]
fn fixtures_are_imported_renamed_and_named_in_strings() {
    check(
        "\
== plugins/dbs.py
import pytest
@pytest.fixture(name='db', scope='session')
def make_db(): pass
== conftest.py
pytest_plugins = ['plugins.dbs']
== test_a.py
import pytest
@pytest.mark.usefixtures('db')
def test_a(): pass
def test_b(request, db):
    request.getfixturevalue('db')
",
        "make_db",
        &[
            "test_a.py:2 exact plugins/dbs.py#make_db",
            "test_a.py:4 exact plugins/dbs.py#make_db",
            "test_a.py:5 exact plugins/dbs.py#make_db",
        ],
    );
    check(
        "\
== fixtures.py
from pytest import fixture
@fixture
def client(): pass
== test_a.py
from fixtures import client
def test_a(client): pass
== other/test_b.py
def test_b(client): pass
",
        "client",
        &[
            "test_a.py:1 exact fixtures.py#client",
            "test_a.py:2 exact fixtures.py#client",
            "other/test_b.py:1 likely fixtures.py#client",
        ],
    );
}

#[test]
fn a_function_that_is_no_fixture_is_not_meant() {
    check("== test_a.py\ndef user(): pass\ndef test_a(user): pass\n", "user", &["test_a.py:2 nothing"]);
}
