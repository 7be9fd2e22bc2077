//! Gets vectors from the person's embedding provider, on a thread of its own: nobody else's call waits for it, and the
//! store's lock is not held.

use std::sync::mpsc::{SendError, Sender, channel};
use std::thread;

use super::{Work, queue};
use crate::embedder::{Embedder, Purpose};
use crate::protocol::PendingCall;
use crate::sandbox::bindings::personal_memory::mcp::types::{
    Answer, Embedding, EmbeddingPurpose, Given, Need, Pending, Resumption, Want,
};

/// For whom vectors are got.
pub(super) enum Client {
    /// A call, which is made again with them.
    Call(Box<PendingCall>),
    /// Maintenance.
    Maintenance,
}

/// What a component wants to have.
struct Order {
    client: Client,
    pending: Pending,
}

/// The thread, if a provider is configured.
pub(super) struct Provider {
    orders: Option<Sender<Order>>,
    queue: queue::Sender<Work>,
}

impl Provider {
    /// Starts the thread. What it got goes into the queue.
    pub(super) fn start(embedder: Option<Embedder>, queue: queue::Sender<Work>) -> Provider {
        let orders = embedder.map(|embedder| {
            let (sender, orders) = channel::<Order>();
            let queue = queue.clone();
            thread::spawn(move || {
                for Order { client, pending } in orders {
                    let resumption = resumption(pending, Some(&embedder));
                    queue.put_back(Work::Resume(client, resumption));
                }
            });
            sender
        });
        Provider { orders, queue }
    }

    /// Gets what is wanted, and has the client's work go on with it when its turn comes. Nothing is wanted by what only
    /// makes room for others.
    pub(super) fn get(&self, client: Client, pending: Pending) {
        let order = Order { client, pending };
        let unsent = match &self.orders {
            Some(orders) if !order.pending.needs.is_empty() => orders.send(order).err(),
            _ => Some(SendError(order)),
        };
        if let Some(SendError(Order { client, pending })) = unsent {
            let resumption = resumption(pending, None);
            self.queue.put_back(Work::Resume(client, resumption));
        }
    }
}

/// What is wanted, as far as it can be had.
pub fn resumption(pending: Pending, embedder: Option<&Embedder>) -> Resumption {
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
