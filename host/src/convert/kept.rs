//! What is kept of a call while a client is asked and the call does not wait: as bytes, which travel through the client.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};

use crate::sandbox::bindings::personal_memory::mcp::types::{Answer, Embedding, Given, Resumption};

/// A resumption so far, and the keys of what the client is asked.
#[derive(Debug)]
pub struct Kept {
    /// The component's state, and what the host got for it already.
    pub so_far: Resumption,
    /// What the client may answer.
    pub asked: Vec<String>,
}

/// Its form in bytes: JSON with short names.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    answers: Vec<(String, WrittenGiven)>,
    #[serde(rename = "q")]
    asked: Vec<String>,
}

#[derive(Serialize, Deserialize)]
enum WrittenGiven {
    #[serde(rename = "i")]
    Input(String),
    /// Whose they are, and the bytes of each, little-endian.
    #[serde(rename = "v")]
    Vectors(String, Vec<String>),
    #[serde(rename = "f")]
    Failed(String),
}

impl Kept {
    /// Whether there is anything that a client has to bring back.
    pub fn is_worth_it(&self) -> bool {
        self.so_far.state.is_some() || !self.so_far.answers.is_empty()
    }

    /// Writes it.
    ///
    /// # Errors
    ///
    /// None is known; serde has some.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let answers = self.so_far.answers.iter();
        serde_json::to_vec(&Written {
            state: self.so_far.state.as_ref().map(|state| BASE64.encode(state)),
            answers: answers
                .map(|answer| (answer.key.clone(), write(&answer.given)))
                .collect(),
            asked: self.asked.clone(),
        })
    }

    /// Reads what [`Kept::to_bytes`] wrote. `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Kept> {
        let written: Written = serde_json::from_slice(bytes).ok()?;
        let state = match written.state {
            Some(state) => Some(BASE64.decode(state).ok()?),
            None => None,
        };
        let answers = written.answers.into_iter().map(|(key, given)| {
            let given = read(given)?;
            Some(Answer { key, given })
        });
        Some(Kept {
            so_far: Resumption {
                state,
                answers: answers.collect::<Option<_>>()?,
            },
            asked: written.asked,
        })
    }
}

fn write(given: &Given) -> WrittenGiven {
    match given {
        Given::Input(result) => WrittenGiven::Input(result.clone()),
        Given::Failed(reason) => WrittenGiven::Failed(reason.clone()),
        Given::Vectors(embedding) => {
            let bytes = |vector: &Vec<f32>| -> Vec<u8> {
                vector
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect()
            };
            let vectors = embedding.vectors.iter();
            let vectors = vectors.map(|vector| BASE64.encode(bytes(vector)));
            WrittenGiven::Vectors(embedding.embedder.clone(), vectors.collect())
        }
    }
}

fn read(given: WrittenGiven) -> Option<Given> {
    Some(match given {
        WrittenGiven::Input(result) => Given::Input(result),
        WrittenGiven::Failed(reason) => Given::Failed(reason),
        WrittenGiven::Vectors(embedder, vectors) => {
            let vector = |text: String| {
                let bytes = BASE64.decode(text).ok()?;
                let (values, []) = bytes.as_chunks::<4>() else {
                    return None;
                };
                Some(
                    values
                        .iter()
                        .map(|value| f32::from_le_bytes(*value))
                        .collect(),
                )
            };
            Given::Vectors(Embedding {
                embedder,
                vectors: vectors.into_iter().map(vector).collect::<Option<_>>()?,
            })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_to_the_last_bit() {
        let vectors = vec![vec![1.5, -0.1, f32::MIN_POSITIVE], vec![0.0; 3]];
        let given = [
            Given::Failed("nobody is there".to_owned()),
            Given::Input(r#"{"action":"accept"}"#.to_owned()),
            Given::Vectors(Embedding {
                embedder: "model".to_owned(),
                vectors,
            }),
        ];
        let answers = given.into_iter().enumerate().map(|(number, given)| Answer {
            key: format!("key {number}"),
            given,
        });
        let kept = Kept {
            so_far: Resumption {
                state: Some(vec![0, 255, 7]),
                answers: answers.collect(),
            },
            asked: vec!["confirm".to_owned()],
        };
        let back = Kept::from_bytes(&kept.to_bytes().unwrap()).unwrap();
        assert_eq!(format!("{back:?}"), format!("{kept:?}"));
        assert!(kept.is_worth_it());
    }

    #[test]
    fn an_empty_state_is_a_state_and_nothing_is_nothing() {
        let kept = |state| Kept {
            so_far: Resumption {
                state,
                answers: Vec::new(),
            },
            asked: vec!["confirm".to_owned()],
        };
        let empty = kept(Some(Vec::new()));
        assert!(empty.is_worth_it());
        let back = Kept::from_bytes(&empty.to_bytes().unwrap()).unwrap();
        assert_eq!(back.so_far.state, Some(Vec::new()));
        assert!(!kept(None).is_worth_it());
        assert!(Kept::from_bytes(b"{}").is_none());
    }
}
