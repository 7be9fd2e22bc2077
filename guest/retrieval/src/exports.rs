//! The contract's interfaces, one `impl` each. Converts between the domain and the contract, reads the clock, and owns the
//! one library.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bindings::exports::personal_memory::mcp::{
    completion, prompts, resources, server, tools,
};
use crate::bindings::personal_memory::mcp::notifications;
use crate::bindings::personal_memory::mcp::types::{
    CacheHint, CacheScope, Content, ContentBody, Error, RequestContext, ResourceBody,
    ResourceContents, ResourceInfo, Resumption, Role, UnknownResource,
};
use crate::completion::{Reference, complete};
use crate::config::{
    DOCUMENT_TEMPLATE, INSTRUCTIONS, SERVER_DESCRIPTION, SERVER_NAME, SERVER_TITLE, SERVER_VERSION,
    STATIC_LIST_TTL_MS,
};
use crate::library::Library;
use crate::prompts::PROMPTS;
use crate::request::{Call, Environment, RequestError, read_environment};
use crate::resources::{MIME_TYPE, TEMPLATE_DESCRIPTION, TEMPLATE_NAME, TEMPLATE_TITLE};
use crate::security::echo;
use crate::tools::{Link, TOOLS, dispatch};

pub(crate) struct Component;

thread_local! {
    /// What this instance has loaded. Nothing in it matters: an instance may be thrown away at any time.
    static LIBRARY: RefCell<Library> = RefCell::new(Library::new(Environment::default()));
}

/// Runs one call with a clock, its time, and somewhere to tell its progress.
fn with_library<T>(context: &RequestContext, run: impl FnOnce(&mut Library, &Call<'_>) -> T) -> T {
    let started = Instant::now();
    let clock = || started.elapsed();
    let wanted = context.progress;
    let progress = |done: f64, total: f64, message: &str| {
        if wanted {
            notifications::progress(done, Some(total), Some(message));
        }
    };
    let limit = Duration::from_millis(context.deadline_ms);
    let call = Call::new(&clock, limit, &progress);
    LIBRARY.with_borrow_mut(|library| run(library, &call))
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
            keeps_store: false,
            extensions: None,
        }
    }

    fn configure(environment: String) -> Result<(), String> {
        let environment = read_environment(&environment)?;
        LIBRARY.with_borrow_mut(|library| *library = Library::new(environment));
        Ok(())
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
        let reply = with_library(&context, |library, call| {
            dispatch(&name, &arguments, library, call)
        })?;
        let links = reply.links.into_iter().map(link);
        Ok(tools::ToolOutcome::Complete(tools::ToolResult {
            content: [text_content(reply.text)]
                .into_iter()
                .chain(links)
                .collect(),
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
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: false,
        }),
        icons: Vec::new(),
        meta: None,
    }
}

impl resources::Guest for Component {
    fn list(
        context: RequestContext,
        cursor: Option<String>,
    ) -> Result<resources::ResourcePage, Error> {
        let page = with_library(&context, |library, call| {
            crate::resources::list(library, cursor.as_deref(), call)
        })?;
        let resources = page.resources.into_iter().map(|document| ResourceInfo {
            description: Some(document.description),
            ..info(document.uri, document.name, document.title)
        });
        Ok(resources::ResourcePage {
            resources: resources.collect(),
            next_cursor: page.next_cursor,
            cache: private(),
        })
    }

    fn list_templates(
        _: RequestContext,
        cursor: Option<String>,
    ) -> Result<resources::TemplatePage, Error> {
        only_page(cursor)?;
        let template = resources::ResourceTemplate {
            uri_template: DOCUMENT_TEMPLATE.to_owned(),
            name: TEMPLATE_NAME.to_owned(),
            title: Some(TEMPLATE_TITLE.to_owned()),
            description: Some(TEMPLATE_DESCRIPTION.to_owned()),
            mime_type: Some(MIME_TYPE.to_owned()),
            annotations: None,
            icons: Vec::new(),
            meta: None,
        };
        Ok(resources::TemplatePage {
            templates: vec![template],
            next_cursor: None,
            cache: static_list(),
        })
    }

    fn read(
        context: RequestContext,
        uri: String,
        _: Option<Resumption>,
    ) -> Result<resources::ReadOutcome, Error> {
        let text = with_library(&context, |library, call| {
            crate::resources::read(&uri, library, call)
        })?;
        let contents = vec![ResourceContents {
            uri,
            mime_type: Some(MIME_TYPE.to_owned()),
            body: ResourceBody::Text(text),
            meta: None,
        }];
        Ok(resources::ReadOutcome::Complete(resources::ReadResult {
            contents,
            cache: private(),
            meta: None,
        }))
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
        let filled = with_library(&context, |library, call| {
            crate::prompts::get(&name, &arguments, library, call)
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
            required: argument.required,
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
        context: RequestContext,
        reference: completion::Reference,
        argument: completion::Argument,
        resolved: Vec<(String, String)>,
    ) -> Result<completion::Suggestions, Error> {
        let reference = match reference {
            completion::Reference::Prompt(name) => Reference::Prompt(name),
            completion::Reference::Resource(template) => Reference::Resource(template),
        };
        let (name, typed) = (&argument.name, &argument.value);
        let found = with_library(&context, |library, call| {
            complete(&reference, name, typed, &resolved, library, call)
        })?;
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
    content(ContentBody::Text(text))
}

fn link(link: Link) -> Content {
    content(ContentBody::ResourceLink(info(
        link.uri, link.name, link.title,
    )))
}

fn content(body: ContentBody) -> Content {
    Content {
        body,
        annotations: None,
        meta: None,
    }
}

fn info(uri: String, name: String, title: String) -> ResourceInfo {
    ResourceInfo {
        uri,
        name,
        title: Some(title),
        description: None,
        mime_type: Some(MIME_TYPE.to_owned()),
        size: None,
        annotations: None,
        icons: Vec::new(),
        meta: None,
    }
}

/// Documents are the person's own, and another process may find others in the directory.
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
