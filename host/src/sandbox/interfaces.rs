//! Which interfaces a component has. Only `server` must be there; the others are looked up by name, and what is found
//! is what gets advertised.

use wasmtime::component::{Component, Instance, InstancePre};
use wasmtime::{Engine, Store};

use super::bindings::exports::personal_memory::mcp::{
    completion, prompts, resources, server, tools,
};
use super::bindings::personal_memory::mcp::types::RequestContext;
use super::call::{Call, CallError, Outcome};
use super::guest::Guest;

/// The optional interfaces that a component has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interfaces {
    /// It exports `tools`.
    pub tools: bool,
    /// It exports `resources`.
    pub resources: bool,
    /// It exports `prompts`.
    pub prompts: bool,
    /// It exports `completion`.
    pub completion: bool,
    /// It imports `notifications`, so it may log.
    pub notifications: bool,
}

/// Where a component's exports are, found once.
pub(super) struct Indices {
    server: server::GuestIndices,
    tools: Option<tools::GuestIndices>,
    resources: Option<resources::GuestIndices>,
    prompts: Option<prompts::GuestIndices>,
    completion: Option<completion::GuestIndices>,
}

/// The exports of one instance.
pub(super) struct Exports {
    pub(super) server: server::Guest,
    tools: Option<tools::Guest>,
    resources: Option<resources::Guest>,
    prompts: Option<prompts::Guest>,
    completion: Option<completion::Guest>,
}

/// Our package's interfaces, as components name them.
fn interface(name: &str) -> String {
    format!("personal-memory:mcp/{name}@0.1.0")
}

impl Indices {
    /// Looks the interfaces up. An interface that is there with other types than the contract's is an error, not an
    /// absence: its author meant to export it.
    pub(super) fn new(template: &InstancePre<Guest>) -> wasmtime::Result<Indices> {
        Ok(Indices {
            server: server::GuestIndices::new(template).map_err(|error| {
                error.context("the component does not export `personal-memory:mcp/server`")
            })?,
            tools: optional(template, "tools", tools::GuestIndices::new)?,
            resources: optional(template, "resources", resources::GuestIndices::new)?,
            prompts: optional(template, "prompts", prompts::GuestIndices::new)?,
            completion: optional(template, "completion", completion::GuestIndices::new)?,
        })
    }

    /// What was found.
    pub(super) fn interfaces(&self, engine: &Engine, component: &Component) -> Interfaces {
        Interfaces {
            tools: self.tools.is_some(),
            resources: self.resources.is_some(),
            prompts: self.prompts.is_some(),
            completion: self.completion.is_some(),
            notifications: component
                .component_type()
                .imports(engine)
                .any(|(name, _)| name == interface("notifications")),
        }
    }

    /// The exports of an instance.
    pub(super) fn load(
        &self,
        store: &mut Store<Guest>,
        instance: &Instance,
    ) -> wasmtime::Result<Exports> {
        Ok(Exports {
            server: self.server.load(&mut *store, instance)?,
            tools: self
                .tools
                .as_ref()
                .map(|indices| indices.load(&mut *store, instance))
                .transpose()?,
            resources: self
                .resources
                .as_ref()
                .map(|indices| indices.load(&mut *store, instance))
                .transpose()?,
            prompts: self
                .prompts
                .as_ref()
                .map(|indices| indices.load(&mut *store, instance))
                .transpose()?,
            completion: self
                .completion
                .as_ref()
                .map(|indices| indices.load(&mut *store, instance))
                .transpose()?,
        })
    }
}

fn optional<T>(
    template: &InstancePre<Guest>,
    name: &str,
    find: impl FnOnce(&InstancePre<Guest>) -> wasmtime::Result<T>,
) -> wasmtime::Result<Option<T>> {
    match template.component().get_export_index(None, interface(name)) {
        Some(_) => find(template).map(Some),
        None => Ok(None),
    }
}

impl Exports {
    /// Makes a call. The outer error is abnormal, the inner one is the component's answer.
    pub(super) async fn call(
        &self,
        store: &mut Store<Guest>,
        context: &RequestContext,
        call: &Call,
    ) -> wasmtime::Result<Result<Outcome, CallError>> {
        /// `self.$interface.$function(arguments)`, wrapped into the outcome's case.
        macro_rules! forward {
            ($interface:ident . $function:ident ( $($argument:expr),* ) => $case:ident) => {
                match &self.$interface {
                    Some(interface) => {
                        let answer = interface.$function(store, context, $($argument),*).await?;
                        Ok(answer.map(Outcome::$case).map_err(CallError::from))
                    }
                    None => Ok(Err(CallError::NotExported(stringify!($interface)))),
                }
            };
        }
        match call {
            Call::ListTools { cursor } => forward!(tools.call_list(cursor.as_deref()) => Tools),
            Call::CallTool {
                name,
                arguments,
                resume,
            } => {
                forward!(tools.call_call(name, arguments, resume.as_ref()) => Tool)
            }
            Call::ListResources { cursor } => {
                forward!(resources.call_list(cursor.as_deref()) => Resources)
            }
            Call::ListTemplates { cursor } => {
                forward!(resources.call_list_templates(cursor.as_deref()) => Templates)
            }
            Call::ReadResource { uri, resume } => {
                forward!(resources.call_read(uri, resume.as_ref()) => Read)
            }
            Call::ListPrompts { cursor } => {
                forward!(prompts.call_list(cursor.as_deref()) => Prompts)
            }
            Call::GetPrompt {
                name,
                arguments,
                resume,
            } => {
                forward!(prompts.call_get(name, arguments, resume.as_ref()) => Prompt)
            }
            Call::Complete {
                reference,
                argument,
                resolved,
            } => {
                forward!(completion.call_complete(reference, argument, resolved) => Suggestions)
            }
        }
    }
}
