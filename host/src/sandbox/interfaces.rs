//! Which interfaces a component has. Only `server` must be there; the others are looked up by name, and what is found
//! is what gets advertised.

use wasmtime::component::{Component, Instance, InstancePre};
use wasmtime::{Engine, Store};

use super::bindings::administered::exports::personal_memory::memory::admin;
use super::bindings::exports::personal_memory::mcp::{
    changes, completion, maintenance, prompts, resources, server, tools,
};
use super::bindings::personal_memory::mcp::types::{Error as ComponentError, RequestContext};
use super::call::{Call, CallError, Outcome};
use super::guest::Guest;

/// Declares the optional interfaces once: what a component has, where it is, and how to call it.
macro_rules! optional_interfaces {
    ($($name:ident)*) => {
        /// The optional interfaces that a component has.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Interfaces {
            $(
                #[doc = concat!("It exports `", stringify!($name), "`.")]
                pub $name: bool,
            )*
            /// It is a memory that its owner can take care of.
            pub admin: bool,
            /// It imports `notifications`, so it may log.
            pub notifications: bool,
        }

        /// The names of the optional interfaces.
        const OPTIONAL: &[&str] = &[$(stringify!($name)),*];

        /// Where a component's exports are, found once.
        pub(super) struct Indices {
            server: server::GuestIndices,
            $($name: Option<$name::GuestIndices>,)*
            admin: Option<admin::GuestIndices>,
        }

        /// The exports of one instance.
        pub(super) struct Exports {
            pub(super) server: server::Guest,
            $(pub(super) $name: Option<$name::Guest>,)*
            pub(super) admin: Option<admin::Guest>,
        }

        impl Indices {
            /// Looks the interfaces up. An interface that is there with other types than the contract's is an error, not
            /// an absence: its author meant to export it.
            pub(super) fn new(template: &InstancePre<Guest>) -> wasmtime::Result<Indices> {
                Ok(Indices {
                    server: server::GuestIndices::new(template).map_err(|error| {
                        error.context("the component does not export `personal-memory:mcp/server`")
                    })?,
                    $($name: optional(
                        template,
                        &interface(stringify!($name)),
                        $name::GuestIndices::new,
                    )?,)*
                    admin: optional(template, ADMIN, admin::GuestIndices::new)?,
                })
            }

            /// What was found.
            pub(super) fn interfaces(&self, engine: &Engine, component: &Component) -> Interfaces {
                Interfaces {
                    $($name: self.$name.is_some(),)*
                    admin: self.admin.is_some(),
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
                    $($name: match &self.$name {
                        Some(indices) => Some(indices.load(&mut *store, instance)?),
                        None => None,
                    },)*
                    admin: match &self.admin {
                        Some(indices) => Some(indices.load(&mut *store, instance)?),
                        None => None,
                    },
                })
            }
        }
    };
}

optional_interfaces! { tools resources prompts completion changes maintenance }

/// The one interface of another package.
const ADMIN: &str = "personal-memory:memory/admin@0.1.0";

/// Our package's interfaces, as components name them.
fn interface(name: &str) -> String {
    format!("personal-memory:mcp/{name}@0.1.0")
}

/// Whether an export is an interface of the contract, in its version.
pub(super) fn is_known(export: &str) -> bool {
    let mut names = OPTIONAL.iter().chain(&["server", "types"]);
    export == ADMIN || names.any(|name| export == interface(name))
}

fn optional<T>(
    template: &InstancePre<Guest>,
    name: &str,
    find: impl FnOnce(&InstancePre<Guest>) -> wasmtime::Result<T>,
) -> wasmtime::Result<Option<T>> {
    match template.component().get_export_index(None, name) {
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
            Call::CanSubscribe { uris } => self.can_subscribe(store, uris).await,
        }
    }

    async fn can_subscribe(
        &self,
        store: &mut Store<Guest>,
        uris: &[String],
    ) -> wasmtime::Result<Result<Outcome, CallError>> {
        let Some(changes) = &self.changes else {
            return Ok(Err(CallError::NotExported("changes")));
        };
        let mut possible = Vec::with_capacity(uris.len());
        for uri in uris {
            match changes.call_can_subscribe(&mut *store, uri).await? {
                Ok(answer) => possible.push(answer),
                Err(reason) => {
                    return Ok(Err(CallError::Refused(ComponentError::Internal(reason))));
                }
            }
        }
        Ok(Ok(Outcome::CanSubscribe(possible)))
    }
}
