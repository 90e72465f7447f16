//! Are definitions and uses found in Terraform, Protocol Buffers, SQL, GraphQL, Kubernetes and Dockerfiles?

use crate::javascript_imports::uses;
use crate::live::{Live, memo};

fn repository(files: &[(&str, &str)]) -> Live {
    let live = Live::idle();
    files.iter().for_each(|(path, text)| live.write(path, text));
    live.git(&["add", "-A"]);
    live.git(&["commit", "-q", "-m", "Add it"]);
    live.start();
    live
}

fn check_shown(live: &Live, name: &str, path: &str, part: &str) {
    let (exit, shown) = memo(live, &["show", name]);
    assert_eq!(exit, 0, "{name}: {shown}");
    let shown = shown.to_string();
    assert!(shown.contains(path) && shown.contains(part), "{name}: {shown}");
}

#[test]
fn terraform_is_resolved_by_directory() {
    let bucket = "resource \"aws_s3_bucket\" \"logs\" {\n  bucket = var.region\n}\n";
    let live = repository(&[
        ("a/main.tf", bucket),
        (
            "a/out.tf",
            "output \"id\" {\n  value = aws_s3_bucket.logs.id\n}\nmodule \"b\" {\n  source = \"../b\"\n  region = 1\n}\n",
        ),
        ("a/vars.tf", "variable \"region\" {}\n"),
        ("a/env/prod.tfvars", "region = \"eu\"\n"),
        ("b/main.tf", &(bucket.to_owned() + "variable \"region\" {}\n")),
        ("b/use.tf", "locals {\n  x = \"${aws_s3_bucket.logs.arn}\"\n}\n"),
    ]);
    check_shown(&live, "a/main.tf#aws_s3_bucket.logs", "a/main.tf", "bucket = var.region");
    assert_eq!(uses(&live, "a/main.tf#aws_s3_bucket.logs"), ["a/out.tf:2 exact"]);
    assert_eq!(uses(&live, "b/main.tf#aws_s3_bucket.logs"), ["b/use.tf:2 exact"]);
    assert_eq!(uses(&live, "a/vars.tf#var.region"), ["a/main.tf:2 exact", "a/env/prod.tfvars:1 likely"]);
    assert_eq!(uses(&live, "b/main.tf#var.region"), ["a/out.tf:6 exact", "b/main.tf:2 exact"]);
    check_shown(&live, "local.x", "b/use.tf", "arn");
    let (_, outline) = memo(&live, &["outline", "a/out.tf"]);
    assert!(
        outline.to_string().contains("module.b") && outline.to_string().contains("output.id"),
        "{outline}"
    );
}

#[test]
fn messages_are_resolved_by_import_and_package() {
    let live = repository(&[
        (
            "p/a.proto",
            "syntax = \"proto3\";\npackage x.a;\nmessage Order {\n  message Line {}\n  Line first = 1;\n}\n",
        ),
        (
            "p/b.proto",
            "package x.b;\nimport \"p/a.proto\";\nservice Orders {\n  rpc Place(x.a.Order) returns (Order);\n}\nmessage Order {}\n",
        ),
        ("p/c.proto", "package x.c;\nmessage Holder { x.a.Order.Line line = 1; }\n"),
    ]);
    assert_eq!(uses(&live, "x.a.Order"), ["p/b.proto:4 exact"]);
    assert_eq!(uses(&live, "p/b.proto#Order"), ["p/b.proto:4 exact"]);
    assert_eq!(uses(&live, "Order.Line"), ["p/a.proto:5 exact", "p/c.proto:2 likely"]);
    check_shown(&live, "Orders.Place", "p/b.proto", "rpc Place");
}

#[test]
fn sql_is_resolved_in_the_whole_worktree() {
    let live = repository(&[
        (
            "db/1.sql",
            "CREATE TABLE IF NOT EXISTS \"users\" (id int DEFAULT ';');\n\nCREATE INDEX by_id ON users (id);\n",
        ),
        (
            "db/2.sql",
            "CREATE FUNCTION total() RETURNS int AS $$\nBEGIN\n  RETURN (SELECT 1 FROM users);\nEND;\n$$ LANGUAGE plpgsql;\n",
        ),
        ("q/a.sql", "SELECT total() FROM orders o\nJOIN users u ON true;\n"),
    ]);
    assert_eq!(uses(&live, "users"), ["db/1.sql:3 exact", "db/2.sql:3 likely", "q/a.sql:2 likely"]);
    assert_eq!(uses(&live, "total"), ["q/a.sql:1 likely"]);
    check_shown(&live, "total", "db/2.sql", "END;");
}

#[test]
fn graphql_stages_and_resources_are_found() {
    let live = repository(&[
        ("s/a.graphql", "type User { id: ID! }\ntype Query { user: User }\n"),
        ("s/b.graphql", "query Me { user { ...Parts } }\nfragment Parts on User { id }\n"),
        ("Dockerfile", "FROM rust AS build\nRUN make\n\nFROM scratch\nCOPY --from=build /a /a\n"),
        (
            "k/web.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\n",
        ),
    ]);
    assert_eq!(uses(&live, "User"), ["s/a.graphql:2 exact", "s/b.graphql:2 likely"]);
    assert_eq!(uses(&live, "Query.user"), ["s/b.graphql:1 likely"]);
    assert_eq!(uses(&live, "build"), ["Dockerfile:5 exact"]);
    check_shown(&live, "Service/web", "k/web.yaml", "kind: Service");
    let (_, answer) = memo(&live, &["callers", "k/web.yaml#Deployment/web", "--wait-ms=60000"]);
    let unread = "has the name, but uses in .yaml files are not read";
    assert!(answer.to_string().contains(unread), "{answer}");
}
