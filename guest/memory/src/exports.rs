//! The contract's interfaces, one `impl` each. Converts between the domain and the contract, reads the clock and
//! chance, and owns the one backend.

use std::cell::RefCell;
use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::Value;

use crate::backend::MemoryBackend;
use crate::bindings::exports::personal_memory::mcp::types::{
    Annotations, CacheHint, CacheScope, Content, ContentBody, Error, RequestContext, ResourceBody,
    ResourceContents, ResourceInfo, Resumption, Role, UnknownResource,
};
use crate::bindings::exports::personal_memory::mcp::{
    completion, prompts, resources, server, tools,
};
use crate::completion::{Reference, complete};
use crate::config::{
    DATA_DIR, INSTRUCTIONS, SERVER_DESCRIPTION, SERVER_NAME, SERVER_TITLE, SERVER_VERSION,
    STATIC_LIST_TTL_MS,
};
use crate::prompts::PROMPTS;
use crate::request::{Moment, RequestError};
use crate::resources::{MIME_TYPE, TEMPLATES};
use crate::security::echo;
use crate::store::disk::DirDisk;
use crate::store::event::rfc3339;
use crate::tools::{TOOLS, dispatch};

pub(crate) struct Component;

thread_local! {
    /// The state of this instance. What matters is on the disk: an instance may be thrown away at any time.
    static BACKEND: RefCell<MemoryBackend> =
        RefCell::new(MemoryBackend::new(Box::new(DirDisk::new(DATA_DIR)), Box::new(random_id)));
}

/// Runs one call, and passes on what the person should know.
fn with_backend<T>(call: impl FnOnce(&mut MemoryBackend) -> T) -> T {
    BACKEND.with_borrow_mut(|backend| {
        let outcome = call(backend);
        for warning in backend.take_warnings() {
            eprintln!("{SERVER_NAME}: {warning}");
        }
        outcome
    })
}

fn random_id() -> [u8; 16] {
    let mut id = [0; 16];
    if getrandom::fill(&mut id).is_err() {
        // A runtime without chance: the time tells stores apart as well as may be.
        let nanos = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_nanos());
        id = nanos.to_be_bytes();
    }
    id
}

fn moment(context: &RequestContext) -> Moment {
    let now = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
    Moment::new(now, &context.session)
}

impl server::Guest for Component {
    fn describe() -> server::Description {
        server::Description {
            name: SERVER_NAME.to_owned(),
            title: Some(SERVER_TITLE.to_owned()),
            version: SERVER_VERSION.to_owned(),
            description: Some(SERVER_DESCRIPTION.to_owned()),
            website_url: None,
            icons: Vec::new(),
            instructions: Some(INSTRUCTIONS.to_owned()),
            keeps_store: true,
            extensions: None,
        }
    }

    fn configure(environment: String) -> Result<(), String> {
        crate::request::check_environment(&environment)
    }
}

impl tools::Guest for Component {
    fn list(_: RequestContext, cursor: Option<String>) -> Result<tools::ToolPage, Error> {
        only_page(cursor)?;
        let tools = TOOLS.iter().map(tool).collect();
        Ok(tools::ToolPage {
            tools,
            next_cursor: None,
            cache: static_list(),
        })
    }

    fn call(
        context: RequestContext,
        name: String,
        arguments: String,
        _: Option<Resumption>,
    ) -> Result<tools::ToolOutcome, Error> {
        let arguments: Value = serde_json::from_str(&arguments)
            .map_err(|error| Error::InvalidParams(format!("arguments are not JSON: {error}")))?;
        let reply =
            with_backend(|backend| dispatch(&name, &arguments, backend, &moment(&context)))?;
        Ok(tools::ToolOutcome::Complete(tools::ToolResult {
            content: vec![text_content(reply.text)],
            structured_content: reply.structured.map(|structured| structured.to_string()),
            is_error: reply.is_error,
            meta: None,
        }))
    }
}

fn tool(tool: &crate::tools::Tool) -> tools::Tool {
    tools::Tool {
        name: tool.name.to_owned(),
        title: Some(tool.title.to_owned()),
        description: Some(tool.description.to_owned()),
        input_schema: (tool.input_schema)().to_string(),
        output_schema: Some((tool.output_schema)().to_string()),
        annotations: Some(tools::ToolAnnotations {
            read_only: tool.annotations.read_only,
            destructive: false,
            idempotent: tool.annotations.idempotent,
            open_world: false,
        }),
        icons: Vec::new(),
        meta: None,
    }
}

impl resources::Guest for Component {
    fn list(_: RequestContext, cursor: Option<String>) -> Result<resources::ResourcePage, Error> {
        let page = with_backend(|backend| crate::resources::list(backend, cursor.as_deref()))?;
        Ok(resources::ResourcePage {
            resources: page.resources.into_iter().map(resource).collect(),
            next_cursor: page.next_cursor,
            cache: private(),
        })
    }

    fn list_templates(
        _: RequestContext,
        cursor: Option<String>,
    ) -> Result<resources::TemplatePage, Error> {
        only_page(cursor)?;
        let templates = TEMPLATES
            .iter()
            .map(|template| resources::ResourceTemplate {
                uri_template: template.uri_template.to_owned(),
                name: template.name.to_owned(),
                title: Some(template.title.to_owned()),
                description: Some(template.description.to_owned()),
                mime_type: Some(MIME_TYPE.to_owned()),
                annotations: None,
                icons: Vec::new(),
                meta: None,
            });
        Ok(resources::TemplatePage {
            templates: templates.collect(),
            next_cursor: None,
            cache: static_list(),
        })
    }

    fn read(
        context: RequestContext,
        uri: String,
        _: Option<Resumption>,
    ) -> Result<resources::ReadOutcome, Error> {
        let contents =
            with_backend(|backend| crate::resources::read(&uri, backend, &moment(&context)))?;
        let body = ResourceBody::Text(contents.text);
        let contents = vec![ResourceContents {
            uri,
            mime_type: Some(MIME_TYPE.to_owned()),
            body,
            meta: None,
        }];
        Ok(resources::ReadOutcome::Complete(resources::ReadResult {
            contents,
            cache: private(),
            meta: None,
        }))
    }
}

fn resource(descriptor: crate::resources::Descriptor) -> ResourceInfo {
    ResourceInfo {
        uri: descriptor.uri,
        name: descriptor.name,
        title: Some(descriptor.title),
        description: Some(descriptor.description.to_string()),
        mime_type: Some(MIME_TYPE.to_owned()),
        size: Some(descriptor.size),
        annotations: Some(Annotations {
            audience: Vec::new(),
            priority: None,
            last_modified: Some(rfc3339(descriptor.last_modified)),
        }),
        icons: Vec::new(),
        meta: None,
    }
}

impl prompts::Guest for Component {
    fn list(_: RequestContext, cursor: Option<String>) -> Result<prompts::PromptPage, Error> {
        only_page(cursor)?;
        let prompts = PROMPTS.iter().map(prompt).collect();
        Ok(prompts::PromptPage {
            prompts,
            next_cursor: None,
            cache: static_list(),
        })
    }

    fn get(
        context: RequestContext,
        name: String,
        arguments: Vec<(String, String)>,
        _: Option<Resumption>,
    ) -> Result<prompts::PromptOutcome, Error> {
        let filled = with_backend(|backend| {
            crate::prompts::get(&name, &arguments, backend, &moment(&context))
        })?;
        let message = prompts::PromptMessage {
            role: Role::User,
            content: text_content(filled.text),
        };
        Ok(prompts::PromptOutcome::Complete(prompts::PromptResult {
            description: Some(filled.description),
            messages: vec![message],
            meta: None,
        }))
    }
}

fn prompt(prompt: &crate::prompts::Prompt) -> prompts::Prompt {
    let arguments = prompt
        .arguments
        .iter()
        .map(|argument| prompts::PromptArgument {
            name: argument.name.to_owned(),
            title: None,
            description: Some(argument.description.to_owned()),
            required: true,
        });
    prompts::Prompt {
        name: prompt.name.to_owned(),
        title: Some(prompt.title.to_owned()),
        description: Some(prompt.description.to_owned()),
        arguments: arguments.collect(),
        icons: Vec::new(),
        meta: None,
    }
}

impl completion::Guest for Component {
    fn complete(
        _: RequestContext,
        reference: completion::Reference,
        argument: completion::Argument,
        _: Vec<(String, String)>,
    ) -> Result<completion::Suggestions, Error> {
        let reference = match reference {
            completion::Reference::Prompt(name) => Reference::Prompt(name),
            completion::Reference::Resource(template) => Reference::Resource(template),
        };
        let found =
            with_backend(|backend| complete(&reference, &argument.name, &argument.value, backend))?;
        Ok(completion::Suggestions {
            has_more: found.has_more(),
            total: u32::try_from(found.total).ok(),
            values: found.values,
        })
    }
}

impl From<RequestError> for Error {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::UnknownName(name) => Self::UnknownName(name),
            RequestError::UnknownResource { uri, reason } => {
                Self::UnknownResource(UnknownResource { uri, reason })
            }
            RequestError::InvalidParams(text) => Self::InvalidParams(text),
            RequestError::Internal(text) => Self::Internal(text),
        }
    }
}

/// Lists that fit on one page give out no cursor, so any that comes is wrong.
fn only_page(cursor: Option<String>) -> Result<(), Error> {
    match cursor {
        Some(cursor) => Err(Error::InvalidParams(format!(
            "cursor {} was not given out by this server",
            echo(&cursor)
        ))),
        None => Ok(()),
    }
}

fn text_content(text: String) -> Content {
    Content {
        body: ContentBody::Text(text),
        annotations: None,
        meta: None,
    }
}

/// Memories are nobody else's, and may change with any call.
fn private() -> CacheHint {
    CacheHint {
        ttl_ms: 0,
        scope: CacheScope::Private,
    }
}

fn static_list() -> CacheHint {
    CacheHint {
        ttl_ms: STATIC_LIST_TTL_MS,
        scope: CacheScope::Public,
    }
}
