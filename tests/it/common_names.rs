//! Does an answer about a name with thousands of definitions come in time, and does it name what was left out?

use std::fmt::Write as _;

use crate::live::{Live, memo};

#[test]
fn of_thousands_of_definitions_of_one_name_the_first_are_looked_for() {
    let live = Live::idle();
    for file in 0..12 {
        let mut text = String::new();
        for class in 0..100 {
            let _ = writeln!(text, "class C{file}_{class}:\n    def handle(self):\n        return 1\n");
        }
        let _ = writeln!(text, "def use{file}(own: C{file}_1):\n    own.handle()");
        live.write(&format!("m{file:02}.py"), text);
    }
    live.start();
    let left_out = "1200 definitions have the name, and only uses of the first 1000 were looked for; ask about one as PATH#NAME";
    for verb in ["callers", "refs", "impact"] {
        let (_, answer) = memo(&live, &[verb, "handle", "--wait-ms=60000"]);
        assert_eq!(answer["cut"], left_out, "{verb}: {answer}");
    }
    let (_, answer) = memo(&live, &["callers", "m11.py#C11_1.handle"]);
    assert_eq!(answer["found"][0]["title"], "use11", "{answer}");
}

#[test]
fn calls_of_methods_of_thousands_of_types_in_one_file_are_resolved() {
    let live = Live::idle();
    let mut types = "package x\n\ntype Closer interface{ Close() error }\n\n".to_owned();
    let mut calls = "package x\n\nfunc All() {\n".to_owned();
    for number in 0..1_500 {
        let _ = writeln!(
            types,
            "type T{number} struct{{ n int }}\n\nfunc (t *T{number}) Shut{number}() error {{ return nil }}\n"
        );
        let _ = writeln!(calls, "\t(&T{number}{{}}).Shut{number}()");
    }
    live.write("go.mod", "module example.com/x\n\ngo 1.21\n");
    live.write("types.go", types);
    live.write("calls.go", calls + "}\n");
    live.start();
    let (_, answer) = memo(&live, &["callees", "All", "--limit=2000", "--wait-ms=60000"]);
    assert_eq!(
        (&answer["n_found"], &answer["cut"]),
        (&1_500.into(), &serde_json::Value::Null),
        "{}",
        answer["cut"]
    );
}
