//! A client over HTTP that says what the specification has clients say.

use std::net::SocketAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Answer, Connection, USUAL, modern, request, wait_until};

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
            params = modern(params);
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
