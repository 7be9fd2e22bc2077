//! The same component behind the official Rust SDK's server instead of ours, to compare the two: `docs/DIFF.md`.
//!
//! `sdk_server DIRECTORY` speaks on standard input and output, `sdk_server DIRECTORY 127.0.0.1:PORT` Streamable HTTP at
//! `/mcp`. Of ours it uses the sandbox, and the conversion of the component's results to JSON, which it reads as the
//! SDK's types: what is on the wire is the SDK's. For tests only.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use personal_memory::convert::{self, Converted};
use personal_memory::sandbox::bindings::exports::personal_memory::mcp::completion::{
    Argument, Reference,
};
use personal_memory::sandbox::bindings::personal_memory::mcp::types as contract;
use personal_memory::sandbox::{
    Call, CallError, Cancel, Grant, MEMORY, STORE_GRANT, Sandbox, SandboxConfig,
};
use personal_memory::version::Version;
use rmcp::model::{
    self, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The component, as the SDK sees it.
#[derive(Clone)]
struct Memory {
    sandbox: Arc<Mutex<Sandbox>>,
    info: ServerConfig,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (directory, address) = match &arguments[..] {
        [directory] => (directory, None),
        [directory, address] => (directory, Some(address)),
        _ => bail!("usage: sdk_server DIRECTORY [ADDRESS:PORT]"),
    };
    let data = Grant {
        name: STORE_GRANT.to_owned(),
        path: PathBuf::from(directory),
        read_only: false,
    };
    let config = SandboxConfig {
        grants: vec![data],
        ..SandboxConfig::default()
    };
    let sandbox = Sandbox::new(&MEMORY, config)?;
    let memory = Memory {
        info: info(&sandbox),
        sandbox: Arc::new(Mutex::new(sandbox)),
    };
    match address {
        Some(address) => serve_http(memory, address).await,
        None => {
            let service = memory.serve(rmcp::transport::stdio()).await?;
            service.waiting().await?;
            Ok(())
        }
    }
}

async fn serve_http(memory: Memory, address: &str) -> Result<()> {
    let service = StreamableHttpService::new(
        move || Ok(memory.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .with_context(|| format!("{address} can't be listened on"))?;
    let bound = listener.local_addr()?;
    writeln!(std::io::stderr(), "listening on http://{bound}/mcp")?;
    let router = axum::Router::new().nest_service("/mcp", service);
    axum::serve(listener, router).await?;
    Ok(())
}

impl Memory {
    /// Makes a call and reads its result as a type of the SDK's.
    async fn make<T: DeserializeOwned>(
        &self,
        call: Call,
        context: &RequestContext<RoleServer>,
    ) -> Result<T, ErrorData> {
        let version = version(context);
        let request = request_context(version);
        let sandbox = self.sandbox.clone();
        let outcome = tokio::task::spawn_blocking(move || {
            let mut sandbox = sandbox.lock().unwrap_or_else(PoisonError::into_inner);
            sandbox.call(&request, &call, &Cancel::default(), None)
        })
        .await
        .map_err(internal)?
        .map_err(refusal)?;
        match convert::outcome(outcome, version) {
            Ok(Converted::Complete { mut result, cache }) => {
                if let (Some(hint), true) = (cache, version.is_modern()) {
                    cache_hint(&mut result, &hint);
                }
                serde_json::from_value(Value::Object(result)).map_err(internal)
            }
            Ok(Converted::Needs(_)) => Err(internal("the component asks, which is not offered")),
            Err(unusable) => Err(internal(unusable.0)),
        }
    }
}

fn info(sandbox: &Sandbox) -> ServerConfig {
    let description = &sandbox.profile().description;
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_resources()
        .enable_prompts()
        .enable_completions()
        .build();
    let mut server = Implementation::new(&description.name, &description.version);
    server.title.clone_from(&description.title);
    server.description.clone_from(&description.description);
    let mut info = ServerConfig::new(capabilities).with_server_info(server);
    info.instructions.clone_from(&description.instructions);
    info
}

fn version(context: &RequestContext<RoleServer>) -> Version {
    context
        .protocol_version()
        .and_then(|version| Version::parse(version.as_str()))
        .unwrap_or(Version::LATEST_LEGACY)
}

fn request_context(version: Version) -> contract::RequestContext {
    contract::RequestContext {
        protocol_version: version.as_str().to_owned(),
        client: None,
        client_capabilities: contract::ClientCapabilities::empty(),
        declared_capabilities: "{}".to_owned(),
        session: "sdk".to_owned(),
        progress: false,
        log_level: None,
        meta: None,
        deadline_ms: 0,
    }
}

fn cache_hint(result: &mut Map<String, Value>, hint: &contract::CacheHint) {
    let scope = match hint.scope {
        contract::CacheScope::Public => "public",
        contract::CacheScope::Private => "private",
    };
    result.insert("ttlMs".to_owned(), hint.ttl_ms.into());
    result.insert("cacheScope".to_owned(), scope.into());
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// A refusal, under the code that the contract names for it.
fn refusal(error: CallError) -> ErrorData {
    match error {
        CallError::Refused(contract::Error::UnknownName(name)) => {
            ErrorData::invalid_params(format!("unknown name: {name}"), None)
        }
        CallError::Refused(contract::Error::InvalidParams(why)) => {
            ErrorData::invalid_params(why, None)
        }
        CallError::Refused(contract::Error::UnknownResource(unknown)) => {
            ErrorData::resource_not_found(unknown.reason, Some(json!({"uri": unknown.uri})))
        }
        other => internal(other),
    }
}

fn cursor(request: Option<PaginatedRequestParams>) -> Option<String> {
    request.and_then(|params| params.cursor)
}

impl ServerHandler for Memory {
    fn get_info(&self) -> ServerConfig {
        self.info.clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = cursor(request);
        self.make(Call::ListTools { cursor }, &context).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = Call::CallTool {
            name: request.name.into_owned(),
            arguments: Value::Object(request.arguments.unwrap_or_default()).to_string(),
            resume: None,
        };
        let result: CallToolResult = self.make(call, &context).await?;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = cursor(request);
        self.make(Call::ListResources { cursor }, &context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let cursor = cursor(request);
        self.make(Call::ListTemplates { cursor }, &context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let call = Call::ReadResource {
            uri: request.uri,
            resume: None,
        };
        let result: ReadResourceResult = self.make(call, &context).await?;
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let cursor = cursor(request);
        self.make(Call::ListPrompts { cursor }, &context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut arguments = Vec::new();
        for (name, value) in request.arguments.unwrap_or_default() {
            let Value::String(value) = value else {
                let why = format!("the argument `{name}` must be a string");
                return Err(ErrorData::invalid_params(why, None));
            };
            arguments.push((name, value));
        }
        let call = Call::GetPrompt {
            name: request.name,
            arguments,
            resume: None,
        };
        let result: GetPromptResult = self.make(call, &context).await?;
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let reference = match request.r#ref {
            model::Reference::Prompt(prompt) => Reference::Prompt(prompt.name),
            model::Reference::Resource(template) => Reference::Resource(template.uri),
            other => return Err(internal(format!("an unknown kind of reference: {other:?}"))),
        };
        let argument = Argument {
            name: request.argument.name,
            value: request.argument.value,
        };
        let resolved = request.context.and_then(|context| context.arguments);
        let call = Call::Complete {
            reference,
            argument,
            resolved: resolved.unwrap_or_default().into_iter().collect(),
        };
        self.make(call, &context).await
    }
}
