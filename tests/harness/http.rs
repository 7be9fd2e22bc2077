//! A server over HTTP, and a client that shows every byte of what it gets.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Builder, Finished, PATIENCE, Server, request, wait_until};

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

/// A client that says what the specification has clients say. Each message has a connection of its own, or the one that
/// was used last.
pub(crate) struct Client {
    address: SocketAddr,
    connection: Option<Connection>,
    pub(crate) session: Option<String>,
    version: Option<String>,
    next_id: u64,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Client {
        Client {
            address,
            connection: None,
            session: None,
            version: None,
            next_id: 0,
        }
    }

    /// What is sent along with a message.
    pub(crate) fn headers(&self, message: &Value) -> Vec<(&'static str, String)> {
        let mut headers: Vec<(&str, String)> = USUAL
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        let meta = &message["params"]["_meta"];
        let is_modern = meta.as_object().is_some_and(|meta| {
            meta.keys()
                .any(|key| key.starts_with("io.modelcontextprotocol/"))
        });
        if !is_modern {
            let session = self.session.iter().map(|id| ("mcp-session-id", id.clone()));
            headers.extend(session);
            let version = self
                .version
                .iter()
                .map(|version| ("mcp-protocol-version", version.clone()));
            headers.extend(version);
            return headers;
        }
        if let Some(version) = meta["io.modelcontextprotocol/protocolVersion"].as_str() {
            headers.push(("mcp-protocol-version", version.to_owned()));
        }
        if let Some(method) = message["method"].as_str() {
            headers.push(("mcp-method", method.to_owned()));
            let member = if method == "resources/read" {
                "uri"
            } else {
                "name"
            };
            if let Some(name) = message["params"][member].as_str() {
                headers.push(("mcp-name", encoded(name)));
            }
        }
        headers
    }

    /// Sends a body with these headers; returns the answer, and the connection if events follow on it.
    pub(crate) fn post_raw(
        &mut self,
        headers: &[(&str, String)],
        body: &[u8],
    ) -> (Answer, Option<Connection>) {
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let mut connection = self
            .connection
            .take()
            .unwrap_or_else(|| Connection::open(self.address));
        let answer = connection.ask("POST", "/mcp", &headers, body);
        if answer.is_events() {
            return (answer, Some(connection));
        }
        if answer.header("connection") != Some("close") {
            self.connection = Some(connection);
        }
        (answer, None)
    }

    /// Sends a message on a connection of its own, and does not wait for what comes of it.
    pub(crate) fn send(&self, message: &Value) -> Connection {
        let headers = self.headers(message);
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let mut connection = Connection::open(self.address);
        connection.send("POST", "/mcp", &headers, message.to_string().as_bytes());
        connection
    }

    /// Sends a message as it should be sent.
    pub(crate) fn post(&mut self, message: &Value) -> (Answer, Option<Connection>) {
        self.post_raw(&self.headers(message), message.to_string().as_bytes())
    }

    /// Makes a request; returns all messages that come of it, the response last.
    pub(crate) fn exchange(&mut self, message: &Value) -> Vec<Value> {
        let (answer, stream) = self.post(message);
        match stream {
            None => vec![answer.json()],
            Some(mut stream) => std::iter::from_fn(|| stream.message()).collect(),
        }
    }

    /// Makes a request; returns its response.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        let messages = self.exchange(&request(id, method, params));
        let response = messages.last().unwrap();
        assert_eq!(response["id"], id, "{response}");
        response.clone()
    }

    /// Calls a tool; returns its result, which must not be an error of the protocol.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut params = json!({"name": tool, "arguments": arguments});
        if self.session.is_none() {
            params = super::modern(params);
        }
        let response = self.request("tools/call", &params);
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    /// Sends a notification, which must be taken.
    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let (answer, _) = self.post(&message);
        assert_eq!(answer.status, 202, "{answer:?}");
        assert!(answer.body.is_empty());
    }

    /// Opens a session; returns the handshake's result.
    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let client = json!({"name": "tests", "version": "1"});
        self.open(json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}))
    }

    /// Opens a session with this handshake.
    pub(crate) fn open(&mut self, params: Value) -> Value {
        self.session = None;
        self.version = None;
        self.next_id += 1;
        let (answer, _) = self.post(&request(self.next_id, "initialize", &params));
        assert_eq!(answer.status, 200, "{answer:?}");
        let result = answer.json()["result"].clone();
        self.session = answer.header("mcp-session-id").map(str::to_owned);
        assert!(self.session.is_some(), "{answer:?}");
        self.version = result["protocolVersion"].as_str().map(str::to_owned);
        result
    }

    /// Says that we are ready to hear what changes.
    pub(crate) fn initialized(&mut self) {
        self.notify("notifications/initialized", &json!({}));
    }

    /// Listens for what no request asked for, or to the rest of a stream.
    pub(crate) fn listen(&self, last_event: Option<&str>) -> Connection {
        let (answer, connection) = self.get(last_event);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.is_events(), "{answer:?}");
        connection
    }

    /// The same, whatever comes of it.
    pub(crate) fn get(&self, last_event: Option<&str>) -> (Answer, Connection) {
        let mut headers = vec![("accept", "text/event-stream")];
        headers.extend(
            self.session
                .iter()
                .map(|id| ("mcp-session-id", id.as_str())),
        );
        headers.extend(
            self.version
                .iter()
                .map(|version| ("mcp-protocol-version", version.as_str())),
        );
        headers.extend(last_event.map(|id| ("last-event-id", id)));
        let mut connection = Connection::open(self.address);
        let answer = connection.ask("GET", "/mcp", &headers, b"");
        (answer, connection)
    }
}

/// Waits until a request of a legacy client has arrived: another one with its id is refused.
pub(crate) fn wait_until_in_flight(client: &mut Client, id: u64) {
    wait_until("the request arrives", || {
        client.post(&request(id, "ping", &json!({}))).0.status == 400
    });
}

/// A name as a header has it.
pub(crate) fn encoded(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && name.trim() == name
        && !name.starts_with("=?base64?");
    if is_plain {
        name.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(name))
    }
}
