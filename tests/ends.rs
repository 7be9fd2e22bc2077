//! How a process ends: by the end of its input, by a signal, because nobody reads what it says. In order each time, with
//! nothing lost that was acknowledged. And what others meet when a process does not end, but stands still.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ChildStdin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use personal_memory::store_lock::{LockError, PATIENCE, StoreLock};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{
    Builder, Finished, JOURNAL, NO_DEADLINE, Server, cancellation, request, settled, tool_call,
    unhurried, wait_for_calls, wait_until,
};

/// As long as Claude Code waits between its two signals.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(100);

fn save(id: impl Into<Value>, text: &str) -> Value {
    tool_call(id, "memory_save", &json!({"text": text}))
}

/// What was not read before, message by message.
fn messages(finished: &Finished) -> Vec<Value> {
    let lines = finished.stdout.split_inclusive(|byte| *byte == b'\n');
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

fn assert_in_order(finished: &Finished) {
    assert!(finished.status.success(), "{finished:?}");
}

fn is_free(data: &Path) -> bool {
    let mut lock = StoreLock::new(data);
    match lock.acquire(Duration::ZERO, || false) {
        Ok(held) => held.is_some(),
        Err(LockError::Busy { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

/// A server with a call that does not end, and that holds the store's lock.
fn hanging(data: &Path) -> Server {
    let mut server = unhurried(data).args(&["--timeout", NO_DEADLINE]).start();
    server.send(&tool_call("hang", "hang", &json!({})));
    wait_for_calls(data, "call hang", 1);
    assert!(!is_free(data));
    server
}

/// Rule 6.
#[test]
fn a_call_that_hangs_at_the_end_of_the_input_is_given_up_and_so_is_its_lock() {
    let data = tempfile::tempdir().unwrap();
    let mut server = hanging(data.path());
    server.send(&tool_call("waiting", "note", &json!({})));
    let finished = server.end();
    assert_in_order(&finished);
    assert_eq!(
        messages(&finished),
        Vec::<Value>::new(),
        "neither has an answer"
    );
    assert!(is_free(data.path()));
}

#[test]
fn a_call_that_was_cancelled_holds_nothing_while_its_process_lives_on() {
    let data = tempfile::tempdir().unwrap();
    let mut server = hanging(data.path());
    server.send(&cancellation("hang"));
    wait_until("the lock is free", || is_free(data.path()));
    assert_eq!(server.call_text("note", &json!({})), "done");
    server.end_in_order();
}

/// Rules 6 and 7. The call waits for the lock, which is free only after the end was announced.
#[test]
fn the_call_in_flight_is_answered_however_the_end_is_announced() {
    for signal in [
        None,
        Some(Signal::INT),
        Some(Signal::TERM),
        Some(Signal::HUP),
    ] {
        let data = tempfile::tempdir().unwrap();
        let mut lock = StoreLock::new(data.path());
        let held = lock.acquire(PATIENCE, || false).unwrap();
        let mut server = Builder::memory_in(data.path()).start();
        server.send(&save("in flight", "said at the last moment"));
        // Answered by the reader, so it has read what came before.
        server.request("ping", &json!({}));
        match signal {
            Some(signal) => server.signal(signal),
            None => drop(server.take_stdin()),
        }
        drop(held);
        let finished = server.ended();
        assert_in_order(&finished);
        let answers = messages(&finished);
        assert_eq!(answers.len(), 1, "{signal:?}: {answers:?}");
        assert_eq!(answers[0]["id"], "in flight");
        assert_eq!(answers[0]["result"]["structuredContent"]["created"], true);
        let journal = fs::read_to_string(data.path().join(JOURNAL)).unwrap();
        assert!(journal.contains("at the last moment"), "{signal:?}");
    }
}

/// Rule 7. The second signal comes while the first one's grace lasts.
#[test]
fn two_signals_end_a_process_in_order_although_a_call_hangs() {
    let data = tempfile::tempdir().unwrap();
    let server = hanging(data.path());
    server.signal(Signal::INT);
    thread::sleep(BETWEEN_SIGNALS);
    server.signal(Signal::TERM);
    let finished = server.ended();
    assert_in_order(&finished);
    assert_eq!(messages(&finished), Vec::<Value>::new());
    assert!(is_free(data.path()));
}

/// Rule 7.
#[test]
fn two_signals_lose_nothing_that_was_acknowledged() {
    const SAVES: usize = 250;
    let data = tempfile::tempdir().unwrap();
    let mut server = Builder::memory_in(data.path()).start();
    for number in 0..SAVES {
        server.send(&save(number, &format!("before the end, number {number}")));
    }
    let mut answers: Vec<Value> = (0..10).map(|_| server.read()).collect();
    server.signal(Signal::INT);
    thread::sleep(BETWEEN_SIGNALS);
    // It may be gone already; it is waited for below, so the signal reaches nobody else.
    server.signal(Signal::TERM);
    let finished = server.ended();
    assert_in_order(&finished);
    answers.extend(messages(&finished));
    let mut reader = Builder::memory_in(data.path()).start();
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], number, "in order of arrival: {answer}");
        let uri = &answer["result"]["structuredContent"]["uri"];
        let found = reader.request("resources/read", &json!({"uri": uri}));
        assert_eq!(
            found["result"]["contents"][0]["text"],
            format!("before the end, number {number}")
        );
    }
}

#[test]
fn an_idle_process_ends_in_order_at_each_signal() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut server = Builder::memory().start();
        server.initialize("2025-11-25");
        server.request("ping", &json!({}));
        server.signal(signal);
        let finished = server.ended();
        assert_in_order(&finished);
        assert_eq!(messages(&finished), Vec::<Value>::new());
    }
}

#[test]
fn a_process_whose_output_nobody_can_read_ends_by_itself() {
    let mut server = Builder::memory().unread().start();
    server.close_stdout();
    // Its input stays open.
    server.send(&request(1, "ping", &json!({})));
    assert_in_order(&server.ended());
}

/// Requests that are written by a thread of their own, as far as they are taken.
struct Flood {
    written: Arc<AtomicUsize>,
    /// Gives the input back.
    thread: JoinHandle<ChildStdin>,
}

impl Flood {
    /// Each request has an id of this many bytes, and so has its answer.
    const ID_BYTES: usize = 100_000;

    fn start(mut stdin: ChildStdin, requests: usize, make: fn(String) -> Value) -> Flood {
        let written = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&written);
        let thread = thread::spawn(move || {
            for number in 0..requests {
                let line = format!("{}\n", make(Flood::id(number)));
                if stdin.write_all(line.as_bytes()).is_err() {
                    break;
                }
                counted.fetch_add(1, Ordering::Relaxed);
            }
            stdin
        });
        Flood { written, thread }
    }

    fn id(number: usize) -> String {
        let number = number.to_string();
        "0".repeat(Flood::ID_BYTES - number.len()) + &number
    }

    /// How many were taken when no more were.
    fn stalled(&self) -> usize {
        settled(|| self.written.load(Ordering::Relaxed))
    }
}

fn ping(id: String) -> Value {
    request(id, "ping", &json!({}))
}

fn short_save(id: String) -> Value {
    let text = id.trim_start_matches('0').to_owned() + " was saved";
    save(id, &text)
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_does_not_read_costs_a_bounded_amount_of_memory_and_loses_no_answer() {
    // Ten times what may wait.
    const PINGS: usize = 800;
    let mut server = Builder::memory().unread().start();
    wait_until("it is there", || server.resident_bytes() > 1 << 20);
    let before = settled(|| server.resident_bytes());
    let flood = Flood::start(server.take_stdin(), PINGS, ping);
    let taken = flood.stalled();
    assert!(taken < PINGS, "all were taken");
    let grown = server.resident_bytes().saturating_sub(before);
    assert!(grown < 32 << 20, "{grown} bytes after {taken} requests");

    server.read_on();
    for number in 0..PINGS {
        let answer = server.read();
        assert_eq!(answer["id"], Flood::id(number), "in order of arrival");
    }
    drop(flood.thread.join().unwrap());
    assert_in_order(&server.ended());
}

#[test]
fn a_process_whose_client_does_not_read_ends_when_it_is_asked_to() {
    let mut server = Builder::memory().unread().start();
    let flood = Flood::start(server.take_stdin(), 800, ping);
    flood.stalled();
    server.signal(Signal::TERM);
    assert_in_order(&server.ended());
    // What it did not take fails now.
    flood.thread.join().unwrap();
}

/// Calls whose answers are more than what may wait for a client, and which are few enough to be taken all.
const CALLS: usize = 120;

/// A server that can't go on because its client does not read; and its input.
fn stalled_by_its_client(data: &Path) -> (Server, ChildStdin) {
    let mut server = Builder::memory_in(data).unread().start();
    let flood = Flood::start(server.take_stdin(), CALLS, short_save);
    let stdin = flood.thread.join().unwrap();
    let journal = data.join(JOURNAL);
    wait_until("it began", || journal.exists());
    settled(|| fs::metadata(&journal).unwrap().len());
    let saved = fs::read_to_string(&journal).unwrap();
    let saved = saved.matches("was saved").count();
    assert!(saved < CALLS, "it was not stalled");
    (server, stdin)
}

#[test]
fn a_client_that_does_not_read_holds_up_no_other_process() {
    let data = tempfile::tempdir().unwrap();
    let (mut stalled, stdin) = stalled_by_its_client(data.path());
    let mut other = Builder::memory_in(data.path()).start();
    other.call("memory_save", &json!({"text": "from elsewhere"}));
    other.end_in_order();

    stalled.read_on();
    for number in 0..CALLS {
        let answer = stalled.read();
        assert_eq!(answer["id"], Flood::id(number), "in order of arrival");
        assert_eq!(answer["result"]["structuredContent"]["created"], true);
    }
    drop(stdin);
    assert_in_order(&stalled.ended());
}

#[test]
fn a_process_whose_client_does_not_read_ends_with_its_input() {
    let data = tempfile::tempdir().unwrap();
    let (stalled, stdin) = stalled_by_its_client(data.path());
    drop(stdin);
    assert_in_order(&stalled.ended());
    assert!(is_free(data.path()));
}

#[test]
fn what_nobody_reads_on_standard_error_holds_up_nobody() {
    // Each prints what a call may, 32 kB. All together it is more than a pipe takes, what waits, and what is written.
    const CALLS: usize = 40;
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path()).unheard().start();
    for _ in 0..CALLS {
        assert_eq!(server.call_text("print", &json!({})), "done");
    }
    let mut other = unhurried(data.path()).start();
    assert_eq!(other.call_text("note", &json!({})), "done");

    server.listen();
    assert_eq!(server.call_text("note", &json!({})), "done");
    let said = server.end_in_order();
    assert!(said.contains("bytes were dropped here"), "{said}");
}

#[test]
fn what_nobody_ever_reads_on_standard_error_does_not_hold_up_the_end() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path()).unheard().start();
    for _ in 0..40 {
        server.call("print", &json!({}));
    }
    server.end_in_order();
}

/// While a process is stopped with the lock in its hands, another one says so; and `resume` lets it go on.
fn a_stopped_holder_is_named(resume: impl FnOnce(&mut Server)) {
    let data = tempfile::tempdir().unwrap();
    let mut holder = hanging(data.path());
    let mut other = unhurried(data.path()).start();
    // As apps do, and so it looks for changes before its first call.
    other.initialize("2025-11-25");
    holder.signal(Signal::STOP);
    let (code, message) = other.call_error("note", &json!({}));
    assert_eq!(code, -32603);
    let named = format!("another process (id {}) has been using", holder.pid());
    assert!(message.contains(&named), "{message}");
    // What needs no store is answered all the while.
    let tools = other.request("tools/list", &json!({}));
    assert!(tools.get("result").is_some(), "{tools}");

    resume(&mut holder);
    assert_eq!(other.call_text("note", &json!({})), "done");
    other.end_in_order();
}

#[test]
fn a_stopped_process_that_holds_the_lock_is_named_and_can_go_on() {
    a_stopped_holder_is_named(|holder| {
        holder.signal(Signal::CONT);
        holder.send(&cancellation("hang"));
        assert_eq!(holder.call_text("note", &json!({})), "done");
    });
}

#[test]
fn a_stopped_process_that_holds_the_lock_is_named_and_can_be_killed() {
    a_stopped_holder_is_named(Server::kill);
}

/// Not even what is looked for before the call waits on for the lock.
#[test]
fn a_call_that_waits_for_the_lock_can_be_cancelled_also_when_somebody_listens() {
    const ROUNDS: u32 = 6;
    let data = tempfile::tempdir().unwrap();
    let mut holder = hanging(data.path());
    let mut other = unhurried(data.path()).start();
    other.initialize("2025-11-25");
    let began = Instant::now();
    for round in 0..ROUNDS {
        other.send(&tool_call("waiting", "note", &json!({})));
        // Answered by the reader, while the worker takes the call up.
        other.request("ping", &json!({}));
        thread::sleep(Duration::from_millis(50));
        other.send(&cancellation("waiting"));
        let tools = other.request("tools/list", &json!({}));
        assert!(tools.get("result").is_some(), "{round}: {tools}");
    }
    let waited = began.elapsed();
    assert!(waited < PATIENCE * ROUNDS / 2, "waited {waited:?}");

    other.send(&tool_call("not cancelled", "note", &json!({})));
    holder.kill();
    let answer = other.read();
    assert_eq!(answer["id"], "not cancelled");
    assert!(answer.get("result").is_some(), "{answer}");
    other.end_in_order();
}

/// The client is a shell that holds the server's input, and is killed.
#[cfg(target_os = "linux")]
#[test]
fn a_process_does_not_outlive_a_client_that_was_killed() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    const CLIENT: &str = r#"mkfifo "$1/input"
        "$0" --data-dir "$1" <"$1/input" >"$1/output" 2>&1 &
        exec 3>"$1/input"
        echo $!
        echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' >&3
        read forever"#;
    let data = tempfile::tempdir().unwrap();
    let mut client = Command::new("sh")
        .args(["-c", CLIENT, &crate::harness::PROGRAM])
        .arg(data.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pid = String::new();
    BufReader::new(client.stdout.take().unwrap())
        .read_line(&mut pid)
        .unwrap();
    let stat = format!("/proc/{}/stat", pid.trim());
    let output = data.path().join("output");
    wait_until("it has answered", || {
        fs::metadata(&output).is_ok_and(|output| output.len() > 0)
    });
    assert!(fs::exists(&stat).unwrap());

    client.kill().unwrap();
    client.wait().unwrap();
    // Who inherits it may take a while to notice that it is dead.
    wait_until("it is gone", || match fs::read_to_string(&stat) {
        Ok(stat) => stat.rsplit(')').next().unwrap().trim().starts_with('Z'),
        Err(_) => true,
    });
}
