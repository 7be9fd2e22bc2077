//! Gets vectors from the person's embedding provider, on a thread of its own: nobody else's call waits for it, and the
//! store's lock is not held.

use std::sync::mpsc::{SendError, Sender, channel};
use std::thread;

use super::{Work, queue};
use crate::convert;
use crate::embedder::Embedder;
use crate::protocol::PendingCall;
use crate::sandbox::Pending;

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
                    let resumption = convert::meet(pending, Some(&embedder));
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
            let resumption = convert::meet(pending, None);
            self.queue.put_back(Work::Resume(client, resumption));
        }
    }
}
