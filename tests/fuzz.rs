//! Hostile clients by the thousand: valid sessions and what attackers send first, mutated. Whatever comes, it is answered
//! or ignored as the protocol says, nothing breaks, and the next good request is answered.
//!
//! `FUZZ_SECONDS=600` goes on for longer, `FUZZ_SEED=7` plays the cases of a seed. A failure names its seed, case and line;
//! the line goes to `corpus/lines.txt`.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use personal_memory::jsonrpc::{self, Outgoing, OutgoingNotification};
use personal_memory::protocol::{Finished, Outbox, Service, Session, Step};
use personal_memory::sandbox::{CallError, Grant, MEMORY, Sandbox, SandboxConfig};
use personal_memory::seal_key::SealKey;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::harness::{Builder, Random, Server, number_from, root};

/// Seconds of each test, unless somebody wants more.
const SECONDS: u64 = 3;

/// Lines to begin with: what clients send in the transcripts, and the corpus.
fn corpus() -> Vec<String> {
    let mut lines = Vec::new();
    let mut transcripts: Vec<_> = fs::read_dir(root().join("tests/transcripts"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    transcripts.sort_unstable();
    for transcript in transcripts {
        let text = fs::read_to_string(transcript).unwrap();
        let sent = text.lines().filter_map(|line| line.strip_prefix("> "));
        lines.extend(sent.filter(|line| line.len() < 5000).map(str::to_owned));
    }
    let own = fs::read_to_string(root().join("tests/corpus/lines.txt")).unwrap();
    lines.extend(own.lines().map(str::to_owned));
    assert!(lines.len() > 200, "{} lines", lines.len());
    lines
}

/// Values that go where others are expected.
fn hostile_value(random: &mut Random) -> Value {
    match random.below(16) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(i64::MIN),
        3 => json!(u64::MAX),
        4 => json!(1.5e308),
        5 => json!(""),
        6 => json!("x".repeat(random.below(10_000))),
        7 => json!("\u{0}\u{1b}[31m\u{202e}\u{feff}\u{2028}"),
        8 => json!([]),
        9 => json!({}),
        10 => json!([[[[[[[[{}]]]]]]]]),
        11 => json!("memory://entries/m0"),
        12 => json!("2026-07-28"),
        13 => json!(vec![0; random.below(1000)]),
        14 => json!({"": null, "__proto__": {"x": 1}}),
        _ => json!(random.below(1000)),
    }
}

/// Changes one thing somewhere in a value.
fn mutate_value(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(members) if !members.is_empty() && random.below(8) > 0 => {
            mutate_members(members, random);
        }
        Value::Array(items) if !items.is_empty() && random.below(4) > 0 => {
            let index = random.below(items.len());
            match random.below(4) {
                0 => drop(items.remove(index)),
                1 => items.push(items[index].clone()),
                _ => mutate_value(&mut items[index], random),
            }
        }
        value => *value = hostile_value(random),
    }
}

fn mutate_members(members: &mut Map<String, Value>, random: &mut Random) {
    let names: Vec<String> = members.keys().cloned().collect();
    let name = random.choose(&names).clone();
    match random.below(8) {
        0 => drop(members.remove(&name)),
        1 => {
            let value = members.remove(&name).unwrap_or_default();
            members.insert(format!("{name}\u{0}"), value);
        }
        2 => drop(members.insert("x".repeat(random.below(200)), hostile_value(random))),
        _ => mutate_value(&mut members[&name], random),
    }
}

/// Changes bytes, whatever they mean.
fn mutate_bytes(line: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        if line.is_empty() {
            return;
        }
        let at = random.below(line.len());
        match random.below(6) {
            0 => line[at] ^= 1 << random.below(8),
            1 => line.truncate(at),
            2 => drop(line.remove(at)),
            3 => line.insert(at, *random.choose(b"\"\\{}[]:,\0\xff\x80 9e-")),
            4 => {
                let end = (at + random.below(40)).min(line.len());
                let piece = line[at..end].to_vec();
                line.splice(at..at, piece);
            }
            _ => {
                let depth = random.below(300);
                line.splice(at..at, std::iter::repeat_n(b'[', depth));
            }
        }
    }
}

/// The next line: one of the corpus as it is, or changed in its structure, its bytes, or both.
fn next_line(corpus: &[String], random: &mut Random) -> Vec<u8> {
    let line = random.choose(corpus);
    let mut bytes = line.clone().into_bytes();
    if random.below(4) > 0
        && let Ok(mut value) = serde_json::from_str::<Value>(line)
    {
        for _ in 0..=random.below(3) {
            mutate_value(&mut value, random);
        }
        bytes = value.to_string().into_bytes();
    }
    if random.below(4) == 0 {
        mutate_bytes(&mut bytes, random);
    }
    // One message is one line.
    bytes.retain(|byte| *byte != b'\n');
    bytes
}

/// A server without a process.
struct InProcess {
    sandbox: Sandbox,
    session: Session,
    outbox: Arc<dyn Outbox>,
}

struct Nobody;

impl Outbox for Nobody {
    fn send(&self, _: Outgoing) {}
    fn offer(&self, _: OutgoingNotification) {}
}

impl InProcess {
    fn start(data: &std::path::Path) -> InProcess {
        let grant = Grant {
            name: "data".to_owned(),
            path: data.to_owned(),
            read_only: false,
        };
        let config = SandboxConfig {
            grants: vec![grant],
            ..SandboxConfig::default()
        };
        let sandbox = Sandbox::new(&MEMORY, config).unwrap();
        let key = SealKey::beside(None);
        let service = Service::new(sandbox.profile().clone(), key, Duration::from_secs(60));
        InProcess {
            sandbox,
            session: Session::new(Arc::new(service), "fuzz".to_owned()),
            outbox: Arc::new(Nobody),
        }
    }

    /// The responses to a line.
    fn say(&mut self, line: &[u8]) -> Vec<String> {
        let step = self.session.receive(jsonrpc::parse(line), &self.outbox);
        self.take(step)
    }

    fn take(&mut self, step: Step) -> Vec<String> {
        match step {
            Step::Nothing => Vec::new(),
            Step::Reply(response) => vec![serde_json::to_string(&response).unwrap()],
            Step::Batch(steps) => steps.into_iter().flat_map(|step| self.take(step)).collect(),
            Step::Call(pending) => {
                let outcome =
                    self.sandbox
                        .call(&pending.context, &pending.call, &pending.cancel, None);
                if let Err(CallError::Abnormal(abnormal)) = &outcome {
                    panic!("the component broke: {abnormal}");
                }
                match pending.finish(outcome) {
                    Finished::With(response) => vec![serde_json::to_string(&response).unwrap()],
                    Finished::Silently => Vec::new(),
                    Finished::Wanting(..) | Finished::Asking(_) => {
                        panic!("the memory wants nothing here")
                    }
                }
            }
        }
    }
}

/// A response, with what is echoed of the request as it came: it may be a number that no type has.
#[derive(Deserialize)]
struct Reply {
    jsonrpc: String,
    #[serde(default)]
    id: Option<Box<RawValue>>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<ReplyError>,
    /// It is a notification.
    #[serde(default)]
    method: Option<String>,
}

#[derive(Deserialize)]
struct ReplyError {
    code: i64,
    message: String,
}

impl Reply {
    fn parse(line: &str) -> Reply {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// What every response is.
    fn check(&self) {
        assert_eq!(self.jsonrpc, "2.0");
        assert!(self.result.is_some() != self.error.is_some());
        if let Some(ReplyError { code, message }) = &self.error {
            assert!(*code < -32000, "{code} {message}");
            assert!(!message.is_empty() && message.len() < 1000, "{message}");
            assert_ne!(*code, -32603, "it is the client's fault: {message}");
        }
    }

    fn answers(&self, id: &str) -> bool {
        self.id
            .as_ref()
            .is_some_and(|own| own.get() == format!("\"{id}\""))
    }
}

#[test]
fn mutated_messages_break_nothing() {
    let corpus = corpus();
    let seed = number_from("FUZZ_SEED", 1);
    let patience = Duration::from_secs(number_from("FUZZ_SECONDS", SECONDS));
    let data = tempfile::tempdir().unwrap();
    let mut server = InProcess::start(data.path());
    let (began, mut cases, mut codes) = (Instant::now(), 0_u64, BTreeSet::new());
    // The whole corpus as it is, and then so much of what it turns into as there is time for.
    while cases < corpus.len() as u64 || began.elapsed() < patience {
        let mut random = Random::new(seed << 32 ^ cases);
        let line = match corpus.get(usize::try_from(cases).unwrap()) {
            Some(line) => line.clone().into_bytes(),
            None => next_line(&corpus, &mut random),
        };
        let shown = String::from_utf8_lossy(&line).into_owned();
        let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let parsed = |line: &String| Reply::parse(line);
            let replies: Vec<Reply> = server.say(&line).iter().map(parsed).collect();
            replies.iter().for_each(Reply::check);
            replies
        }));
        let replies = attempt.unwrap_or_else(|_| panic!("seed {seed}, case {cases}: {shown}"));
        let code = |reply: &Reply| reply.error.as_ref().map(|error| error.code);
        codes.extend(replies.iter().map(code));
        cases += 1;
        if cases.is_multiple_of(100) {
            let good = br#"{"jsonrpc":"2.0","id":"good","method":"tools/call","params":{"name":"memory_save","arguments":{"text":"good"}}}"#;
            let reply = Reply::parse(&server.say(good)[0]);
            assert!(
                reply.answers("good") && reply.result.is_some(),
                "seed {seed}, case {cases}"
            );
        }
    }
    eprintln!("seed {seed}: {cases} messages, codes {codes:?}");
}

/// Bytes of all kinds through the pipe: lines that are no lines, empty ones, too long ones, cut ones.
#[test]
fn mutated_streams_are_answered_line_by_line() {
    let corpus = corpus();
    let seed = number_from("FUZZ_SEED", 1);
    let patience = Duration::from_secs(number_from("FUZZ_SECONDS", SECONDS));
    let (began, mut lines, mut streams) = (Instant::now(), 0, 0);
    while streams == 0 || began.elapsed() < patience {
        let mut random = Random::new(seed << 32 ^ streams);
        let mut server = Builder::memory()
            .args(&["--max-line-bytes", "20000", "--log", "off"])
            .start();
        for number in 0..20 {
            let mut burst = Vec::new();
            for _ in 0..random.below(20) {
                match random.below(10) {
                    0 => burst.extend(std::iter::repeat_n(0, random.below(100))),
                    1 => burst.extend(std::iter::repeat_n(b'{', random.below(50_000))),
                    _ => burst.extend(next_line(&corpus, &mut random)),
                }
                burst.extend(*random.choose(&[&b"\n"[..], b"\r\n", b"\n\n \n"]));
                lines += 1;
            }
            server.send_bytes(&burst);
            let id = format!("good {number}");
            // A stream may have been opened by chance, or a handshake made; each may say something.
            server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
            while !is_answered(&mut server, &id) {}
        }
        let finished = server.end();
        assert!(
            finished.status.success() && finished.stderr.is_empty(),
            "seed {seed}, stream {streams}: {}",
            finished.stderr
        );
        streams += 1;
    }
    eprintln!("seed {seed}: {lines} lines in {streams} streams");
}

/// Reads a line and looks at all that is on it. True: it is the answer to the good request.
fn is_answered(server: &mut Server, id: &str) -> bool {
    let line = String::from_utf8(server.read_line().expect("it goes on")).unwrap();
    let batch = serde_json::from_str::<Vec<Box<RawValue>>>(&line);
    let members: Vec<Reply> = match &batch {
        Ok(members) => members
            .iter()
            .map(|member| Reply::parse(member.get()))
            .collect(),
        Err(_) => vec![Reply::parse(&line)],
    };
    let replies = members.iter().filter(|member| member.method.is_none());
    replies.clone().for_each(Reply::check);
    replies.into_iter().any(|reply| reply.answers(id))
}
