//! What happens to a store: the events of the journal.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::config::Kind;
use crate::security::parse_id;

/// The newest format that this version reads, and the one that it writes.
pub(crate) const FORMAT: u32 = 1;

/// One line of the journal, without its checksums. In JSON it is an object with one member, named after the event.
///
/// Members that are unknown are ignored, so that a later version may add some within this format. (A version that
/// rewrites the journal drops those that it doesn't know.)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Event {
    /// The first line, and only that.
    Journal(Header),
    /// A new memory.
    Save(Save),
    /// A change of a memory; what is absent stays.
    Update(Update),
    /// Memories were shown.
    Touch(Ids),
    /// Memories are hidden, and can be restored.
    Forget(Ids),
    /// Forgotten memories are back.
    Restore(Ids),
}

/// What kind of file this is, and which one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// Above [`FORMAT`]: a newer program wrote it, and this one must not touch it.
    pub(crate) format: u32,
    /// 32 hexadecimal digits, for the life of the store.
    pub(crate) store: String,
    /// 32 hexadecimal digits, new whenever the file is rewritten: offsets into one generation mean nothing in another.
    pub(crate) generation: String,
    /// No memory has this number or a higher one yet; those below may be gone, and are not given out again.
    pub(crate) next_id: u64,
    /// When the file was written.
    #[serde(with = "milliseconds")]
    pub(crate) created_at: Timestamp,
    /// How many changes that people see the store has had when the file was written; those in the file count on from
    /// there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) revision: u64,
    /// The revision at which the list of memories last changed by then.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) listed: u64,
    /// What changed before this revision can't be told any more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) known_from: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A memory as it was saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Save {
    /// Its id.
    pub(crate) id: Id,
    /// Exactly as it came.
    pub(crate) text: String,
    /// What sort of knowledge it is.
    pub(crate) kind: Kind,
    /// In the order given.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// From 1.0 to 10.0.
    pub(crate) importance: f64,
    /// When.
    #[serde(with = "milliseconds")]
    pub(crate) created_at: Timestamp,
    /// Under which session; neighbours in one belong together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// When its contents last changed; absent: as created.
    #[serde(
        default,
        with = "optional_milliseconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) modified_at: Option<Timestamp>,
    /// When it was last shown; absent: as created.
    #[serde(
        default,
        with = "optional_milliseconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) last_accessed: Option<Timestamp>,
    /// When it was forgotten; absent: it is living.
    #[serde(
        default,
        with = "optional_milliseconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) forgotten_at: Option<Timestamp>,
    /// Present on a line that was copied when the file was rewritten: the revision at which the memory had last changed.
    /// Such a line is no change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<u64>,
}

/// A change of a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Update {
    /// Which memory.
    pub(crate) id: Id,
    /// When.
    #[serde(with = "milliseconds")]
    pub(crate) at: Timestamp,
    /// The new text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The new kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<Kind>,
    /// All tags that it has from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tags: Option<Vec<String>>,
    /// The new importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) importance: Option<f64>,
}

/// Something that concerns several memories at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ids {
    /// Which memories.
    pub(crate) ids: Vec<Id>,
    /// When.
    #[serde(with = "milliseconds")]
    pub(crate) at: Timestamp,
}

/// The number of a memory, written `m3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(pub(crate) u64);

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("m{}", self.0))
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = String::deserialize(deserializer)?;
        parse_id(&id)
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("an id is m and a number"))
    }
}

/// RFC 3339 in UTC with three decimals.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// Timestamps as [`rfc3339`] writes them; read with any number of decimals.
mod milliseconds {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        time: &Timestamp,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&rfc3339(*time))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Timestamp, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// The same for what may be absent.
mod optional_milliseconds {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        time: &Option<Timestamp>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => milliseconds::serialize(time, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        milliseconds::deserialize(deserializer).map(Some)
    }
}
