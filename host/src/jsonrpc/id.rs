//! Ids of requests.

use std::hash::{Hash, Hasher};

use serde::Serialize;
use serde_json::value::RawValue;

/// A request id. It is echoed exactly as it was written; two are the same if they mean the same, as `"\u00e9"` and `"é"`
/// do. `7` and `"7"` differ.
#[derive(Clone, Debug)]
pub struct Id {
    written: String,
    meaning: Meaning,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Meaning {
    Text(String),
    /// Digits, of any number.
    Integer(String),
}

impl Id {
    /// Reads an id. `None` unless it is a string or an integer.
    pub(super) fn from_raw(raw: &RawValue) -> Option<Id> {
        let written = raw.get().to_owned();
        let digits = written.strip_prefix('-').unwrap_or(&written);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let meaning = if is_integer {
            Meaning::Integer(written.clone())
        } else {
            // A lone surrogate is found here, and not by the client.
            Meaning::Text(serde_json::from_str(&written).ok()?)
        };
        Some(Id { written, meaning })
    }
}

impl From<String> for Id {
    /// The id of a request of ours.
    fn from(text: String) -> Id {
        Id {
            written: serde_json::Value::from(text.as_str()).to_string(),
            meaning: Meaning::Text(text),
        }
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Id) -> bool {
        self.meaning == other.meaning
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.meaning.hash(state);
    }
}

impl Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue =
            serde_json::from_str(&self.written).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}
