//! Vectors of the user's own embedding provider, where one is configured.
//!
//! A save never waits for them: they are made in maintenance, a slice at a time, and kept in the index only. A search uses
//! them once most memories have one (see [`ENOUGH_VECTORS`]); until then, and whenever the provider is down, the built-in
//! embedding does. Nothing here talks to a provider: what is needed is said, and the call comes again with it.

use std::fmt;

use super::{MemoryBackend, StoreError};
use crate::config::{ENOUGH_VECTORS, MAX_EMBED_BYTES, MAX_EMBED_TEXTS, MAX_UNSAVED_VECTORS};
use crate::request::Given;
use crate::store::{In, Out};

/// Texts of memories that lack a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// In the order in which their vectors are to come.
    pub texts: Vec<String>,
    /// Which memories they are of; comes back with the vectors.
    pub state: Vec<u8>,
}

/// Why vectors were not taken.
#[derive(Debug)]
pub enum EmbedError {
    /// The store failed.
    Store(StoreError),
    /// The provider gave none, or none that can be used; the text says why.
    Provider(String),
}

impl fmt::Display for EmbedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Provider(reason) => write!(f, "no vectors: {reason}"),
        }
    }
}

impl std::error::Error for EmbedError {}

impl From<StoreError> for EmbedError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl MemoryBackend {
    /// Which provider's vectors are to be used; none: the built-in ones.
    pub fn set_embedder(&mut self, embedder: Option<String>) {
        self.embedder = embedder;
    }

    /// The provider whose vectors are to be used.
    pub fn embedder(&self) -> Option<&str> {
        self.embedder.as_deref()
    }

    /// The next texts that want vectors; `None` when all have theirs, or when there is no provider.
    pub fn wanted_vectors(&mut self) -> Result<Option<Wanted>, StoreError> {
        let mut opened = self.follow()?;
        let Some(embedder) = &self.embedder else {
            return Ok(None);
        };
        let (mut texts, mut state, mut bytes) = (Vec::new(), Out::default(), 0);
        for (id, contents) in self.indexed.without_vector(embedder) {
            if texts.len() >= MAX_EMBED_TEXTS || bytes >= MAX_EMBED_BYTES {
                break;
            }
            let Some(entry) = self.store.entries().get(id) else {
                continue;
            };
            match opened.text(entry) {
                Ok(text) => {
                    bytes += text.len();
                    texts.push(text);
                    state.number(id);
                    state.eight(contents);
                }
                // It will be reported when it is to be shown.
                Err(StoreError::Unreadable { .. }) => self.indexed.give_up_on(id),
                Err(error) => return Err(error),
            }
        }
        let state = state.0;
        Ok((!texts.is_empty()).then_some(Wanted { texts, state }))
    }

    /// Takes the vectors that were wanted. Those of memories that were changed or forgotten meanwhile are dropped.
    ///
    /// # Errors
    ///
    /// The provider failed, is another one than is configured, or gave something else than a vector for each text.
    pub fn take_vectors(&mut self, state: &[u8], given: &Given) -> Result<(), EmbedError> {
        self.follow()?;
        let provider = |reason: String| Err(EmbedError::Provider(reason));
        let (embedder, vectors) = match given {
            Given::Failed(reason) => return provider(reason.clone()),
            Given::Vectors { embedder, vectors } => (embedder, vectors),
        };
        if self.embedder.as_ref() != Some(embedder) {
            let configured = self.embedder.as_deref().unwrap_or("none");
            return provider(format!(
                "they are of {embedder:?}, and the embedder is {configured:?}"
            ));
        }
        let mut state = In(state);
        let mut wanted = Vec::new();
        while let (Some(id), Some(contents)) = (state.number(), state.eight()) {
            wanted.push((id, contents));
        }
        if wanted.len() != vectors.len() {
            return provider(format!(
                "there are {} for {} texts",
                vectors.len(),
                wanted.len()
            ));
        }
        for ((id, contents), vector) in wanted.into_iter().zip(vectors) {
            if let Err(error) = self.indexed.set_vector((id, contents), embedder, vector) {
                return provider(error.to_string());
            }
        }
        Ok(())
    }

    /// Whether a search should use the provider's vectors: most memories have one.
    pub(super) fn uses_vectors(&mut self) -> bool {
        let Some(embedder) = &self.embedder else {
            return false;
        };
        let all = self.indexed.len();
        let missing = self.indexed.missing(embedder);
        all > 0 && (all - missing.min(all)) as f64 >= ENOUGH_VECTORS * all as f64
    }

    /// Whether a snapshot should be written for the sake of the vectors that came since the last one.
    pub(super) fn has_vectors_to_save(&mut self) -> bool {
        let unsaved = self.indexed.unsaved_vectors();
        let Some(embedder) = &self.embedder else {
            return false;
        };
        unsaved >= MAX_UNSAVED_VECTORS || unsaved > 0 && self.indexed.missing(embedder) == 0
    }
}

#[cfg(test)]
#[path = "vectors_tests.rs"]
mod tests;
