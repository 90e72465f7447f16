//! Does `memo serve` begin and end the API, and does nothing of it outlive the daemon?

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use serde_json::json;

use super::Web;
use crate::live::{Live, memo, until};
use crate::system::make_executable;

fn is_refused(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err()
}

#[test]
fn nothing_listens_until_it_is_asked_for() {
    let live = Live::new();
    let (code, told) = memo(&live, &["serve", "--status"]);
    assert_eq!((code, &told["serving"], &told["url"]), (1, &json!(false), &json!(null)));
    let (code, told) = memo(&live, &["serve"]);
    assert_eq!((code, &told["serving"], &told["root"]), (0, &json!(true), &json!(live.root())));
    let url = told["url"].as_str().unwrap();
    let port = u16::try_from(told["port"].as_u64().unwrap()).unwrap();
    assert!(url.starts_with(&format!("http://127.0.0.1:{port}/#token=")), "{url}");
    assert!(url.split_once('=').unwrap().1.len() >= 43, "{url}");
    let again = live.memo(&["serve"]).output().unwrap();
    assert_eq!(String::from_utf8(again.stdout).unwrap(), format!("{url}\n"), "the same again");
    assert!(again.stderr.is_empty());
    let other = live.memo(&["serve", "--port", "1"]).output().unwrap();
    let said = String::from_utf8(other.stderr).unwrap();
    assert!(said.contains(&format!("already listens on port {port}")), "{said}");
    assert_eq!(memo(&live, &["serve", "--status"]).1["url"], url);

    let (code, told) = memo(&live, &["serve", "--stop"]);
    assert_eq!((code, &told["serving"]), (0, &json!(false)));
    assert!(is_refused(port));
    assert_eq!(memo(&live, &["serve", "--stop"]).0, 0, "it is off already");
    let log = fs::read_to_string(live.layout().log_file()).unwrap();
    assert!(!log.contains(url.split_once('=').unwrap().1), "the token is nowhere in the log");
}

#[test]
fn only_this_computer_is_listened_to() {
    let web = Web::new();
    let tcp = fs::read_to_string(format!("/proc/{}/net/tcp", web.live.pid()));
    let Ok(tcp) = tcp else { return crate::live::not_checked("who may connect: no /proc") };
    // Address and port in hexadecimal; state 0A listens.
    let port = format!(":{:04X} ", web.port);
    let listening: Vec<_> =
        tcp.lines().filter(|line| line.contains(&port) && line.contains(" 0A ")).collect();
    assert_eq!(listening.len(), 1, "{tcp}");
    assert!(listening[0].contains("0100007F:"), "{listening:?}");
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let live = Live::new();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, told) = memo(&live, &["serve", "--port", &port]);
    assert_eq!(code, 3, "{told}");
    let error = &told["error"];
    assert!(error["message"].as_str().unwrap().contains(&port), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("--port"), "{error}");
    drop(taken);
    let (code, told) = memo(&live, &["serve", "--port", &port]);
    assert_eq!((code, told["port"].to_string()), (0, port), "{told}");
}

#[test]
fn it_ends_with_the_daemon() {
    let web = Web::new();
    let idle = web.connect();
    assert_eq!(memo(&web.live, &["stop"]).0, 0);
    assert_eq!(web.live.wait_for_end(), Some(0), "an open connection does not hold it up");
    assert!(is_refused(web.port));
    drop(idle);

    web.live.start();
    assert_eq!(memo(&web.live, &["serve", "--status"]).0, 1, "it is off until asked for again");
    let port = web.port.to_string();
    let (code, told) = memo(&web.live, &["serve", "--port", &port]);
    assert_eq!((code, told["port"].to_string()), (0, port), "the same port can be had at once");
    assert!(!told["url"].as_str().unwrap().contains(&web.token));
    assert_eq!(web.ask("GET", "/v1/stats", &json!(null)).status, 401, "the former token");
}

#[test]
fn a_daemon_that_is_killed_leaves_nothing_behind() {
    let web = Web::new();
    let id = web.add("what was acknowledged is on the disk");
    web.live.kill();
    assert!(is_refused(web.port));
    web.live.start();
    let next = Web::of(web.live);
    let shown = next.get("GET", &format!("/v1/memories/{id}"), &json!(null));
    assert_eq!(shown["memories"][0]["content"], "what was acknowledged is on the disk");
}

#[cfg(unix)]
#[test]
fn the_browser_is_opened() {
    let live = Live::new();
    let (bin, opened) = (live.sandbox.path("bin"), live.sandbox.path("opened"));
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("xdg-open");
    fs::write(&program, format!("#!/bin/sh\nprintf %s \"$1\" > {0}.new; mv {0}.new {0}\n", opened.display()))
        .unwrap();
    make_executable(&program);
    let mut command = live.memo(&["serve", "--open"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    until("the browser runs", || opened.exists());
    let (opened, printed) = (fs::read_to_string(opened).unwrap(), String::from_utf8(output.stdout).unwrap());
    let token = |url: &str| url.trim_end().split_once("/#token=").unwrap().1.to_owned();
    let (once, lasting) = (token(&opened), token(&printed));
    assert_ne!(once, lasting, "other users can see what a browser is started with");
    let web = Web::of(live);
    assert_eq!(web.token, lasting);
    let with = |verb: &str, path: &str, token: &str| {
        web.ask_with(verb, path, &[("Authorization", &format!("Bearer {token}"))], "").status
    };
    assert_eq!(with("GET", "/v1/stats", &once), 401, "it opens a session and nothing else");
    let session = |token: &str| with("POST", "/v1/session", token);
    assert_eq!((session(&once), session(&once)), (204, 401));
    assert_eq!((session(&lasting), session(&lasting)), (204, 204));
}
