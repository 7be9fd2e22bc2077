//! What a component offers, as JSON: the lists, completions and who it is.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::content::{annotations, resource_info};
use super::{Object, Unusable, json_object, meta};
use crate::jsonrpc::shorten;
use crate::sandbox::bindings::exports::personal_memory::mcp::{
    completion, prompts, resources, server, tools,
};
use crate::sandbox::bindings::personal_memory::mcp::types::{Icon, IconTheme};
use crate::version::Version;

/// Suggestions that a response may carry (specification, "Completion Results").
const MAX_SUGGESTIONS: usize = 100;

/// The longest name of a tool (`tool.name` in `wit/mcp`). Clients refuse a whole server for one tool whose name they
/// don't like.
const MAX_NAME_CHARS: usize = 64;

/// `serverInfo`.
pub fn implementation(description: &server::Description, version: Version) -> Value {
    let described = version.has_icons();
    Object::default()
        .with("name", description.name.clone())
        .with_some(
            "title",
            description
                .title
                .clone()
                .filter(|_| version.has_structure()),
        )
        .with("version", description.version.clone())
        .with_some(
            "description",
            description.description.clone().filter(|_| described),
        )
        .with_some(
            "websiteUrl",
            description.website_url.clone().filter(|_| described),
        )
        .with_any("icons", icons(&description.icons, version))
        .into()
}

pub(super) fn tools(
    page: &tools::ToolPage,
    version: Version,
) -> Result<Map<String, Value>, Unusable> {
    let mut names = HashSet::new();
    if let Some(tool) = page.tools.iter().find(|tool| !names.insert(&tool.name)) {
        let name = shorten(&tool.name);
        return Err(Unusable(format!("there are two tools `{name}`")));
    }
    let tools = page
        .tools
        .iter()
        .map(|tool| self::tool(tool, version))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Object::default()
        .with("tools", tools)
        .with_some("nextCursor", page.next_cursor.clone())
        .0)
}

fn tool(tool: &tools::Tool, version: Version) -> Result<Value, Unusable> {
    let structured = version.has_structure();
    check_name(&tool.name)?;
    let what = |part: &str| format!("the {part} of tool `{}`", tool.name);
    let input_schema = json_object(&tool.input_schema, &what("input schema"))?;
    if !is_of_objects(&input_schema) {
        let schema = what("input schema");
        return Err(Unusable(format!("{schema} is not of type `object`")));
    }
    let output_schema = match &tool.output_schema {
        Some(schema) if structured => Some(json_object(schema, &what("output schema"))?),
        _ => None,
    };
    // Structured content was an object, and nothing else, before 2026-07-28.
    let output_schema = output_schema.filter(|schema| version.is_modern() || is_of_objects(schema));
    let hints = tool
        .annotations
        .as_ref()
        .filter(|_| version.has_tool_annotations())
        .map(|hints| {
            Object::default()
                // Titles of tools were a hint before they became a member of their own.
                .with_some("title", tool.title.clone().filter(|_| !structured))
                .with("readOnlyHint", hints.read_only)
                .with("destructiveHint", hints.destructive)
                .with("idempotentHint", hints.idempotent)
                .with("openWorldHint", hints.open_world)
        });
    Ok(Object::default()
        .with("name", tool.name.clone())
        .with_some("title", tool.title.clone().filter(|_| structured))
        .with_some("description", tool.description.clone())
        .with("inputSchema", input_schema)
        .with_some("outputSchema", output_schema)
        .with_some("annotations", hints)
        .with_any("icons", icons(&tool.icons, version))
        .with_some(
            "_meta",
            meta(tool.meta.as_ref(), &what("list entry"))?.filter(|_| structured),
        )
        .into())
}

fn check_name(name: &str) -> Result<(), Unusable> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=MAX_NAME_CHARS).contains(&name.len()) && name.bytes().all(plain) {
        return Ok(());
    }
    let name = shorten(name);
    Err(Unusable(format!(
        "the tool name `{name}` does not consist of 1 to {MAX_NAME_CHARS} letters, digits, `_` and `-`"
    )))
}

/// Whether a JSON Schema says of itself that it describes objects.
fn is_of_objects(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

pub(super) fn resources(
    page: &resources::ResourcePage,
    version: Version,
) -> Result<Map<String, Value>, Unusable> {
    let entries = page
        .resources
        .iter()
        .map(|resource| Ok(resource_info(resource, version)?.into()))
        .collect::<Result<Vec<Value>, Unusable>>()?;
    Ok(Object::default()
        .with("resources", entries)
        .with_some("nextCursor", page.next_cursor.clone())
        .0)
}

pub(super) fn templates(
    page: &resources::TemplatePage,
    version: Version,
) -> Result<Map<String, Value>, Unusable> {
    let templates = page
        .templates
        .iter()
        .map(|template| self::template(template, version));
    let templates = templates.collect::<Result<Vec<_>, _>>()?;
    Ok(Object::default()
        .with("resourceTemplates", templates)
        .with_some("nextCursor", page.next_cursor.clone())
        .0)
}

fn template(template: &resources::ResourceTemplate, version: Version) -> Result<Value, Unusable> {
    let structured = version.has_structure();
    Ok(Object::default()
        .with("uriTemplate", template.uri_template.clone())
        .with("name", template.name.clone())
        .with_some("title", template.title.clone().filter(|_| structured))
        .with_some("description", template.description.clone())
        .with_some("mimeType", template.mime_type.clone())
        .with_some(
            "annotations",
            annotations(template.annotations.as_ref(), version),
        )
        .with_any("icons", icons(&template.icons, version))
        .with_some(
            "_meta",
            meta(template.meta.as_ref(), &template.uri_template)?.filter(|_| structured),
        )
        .into())
}

pub(super) fn prompts(
    page: &prompts::PromptPage,
    version: Version,
) -> Result<Map<String, Value>, Unusable> {
    let prompts = page
        .prompts
        .iter()
        .map(|prompt| self::prompt(prompt, version))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Object::default()
        .with("prompts", prompts)
        .with_some("nextCursor", page.next_cursor.clone())
        .0)
}

fn prompt(prompt: &prompts::Prompt, version: Version) -> Result<Value, Unusable> {
    let structured = version.has_structure();
    let arguments = prompt.arguments.iter().map(|argument| {
        Object::default()
            .with("name", argument.name.clone())
            .with_some("title", argument.title.clone().filter(|_| structured))
            .with_some("description", argument.description.clone())
            .with("required", argument.required)
            .into()
    });
    Ok(Object::default()
        .with("name", prompt.name.clone())
        .with_some("title", prompt.title.clone().filter(|_| structured))
        .with_some("description", prompt.description.clone())
        .with_any("arguments", arguments.collect())
        .with_any("icons", icons(&prompt.icons, version))
        .with_some(
            "_meta",
            meta(prompt.meta.as_ref(), &prompt.name)?.filter(|_| structured),
        )
        .into())
}

pub(super) fn suggestions(suggestions: completion::Suggestions) -> Map<String, Value> {
    let cut = suggestions.values.len() > MAX_SUGGESTIONS;
    let values: Vec<Value> = suggestions
        .values
        .into_iter()
        .take(MAX_SUGGESTIONS)
        .map(Value::from)
        .collect();
    let completion = Object::default()
        .with("values", values)
        .with_some("total", suggestions.total)
        .with("hasMore", suggestions.has_more || cut);
    Object::default().with("completion", completion).0
}

/// Icons, for revisions that have them.
pub(super) fn icons(icons: &[Icon], version: Version) -> Vec<Value> {
    if !version.has_icons() {
        return Vec::new();
    }
    let icon = |icon: &Icon| {
        Object::default()
            .with("src", icon.src.clone())
            .with_some("mimeType", icon.mime_type.clone())
            .with_some("theme", icon.theme.map(theme))
            .with_any(
                "sizes",
                icon.sizes.iter().cloned().map(Value::from).collect(),
            )
            .into()
    };
    icons.iter().map(icon).collect()
}

fn theme(theme: IconTheme) -> &'static str {
    match theme {
        IconTheme::Light => "light",
        IconTheme::Dark => "dark",
    }
}
