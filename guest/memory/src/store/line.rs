//! The journal's lines: an event with two checksums.
//!
//! ```text
//! {"crc":"xxxxxxxx","prev":"xxxxxxxx","save":{...}}
//! ```
//!
//! `crc` is the CRC-32 of what follows it, from `"prev"` to the last brace, in eight lower-case hexadecimal digits, so a
//! line is verified by itself. `prev` is the `crc` of the line before, `00000000` on the first, so a line that is
//! missing, repeated or out of place shows.

use std::ops::Range;

use super::event::Event;
use crate::config::{MAX_SESSION_CHARS, MAX_TAG_CHARS, MAX_TAGS, MAX_TEXT_CHARS};

/// No line is longer, newline included. JSON spells a control character with six bytes, the worst case; the rest of a
/// line (names, numbers, times, the ids of a touch) is well below 4 kB.
pub(crate) const MAX_LINE_BYTES: usize =
    6 * (MAX_TEXT_CHARS + MAX_TAGS * MAX_TAG_CHARS + MAX_SESSION_CHARS) + 4096;

/// No save is shorter, newline included: a test builds the shortest. So many bytes more may have been one more memory.
pub(crate) const MIN_SAVE_BYTES: usize = 152;

/// How every line begins. Within a line it can't occur again: JSON escapes quotes.
const START: &[u8] = br#"{"crc":""#;
/// How the part begins that `crc` covers.
const PREV: &[u8] = br#""prev":""#;
/// Eight hexadecimal digits, a quote and a comma.
const CHECKSUM: usize = 8 + 2;

/// A line that is intact.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// Its checksum, which the next line's `prev` repeats.
    pub(crate) crc: u32,
    /// The checksum of the line before, as it was when this one was written.
    pub(crate) prev: u32,
    /// What it says.
    pub(crate) event: Event,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// It doesn't begin as every line does.
    Shape,
    /// Its bytes are not those that were written.
    Checksum,
    /// It was written so, but says nothing that is known.
    Event,
}

/// The line for an event, newline included, and its checksum.
pub(crate) fn encode(prev: u32, event: &Event) -> Result<(Vec<u8>, u32), serde_json::Error> {
    let event = serde_json::to_string(event)?;
    let covered = format!(
        "\"prev\":\"{prev:08x}\",{}",
        event.strip_prefix('{').unwrap_or(&event)
    );
    let crc = crc32fast::hash(covered.as_bytes());
    Ok((
        format!("{{\"crc\":\"{crc:08x}\",{covered}\n").into_bytes(),
        crc,
    ))
}

/// Verifies and reads a line, given without its newline.
pub(crate) fn decode(line: &[u8]) -> Result<Line, Damage> {
    let (crc, covered) = verify(line)?;
    let (prev, members) = covered
        .strip_prefix(PREV)
        .and_then(checksum)
        .ok_or(Damage::Shape)?;
    let event = [b"{", members].concat();
    let event = serde_json::from_slice(&event).map_err(|_| Damage::Event)?;
    Ok(Line { crc, prev, event })
}

/// The format that a header gives, whatever else is in it: a later format may have other members, and has to be told
/// from damage. `None` for what is no header or was changed since it was written.
pub(crate) fn header_format(line: &[u8]) -> Option<u64> {
    verify(line).ok()?;
    let line: serde_json::Value = serde_json::from_slice(line).ok()?;
    line.get("journal")?.get("format")?.as_u64()
}

/// The checksum of a line, and what it covers, if it holds.
fn verify(line: &[u8]) -> Result<(u32, &[u8]), Damage> {
    let (crc, covered) = line
        .strip_prefix(START)
        .and_then(checksum)
        .ok_or(Damage::Shape)?;
    if crc != crc32fast::hash(covered) {
        return Err(Damage::Checksum);
    }
    Ok((crc, covered))
}

/// Eight lower-case hexadecimal digits, closed by `",`, and what comes after.
fn checksum(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (field, rest) = bytes.split_at_checked(CHECKSUM)?;
    let digits = std::str::from_utf8(field.strip_suffix(b"\",")?).ok()?;
    let canonical = digits
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    Some((
        u32::from_str_radix(digits, 16).ok().filter(|_| canonical)?,
        rest,
    ))
}

/// The line that bytes begin with, if it can be verified whatever stands where its newline should be. And its length.
pub(crate) fn complete(bytes: &[u8]) -> Option<(Line, usize)> {
    let last_brace = bytes.iter().rposition(|&byte| byte == b'}')?;
    // What was a newline may be one more brace now.
    [last_brace + 1, last_brace]
        .into_iter()
        .find_map(|end| Some((decode(&bytes[..end]).ok()?, end)))
}

/// What stands between two newlines: one line; or, where it is damaged, what [`salvage`] finds.
pub(crate) fn lines_in(bytes: &[u8]) -> (Vec<(Line, Range<usize>)>, bool) {
    match decode(bytes) {
        Ok(line) => (vec![(line, 0..bytes.len())], false),
        Err(_) => salvage(bytes),
    }
}

/// The lines that are intact within damaged bytes, each with where it is in them, for a newline may be what is damaged;
/// and whether there is anything else than these lines (a carriage return, which an editor may leave, is nothing).
pub(crate) fn salvage(bytes: &[u8]) -> (Vec<(Line, Range<usize>)>, bool) {
    let starts: Vec<usize> = bytes
        .windows(START.len())
        .enumerate()
        .filter(|(_, window)| *window == START)
        .map(|(at, _)| at)
        .collect();
    let mut lines = Vec::new();
    let mut leftovers = starts.first() != Some(&0);
    for (index, &start) in starts.iter().enumerate() {
        let piece = &bytes[start..starts.get(index + 1).copied().unwrap_or(bytes.len())];
        match complete(piece) {
            Some((line, end)) => {
                lines.push((line, start..start + end));
                leftovers |= !matches!(&piece[end..], b"" | b"\r");
            }
            None => leftovers = true,
        }
    }
    (lines, leftovers)
}

#[cfg(test)]
mod tests {
    use super::super::event::{Header, Id, Ids, Save, Update};
    use super::*;
    use crate::config::Kind;
    use jiff::Timestamp;
    use proptest::prelude::*;

    fn time(millisecond: i64) -> Timestamp {
        Timestamp::from_millisecond(millisecond).unwrap()
    }

    /// Texts that have broken line formats before.
    fn hostile_text() -> impl Strategy<Value = String> + Clone {
        let nasty = prop::sample::select(vec![
            "\"",
            "\\",
            "\n",
            "\r\n",
            "\u{2028}",
            "\u{2029}",
            "\u{85}",
            "\0",
            "\u{1}",
            "\u{7f}",
            "\u{d7ff}",
            "\u{e000}",
            "\u{fffd}",
            "\u{ffff}",
            "\u{10ffff}",
            "\u{feff}",
            "שלום",
            "\u{202e}",
            "}",
            "{\"crc\":\"",
            "\\u0000",
            "🎉",
        ]);
        prop::collection::vec(
            prop_oneof![nasty.prop_map(str::to_owned), any::<String>()],
            0..8,
        )
        .prop_map(|parts| parts.concat())
    }

    fn event() -> impl Strategy<Value = Event> {
        let tags = prop::collection::vec(hostile_text(), 0..3);
        let ids = prop::collection::vec(any::<u64>().prop_map(Id), 0..4);
        let at = (0_i64..253_000_000_000_000).prop_map(time);
        prop_oneof![
            (
                any::<u64>(),
                hostile_text(),
                tags.clone(),
                1.0..=10.0,
                at.clone(),
                prop::option::of(hostile_text()),
                prop::option::of((at.clone(), any::<u64>())),
            )
                .prop_map(
                    |(id, text, tags, importance, created_at, session, copied)| {
                        Event::Save(Save {
                            id: Id(id),
                            text,
                            kind: Kind::Semantic,
                            tags,
                            importance,
                            created_at,
                            session,
                            modified_at: copied.map(|(at, _)| at),
                            last_accessed: copied.map(|(at, _)| at),
                            forgotten_at: copied.map(|(at, _)| at),
                            revision: copied.map(|(_, revision)| revision),
                        })
                    }
                ),
            (
                any::<u64>(),
                at.clone(),
                prop::option::of(hostile_text()),
                prop::option::of(tags)
            )
                .prop_map(|(id, at, text, tags)| Event::Update(Update {
                    id: Id(id),
                    at,
                    text,
                    kind: None,
                    tags,
                    importance: None
                })),
            (ids.clone(), at.clone()).prop_map(|(ids, at)| Event::Touch(Ids { ids, at })),
            (ids.clone(), at.clone()).prop_map(|(ids, at)| Event::Forget(Ids { ids, at })),
            (ids, at).prop_map(|(ids, at)| Event::Restore(Ids { ids, at })),
        ]
    }

    #[test]
    fn a_line_reads_as_documented() {
        let header = Header {
            format: 1,
            store: "ab".repeat(16),
            generation: "cd".repeat(16),
            next_id: 0,
            created_at: time(1_796_000_000_000),
            revision: 0,
            listed: 0,
            known_from: 0,
        };
        let (line, crc) = encode(0, &Event::Journal(header)).unwrap();
        let line = String::from_utf8(line).unwrap();
        let covered = format!(
            "\"prev\":\"00000000\",\"journal\":{{\"format\":1,\"store\":\"{}\",\"generation\":\"{}\",\"next_id\":0,\
             \"created_at\":\"2026-11-30T00:53:20.000Z\"}}}}",
            "ab".repeat(16),
            "cd".repeat(16)
        );
        assert_eq!(
            line,
            format!(
                "{{\"crc\":\"{:08x}\",{covered}\n",
                crc32fast::hash(covered.as_bytes())
            )
        );
        assert_eq!(crc, crc32fast::hash(covered.as_bytes()));
    }

    #[test]
    fn the_longest_save_fits() {
        let text = "\u{1}".repeat(MAX_TEXT_CHARS);
        let tags = vec!["\u{1}".repeat(MAX_TAG_CHARS); MAX_TAGS];
        let session = Some("\u{1}".repeat(MAX_SESSION_CHARS));
        let save = Save {
            id: Id(u64::MAX),
            text,
            kind: Kind::Procedural,
            tags,
            importance: 1.0 / 3.0,
            created_at: time(0),
            session,
            modified_at: Some(Timestamp::MAX),
            last_accessed: Some(Timestamp::MAX),
            forgotten_at: Some(Timestamp::MAX),
            revision: Some(u64::MAX),
        };
        let (line, _) = encode(u32::MAX, &Event::Save(save)).unwrap();
        assert!(line.len() <= MAX_LINE_BYTES, "{}", line.len());
        let touch = Ids {
            ids: vec![Id(u64::MAX); crate::config::MAX_K],
            at: time(0),
        };
        assert!(encode(0, &Event::Touch(touch)).unwrap().0.len() <= MAX_LINE_BYTES);
    }

    #[test]
    fn the_shortest_save_is_not_shorter_than_the_bound() {
        let save = Save {
            id: Id(0),
            text: "x".to_owned(),
            kind: Kind::Episodic,
            tags: vec![],
            importance: 1.0,
            created_at: time(0),
            session: None,
            modified_at: None,
            last_accessed: None,
            forgotten_at: None,
            revision: None,
        };
        let shortest = Kind::ALL.into_iter().map(|kind| {
            let save = Save {
                kind,
                ..save.clone()
            };
            encode(0, &Event::Save(save)).unwrap().0.len()
        });
        assert_eq!(shortest.min(), Some(MIN_SAVE_BYTES));
    }

    #[test]
    fn an_unknown_event_is_told_from_a_broken_line() {
        let covered = "\"prev\":\"00000000\",\"explode\":{}}";
        let line = format!(
            "{{\"crc\":\"{:08x}\",{covered}",
            crc32fast::hash(covered.as_bytes())
        );
        assert_eq!(decode(line.as_bytes()), Err(Damage::Event));
        assert_eq!(
            decode(line.replace("explode", "implode").as_bytes()),
            Err(Damage::Checksum)
        );
        assert_eq!(decode(b"hello"), Err(Damage::Shape));
        assert_eq!(decode(b""), Err(Damage::Shape));
    }

    #[test]
    fn checksums_have_one_spelling() {
        let covered =
            "\"prev\":\"00000000\",\"touch\":{\"ids\":[],\"at\":\"2026-11-30T00:00:00.000Z\"}}";
        let crc = crc32fast::hash(covered.as_bytes());
        assert!(decode(format!("{{\"crc\":\"{crc:08x}\",{covered}").as_bytes()).is_ok());
        let upper = format!("{{\"crc\":\"{crc:08X}\",{covered}");
        assert_eq!(
            decode(upper.as_bytes()).is_ok(),
            format!("{crc:08X}") == format!("{crc:08x}")
        );
    }

    proptest! {
        #[test]
        fn any_event_comes_back_from_one_line(event in event(), prev in any::<u32>()) {
            let (line, crc) = encode(prev, &event).unwrap();
            let (newline, body) = line.split_last().unwrap();
            prop_assert_eq!(*newline, b'\n');
            prop_assert!(!body.contains(&b'\n'));
            prop_assert_eq!(decode(body), Ok(Line { crc, prev, event }));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(decode(&bytes).is_err());
            prop_assert_eq!(salvage(&bytes).0, []);
        }

        #[test]
        fn lines_are_salvaged_when_their_newline_is_not_one(
            first in event(),
            second in event(),
            byte in prop_oneof![Just(b'}'), any::<u8>()],
        ) {
            let (mut bytes, crc) = encode(0, &first).unwrap();
            let last = bytes.len() - 1;
            bytes[last] = byte;
            bytes.extend(encode(crc, &second).unwrap().0);
            bytes.pop();
            let (lines, leftovers) = salvage(&bytes);
            prop_assert_eq!(lines.len(), 2);
            prop_assert_eq!(leftovers, byte != b'\r');
        }
    }
}
