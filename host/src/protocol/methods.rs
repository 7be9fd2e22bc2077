//! The table of methods: what each is called, in which era it exists, what a component must have for it, and what it does.

use crate::convert::{self, Params};
use crate::jsonrpc::RpcError;
use crate::sandbox::{Call, Interfaces};
use crate::version::Version;

/// One row of the table.
pub(super) struct Method {
    name: &'static str,
    era: Era,
    /// Whether a component has what the method needs; without it the method does not exist.
    available: fn(&Interfaces) -> bool,
    pub(super) action: Action,
}

#[derive(PartialEq)]
enum Era {
    Legacy,
    Modern,
    Both,
}

/// What a method does.
#[derive(Clone, Copy)]
pub(super) enum Action {
    Initialize,
    Discover,
    Ping,
    SetLogLevel,
    Subscribe,
    Unsubscribe,
    /// Opens a stream of changes. Always there: what can't change is left out of the acknowledgment.
    Listen,
    /// Calls the component.
    Call(fn(&Params) -> Result<Call, RpcError>),
}

const METHODS: &[Method] = &[
    row("initialize", Era::Legacy, |_| true, Action::Initialize),
    row("server/discover", Era::Modern, |_| true, Action::Discover),
    row("ping", Era::Legacy, |_| true, Action::Ping),
    row(
        "logging/setLevel",
        Era::Legacy,
        |has| has.notifications,
        Action::SetLogLevel,
    ),
    row(
        "tools/list",
        Era::Both,
        |has| has.tools,
        Action::Call(list_tools),
    ),
    row(
        "tools/call",
        Era::Both,
        |has| has.tools,
        Action::Call(convert::tool_call),
    ),
    row(
        "resources/list",
        Era::Both,
        |has| has.resources,
        Action::Call(list_resources),
    ),
    row(
        "resources/templates/list",
        Era::Both,
        |has| has.resources,
        Action::Call(list_templates),
    ),
    row(
        "resources/read",
        Era::Both,
        |has| has.resources,
        Action::Call(convert::resource_read),
    ),
    row(
        "resources/subscribe",
        Era::Legacy,
        |has| has.resources && has.changes,
        Action::Subscribe,
    ),
    row(
        "resources/unsubscribe",
        Era::Legacy,
        |has| has.resources && has.changes,
        Action::Unsubscribe,
    ),
    row(
        "subscriptions/listen",
        Era::Modern,
        |_| true,
        Action::Listen,
    ),
    row(
        "prompts/list",
        Era::Both,
        |has| has.prompts,
        Action::Call(list_prompts),
    ),
    row(
        "prompts/get",
        Era::Both,
        |has| has.prompts,
        Action::Call(convert::prompt_get),
    ),
    row(
        "completion/complete",
        Era::Both,
        |has| has.completion,
        Action::Call(convert::completion),
    ),
];

const fn row(
    name: &'static str,
    era: Era,
    available: fn(&Interfaces) -> bool,
    action: Action,
) -> Method {
    Method {
        name,
        era,
        available,
        action,
    }
}

fn list_tools(params: &Params) -> Result<Call, RpcError> {
    convert::page(params, |cursor| Call::ListTools { cursor })
}

fn list_resources(params: &Params) -> Result<Call, RpcError> {
    convert::page(params, |cursor| Call::ListResources { cursor })
}

fn list_templates(params: &Params) -> Result<Call, RpcError> {
    convert::page(params, |cursor| Call::ListTemplates { cursor })
}

fn list_prompts(params: &Params) -> Result<Call, RpcError> {
    convert::page(params, |cursor| Call::ListPrompts { cursor })
}

/// The method with this name, if it exists for this revision and this component.
pub(super) fn find(
    name: &str,
    version: Version,
    interfaces: &Interfaces,
) -> Option<&'static Method> {
    let other_era = if version.is_modern() {
        Era::Legacy
    } else {
        Era::Modern
    };
    METHODS.iter().find(|method| {
        method.name == name && method.era != other_era && (method.available)(interfaces)
    })
}

/// Whether a method exists in the modern era only, so that naming it is a claim to be modern.
pub(super) fn is_modern_only(name: &str) -> bool {
    METHODS
        .iter()
        .any(|method| method.name == name && method.era == Era::Modern)
}

/// Whether a method is the legacy handshake.
pub fn is_handshake(name: &str) -> bool {
    METHODS
        .iter()
        .any(|method| method.name == name && matches!(method.action, Action::Initialize))
}
