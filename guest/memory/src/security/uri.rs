//! Resource URIs.
//!
//! Two shapes are served, and a URI is compared with them character by character: nothing is normalised, resolved or
//! decoded first, so there is nothing to smuggle past the check. Even then an entry is served only if it is known.

use super::args::check_query;
use super::{SecurityError, echo};
use crate::config::{ENTRIES, ENTRY_TEMPLATE, RESOURCE_SCHEME, SEARCH_TEMPLATE, SEARCHES};

/// A URI that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceUri {
    /// `memory://entries/m3`: the memory with this number.
    Entry(u64),
    /// `memory://search/dark%20mode`: what a search finds.
    Search(String),
}

/// Checks a URI that a client wants to read. `known` tells which memories there are; it is asked at most once, and only
/// about a URI that is well-formed.
///
/// # Errors
///
/// Any URI that is not exactly of a shape that is served, or names a memory that is not there.
pub fn validate_resource_uri(
    uri: &str,
    known: impl FnOnce(u64) -> bool,
) -> Result<ResourceUri, SecurityError> {
    let refuse = |reason: String| {
        Err(SecurityError::Uri {
            uri: echo(uri),
            reason,
        })
    };
    let Some(path) = uri
        .strip_prefix(RESOURCE_SCHEME)
        .and_then(|rest| rest.strip_prefix("://"))
    else {
        return refuse(format!("the scheme must be {RESOURCE_SCHEME}://"));
    };
    match path.split_once('/') {
        Some((ENTRIES, id)) => match parse_id(id) {
            Some(number) if known(number) => Ok(ResourceUri::Entry(number)),
            Some(_) => refuse("there is no such memory".to_owned()),
            None => refuse("an entry's id is m and a number, such as m3".to_owned()),
        },
        Some((SEARCHES, query)) => match decode_segment(query) {
            Ok(query) => match check_query("query", &query) {
                Ok(query) => Ok(ResourceUri::Search(query)),
                Err(error) => refuse(error.to_string()),
            },
            Err(reason) => refuse(reason.to_owned()),
        },
        _ => refuse(format!(
            "only {ENTRY_TEMPLATE} and {SEARCH_TEMPLATE} are served"
        )),
    }
}

/// `m` and a decimal number as we write it: no sign, no leading zeros, within 64 bits.
pub(crate) fn parse_id(id: &str) -> Option<u64> {
    let digits = id.strip_prefix('m')?;
    let canonical = digits == "0" || !digits.starts_with('0');
    (canonical && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

/// Percent-decodes one path segment. Letters of any script may stand as they are; what separates the parts of a URI,
/// and white space and controls, must be encoded.
fn decode_segment(segment: &str) -> Result<String, &'static str> {
    if matches!(segment, "." | "..") {
        return Err("a dot segment leads elsewhere");
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment;
    while let Some(character) = rest.chars().next() {
        let (head, tail) = rest.split_at(character.len_utf8());
        match character {
            '%' => {
                let digits = tail
                    .get(..2)
                    .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                bytes.push(byte.ok_or("a % must be followed by two hexadecimal digits")?);
                rest = &tail[2..];
                continue;
            }
            '/' | '?' | '#' | '\\' => {
                return Err("/ ? # and \\ in a query must be percent-encoded");
            }
            _ if character.is_whitespace() || character.is_control() => {
                return Err(
                    "white space and control characters in a query must be percent-encoded",
                );
            }
            _ => bytes.extend_from_slice(head.as_bytes()),
        }
        rest = tail;
    }
    String::from_utf8(bytes).map_err(|_| "the percent-encoded bytes are not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MAX_TEXT_CHARS;
    use proptest::prelude::*;

    /// A store with the memories m0 to m9.
    fn check(uri: &str) -> Result<ResourceUri, SecurityError> {
        validate_resource_uri(uri, |number| number < 10)
    }

    #[test]
    fn an_entry_that_is_known_is_served() {
        assert_eq!(check("memory://entries/m0"), Ok(ResourceUri::Entry(0)));
        assert_eq!(check("memory://entries/m9"), Ok(ResourceUri::Entry(9)));
    }

    #[test]
    fn everything_else_is_refused() {
        for uri in [
            "",
            " ",
            "m3",
            "/entries/m3",
            "memory",
            "memory:",
            "memory:/",
            "memory://",
            "memory:///",
            "memory:///entries/m3",
            "memory://entries",
            "memory://entries/",
            "memory:entries/m3",
            "memory:/entries/m3",
            "memory:////entries/m3",
            "file:///etc/passwd",
            "http://entries/m3",
            "https://entries/m3",
            "memoryx://entries/m3",
            "xmemory://entries/m3",
            "MEMORY://entries/m3",
            "Memory://entries/m3",
            "memory://Entries/m3",
            "memory://ENTRIES/m3",
            "memory://entries/M3",
            "memory://entries/../m3",
            "memory://entries/..",
            "memory://entries/../../etc/passwd",
            "memory://entries/./m3",
            "memory://entries/m3/..",
            "memory://entries/m3/",
            "memory://entries//m3",
            "memory://entries/m3/m4",
            "memory://entries/%2e%2e/m3",
            "memory://entries/%6d3",
            "memory://entries/m%33",
            "memory://entries/..%2fm3",
            "memory://entries%2fm3",
            "memory://%65ntries/m3",
            "memory://entries\\m3",
            "memory://entries/..\\m3",
            "memory://entries/m3?x=1",
            "memory://entries/m3?",
            "memory://entries/m3#top",
            "memory://entries/m3#",
            "memory://user@entries/m3",
            "memory://user:pw@entries/m3",
            "memory://entries:80/m3",
            "memory://entries:/m3",
            "memory://entries.evil.example/m3",
            "memory://evil/entries/m3",
            "memory://@entries/m3",
            "memory://entries/m3\0",
            "memory://entries/\0m3",
            "memory://entries/m3\n",
            "memory://entries/m3\r\n",
            "\nmemory://entries/m3",
            " memory://entries/m3",
            "memory://entries/m3 ",
            "memory://entries/ m3",
            "memory://entries/m",
            "memory://entries/3",
            "memory://entries/m-1",
            "memory://entries/m+1",
            "memory://entries/m03",
            "memory://entries/m00",
            "memory://entries/m3.0",
            "memory://entries/m1e0",
            "memory://entries/m0x3",
            "memory://entries/mm3",
            "memory://entries/m３",
            "memory://entries/m٣",
            "memory://entries/ｍ3",
            "memory://entries/m99999999999999999999999",
            "memory://entries/m18446744073709551616",
            "memory://entries/m10",
            "memory://entries/m18446744073709551615",
            "memory://search",
            "memory://search/",
            "memory://Search/x",
            "memory://search/%20",
            "memory://search/a/b",
            "memory://search/../entries/m3",
            "memory://search/..",
            "memory://search/.",
            "memory://search/a?b",
            "memory://search/a#b",
            "memory://search/a b",
            "memory://search/a\nb",
            "memory://search/%",
            "memory://search/%2",
            "memory://search/%zz",
            "memory://search/%+1",
            "memory://search/%é1",
            "memory://search/%ff",
            "memory://search/%c0%af",
            "memory://search/%ed%a0%80",
            "memory://search/%00",
            "memory://other/x",
        ] {
            let refusal = check(uri);
            assert!(
                matches!(refusal, Err(SecurityError::Uri { .. })),
                "{uri:?} was served as {refusal:?}"
            );
        }
    }

    #[test]
    fn a_search_is_decoded_and_stripped() {
        for (uri, query) in [
            ("memory://search/demo", "demo"),
            ("memory://search/dark%20mode", "dark mode"),
            ("memory://search/%20x%0A", "x"),
            ("memory://search/a%2Fb%3Fc%23d", "a/b?c#d"),
            ("memory://search/%2e%2e%2fentries", "../entries"),
            ("memory://search/a+b", "a+b"),
            ("memory://search/caf%C3%A9", "café"),
            ("memory://search/東京", "東京"),
        ] {
            assert_eq!(
                check(uri),
                Ok(ResourceUri::Search(query.to_owned())),
                "{uri}"
            );
        }
    }

    #[test]
    fn a_search_has_the_bound_of_a_query() {
        let at_the_bound = format!("memory://search/{}", "%C3%A9".repeat(MAX_TEXT_CHARS));
        assert!(check(&at_the_bound).is_ok());
        let error = check(&format!("{at_the_bound}x")).unwrap_err().to_string();
        assert!(error.contains(&MAX_TEXT_CHARS.to_string()), "{error}");
        assert!(error.len() < 400, "the URI is shortened: {error}");
    }

    proptest! {
        #[test]
        fn only_the_exact_spelling_of_a_known_entry_is_an_entry(tail in "[m0-9./%a-f]{0,6}") {
            let uri = format!("memory://entries/{tail}");
            if let Ok(found) = check(&uri) {
                let ResourceUri::Entry(number) = found else { panic!("{uri} became a search") };
                prop_assert_eq!(uri, format!("memory://entries/m{}", number));
                prop_assert!(number < 10);
            }
        }

        #[test]
        fn no_uri_panics(uri in any::<String>(), search in any::<String>()) {
            let _ = check(&uri);
            let _ = check(&format!("memory://search/{search}"));
        }
    }
}
