//! A server over HTTP, and a client that shows every byte of what it gets.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;

use serde_json::Value;

use super::{Builder, Client, Finished, PATIENCE, Server};

/// What every message is sent with.
pub(crate) const USUAL: [(&str, &str); 2] = [
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
];

impl Builder {
    /// A server over HTTP, on a port that is free.
    pub(crate) fn http() -> Builder {
        Builder::bare().args(&["serve", "--http", "127.0.0.1:0"])
    }

    /// The memory over a directory, over HTTP.
    pub(crate) fn http_memory_in(data: &Path) -> Builder {
        Builder::http().arg("--data-dir").arg(data)
    }

    /// Another component over HTTP.
    pub(crate) fn http_component(file: &Path) -> Builder {
        Builder::http().arg("--component").arg(file)
    }

    /// Starts a server over HTTP.
    pub(crate) fn serve(self) -> Http {
        let mut server = self.unheard().start();
        let line = server.listen_for("listening on http://");
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .and_then(|rest| rest.strip_suffix("/mcp"))
            .unwrap_or_else(|| panic!("no address: {line}"));
        Http {
            address: address.parse().unwrap(),
            server,
        }
    }
}

/// A server over HTTP that runs.
pub(crate) struct Http {
    pub(crate) address: SocketAddr,
    pub(crate) server: Server,
}

impl Http {
    /// A connection to it.
    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.address)
    }

    /// A client that says what a modern client says.
    pub(crate) fn modern(&self) -> Client {
        Client::new(self.address)
    }

    /// A client that has shaken hands, and said so.
    pub(crate) fn legacy(&self, version: &str) -> Client {
        let mut client = Client::new(self.address);
        client.initialize(version);
        client.initialized();
        client
    }

    /// Asks it to end, and waits until it has.
    #[cfg(unix)]
    pub(crate) fn end(self) -> Finished {
        self.server.signal(rustix::process::Signal::TERM);
        self.server.ended()
    }

    /// The same; it must end in good order, having said nothing on standard output.
    #[cfg(unix)]
    pub(crate) fn end_in_order(self) -> String {
        let finished = self.end();
        assert!(finished.status.success(), "{finished:?}");
        assert!(finished.stdout.is_empty(), "{finished:?}");
        finished.stderr
    }
}

/// One connection.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    /// Of a body in chunks, what came and was not read.
    lines: VecDeque<u8>,
    ended: bool,
}

/// What came back: all of it, or its beginning if events follow.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    /// Empty if events follow.
    pub(crate) body: Vec<u8>,
}

/// One event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<String>,
    pub(crate) data: String,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(other, _)| other == name);
        let value = values.next()?;
        assert!(values.next().is_none(), "{name} comes twice");
        Some(&value.1)
    }

    pub(crate) fn is_events(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "{self:?}"
        );
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The error's code, which there must be.
    pub(crate) fn code(&self) -> i64 {
        super::error_of(&self.json()).0
    }
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection {
            stream: BufReader::new(stream),
            lines: VecDeque::new(),
            ended: false,
        }
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// Sends a request. `Host` is added if it is not given.
    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("host"))
        {
            head += &format!("host: {}\r\n", self.stream.get_ref().peer_addr().unwrap());
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if method == "POST" {
            head += &format!("content-length: {}\r\n", body.len());
        }
        head += "\r\n";
        let mut bytes = head.into_bytes();
        bytes.extend(body);
        self.send_bytes(&bytes);
    }

    /// Sends a request and reads what comes back.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        self.send(method, path, headers, body);
        self.answer()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        assert!(line.ends_with("\r\n"), "the connection ended: {line:?}");
        line.truncate(line.len() - 2);
        line
    }

    /// Reads what came back.
    pub(crate) fn answer(&mut self) -> Answer {
        let line = self.line();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap();
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut answer = Answer {
            status,
            headers,
            body: Vec::new(),
        };
        if let Some(length) = answer.header("content-length") {
            answer.body = vec![0; length.parse().unwrap()];
            self.stream.read_exact(&mut answer.body).unwrap();
        }
        self.ended = answer.header("transfer-encoding") != Some("chunked");
        answer
    }

    /// Reads a chunk. False: it was the last one.
    fn chunk(&mut self) -> bool {
        let length = self.line();
        let length = usize::from_str_radix(&length, 16).unwrap();
        let mut data = vec![0; length];
        self.stream.read_exact(&mut data).unwrap();
        assert_eq!(self.line(), "");
        self.lines.extend(data);
        length > 0
    }

    /// The next line of a body in chunks; `None` at its end.
    fn body_line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.lines.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.lines.drain(..=end).collect();
                return Some(String::from_utf8(line[..end].to_vec()).unwrap());
            }
            if self.ended || !self.chunk() {
                self.ended = true;
                assert!(self.lines.is_empty(), "half a line at the end");
                return None;
            }
        }
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) fn event(&mut self) -> Option<Event> {
        let mut event = Event::default();
        let mut any = false;
        loop {
            let line = self.body_line()?;
            if line.is_empty() && any {
                return Some(event);
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
            any |= !name.is_empty();
            match name {
                // A comment, or what follows it.
                "" => {}
                "event" => assert_eq!(value, "message"),
                "id" => event.id = Some(value),
                "retry" => event.retry = Some(value),
                "data" => event.data += &value,
                other => panic!("{other:?} is no field of an event"),
            }
        }
    }

    /// The next message on a stream, whatever else there is on it; `None` at its end.
    pub(crate) fn message(&mut self) -> Option<Value> {
        loop {
            let event = self.event()?;
            if !event.data.is_empty() {
                return Some(event.json());
            }
        }
    }

    /// Goes away as far as the other end can see, and waits until it has seen it.
    pub(crate) fn leave(mut self) {
        self.stream.get_ref().shutdown(Shutdown::Write).unwrap();
        // Whatever was on its way.
        while self
            .stream
            .read(&mut [0; 1024])
            .is_ok_and(|length| length > 0)
        {}
    }

    /// Whether the other end closes the connection without a further byte.
    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]), Ok(0))
    }
}
