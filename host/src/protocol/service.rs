//! What all connections to one component share.

use std::sync::Arc;
use std::time::Duration;

use super::questions::Questions;
use super::seal::Seal;
use super::subscriptions::Subscriptions;
use crate::sandbox::Profile;
use crate::seal_key::SealKey;

/// How long a client may take to answer a question: a person who is there has answered by then, and whoever is not will
/// not be missed by a model that waits. A question costs nobody anything meanwhile.
pub const DEFAULT_ASK_TIMEOUT: Duration = Duration::from_secs(300);

/// What all connections to one component share: what it is, who listens, and what is being asked.
pub struct Service {
    /// What the component is and offers.
    pub profile: Profile,
    /// Who wants to hear of changes.
    pub subscriptions: Arc<Subscriptions>,
    /// What clients are being asked.
    pub questions: Questions,
    pub(super) seal: Seal,
}

impl Service {
    /// A service that nobody is connected to yet. `ask_timeout` is how long a client may take to answer.
    pub fn new(profile: Profile, key: SealKey, ask_timeout: Duration) -> Service {
        Service {
            profile,
            subscriptions: Arc::default(),
            questions: Questions::new(ask_timeout),
            seal: Seal::new(key, ask_timeout),
        }
    }

    /// The component's name and version.
    pub(super) fn server(&self) -> (&str, &str) {
        let description = &self.profile.description;
        (&description.name, &description.version)
    }
}
