//! Does the client reach a daemon, whatever state it is in?

use std::fs;
use std::time::Duration;

use memod_client::{Client, ClientError, ClientOptions, VERSION};
use memod_proto::{Endpoint, PROTOCOL, code};
use serde_json::{Value, json};

use crate::fake::{Answer, Fake, endpoint, publish};
use crate::sandbox::Sandbox;

fn options(start: bool) -> ClientOptions {
    ClientOptions {
        start,
        index_on_demand: false,
        daemon: Sandbox::daemon(),
        version: VERSION.to_owned(),
        answer_within: Duration::from_secs(20),
        ready_within: Duration::from_secs(20),
    }
}

fn connect(sandbox: &Sandbox, options: ClientOptions) -> Result<Client, ClientError> {
    Client::connect(&sandbox.layout(), &sandbox.env(), options)
}

/// Connects, calls `m`, and returns the result or the error as text.
fn ask(sandbox: &Sandbox, options: ClientOptions) -> String {
    let answer = connect(sandbox, options).and_then(|mut client| client.call::<_, Value>("m", &json!({})));
    match answer {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string().replace(sandbox.path("").to_str().unwrap(), "[TOP]/"),
    }
}

fn result(value: &str) -> Answer {
    Answer::Result(json!(value))
}

#[test]
fn equal_versions_need_no_hello() {
    let sandbox = Sandbox::new();
    let fake = Fake::start(&sandbox.layout(), VERSION, |_| result("pong"));
    let mut client = connect(&sandbox, options(false)).unwrap();
    for _ in 0..3 {
        assert_eq!(client.call::<_, String>("m", &json!({})).unwrap(), "pong");
    }
    assert_eq!(fake.methods(), "m m m");
}

#[test]
fn nothing_listens() {
    let sandbox = Sandbox::new();
    let none = "no daemon runs for [TOP]/work";
    assert_eq!(ask(&sandbox, options(false)), none);
    for text in ["", "{", "{\"socket\": 3}", "null\n", "\u{0}"] {
        fs::write(sandbox.layout().endpoint_file(), text).unwrap();
        assert_eq!(ask(&sandbox, options(false)), none, "endpoint is {text}");
    }
    let stale = endpoint(&sandbox.layout(), VERSION, PROTOCOL);
    publish(&sandbox.layout(), &stale, "endpoint");
    assert_eq!(ask(&sandbox, options(false)), none, "no socket");
    fs::create_dir_all(sandbox.path("run/memod")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&stale.socket).unwrap());
    assert_eq!(ask(&sandbox, options(false)), none, "nobody accepts");
}

#[test]
fn a_lost_endpoint_file_loses_no_daemon() {
    let sandbox = Sandbox::new();
    let layout = sandbox.layout();
    let socket = memod_base::paths::RepoLayout::socket_dir(&sandbox.env()).join(&layout.id);
    let usual = Endpoint { socket: socket.display().to_string(), ..endpoint(&layout, VERSION, PROTOCOL) };
    let fake = Fake::listen(&usual, versioned(VERSION, PROTOCOL));
    let client = connect(&sandbox, options(true)).unwrap();
    assert_eq!((client.endpoint(), fake.methods().as_str()), (&usual, "hello"));
}

#[test]
fn a_socket_of_somebody_else_is_not_used() {
    let sandbox = Sandbox::new();
    let fake = Fake::start(&sandbox.layout(), VERSION, |_| result("pong"));
    let mut env = sandbox.env();
    let layout = sandbox.layout();
    env.uid += 1; // as good as another owner, without being root
    let error = Client::connect(&layout, &env, options(true)).unwrap_err();
    assert!(matches!(error, ClientError::ForeignSocket { .. }), "{error}");
    assert_eq!(fake.methods(), "");
}

#[test]
fn bad_answers_are_errors() {
    let cases = [
        ("nonsense", "invalid answer: not JSON from byte 2 on"),
        ("", "invalid answer: incomplete JSON"),
        ("\u{7}", "invalid answer: not JSON from byte 1 on"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "invalid answer: neither result nor error"),
    ];
    for (line, expected) in cases {
        let sandbox = Sandbox::new();
        let _fake = Fake::start(&sandbox.layout(), VERSION, move |_| Answer::Line(line.to_owned()));
        let expected = format!("[TOP]/run/memod/{VERSION}-{PROTOCOL}: {expected}");
        assert_eq!(ask(&sandbox, options(false)), expected);
    }
}

#[test]
fn events_and_late_answers_are_passed_over() {
    let sandbox = Sandbox::new();
    let lines = [
        r#"{"jsonrpc":"2.0","method":"changed","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":"of another call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":"mine"}"#,
    ];
    let _fake = Fake::start(&sandbox.layout(), VERSION, move |_| Answer::Line(lines.join("\n")));
    assert_eq!(ask(&sandbox, options(false)), "\"mine\"");
}

#[test]
fn null_is_an_answer() {
    let sandbox = Sandbox::new();
    let _fake = Fake::start(&sandbox.layout(), VERSION, |_| Answer::Result(Value::Null));
    assert_eq!(ask(&sandbox, options(false)), "null");
}

#[test]
fn a_silent_daemon_is_named() {
    let sandbox = Sandbox::new();
    let _fake = Fake::start(&sandbox.layout(), VERSION, |_| Answer::Silence);
    let mut options = options(true);
    options.answer_within = Duration::from_millis(40);
    let error = connect(&sandbox, options).unwrap().call::<_, Value>("m", &json!({})).unwrap_err();
    let ClientError::NoAnswer { pid, socket, log, .. } = error else { panic!("{error}") };
    let found = (pid, socket, log);
    let expected = endpoint(&sandbox.layout(), VERSION, PROTOCOL);
    assert_eq!(found, (expected.pid, expected.socket.into(), sandbox.layout().log_file()));
}

type Refusal = fn() -> Answer;

#[test]
fn a_daemon_that_cannot_answer_now_is_asked_again() {
    let cases: [(&str, Refusal); 3] = [
        ("busy", || Answer::Error(code::BUSY, 1)),
        ("stopping", || Answer::Error(code::STOPPING, 1)),
        ("gone", || Answer::Close),
    ];
    for (name, refuse) in cases {
        let sandbox = Sandbox::new();
        let mut refusals = 2;
        let answer = move |_: &_| {
            refusals -= 1;
            if refusals >= 0 { refuse() } else { result("at last") }
        };
        let fake = Fake::start(&sandbox.layout(), VERSION, answer);
        assert_eq!(ask(&sandbox, options(false)), "\"at last\"", "{name}");
        assert_eq!(fake.methods(), "m m m", "{name}");
    }
}

#[test]
fn a_daemon_that_always_hangs_up_is_given_up() {
    let sandbox = Sandbox::new();
    let fake = Fake::start(&sandbox.layout(), VERSION, |_| Answer::Close);
    let error = connect(&sandbox, options(false)).unwrap().call::<_, Value>("m", &json!({})).unwrap_err();
    assert!(matches!(error, ClientError::ConnectionClosed { pid: 4242, .. }), "{error}");
    assert_eq!(fake.methods(), "m m m");
}

#[test]
fn other_errors_of_the_daemon_come_through() {
    let sandbox = Sandbox::new();
    let _fake = Fake::start(&sandbox.layout(), VERSION, |_| Answer::Error(code::NOT_FOUND, 0));
    let error = connect(&sandbox, options(false)).unwrap().call::<_, Value>("m", &json!({})).unwrap_err();
    assert!(matches!(error, ClientError::Rpc(ref rpc) if rpc.code == code::NOT_FOUND), "{error}");
}

/// Answers `hello` as a daemon of `version`, ends at `stop`, and echoes its version to anything else.
fn versioned(version: &'static str, protocol: u32) -> impl FnMut(&memod_proto::Request) -> Answer + Send {
    move |request| match request.method.as_str() {
        "hello" => Answer::Result(json!({ "version": version, "protocol": protocol, "pid": 4242 })),
        "stop" => Answer::End(json!({})),
        _ => result(version),
    }
}

#[test]
fn the_newer_side_wins() {
    let check = |protocol: u32, daemon: &'static str, start: bool, answer: &str, methods: &str| {
        let sandbox = Sandbox::new();
        let layout = sandbox.layout();
        let running = endpoint(&layout, daemon, protocol);
        let old = Fake::listen(&running, versioned(daemon, protocol));
        publish(&layout, &running, "endpoint");
        let ours = endpoint(&layout, VERSION, PROTOCOL);
        let _new = Fake::listen(&ours, versioned(VERSION, PROTOCOL));
        publish(&layout, &ours, "prepared");
        sandbox.behave("[ $1 = check ] || cp prepared endpoint; echo '{\"ready\":true}'");
        assert_eq!(ask(&sandbox, options(start)), answer, "{daemon} {protocol} {start}");
        assert_eq!(old.methods(), methods, "{daemon} {protocol} {start}");
    };
    let own = format!("\"{VERSION}\"");
    check(PROTOCOL, "0.0.9", true, &own, "hello stop");
    check(PROTOCOL, "0.0.9", false, "\"0.0.9\"", "hello m");
    check(PROTOCOL, "99.0.0", true, "\"99.0.0\"", "hello m");
    let newer =
        format!("the daemon is version 99.0.0 (protocol 9), this client is {VERSION} (protocol {PROTOCOL})");
    check(9, "99.0.0", true, &newer, "hello");
}

#[test]
fn a_daemon_is_started_where_none_runs() {
    let sandbox = Sandbox::new();
    let layout = sandbox.layout();
    let prepared = endpoint(&layout, VERSION, PROTOCOL);
    let _fake = Fake::listen(&prepared, |_| result("pong"));
    publish(&layout, &prepared, "prepared");
    sandbox.behave("echo \"$@\" > args; pwd -P > cwd; cp prepared endpoint; echo '{\"ready\":true}'");
    assert_eq!(ask(&sandbox, options(true)), "\"pong\"");
    let said = |name: &str| fs::read_to_string(layout.state_dir.join(name)).unwrap();
    assert_eq!(said("args"), format!("run --root {}\n", layout.root.display()));
    assert_eq!(said("cwd"), format!("{}\n", layout.state_dir.display()));
}

#[test]
fn many_cold_clients_start_one_daemon() {
    let sandbox = Sandbox::new();
    let layout = sandbox.layout();
    let prepared = endpoint(&layout, VERSION, PROTOCOL);
    let _fake = Fake::listen(&prepared, |_| result("pong"));
    publish(&layout, &prepared, "prepared");
    sandbox.behave("echo started >> starts; cp prepared endpoint; echo '{\"ready\":true}'");
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| assert_eq!(ask(&sandbox, options(true)), "\"pong\""));
        }
    });
    assert_eq!(fs::read_to_string(layout.state_dir.join("starts")).unwrap(), "started\n");
}

#[test]
fn a_daemon_that_does_not_start_says_why() {
    let check = |script: &str, expected: &str| {
        let sandbox = Sandbox::new();
        sandbox.behave(script);
        let mut options = options(true);
        if script.contains("read") {
            options.ready_within = Duration::from_millis(50);
        }
        assert_eq!(ask(&sandbox, options), expected, "{script}");
    };
    let refused = r#"echo '{"error":"the disk is full","hint":"free some"}'; exit 1"#;
    check(refused, "the daemon did not start: the disk is full");
    check("exit 7", "the daemon did not become ready: it ended with exit status: 7");
    let program = Sandbox::daemon();
    let noise =
        format!("the daemon did not become ready: {} printed something unexpected", program.display());
    check("echo hello", &noise);
    let lies = "the daemon did not become ready: it reported that it is ready, but nothing listens on the socket in [TOP]/work/.git/memo/endpoint";
    check(r#"echo '{"ready":true}'"#, lies);
    let silent = "the daemon did not become ready: it was silent for 0 s and was stopped";
    check("mkfifo never; read -r line < never", silent);
}

#[test]
fn a_draining_daemon_is_waited_for() {
    let sandbox = Sandbox::new();
    let layout = sandbox.layout();
    let held = fs::File::create(layout.daemon_lock_file()).unwrap();
    held.lock().unwrap();
    sandbox.behave("exit 7");
    let mut impatient = options(true);
    impatient.ready_within = Duration::from_millis(30);
    let lock = "another process holds the lock [TOP]/work/.git/memo/daemon.lock, but does not listen";
    assert_eq!(ask(&sandbox, impatient), format!("the daemon did not become ready: {lock}"));
    drop(held);
    assert_eq!(ask(&sandbox, options(true)), "the daemon did not become ready: it ended with exit status: 7");
}

#[test]
fn stopping_waits_for_the_end() {
    let sandbox = Sandbox::new();
    let fake = Fake::start(&sandbox.layout(), VERSION, versioned(VERSION, PROTOCOL));
    connect(&sandbox, options(false)).unwrap().stop().unwrap();
    assert_eq!(fake.methods(), "stop");
    assert_eq!(ask(&sandbox, options(false)), "no daemon runs for [TOP]/work");
}

#[test]
fn a_daemon_that_stays_is_named() {
    let sandbox = Sandbox::new();
    let _fake = Fake::start(&sandbox.layout(), VERSION, |_| Answer::Result(json!({})));
    let mut impatient = options(false);
    impatient.ready_within = Duration::from_millis(30);
    let error = connect(&sandbox, impatient).unwrap().stop().unwrap_err();
    assert!(matches!(error, ClientError::NotStopped { pid: 4242, .. }), "{error}");
}
