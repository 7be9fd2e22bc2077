//! From a line to messages.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{
    INVALID_REQUEST, Id, Incoming, Message, Notification, PARSE_ERROR, Reply, Request, RpcError,
    shorten,
};

/// Messages in a batch. They are answered together and wait as one, so a batch must not be a way around other bounds.
const MAX_BATCH: usize = 64;

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
        Ok(members) if members.len() > MAX_BATCH => {
            let count = members.len();
            let message = format!("the batch has {count} messages, the limit is {MAX_BATCH}");
            Incoming::Single(nameless(RpcError::new(INVALID_REQUEST, message)))
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
    if envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some()) {
        // Also one without an id, or with `null` for it: that is how errors to unreadable requests look, and answering
        // an error with an error would go on for ever.
        return Message::Response(read_reply(&envelope));
    }
    let Some(raw_id) = envelope.id else {
        return parse_without_id(&envelope);
    };
    let Some(id) = Id::from_raw(raw_id) else {
        let got = shorten(raw_id.get());
        let message = format!("a request id must be a string or an integer, not {got}");
        return nameless(RpcError::new(INVALID_REQUEST, message));
    };
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

/// An answer to a request of ours. One that has both a result and an error is an error: whoever sent it is confused.
fn read_reply(envelope: &Envelope<'_>) -> Reply {
    let outcome = match (envelope.error, envelope.result) {
        (None, Some(result)) => Ok(result.to_owned()),
        (error, _) => Err(error
            .and_then(|error| serde_json::from_str(error.get()).ok())
            .unwrap_or_else(|| RpcError::new(INVALID_REQUEST, "the error can't be read"))),
    };
    Reply {
        id: envelope.id.and_then(Id::from_raw),
        outcome,
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
    let params = envelope.params.map(ToOwned::to_owned);
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

#[cfg(test)]
mod tests {
    use super::super::{INVALID_PARAMS, Response};
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
    fn ids_are_the_same_if_they_mean_the_same() {
        let id =
            |text: &str| Id::from_raw(&RawValue::from_string(text.to_owned()).unwrap()).unwrap();
        assert_eq!(id(r#""\u00e9""#), id(r#""é""#));
        assert_eq!(
            id("123456789012345678901234567890"),
            id("123456789012345678901234567890")
        );
        assert_ne!(
            id("123456789012345678901234567890"),
            id("123456789012345678901234567891")
        );
        assert_ne!(id("7"), id(r#""7""#));
    }

    #[test]
    fn an_error_without_an_id_is_a_response_and_no_request() {
        for line in [
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(matches!(single(line), Message::Response(_)), "{line}");
        }
    }

    #[test]
    fn a_response_carries_its_id_and_what_was_answered() {
        let reply = |line: &str| match single(line) {
            Message::Response(reply) => reply,
            other => panic!("{line} is {other:?}"),
        };
        let ours = Id::from("ask-\u{e9}".to_owned());
        let answered = reply(r#"{"jsonrpc":"2.0","id":"ask-\u00e9","result":{"b":1, "a":2}}"#);
        assert_eq!(answered.id, Some(ours));
        assert_eq!(answered.outcome.unwrap().get(), r#"{"b":1, "a":2}"#);

        let refused = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"},"result":{}}"#;
        assert_eq!(reply(refused).outcome.unwrap_err(), RpcError::new(-1, "no"));
        let odd = reply(r#"{"jsonrpc":"2.0","id":null,"error":"no"}"#);
        assert_eq!(odd.id, None);
        assert_eq!(odd.outcome.unwrap_err().code, INVALID_REQUEST);
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
