//! What a client wants to hear of, and how it is told.

use std::collections::BTreeSet;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::outbox::notification;
use super::subscriptions::MAX_WATCHED;
use crate::jsonrpc::{Id, OutgoingNotification, RpcError};
use crate::sandbox::{ChangeSet, Lists};

/// What a subscriber wants to hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wants {
    pub(super) lists: Lists,
    pub(super) resources: BTreeSet<String>,
}

impl Default for Wants {
    fn default() -> Wants {
        Wants {
            lists: Lists::empty(),
            resources: BTreeSet::new(),
        }
    }
}

/// Lists, with the notification and the member of a filter that belong to each.
const LISTS: [(Lists, &str, &str); 3] = [
    (
        Lists::TOOLS,
        "notifications/tools/list_changed",
        "toolsListChanged",
    ),
    (
        Lists::PROMPTS,
        "notifications/prompts/list_changed",
        "promptsListChanged",
    ),
    (
        Lists::RESOURCES,
        "notifications/resources/list_changed",
        "resourcesListChanged",
    ),
];

/// The member of a filter that names resources.
const RESOURCES: &str = "resourceSubscriptions";

impl Wants {
    /// Reads the filter of `subscriptions/listen`.
    pub(super) fn from_json(filter: Option<&Value>) -> Result<Wants, RpcError> {
        let wrong = |name: &str, wanted: &str| {
            RpcError::invalid_params(format!("`notifications.{name}` must be {wanted}"))
        };
        let Some(Value::Object(filter)) = filter else {
            return Err(RpcError::invalid_params(
                "`notifications` must be an object",
            ));
        };
        let mut wants = Wants::default();
        for (list, _, name) in LISTS {
            match filter.get(name) {
                None | Some(Value::Bool(false)) => {}
                Some(Value::Bool(true)) => wants.lists |= list,
                Some(_) => return Err(wrong(name, "true or false")),
            }
        }
        let uris = match filter.get(RESOURCES) {
            None => &Vec::new(),
            Some(Value::Array(uris)) if uris.len() <= MAX_WATCHED => uris,
            Some(Value::Array(uris)) => {
                let wanted = format!("at most {MAX_WATCHED} URIs, not {}", uris.len());
                return Err(wrong(RESOURCES, &wanted));
            }
            Some(_) => return Err(wrong(RESOURCES, "an array of URIs")),
        };
        for uri in uris {
            let uri = uri
                .as_str()
                .ok_or_else(|| wrong(RESOURCES, "an array of strings"))?;
            wants.resources.insert(uri.to_owned());
        }
        Ok(wants)
    }

    /// The inverse: what is not wanted is absent.
    pub(super) fn to_json(&self) -> Value {
        let mut filter = json!({});
        for (list, _, name) in LISTS {
            if self.lists.contains(list) {
                filter[name] = true.into();
            }
        }
        if !self.resources.is_empty() {
            filter[RESOURCES] = self.resources.iter().cloned().collect();
        }
        filter
    }

    /// What is to be said of changes, tagged with the stream where there is one.
    pub(super) fn messages(
        &self,
        changes: &ChangeSet,
        stream: Option<&Id>,
    ) -> impl Iterator<Item = OutgoingNotification> {
        let changed = self.lists & changes.list_changed;
        let lists = LISTS
            .iter()
            .filter(move |(list, _, _)| changed.contains(*list))
            .filter_map(move |(_, method, _)| notification(method, Tagged::new(stream)));
        let resources = changes
            .updated_uris
            .iter()
            .filter(|uri| self.resources.contains(*uri))
            .filter_map(move |uri| {
                let params = Tagged::new(stream).with("uri", uri.as_str().into());
                notification("notifications/resources/updated", params)
            });
        lists.chain(resources)
    }
}

/// Parameters or a result, with the stream that they belong to in `_meta` (specification, "Subscriptions"). Not a
/// [`Value`], because ids are echoed as they were written.
pub(super) struct Tagged<'a> {
    meta: Meta<'a>,
    /// Comes first, and holds an id as well.
    request_id: Option<&'a Id>,
    members: Vec<(&'static str, Value)>,
}

#[derive(Serialize)]
struct Meta<'a> {
    #[serde(
        rename = "io.modelcontextprotocol/subscriptionId",
        skip_serializing_if = "Option::is_none"
    )]
    stream: Option<&'a Id>,
    #[serde(
        rename = "io.modelcontextprotocol/serverInfo",
        skip_serializing_if = "Option::is_none"
    )]
    server: Option<&'a Value>,
}

impl<'a> Tagged<'a> {
    pub(super) fn new(stream: Option<&'a Id>) -> Tagged<'a> {
        Tagged {
            meta: Meta {
                stream,
                server: None,
            },
            request_id: None,
            members: Vec::new(),
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: Value) -> Tagged<'a> {
        self.members.push((name, value));
        self
    }

    /// Parameters of `notifications/cancelled` for a stream.
    pub(super) fn cancellation(id: &'a Id, reason: &str) -> Tagged<'a> {
        Tagged {
            request_id: Some(id),
            ..Tagged::new(Some(id)).with("reason", reason.into())
        }
    }

    /// The result that ends a stream.
    pub(super) fn final_result(id: &'a Id, server: &'a Value) -> Tagged<'a> {
        let mut result = Tagged::new(Some(id)).with("resultType", "complete".into());
        result.meta.server = Some(server);
        result
    }
}

impl Serialize for Tagged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(id) = self.request_id {
            map.serialize_entry("requestId", id)?;
        }
        for (name, value) in &self.members {
            map.serialize_entry(name, value)?;
        }
        if self.meta.stream.is_some() {
            map.serialize_entry("_meta", &self.meta)?;
        }
        map.end()
    }
}
