//! What happened since the host last asked.

use super::{Component, with_backend};
use crate::bindings::exports::personal_memory::mcp::changes;

impl changes::Guest for Component {
    fn can_change() -> changes::Lists {
        changes::Lists::RESOURCES
    }

    fn since(token: Option<String>, subscribed: Vec<String>) -> Result<changes::ChangeSet, String> {
        let changed = with_backend(|backend| backend.changes_since(token.as_deref(), &subscribed))
            .map_err(|error| error.to_string())?;
        let list_changed = match changed.list_changed {
            true => changes::Lists::RESOURCES,
            false => changes::Lists::empty(),
        };
        Ok(changes::ChangeSet {
            token: changed.token,
            list_changed,
            updated_uris: changed.updated,
        })
    }

    fn can_subscribe(uri: String) -> Result<bool, String> {
        with_backend(|backend| backend.can_subscribe(&uri)).map_err(|error| error.to_string())
    }
}
