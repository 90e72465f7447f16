//! Does a file system that hangs hold up anybody else?

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memod_proto::code;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::live::{Live, memo, not_checked, until, word};

/// How long `memo daemon stop` waits for the daemon to end.
const STOP_ENDS: Duration = Duration::from_secs(10);

/// A directory as another file system, whose server can be stopped: then whoever looks at it waits.
struct Hanging {
    place: PathBuf,
    server: Child,
}

impl Hanging {
    /// Mounts `source` at `place`; none where FUSE or bindfs is not there, which is said.
    fn mount(source: &Path, place: &Path) -> Option<Self> {
        let mut bindfs = Command::new("bindfs");
        bindfs.args(["-f", "--no-allow-other"]).args([source, place]);
        let Ok(server) = bindfs.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
            not_checked("a file system that hangs: bindfs is not installed");
            return None;
        };
        let mut mount = Self { place: place.to_owned(), server };
        let device = |path: &Path| fs::metadata(path).unwrap().dev();
        let around = device(place.parent().unwrap());
        let mut has_ended = false;
        until("it is mounted", || {
            has_ended = mount.server.try_wait().unwrap().is_some();
            has_ended || device(place) != around
        });
        if has_ended {
            not_checked("a file system that hangs: bindfs cannot mount here");
        }
        (!has_ended).then_some(mount)
    }

    /// Stops the server. A request that it has read already would keep its thread, and a process that ends, for good.
    fn hang(&self) {
        kill_process(Pid::from_child(&self.server), Signal::STOP).unwrap();
        let tasks = format!("/proc/{}/task", self.server.id());
        until("the server has stopped", || {
            let stats = fs::read_dir(&tasks).unwrap().map(|task| task.unwrap().path().join("stat"));
            stats.into_iter().all(|stat| fs::read_to_string(stat).is_ok_and(|stat| stat.contains(") T ")))
        });
    }

    fn go_on(&self) {
        kill_process(Pid::from_child(&self.server), Signal::CONT).unwrap();
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.server), Signal::CONT);
        let _ = Command::new("umount").arg("--lazy").arg(&self.place).stderr(Stdio::null()).status();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A repository with a commit, a directory `dead` to be mounted, and what it shows.
fn repository() -> (Live, PathBuf, PathBuf) {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.commit_all();
    let [source, dead] = ["source", "dead"].map(|name| live.sandbox.path(name));
    for dir in [&source, &dead] {
        fs::create_dir_all(dir).unwrap();
    }
    (live, source, dead)
}

/// Searches with a limit of ten seconds, in which the answer must be fresh.
fn expect_fresh(live: &Live, cwd: &Path, word: &str, path: &str) {
    let found = live.search_with(cwd, word, json!({ "wait_ms": 10_000 }));
    assert!(found.fresh, "{word}: {:?}", found.reason);
    assert_eq!(found.paths.into_iter().collect::<Vec<_>>(), [path], "{word}");
}

#[test]
fn a_worktree_whose_file_system_hangs() {
    let (live, source, dead) = repository();
    let Some(mount) = Hanging::mount(&source, &dead) else { return };
    let linked = dead.join("linked");
    live.git(&["worktree", "add", "-q", "-b", "other", linked.to_str().unwrap()]);
    for number in 0..64 {
        fs::create_dir_all(linked.join(format!("d{number}"))).unwrap();
    }
    live.expect_in(&linked, "alpha", "a.md", "before");
    mount.hang();

    // As many as may be in work, from as many directories, and each on a connection of its own.
    let mut stuck: Vec<_> = (0..64).map(|_| live.connect()).collect();
    for (number, rpc) in stuck.iter().enumerate() {
        let cwd = linked.join(format!("d{number}"));
        let (method, params) = match number % 3 {
            0 => ("search", json!({ "cwd": cwd, "query": "alpha" })),
            1 => ("search", json!({ "cwd": linked, "query": "alpha", "sync": "strict" })),
            _ => ("memory.add", json!({ "cwd": cwd, "content": "said in a worktree that hangs" })),
        };
        rpc.send(format!("{}\n", json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })));
    }
    for number in 0..10 {
        let path = format!("n{number}.md");
        live.write(&path, word(number));
        expect_fresh(&live, &live.root(), &word(number), &path);
    }
    live.call("memory.add", json!({ "content": "said in one that does not" }));
    for rpc in &mut stuck {
        let reply = rpc.receive().expect("an answer within the limit");
        let told = format!("{}{}", reply["error"]["message"], reply["result"]["reason"]);
        let is_told = told.contains("its file system has not answered");
        assert!(is_told && reply["result"]["fresh"] != true, "{reply}");
    }
    let status = live.call("status", json!({}));
    let degraded = status["degraded"].to_string();
    assert!(degraded.contains("linked: its file system has not answered yet"), "{status}");

    mount.go_on();
    fs::write(linked.join("b.md"), "beta").unwrap();
    live.expect_in(&linked, "beta", "b.md", "afterwards");
    assert_eq!(live.call("status", json!({}))["degraded"].to_string().find("not answered"), None);
    mount.hang();
    let rpc = live.connect();
    let params = json!({ "cwd": linked, "query": "alpha" });
    rpc.send(format!("{}\n", json!({ "jsonrpc": "2.0", "id": 1, "method": "search", "params": params })));
    expect_fresh(&live, &live.root(), "alpha", "a.md");
    live.call("stop", json!({}));
    assert_eq!(live.wait_for_end(), Some(0), "it ends with threads that hang");
}

/// A repository with another file system in it, at `sub`, and a second worktree.
fn mounted_inside() -> Option<(Live, Hanging, PathBuf)> {
    let (live, source, _) = repository();
    let (sub, other) = (live.root().join("sub"), live.sandbox.path("other"));
    live.git(&["worktree", "add", "-q", "-b", "other", other.to_str().unwrap()]);
    fs::write(source.join("s.md"), "gamma").unwrap();
    fs::create_dir(&sub).unwrap();
    expect_fresh(&live, &other, "alpha", "a.md");
    let mount = Hanging::mount(&source, &sub)?;
    live.expect("gamma", "sub/s.md", "a file system inside the worktree");
    Some((live, mount, other))
}

/// Makes the file system hang, and a walk that hangs with it; returns what is said of it.
fn hang_in_a_walk(live: &Live, mount: &Hanging) -> String {
    mount.hang();
    let stuck = live.call("search", json!({ "query": "alpha", "sync": "strict" }));
    assert_eq!(stuck["fresh"], json!(false), "{stuck}");
    stuck["reason"].as_str().unwrap().to_owned()
}

#[test]
fn a_walk_that_hangs_holds_up_no_other_worktree() {
    let Some((live, mount, other)) = mounted_inside() else { return };
    let reason = hang_in_a_walk(&live, &mount);
    for number in 0..3 {
        let path = format!("n{number}.md");
        fs::write(other.join(&path), word(number)).unwrap();
        expect_fresh(&live, &other, &word(number), &path);
    }
    let third = live.sandbox.path("third");
    live.git(&["worktree", "add", "-q", "-b", "third", third.to_str().unwrap()]);
    expect_fresh(&live, &third, "alpha", "a.md");
    let degraded = live.call("status", json!({ "cwd": other }))["degraded"].to_string();
    for told in [reason, degraded] {
        assert!(told.contains("sub: its file system has not answered yet"), "{told}");
    }
    live.call("reindex", json!({ "cwd": other }));
    expect_fresh(&live, &other, &word(0), "n0.md");
    mount.go_on();
    live.write("sub/t.md", "delta");
    live.expect("delta", "sub/t.md", "afterwards");
    live.expect("gamma", "sub/s.md", "what the walk met before the index was emptied");
}

#[test]
fn it_ends_in_the_middle_of_a_walk_that_hangs() {
    let Some((live, mount, _)) = mounted_inside() else { return };
    live.call("memory.add", json!({ "content": "acknowledged before the end" }));
    hang_in_a_walk(&live, &mount);
    live.call("stop", json!({}));
    assert_eq!(live.wait_for_end(), Some(0));
}

#[test]
fn it_ends_while_requests_and_the_index_hang() {
    let Some((live, mount, _)) = mounted_inside() else { return };
    hang_in_a_walk(&live, &mount); // the index
    let mut stuck: Vec<_> = (0..4).map(|_| live.connect()).collect();
    for rpc in &stuck {
        let params = json!({ "cwd": live.root(), "target": "sub/s.md", "sync": "none" });
        rpc.send(format!("{}\n", json!({ "jsonrpc": "2.0", "id": 1, "method": "show", "params": params })));
    }
    let mut n_seen = 0;
    until("a thread that reads for a request hangs", || {
        // Every system call is seen at times; only one that hangs is always.
        n_seen = if is_reading(&live) { n_seen + 1 } else { 0 };
        n_seen == 50
    });
    let began = Instant::now();
    let output = live.memo(&["stop"]).output().unwrap();
    let took = began.elapsed();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(live.wait_for_end(), Some(0));
    assert!(took < STOP_ENDS, "{took:?}");
    for rpc in &mut stuck {
        let reply = rpc.receive();
        assert!(
            reply.as_ref().is_none_or(|reply| reply["result"]["fresh"] != true),
            "nothing was read: {reply:?}"
        );
    }
}

/// Returns whether a thread that serves requests is in a system call other than those in which it waits for work.
fn is_reading(live: &Live) -> bool {
    let tasks = fs::read_dir(format!("/proc/{}/task", live.endpoint().pid)).unwrap();
    let reads = |task: PathBuf| {
        let of = |name: &str| fs::read_to_string(task.join(name)).unwrap_or_default();
        let number: Option<i64> = of("syscall").split(' ').next().and_then(|number| number.parse().ok());
        let waits = [libc::SYS_futex, libc::SYS_epoll_wait, libc::SYS_epoll_pwait];
        of("comm").trim() == "serve" && number.is_some_and(|number| !waits.contains(&number))
    };
    tasks.map(|task| task.unwrap().path()).any(reads)
}

#[test]
fn a_client_in_a_directory_that_hangs_says_so() {
    let (live, source, dead) = repository();
    let Some(mount) = Hanging::mount(&source, &dead) else { return };
    mount.hang();
    let (exit, said) = memo(&live, &["-C", dead.to_str().unwrap(), "status"]);
    let message = format!("open {}: its file system has not answered within 10 s", dead.display());
    assert_eq!((exit, said["error"]["message"].as_str()), (3, Some(message.as_str())), "{said}");
    assert_eq!(said["error"]["hint"], "check whether the server of that file system can be reached");
}

#[test]
fn settings_that_hang_hold_up_no_other_worktree() {
    let (live, source, dead) = repository();
    let other = live.sandbox.path("other");
    live.git(&["worktree", "add", "-q", "-b", "other", other.to_str().unwrap()]);
    fs::write(source.join("settings"), "[user]\n\tname = far\n\temail = far@example.org\n").unwrap();
    let Some(mount) = Hanging::mount(&source, &dead) else { return };
    live.git(&["config", "extensions.worktreeConfig", "true"]);
    let settings = dead.join("settings");
    live.git_in(&other, &["config", "--worktree", "include.path", settings.to_str().unwrap()]);
    live.call_in(&other, "memory.add", json!({ "content": "the bridge is painted green" }));
    mount.hang();

    let mut stuck: Vec<_> = (0..8).map(|_| live.connect()).collect();
    for (number, rpc) in stuck.iter().enumerate() {
        let content = format!("note {} of a slow day", word(number));
        let params = json!({ "cwd": other, "content": content, "force": true });
        rpc.send(format!(
            "{}\n",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "memory.add", "params": params })
        ));
    }
    let asked = Instant::now();
    live.call("memory.add", json!({ "content": "the harbour opens at six" }));
    live.call("memory.list", json!({}));
    assert!(asked.elapsed() < Duration::from_secs(30), "{:?}", asked.elapsed());
    for rpc in &mut stuck {
        let reply = rpc.receive().expect("an answer within the limit");
        assert!(reply["result"].is_object(), "{reply}");
    }
    let listed = live.call("memory.list", json!({}));
    let authors =
        listed["memories"].as_array().unwrap().iter().map(|memory| memory["author"].as_str().unwrap());
    let n_of = |name: &str| authors.clone().filter(|author| *author == name).count();
    assert_eq!((n_of("far <far@example.org>"), n_of("unknown")), (1, 8), "{listed}");
}

/// Starts the daemon so that these system calls on `path` take so long. Returns whether that is possible here.
fn start_slow(live: &Live, path: &Path, syscalls: &str, delay: Duration) -> bool {
    let strace = |args: &[&str]| {
        let mut command = live.sandbox.program("strace", &["-D", "-f", "-qq", "-o", "/dev/null"]);
        command.args(args);
        command
    };
    if !strace(&["true"]).status().is_ok_and(|status| status.success()) {
        not_checked("a file system that is slow: strace cannot be run");
        return false;
    }
    let (trace, inject) =
        (format!("trace={syscalls}"), format!("inject={syscalls}:delay_exit={}", delay.as_micros()));
    let memod = live.memod();
    let mut command = strace(&["-P", path.to_str().unwrap(), "-e", &trace, "-e", &inject]);
    command.arg(memod.get_program()).args(memod.get_args());
    live.start_as(&mut command);
    true
}

#[test]
fn slow_settings_of_one_worktree_hold_up_no_other() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    let (other, settings) = (live.sandbox.path("other"), live.sandbox.path("settings"));
    live.git(&["worktree", "add", "-q", "-b", "other", other.to_str().unwrap()]);
    fs::write(&settings, "[user]\n\tname = far\n").unwrap();
    live.git(&["config", "extensions.worktreeConfig", "true"]);
    live.git_in(&other, &["config", "--worktree", "include.path", settings.to_str().unwrap()]);
    if !start_slow(&live, &settings, "openat", Duration::from_millis(2_500)) {
        return;
    }
    live.expect("alpha", "a.md", "before");
    let mut rpc = live.connect();
    let params = json!({ "cwd": other, "query": "alpha", "wait_ms": 60_000 });
    rpc.send(format!("{}\n", json!({ "jsonrpc": "2.0", "id": 1, "method": "search", "params": params })));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let reply = rpc.receive();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(reply.unwrap()["result"]["fresh"], json!(true));
        });
        let mut numbers = 0..;
        while !is_over.load(Ordering::Relaxed) {
            let word = word(numbers.next().unwrap());
            live.write("n.md", &word);
            let found = live.search_with(&live.root(), &word, json!({ "wait_ms": 1_500 }));
            assert!(found.fresh, "{word}: {:?}", found.reason);
        }
    });
}

#[test]
fn a_directory_that_is_slow_is_not_one_that_hangs() {
    let live = Live::idle();
    live.write("slow/a.md", "alpha");
    let slow = live.root().join("slow");
    // Far more of them than the gate lets in within their second, although each takes a part of it.
    if !start_slow(&live, &slow, "%file", Duration::from_millis(150)) {
        return;
    }
    let mut rpc = live.connect();
    for id in 0..64 {
        let params = json!({ "cwd": slow, "query": "alpha", "sync": "none" });
        rpc.send(format!(
            "{}\n",
            json!({ "jsonrpc": "2.0", "id": id, "method": "search", "params": params })
        ));
    }
    let (mut n_answers, mut n_busy) = (0, 0);
    for _ in 0..64 {
        let reply = rpc.receive().expect("an answer within the limit");
        match reply["error"]["code"].as_i64() {
            None => n_answers += 1,
            Some(code) if code == code::BUSY => n_busy += 1,
            Some(_) => panic!("{reply}"),
        }
    }
    assert!(n_answers > 0, "{n_busy} of them found no place");
}

/// An answer is made without the files that do not answer, and names their directory.
#[test]
fn code_in_a_directory_that_hangs_is_named_in_time() {
    let Some((live, mount, _)) = mounted_inside() else { return };
    mount.hang();
    let asked = [
        ("search", json!({ "query": "gamma" })),
        ("search", json!({ "query": "alpha gamma", "sync": "none" })),
        ("show", json!({ "target": "sub/s.md" })),
        ("show", json!({ "target": "sub/s.md", "sync": "none" })),
        ("outline", json!({ "target": "sub/s.md", "sync": "none" })),
        ("why", json!({ "target": "sub/s.md" })),
        ("changed", json!({})),
        ("map", json!({ "sync": "none" })),
        ("brief", json!({})),
    ];
    for (method, params) in asked {
        let began = Instant::now();
        let answer = live.call(method, params.clone());
        let reason = answer["reason"].as_str().unwrap_or_default();
        let is_named = reason.contains("sub") && reason.contains("has not answered");
        // Nothing of the directory is needed for what is not shown.
        assert!(
            answer["fresh"] == json!(false) && (is_named || method == "map"),
            "{method} {params}: {answer}"
        );
        assert!(began.elapsed() < Duration::from_secs(10), "{method} {params}: {:?}", began.elapsed());
        if params["query"] == "alpha gamma" {
            assert_eq!(answer["hits"][0]["path"], "a.md", "the others are shown: {answer}");
        }
    }
    mount.go_on();
    let ask = json!({ "target": "sub/s.md", "wait_ms": 10_000 });
    until("it answers again", || live.call("show", ask.clone())["fresh"] == json!(true));
    assert_eq!(live.call("show", ask)["parts"][0]["text"], "gamma");
}

#[test]
fn a_name_is_unknown_as_far_as_is_known_while_the_index_is_built() {
    let live = Live::idle();
    live.write("a.py", "def seen():\n    return 1\n");
    live.write("slow.py", "def hidden():\n    return seen()\n");
    if !start_slow(&live, Path::new("slow.py"), "openat", Duration::from_millis(2_500)) {
        return;
    }
    let mut n_unknown = 0;
    for method in ["show", "outline", "refs", "callers"] {
        until("the name is known", || {
            let ask = json!({ "cwd": live.root(), "target": "hidden", "wait_ms": 1 });
            let Err(error) = live.rpc().call(method, &ask) else { return true };
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(", as far as is known: "), "{method}: {error}");
            n_unknown += 1;
            n_unknown % 4 == 0 // the next one, while it is still unknown
        });
    }
    assert!(n_unknown > 8, "{n_unknown} answers while the index was built");
}

/// Looks at memories that hang, as many as the worktrees let in, are not in front of a look elsewhere.
#[test]
fn looks_that_hang_hold_up_no_other_worktree() {
    const N_WORKTREES: usize = 12;
    let (live, source, _) = repository();
    let mut mounts = Vec::new();
    let mut hanging = Vec::new();
    for number in 0..N_WORKTREES {
        let linked = live.sandbox.path(&format!("linked{number}"));
        live.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap()]);
        let dir = linked.join(".memod/memories");
        fs::create_dir_all(&dir).unwrap();
        let Some(mount) = Hanging::mount(&source, &dir) else { return };
        live.call_in(&linked, "memory.list", json!({}));
        mounts.push(mount);
        hanging.push(linked);
    }
    mounts.iter().for_each(Hanging::hang);
    let n_each = std::thread::available_parallelism().unwrap().get();
    let mut stuck: Vec<_> = (0..N_WORKTREES * n_each).map(|_| live.connect()).collect();
    for (rpc, cwd) in stuck.iter().zip(hanging.iter().cycle()) {
        let params = json!({ "cwd": cwd });
        rpc.send(format!(
            "{}\n",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "memory.list", "params": params })
        ));
    }
    let asked = Instant::now();
    let listed = live.call("memory.list", json!({}));
    assert_eq!(listed["fresh"], true, "{listed}");
    // A turn is given up after half a second, and there are two for each processor.
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    for rpc in &mut stuck {
        let reply = rpc.receive().expect("an answer within the limit");
        assert_eq!(reply["result"]["fresh"], json!(false), "{reply}");
    }
}

/// All that looks at memories looks at that directory, also for those that are no files.
#[test]
fn a_directory_of_memories_that_hangs_is_named_in_time() {
    let (live, source, _) = repository();
    let dir = live.root().join(".memod/memories");
    fs::create_dir_all(&dir).unwrap();
    let Some(mount) = Hanging::mount(&source, &dir) else { return }; // bindfs refuses a directory that is not empty
    let add = |content: &str| live.call("memory.add", json!({ "content": content }))["memory"]["id"].clone();
    let (shared, _own) = (add("gamma is shared"), add("delta is not"));
    live.call("memory.share", json!({ "ids": [shared] }));
    assert_eq!(live.call("memory.list", json!({}))["fresh"], json!(true));
    mount.hang();
    let asked = [
        ("memory.list", json!({})),
        ("memory.get", json!({ "ids": [shared] })),
        ("memory.recall", json!({ "query": "delta" })),
        ("memory.export", json!({})),
        ("search", json!({ "query": "delta", "kind": ["memory"] })),
        ("why", json!({ "target": "a.md" })),
        ("brief", json!({})),
        ("status", json!({})),
    ];
    for (method, params) in asked {
        let began = Instant::now();
        let answer = live.call(method, params);
        let told = format!("{}{}", answer["reason"], answer["degraded"]);
        let is_named = told.contains(".memod/memories") && told.contains("has not answered");
        assert!(answer["fresh"] != json!(true) && is_named, "{method}: {answer}");
        assert!(began.elapsed() < Duration::from_secs(10), "{method}: {:?}", began.elapsed());
    }
    let add = json!({ "cwd": live.root(), "content": "epsilon" });
    let refused = live.rpc().call("memory.add", &add).expect_err("what is there is not known");
    assert!(refused["message"].as_str().unwrap().contains(".memod/memories"), "{refused}");
    let prompt = json!({ "prompt": "what is delta?", "within_ms": 900 });
    let told = live.call("advise", prompt);
    assert!(told["text"].as_str().unwrap().contains("cannot be read"), "{told}");
    mount.go_on();
    until("it answers again", || live.call("memory.list", json!({}))["fresh"] == json!(true));
}
