//! Plays the transcripts against the program and compares every byte that comes back.
//!
//! A transcript is a text file:
//!
//! ```text
//! # A comment.
//! == a title                      starts a server with an empty directory for its memory
//! @ --max-line-bytes 1024         arguments for it; `@ component misbehaving` serves a fixture instead of the memory;
//!                                 `@ keep` keeps the directory of the section before; `@ stdio` is not played over HTTP
//! > {"jsonrpc":"2.0", ...}        a line that is sent
//! < {"jsonrpc":"2.0", ...}        the line that must come back; none, one or several after each that is sent
//! ```
//!
//! At the end of a section the input is closed: nothing more may come, and the server must exit with 0.
//!
//! Each file is played twice: over standard input and output, where a line is a message, and over HTTP, where what is sent
//! is the body of a `POST` with the headers that belong to it, and what comes back is in its response. There, legacy
//! messages need a session: one with an empty handshake is opened for those that have none.
//!
//! In what is sent, `\xHH` stands for a byte (JSON has no such escape) and `{{c*1000}}` for a repeated character. In what
//! comes back, `{{time}}` stands for a timestamp in UTC with three decimals and `{{version}}` for the program's version:
//! nothing else may differ from one run to the next.
//!
//! `BLESS=1 cargo test ...` writes what came back into the files. Read what it wrote: a wrong reply that was blessed is
//! a rule from then on.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Builder, Client, Connection, Http, Server, fixtures, request, root};

/// Plays each transcript.
macro_rules! transcripts {
    ($($name:ident)*) => {
        $(#[test] fn $name() { play(concat!(stringify!($name), ".txt"), Transport::Stdio); })*

        #[cfg(unix)]
        mod over_http {
            use super::{Transport, play};

            $(#[test] fn $name() { play(concat!(stringify!($name), ".txt"), Transport::Http); })*
        }

        #[test]
        fn every_transcript_is_played() {
            let mut known = vec![$(concat!(stringify!($name), ".txt")),*];
            known.sort_unstable();
            let mut found: Vec<String> = fs::read_dir(directory()).unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            found.sort_unstable();
            assert_eq!(found, known);
        }
    };
}

transcripts! {
    handshakes
    modern
    eras
    ids
    envelope
    notifications
    batches
    lines
    methods
    tools_list
    tools_call
    tools_verbs
    content
    minimal
    resources
    prompts
    completion
    subscriptions
}

fn directory() -> PathBuf {
    root().join("tests/transcripts")
}

/// How lines travel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transport {
    Stdio,
    Http,
}

/// A server that lines are sent to.
enum Peer {
    Stdio(Server),
    Http(Box<OverHttp>),
}

/// Lines of a file, as they are played.
struct Player {
    file: String,
    bless: bool,
    transport: Transport,
    server: Option<Peer>,
    /// The section is only for another transport.
    is_skipped: bool,
    data: TempDir,
    /// Arguments of the section, until its first line is sent.
    options: Vec<String>,
    /// What the file should be.
    blessed: String,
}

fn play(name: &str, transport: Transport) {
    let path = directory().join(name);
    let text = fs::read_to_string(&path).unwrap();
    let mut player = Player {
        file: name.to_owned(),
        bless: transport == Transport::Stdio && std::env::var_os("BLESS").is_some(),
        transport,
        server: None,
        is_skipped: false,
        data: tempfile::tempdir().unwrap(),
        options: Vec::new(),
        blessed: String::new(),
    };
    for (number, line) in text.lines().enumerate() {
        player.line(line, &format!("{}:{}", player.file, number + 1));
    }
    player.end_section();
    if player.bless && player.blessed != text {
        fs::write(path, &player.blessed).unwrap();
    }
}

impl Player {
    fn line(&mut self, line: &str, at: &str) {
        if let Some(expected) = line.strip_prefix("< ") {
            if !self.bless && !self.is_skipped {
                self.expect(expected, at);
            }
            return;
        }
        self.blessed.push_str(line);
        self.blessed.push('\n');
        if line.starts_with("== ") {
            self.end_section();
            self.options.clear();
            self.is_skipped = false;
        } else if let Some(options) = line.strip_prefix("@ ") {
            self.options.extend(options.split(' ').map(str::to_owned));
            self.is_skipped |= self.transport == Transport::Http && options == "stdio";
        } else if let Some(message) = line.strip_prefix("> ") {
            self.send(&unescape(message));
        } else {
            assert!(
                line.is_empty() || line.starts_with('#') || line == ">",
                "{at}: not a line of a transcript"
            );
            if line == ">" {
                self.send(b"");
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        if self.is_skipped {
            return;
        }
        let server = match &mut self.server {
            Some(server) => server,
            None => {
                let server = start(&self.options, &mut self.data, self.transport);
                self.server.insert(server)
            }
        };
        let server = match server {
            Peer::Stdio(server) => server,
            Peer::Http(server) => return server.send(bytes),
        };
        server.send_bytes(bytes);
        server.send_bytes(b"\n");
        if self.bless {
            // Calls are made in order, so what the line led to is there when the answer to the next call is.
            server.send(&request("bless", "tools/list", &json!({})));
            loop {
                let line = server.read_line().unwrap();
                if line.starts_with(br#"{"jsonrpc":"2.0","id":"bless""#) {
                    break;
                }
                self.blessed.push_str("< ");
                self.blessed.push_str(&shown(&line));
                self.blessed.push('\n');
            }
        }
    }

    fn expect(&mut self, expected: &str, at: &str) {
        let server = self
            .server
            .as_mut()
            .unwrap_or_else(|| panic!("{at}: nothing was sent"));
        let line = match server {
            Peer::Stdio(server) => server.read_line(),
            Peer::Http(server) => server.replies.pop_front(),
        };
        let line = line.unwrap_or_else(|| panic!("{at}: nothing comes"));
        assert_eq!(shown(&line), expected, "{at}");
    }

    fn end_section(&mut self) {
        match self.server.take() {
            None => {}
            Some(Peer::Stdio(server)) => {
                server.end_in_order();
            }
            Some(Peer::Http(server)) => server.end(),
        }
    }
}

/// A server over HTTP, with a client that sends each line as a message should be sent.
struct OverHttp {
    server: Http,
    client: Client,
    /// Those to the last message, as lines.
    replies: VecDeque<Vec<u8>>,
    /// Open streams by the requests that opened them. Closing one is what a cancellation is elsewhere.
    streams: HashMap<String, Connection>,
}

impl OverHttp {
    fn start(builder: Builder) -> OverHttp {
        let server = builder.serve();
        OverHttp {
            client: server.modern(),
            server,
            replies: VecDeque::new(),
            streams: HashMap::new(),
        }
    }

    fn send(&mut self, body: &[u8]) {
        assert!(self.replies.is_empty(), "unexpected: {:?}", self.replies);
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let cancelled = message["params"]["requestId"].to_string();
        if let Some(stream) = self.streams.remove(&cancelled) {
            return stream.leave();
        }
        let opens = message["method"] == "initialize" && message["id"] != Value::Null;
        let is_modern =
            message.to_string().contains("\"io.modelcontextprotocol/") && message.is_object();
        if opens && !is_modern {
            self.client.session = None;
        } else if self.client.session.is_none() && !is_modern {
            self.client
                .open(json!({"protocolVersion": "2025-11-25", "capabilities": {}}));
        }
        let (answer, stream) = self.client.post_raw(&self.client.headers(&message), body);
        if let Some(id) = answer.header("mcp-session-id") {
            self.client.session = Some(id.to_owned());
        }
        if let Some(mut stream) = stream {
            if message["method"] == "subscriptions/listen" {
                let event = stream.event().unwrap();
                self.replies
                    .push_back(format!("{}\n", event.data).into_bytes());
                self.streams.insert(message["id"].to_string(), stream);
                return;
            }
            let events = std::iter::from_fn(|| stream.event());
            let replies = events.filter(|event| !event.data.is_empty());
            self.replies
                .extend(replies.map(|event| format!("{}\n", event.data).into_bytes()));
        } else if answer.status == 202 {
            assert!(answer.body.is_empty(), "{answer:?}");
        } else {
            let mut line = answer.body;
            line.push(b'\n');
            self.replies.push_back(line);
        }
    }

    #[cfg(unix)]
    fn end(self) {
        assert!(self.replies.is_empty(), "unexpected: {:?}", self.replies);
        drop(self.client);
        self.server.end_in_order();
    }

    #[cfg(not(unix))]
    fn end(self) {}
}

fn start(options: &[String], data: &mut TempDir, transport: Transport) -> Peer {
    let mut words = options.iter().map(String::as_str);
    let mut component = None;
    let mut keep = false;
    let mut args = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "keep" => keep = true,
            "stdio" => {}
            "component" => component = words.next(),
            other => args.push(other),
        }
    }
    if !keep {
        *data = tempfile::tempdir().unwrap();
    }
    let fixture = component.map(|name| match name {
        "misbehaving" => &fixtures().misbehaving,
        "minimal" => &fixtures().minimal,
        other => panic!("there is no component {other}"),
    });
    match transport {
        Transport::Stdio => {
            let builder = fixture.map_or_else(
                || Builder::memory_in(data.path()),
                |file| Builder::component(file),
            );
            Peer::Stdio(builder.args(&args).start())
        }
        Transport::Http => {
            let builder = fixture.map_or_else(
                || Builder::http_memory_in(data.path()),
                |file| Builder::http_component(file),
            );
            Peer::Http(Box::new(OverHttp::start(builder.args(&args))))
        }
    }
}

/// A line that came, as it stands in a transcript.
fn shown(line: &[u8]) -> String {
    let text = std::str::from_utf8(line).expect("output must be UTF-8");
    let text = text
        .strip_suffix('\n')
        .expect("a message must end with a newline");
    let version = format!(r#""version":"{}""#, env!("CARGO_PKG_VERSION"));
    hide_times(text).replace(&version, r#""version":"{{version}}""#)
}

/// Replaces timestamps.
fn hide_times(text: &str) -> String {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00.000Z";
    let is_time = |window: &[u8]| {
        window.iter().zip(SHAPE).all(|(byte, shape)| {
            if *shape == b'0' {
                byte.is_ascii_digit()
            } else {
                byte == shape
            }
        })
    };
    let mut hidden = String::new();
    let mut rest = text;
    while let Some(at) = rest.as_bytes().windows(SHAPE.len()).position(is_time) {
        hidden.push_str(&rest[..at]);
        hidden.push_str("{{time}}");
        rest = &rest[at + SHAPE.len()..];
    }
    hidden + rest
}

/// What stands in a transcript, as it is sent.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some((byte, tail)) = rest
            .strip_prefix("\\x")
            .and_then(|tail| tail.split_at_checked(2))
        {
            bytes.push(u8::from_str_radix(byte, 16).unwrap());
            rest = tail;
        } else if let Some((repeated, tail)) = rest
            .strip_prefix("{{")
            .and_then(|tail| tail.split_once("}}"))
        {
            let (what, count) = repeated.split_once('*').unwrap();
            bytes.extend(what.repeat(count.parse().unwrap()).as_bytes());
            rest = tail;
        } else {
            let (head, tail) = rest.split_at(rest.chars().next().unwrap().len_utf8());
            bytes.extend(head.as_bytes());
            rest = tail;
        }
    }
    bytes
}

#[test]
fn what_stands_for_something_else_is_replaced_and_nothing_more() {
    assert_eq!(unescape(r#"\xff {{ab*2}} \n"}}"#), b"\xff abab \\n\"}}");
    assert_eq!(shown(b"at 2026-11-30T10:00:00.123Z.\n"), "at {{time}}.");
    assert_eq!(
        shown("é 2026-11-30T10:00:00Z\n".as_bytes()),
        "é 2026-11-30T10:00:00Z"
    );
}
