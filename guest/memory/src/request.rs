//! What every request brings from the edge, and how one can be wrong.

use std::fmt;

use jiff::Timestamp;
use serde_json::Value;

use crate::backend::SearchError;
use crate::config::{CONFIRM, Confirm, MAX_EMBEDDER_BYTES, MAX_SESSION_CHARS, SERVER_NAME};
use crate::consent::{Asking, Question};
use crate::security::echo;
use crate::store::StoreError;

/// When a request is made, and under which session. Comes from the edge, so that everything behind it is deterministic.
#[derive(Clone, Debug)]
pub struct Moment {
    now: Timestamp,
    session: String,
    answer: Option<Given>,
    asking: Asking,
}

/// What came of asking the user's provider for vectors.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// Vectors, one for each text, and whose they are.
    Vectors {
        /// Provider and model.
        embedder: String,
        /// In the order of the texts.
        vectors: Vec<Vec<f32>>,
    },
    /// None; the text says why.
    Failed(String),
}

impl Moment {
    /// A clock that stands before 1970 counts as 1970; time is kept in milliseconds. An id that is longer than any host
    /// should give out is cut: it is opaque, and lines of the journal are bounded.
    pub fn new(now: Timestamp, session: &str) -> Self {
        let millisecond = now.as_millisecond().max(0);
        Self {
            now: Timestamp::from_millisecond(millisecond).unwrap_or(Timestamp::UNIX_EPOCH),
            session: session.chars().take(MAX_SESSION_CHARS).collect(),
            answer: None,
            asking: Asking::default(),
        }
    }

    /// The same, with what the person wants to be asked before, and what came of it.
    pub fn with_asking(self, asking: Asking) -> Self {
        Self { asking, ..self }
    }

    /// What the person wants to be asked before, and what came of it. By default what the setting's default says, of an app
    /// that can't ask.
    pub fn asking(&self) -> &Asking {
        &self.asking
    }

    /// The same request made again, with the vector that it needed.
    pub fn with_answer(self, answer: Option<Given>) -> Self {
        Self { answer, ..self }
    }

    /// The vector of the query, if that was asked for.
    pub fn answer(&self) -> Option<&Given> {
        self.answer.as_ref()
    }

    /// Never before 1970; whole milliseconds. May be earlier than at the request before.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The opaque id of the connection.
    pub fn session(&self) -> &str {
        &self.session
    }
}

/// Where we are, as far as it concerns us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Provider and model of the configured vectors.
    pub embedder: Option<String>,
    /// What the person is asked before.
    pub confirm: Confirm,
}

/// Reads what the host tells about where we are: an object, of whose members `embedder` and `settings` concern us. The one
/// setting is `confirm`: see [`Confirm`].
///
/// # Errors
///
/// Names a setting that is unknown or has an unknown value, or says what is malformed.
pub fn read_environment(environment: &str) -> Result<Environment, String> {
    let environment: Value = serde_json::from_str(environment).map_err(|error| {
        format!("the environment must be an object, got malformed JSON: {error}")
    })?;
    let Some(environment) = environment.as_object() else {
        return Err("the environment must be an object".to_owned());
    };
    let confirm = match environment.get("settings") {
        None => Confirm::default(),
        Some(Value::Object(settings)) => {
            if let Some(key) = settings.keys().find(|key| *key != CONFIRM) {
                return Err(format!(
                    "unknown setting {}; {SERVER_NAME} knows {CONFIRM}",
                    echo(key)
                ));
            }
            settings
                .get(CONFIRM)
                .map_or(Ok(Confirm::default()), confirm)?
        }
        Some(_) => return Err("settings must be an object of strings".to_owned()),
    };
    let embedder = match environment.get("embedder") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) if (1..=MAX_EMBEDDER_BYTES).contains(&name.len()) => {
            Some(name.clone())
        }
        Some(other) => {
            return Err(format!(
                "embedder must be a string of 1 to {MAX_EMBEDDER_BYTES} bytes, got {}",
                echo(&other.to_string())
            ));
        }
    };
    Ok(Environment { embedder, confirm })
}

fn confirm(value: &Value) -> Result<Confirm, String> {
    let known = value.as_str().and_then(Confirm::from_name);
    known.ok_or_else(|| {
        format!(
            "{CONFIRM} must be one of {}, got {}",
            Confirm::ALL.map(Confirm::name).join(", "),
            echo(value.as_str().unwrap_or(&value.to_string()))
        )
    })
}

/// A request that gets an error instead of a result. (A tool that refuses is not one: it gives a result that says so.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// No tool, prompt or completion reference has this name.
    UnknownName(String),
    /// Nothing is served under this URI.
    UnknownResource {
        /// As it was received.
        uri: String,
        /// Malformed, foreign, or no such entry.
        reason: String,
    },
    /// It can't be understood; the text says why.
    InvalidParams(String),
    /// It can't be answered before this text, its query, has a vector. The same request is made again with that.
    NeedsVector(String),
    /// It can't be answered before the person is. The same request is made again with what they say.
    NeedsConsent(Question),
    /// It failed here; the text says what, without internals.
    Internal(String),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName(name) => write!(f, "unknown name {name:?}"),
            Self::UnknownResource { uri, reason } => {
                write!(f, "unknown resource {uri:?}: {reason}")
            }
            Self::NeedsVector(_) => f.write_str("the query needs a vector first"),
            Self::NeedsConsent(_) => f.write_str("the user has to be asked first"),
            Self::InvalidParams(text) | Self::Internal(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for RequestError {}

impl From<StoreError> for RequestError {
    fn from(error: StoreError) -> Self {
        Self::Internal(error.to_string())
    }
}

impl From<SearchError> for RequestError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Store(error) => error.into(),
            SearchError::NeedsVector(query) => Self::NeedsVector(query),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_1970_counts_as_1970() {
        for now in [Timestamp::MIN, Timestamp::from_millisecond(-1).unwrap()] {
            assert_eq!(Moment::new(now, "s").now(), Timestamp::UNIX_EPOCH);
        }
    }

    #[test]
    fn time_is_cut_to_milliseconds_as_the_journal_keeps_it() {
        let now: Timestamp = "2026-11-30T10:00:00.123456789Z".parse().unwrap();
        assert_eq!(
            Moment::new(now, "s").now().to_string(),
            "2026-11-30T10:00:00.123Z"
        );
        assert!(Moment::new(Timestamp::MAX, "s").now() <= Timestamp::MAX);
    }

    #[test]
    fn settings_are_refused_by_name_and_other_members_ignored() {
        for fine in [
            "{}",
            r#"{"settings":{}}"#,
            r#"{"settings":{},"directories":[],"later":1}"#,
        ] {
            assert_eq!(read_environment(fine), Ok(Environment::default()), "{fine}");
        }
        let refusal = read_environment(r#"{"settings":{"embedder":"x"}}"#).unwrap_err();
        assert!(refusal.contains("\"embedder\""), "{refusal}");
        for malformed in ["", "[]", "null", "{", "\"x\"", r#"{"settings":1}"#] {
            let refusal = read_environment(malformed).unwrap_err();
            assert!(
                refusal.contains("must be an object"),
                "{malformed}: {refusal}"
            );
        }
    }

    #[test]
    fn what_the_person_is_asked_before_is_a_setting() {
        for confirm in Confirm::ALL {
            let environment = format!(r#"{{"settings":{{"confirm":"{}"}}}}"#, confirm.name());
            assert_eq!(read_environment(&environment).unwrap().confirm, confirm);
        }
        for bad in [r#""""#, r#""Saves""#, "true", "null", r#"["none"]"#] {
            let environment = format!(r#"{{"settings":{{"confirm":{bad}}}}}"#);
            let refusal = read_environment(&environment).unwrap_err();
            assert!(
                refusal.starts_with("confirm must be one of saves, forgets, none, got"),
                "{refusal}"
            );
        }
    }

    #[test]
    fn an_embedder_is_a_name() {
        let named = read_environment(r#"{"embedder":"http://localhost/v1 nomic"}"#).unwrap();
        assert_eq!(named.embedder.as_deref(), Some("http://localhost/v1 nomic"));
        for bad in [r#"{"embedder":""}"#, r#"{"embedder":7}"#] {
            let refusal = read_environment(bad).unwrap_err();
            assert!(refusal.starts_with("embedder must be"), "{refusal}");
        }
    }

    #[test]
    fn an_endless_session_id_is_cut() {
        assert_eq!(
            Moment::new(Timestamp::UNIX_EPOCH, &"é".repeat(10_000))
                .session()
                .chars()
                .count(),
            MAX_SESSION_CHARS
        );
    }
}
