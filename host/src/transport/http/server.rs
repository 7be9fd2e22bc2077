//! What all requests share.

use std::sync::Arc;

use super::config::Config;
use super::modern::Calls;
use super::sessions::Sessions;
use crate::protocol::{Parameters, Service, Session};
use crate::worker::Worker;

/// The server behind the endpoint.
pub(super) struct Server {
    pub(super) config: Config,
    pub(super) worker: Worker,
    pub(super) sessions: Arc<Sessions>,
    /// Of the modern era, which has no sessions.
    pub(super) calls: Arc<Calls>,
    pub(super) service: Arc<Service>,
    /// What headers must repeat of tools' arguments.
    pub(super) parameters: Arc<Parameters>,
}

impl Server {
    /// A protocol session. `id` tells a component which calls belong together.
    pub(super) fn session(&self, id: String) -> Session {
        let session = Session::new(Arc::clone(&self.service), id);
        session.with_parameters(Arc::clone(&self.parameters))
    }
}
