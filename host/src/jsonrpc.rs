//! The JSON-RPC 2.0 envelope: what a line is, ids, error codes. Knows no method names.
//!
//! Two deviations from JSON-RPC that MCP makes: an id is never `null`, and `params` is always an object.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Invalid JSON, or JSON that is no message at all.
pub const PARSE_ERROR: i64 = -32700;
/// JSON, but not a request.
pub const INVALID_REQUEST: i64 = -32600;
/// No such method, or not in this era, or not with this component.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The method exists and can't work with these parameters.
pub const INVALID_PARAMS: i64 = -32602;
/// It failed on our side.
pub const INTERNAL_ERROR: i64 = -32603;

/// A request id, exactly as it was written: `7`, `-1`, `"7"` and `18446744073709551616` are four different ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id(String);

impl Id {
    /// Reads an id. `None` unless it is a string or an integer.
    fn from_raw(raw: &RawValue) -> Option<Id> {
        let text = raw.get();
        let digits = text.strip_prefix('-').unwrap_or(text);
        let integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // A string is decoded once, so that a lone surrogate in it is found here and not by the client.
        let string = text.starts_with('"') && serde_json::from_str::<String>(text).is_ok();
        (integer || string).then(|| Id(text.to_owned()))
    }

    /// The id of a request that was found in already parsed JSON (`requestId` of a cancellation, say).
    pub fn from_value(value: &Value) -> Option<Id> {
        Id::from_raw(&serde_json::value::to_raw_value(value).ok()?)
    }
}

impl Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Something that wants an answer.
#[derive(Debug)]
pub struct Request {
    /// Echoed in the response.
    pub id: Id,
    /// Not checked against anything here.
    pub method: String,
    /// Absent parameters are empty ones.
    pub params: Map<String, Value>,
}

/// Something that is never answered.
#[derive(Debug)]
pub struct Notification {
    /// Not checked against anything here.
    pub method: String,
    /// Absent or malformed parameters are empty ones: nobody could be told.
    pub params: Map<String, Value>,
}

/// One message from the other side.
#[derive(Debug)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Is never answered.
    Notification(Notification),
    /// Answers a request of ours; we send none yet, so it is ignored.
    Response,
    /// Is none of these.
    Malformed {
        /// The id, where it could be read.
        id: Option<Id>,
        /// What is wrong.
        error: RpcError,
    },
}

/// The content of one line.
#[derive(Debug)]
pub enum Incoming {
    /// An object, or what was taken for one.
    Single(Message),
    /// An array of objects; only one protocol revision has those. Never empty.
    Batch(Vec<Message>),
}

/// The `error` member of a response.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RpcError {
    /// Which kind.
    pub code: i64,
    /// For people: names the offending value and the bound.
    pub message: String,
    /// For programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds data.
    pub fn with_data(self, data: Value) -> RpcError {
        RpcError {
            data: Some(data),
            ..self
        }
    }

    /// [`INVALID_PARAMS`] with a message.
    pub fn invalid_params(message: impl Into<String>) -> RpcError {
        RpcError::new(INVALID_PARAMS, message)
    }
}

/// An answer: exactly one of `result` and `error`.
#[derive(Debug, Serialize)]
pub struct Response {
    jsonrpc: &'static str,
    /// Left out where the outer option is `None`, `null` where the inner one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Option<Id>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

impl Response {
    /// The answer to a request.
    pub fn new(id: Id, outcome: Result<Value, RpcError>) -> Response {
        let (result, error) = match outcome {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Response {
            jsonrpc: "2.0",
            id: Some(Some(id)),
            result,
            error,
        }
    }

    /// The answer to something whose id could not be read: with `"id": null` as JSON-RPC wants it, or without an `id`
    /// as MCP has it since 2025-11-25.
    pub fn to_unknown(error: RpcError, null_id: bool) -> Response {
        Response {
            jsonrpc: "2.0",
            id: null_id.then_some(None),
            result: None,
            error: Some(error),
        }
    }
}

/// A message of ours that is not answered.
#[derive(Debug, Serialize)]
pub struct OutgoingNotification {
    jsonrpc: &'static str,
    method: &'static str,
    params: Value,
}

impl OutgoingNotification {
    /// A notification with parameters.
    pub fn new(method: &'static str, params: Value) -> OutgoingNotification {
        OutgoingNotification {
            jsonrpc: "2.0",
            method,
            params,
        }
    }
}

/// The members of any message, unread. A member that is `null` is present; serde's `Option` alone would hide it.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads one line. Never fails: what is wrong is part of the result, so that it can be answered.
pub fn parse(line: &[u8]) -> Incoming {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let offset = error.valid_up_to();
            let message = format!("the message is not UTF-8: bad byte at offset {offset}");
            return Incoming::Single(nameless(RpcError::new(PARSE_ERROR, message)));
        }
    };
    // Some programs put a byte order mark before what they write into a pipe (RFC 8259, section 8.1: may be ignored).
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.trim_start().chars().next() {
        Some('[') => {}
        Some('{') => return Incoming::Single(parse_message(text)),
        _ => {
            let message = format!("the message is not a JSON object: {}", shorten(text.trim()));
            return Incoming::Single(nameless(RpcError::new(PARSE_ERROR, message)));
        }
    }
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(members) if members.is_empty() => {
            let error = RpcError::new(INVALID_REQUEST, "a batch must not be empty");
            Incoming::Single(nameless(error))
        }
        Ok(members) => {
            let messages = members.iter().map(|member| parse_message(member.get()));
            Incoming::Batch(messages.collect())
        }
        Err(error) => {
            let message = format!("the message is not JSON: {error}");
            Incoming::Single(nameless(RpcError::new(PARSE_ERROR, message)))
        }
    }
}

/// Reads a message: an object. (serde would take an array for one, too.)
fn parse_message(text: &str) -> Message {
    if !text.trim_start().starts_with('{') {
        let message = format!("a message must be an object, not {}", shorten(text.trim()));
        return nameless(RpcError::new(INVALID_REQUEST, message));
    }
    let envelope = match read_envelope(text) {
        Ok(envelope) => envelope,
        Err(error) => return nameless(error),
    };
    let Some(raw_id) = envelope.id else {
        return parse_without_id(&envelope);
    };
    let Some(id) = Id::from_raw(raw_id) else {
        let got = shorten(raw_id.get());
        let message = format!("a request id must be a string or an integer, not {got}");
        return nameless(RpcError::new(INVALID_REQUEST, message));
    };
    if envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some()) {
        return Message::Response;
    }
    let request =
        read_head(&envelope).and_then(|method| Ok((method, read_params(envelope.params)?)));
    match request {
        Ok((method, params)) => Message::Request(Request { id, method, params }),
        Err(error) => Message::Malformed {
            id: Some(id),
            error,
        },
    }
}

/// A message without an id is a notification if it names a method, however odd the rest of it is, and those are never
/// answered. Anything else without an id is no message.
fn parse_without_id(envelope: &Envelope<'_>) -> Message {
    let wrong = |what| nameless(RpcError::new(INVALID_REQUEST, what));
    let Some(method) = envelope.method else {
        return wrong("the message has neither `id` nor `method`");
    };
    let Ok(method) = serde_json::from_str(method.get()) else {
        return wrong("`method` must be a string");
    };
    let params = read_params(envelope.params).unwrap_or_default();
    Message::Notification(Notification { method, params })
}

fn read_envelope(text: &str) -> Result<Envelope<'_>, RpcError> {
    serde_json::from_str(text).map_err(|error| {
        // A well-formed object fails here only when it has a member twice.
        if error.is_data() {
            RpcError::new(
                INVALID_REQUEST,
                format!("the message can't be read: {error}"),
            )
        } else {
            RpcError::new(PARSE_ERROR, format!("the message is not JSON: {error}"))
        }
    })
}

fn read_head(envelope: &Envelope<'_>) -> Result<String, RpcError> {
    match envelope.jsonrpc.map(RawValue::get) {
        Some("\"2.0\"") => {}
        Some(other) => {
            let message = format!("`jsonrpc` must be \"2.0\", not {}", shorten(other));
            return Err(RpcError::new(INVALID_REQUEST, message));
        }
        None => {
            return Err(RpcError::new(
                INVALID_REQUEST,
                "`jsonrpc` is missing; it must be \"2.0\"",
            ));
        }
    }
    let Some(method) = envelope.method else {
        return Err(RpcError::new(INVALID_REQUEST, "`method` is missing"));
    };
    serde_json::from_str(method.get()).map_err(|_| {
        RpcError::new(
            INVALID_REQUEST,
            format!("`method` must be a string, not {}", shorten(method.get())),
        )
    })
}

fn read_params(params: Option<&RawValue>) -> Result<Map<String, Value>, RpcError> {
    let Some(params) = params else {
        return Ok(Map::new());
    };
    if !params.get().starts_with('{') {
        let message = format!("`params` must be an object, not {}", shorten(params.get()));
        return Err(RpcError::invalid_params(message));
    }
    serde_json::from_str(params.get())
        .map_err(|error| RpcError::invalid_params(format!("`params` can't be read: {error}")))
}

/// Something whose id could not be read.
fn nameless(error: RpcError) -> Message {
    Message::Malformed { id: None, error }
}

/// Enough of a value to recognise it by.
const SHOWN_CHARS: usize = 60;

/// Cuts text that came from outside, so that an error message stays short whatever caused it.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(line: &str) -> Message {
        match parse(line.as_bytes()) {
            Incoming::Single(message) => message,
            Incoming::Batch(_) => panic!("{line} is no batch"),
        }
    }

    /// What is wrong with a line, and whether its id could be read.
    fn malformed(line: &str) -> (i64, bool) {
        match single(line) {
            Message::Malformed { id, error } => (error.code, id.is_some()),
            other => panic!("{line} is {other:?}"),
        }
    }

    #[test]
    fn ids_are_echoed_byte_for_byte() {
        for id in [
            "1",
            "-7",
            "0",
            "9007199254740993",
            "123456789012345678901234567890",
            "\"a\\u00e9\"",
            "\"\"",
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            let Message::Request(request) = single(&line) else {
                panic!("{id} is an id")
            };
            let reply = serde_json::to_string(&Response::new(request.id, Ok(Value::Null))).unwrap();
            assert_eq!(
                reply,
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#)
            );
        }
    }

    #[test]
    fn ids_that_are_no_string_and_no_integer_are_refused() {
        for id in ["null", "true", "1.5", "1e3", "{}", "[1]", r#""\ud800""#] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            assert_eq!(malformed(&line), (INVALID_REQUEST, false), "{id}");
        }
    }

    #[test]
    fn what_is_wrong_decides_the_code() {
        let cases = [
            ("", PARSE_ERROR),
            ("{", PARSE_ERROR),
            ("7", PARSE_ERROR),
            ("\"ping\"", PARSE_ERROR),
            ("null", PARSE_ERROR),
            ("[", PARSE_ERROR),
            ("[]", INVALID_REQUEST),
            ("{}", INVALID_REQUEST),
            (r#"{"id":1,"method":"m"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, INVALID_REQUEST),
            (
                r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#,
                INVALID_PARAMS,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#,
                INVALID_PARAMS,
            ),
        ];
        for (line, code) in cases {
            assert_eq!(malformed(line).0, code, "{line}");
        }
    }

    #[test]
    fn nesting_without_end_is_an_error_and_no_stack_overflow() {
        let deep = "[".repeat(200_000) + &"]".repeat(200_000);
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{deep}}}}}"#);
        assert_eq!(malformed(&line), (INVALID_PARAMS, true));
    }

    #[test]
    fn a_notification_is_one_however_odd_it_is() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"m"}"#,
            r#"{"method":"m"}"#,
            r#"{"jsonrpc":"9","method":"m","params":[1]}"#,
        ] {
            assert!(matches!(single(line), Message::Notification(_)), "{line}");
        }
    }
}
