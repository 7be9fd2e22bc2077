//! What a component wants to have, and what it is given.

use crate::embedder::{Embedder, Purpose};
use crate::sandbox::bindings::personal_memory::mcp::types::{
    Answer, Embedding, EmbeddingPurpose, Given, Need, Pending, Resumption, Want,
};

/// What is wanted, as far as it can be had without asking anybody. Takes as long as the provider does.
pub fn meet(pending: Pending, embedder: Option<&Embedder>) -> Resumption {
    let needs = pending.needs.into_iter();
    Resumption {
        state: pending.state,
        answers: needs.map(|need| answer(need, embedder)).collect(),
    }
}

fn answer(need: Need, embedder: Option<&Embedder>) -> Answer {
    let given = match (need.want, embedder) {
        (Want::Embed(request), Some(embedder)) => {
            let purpose = match request.purpose {
                EmbeddingPurpose::Query => Purpose::Query,
                EmbeddingPurpose::Passage => Purpose::Passage,
            };
            match embedder.embed(&request.texts, purpose) {
                Ok(vectors) => Given::Vectors(Embedding {
                    embedder: embedder.id(),
                    vectors,
                }),
                Err(error) => {
                    tracing::warn!("{error}");
                    Given::Failed(error.to_string())
                }
            }
        }
        (Want::Embed(_), None) => Given::Failed("no embedding provider is configured".to_owned()),
        (Want::Ask(_), _) => Given::Failed("nobody can be asked here".to_owned()),
    };
    Answer {
        key: need.key,
        given,
    }
}
