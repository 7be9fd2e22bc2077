//! What the headers of a request say.

use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::protocol::{Envelope, Field};

/// The media type of single messages.
pub(super) const JSON: &str = "application/json";

/// The media type of streams.
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// A legacy session's id.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// The id of the last event that a client saw of the stream to which it comes back.
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const PARAMETER: &str = "mcp-param-";

/// Whether the body is said to be JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).map(HeaderValue::to_str);
    content_type.is_some_and(|value| {
        value.is_ok_and(|value| {
            let media_type = value.split(';').next().unwrap_or_default();
            media_type.trim().eq_ignore_ascii_case(JSON)
        })
    })
}

/// Whether the client takes all of these media types. One that says nothing takes anything.
pub(super) fn accepts(headers: &HeaderMap, wanted: &[&str]) -> bool {
    let mut accepted = headers.get_all(ACCEPT).iter().peekable();
    if accepted.peek().is_none() {
        return true;
    }
    let ranges: Vec<String> = accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(media_range)
        .collect();
    wanted.iter().all(|wanted| {
        let family = wanted.split('/').next().unwrap_or_default();
        ranges
            .iter()
            .any(|range| range == wanted || range == "*/*" || *range == format!("{family}/*"))
    })
}

/// The media range of a member of `Accept`, unless its weight says that it is not accepted.
fn media_range(member: &str) -> Option<String> {
    let mut parts = member.split(';').map(str::trim);
    let range = parts.next()?.to_ascii_lowercase();
    let weight = parts.find_map(|part| part.strip_prefix("q="));
    let is_refused = weight.is_some_and(|weight| weight.parse() == Ok(0.0_f32));
    (!is_refused).then_some(range)
}

/// What the headers repeat of the message.
pub(super) fn envelope(headers: &HeaderMap) -> Envelope {
    let parameters = headers.keys().filter_map(|name| {
        let parameter = name.as_str().strip_prefix(PARAMETER)?;
        Some((parameter.to_owned(), decoded(only(headers, name))))
    });
    Envelope {
        version: only(headers, &PROTOCOL_VERSION),
        method: only(headers, &METHOD),
        name: decoded(only(headers, &NAME)),
        parameters: parameters.collect(),
    }
}

/// The value of a header that may come once only.
pub(super) fn only(headers: &HeaderMap, name: &HeaderName) -> Field {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Field::Absent,
        (Some(value), None) => match value.to_str() {
            Ok(text) => Field::Text(text.to_owned()),
            Err(_) => Field::Malformed("it has characters other than visible ASCII"),
        },
        (Some(_), Some(_)) => Field::Malformed("it is given twice"),
    }
}

/// Undoes the encoding of what is no plain ASCII (specification 2026-07-28, "Value Encoding").
fn decoded(field: Field) -> Field {
    let Field::Text(text) = &field else {
        return field;
    };
    let encoded = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    let Some(encoded) = encoded else {
        return field;
    };
    match STANDARD.decode(encoded).map(String::from_utf8) {
        Ok(Ok(text)) => Field::Text(text),
        Ok(Err(_)) => Field::Malformed("what it encodes is not UTF-8"),
        Err(_) => Field::Malformed("it is not Base64"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                let name = HeaderName::from_static(name);
                (name, HeaderValue::from_bytes(value.as_bytes()).unwrap())
            })
            .collect()
    }

    #[test]
    fn what_is_accepted_may_be_said_in_many_ways() {
        let both = [JSON, EVENT_STREAM];
        for (accept, accepted) in [
            ("application/json, text/event-stream", true),
            (
                "text/event-stream;q=0.5,APPLICATION/JSON; charset=utf-8",
                true,
            ),
            ("*/*", true),
            ("application/*, text/*;q=0.1", true),
            ("application/json", false),
            ("text/event-stream", false),
            ("application/json, text/event-stream;q=0", false),
            ("text/html", false),
            ("", false),
        ] {
            assert_eq!(
                accepts(&headers(&[("accept", accept)]), &both),
                accepted,
                "{accept}"
            );
        }
        assert!(accepts(&HeaderMap::new(), &both));
    }

    #[test]
    fn a_body_is_json_only_if_it_says_so() {
        for (content_type, is) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("text/plain", false),
            ("application/jsonp", false),
            ("text/plain; application/json", false),
        ] {
            let headers = headers(&[("content-type", content_type)]);
            assert_eq!(is_json(&headers), is, "{content_type}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    #[test]
    fn names_are_decoded_and_methods_are_not() {
        let envelope = envelope(&headers(&[
            ("mcp-method", "=?base64?YQ==?="),
            ("mcp-name", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            ("mcp-param-region", "eu"),
            ("mcp-param-bad", "=?base64?!?="),
            ("mcp-param-no-text", "=?base64?/w==?="),
        ]));
        assert_eq!(envelope.version, Field::Absent);
        assert_eq!(envelope.method, Field::Text("=?base64?YQ==?=".to_owned()));
        assert_eq!(envelope.name, Field::Text("Hello, 世界".to_owned()));
        let parameter = |name| &envelope.parameters[name];
        assert_eq!(parameter("region"), &Field::Text("eu".to_owned()));
        assert!(matches!(parameter("bad"), Field::Malformed(_)));
        assert!(matches!(parameter("no-text"), Field::Malformed(_)));
    }

    #[test]
    fn what_comes_twice_or_is_no_ascii_is_malformed() {
        let twice = headers(&[("mcp-name", "a"), ("mcp-name", "a")]);
        assert!(matches!(envelope(&twice).name, Field::Malformed(_)));
        let other = headers(&[("mcp-name", "é")]);
        assert!(matches!(envelope(&other).name, Field::Malformed(_)));
    }
}
