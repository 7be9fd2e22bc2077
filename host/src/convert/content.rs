//! Results with content, as JSON: of tools, of reads, of prompts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

use super::lists::icons;
use super::{Object, Unusable, json, json_object, meta};
use crate::sandbox::bindings::exports::personal_memory::mcp::{prompts, resources, tools};
use crate::sandbox::bindings::personal_memory::mcp::types::{
    Annotations, Content, ContentBody, Media, ResourceBody, ResourceContents, ResourceInfo, Role,
};
use crate::version::Version;

pub(super) fn tool_result(
    result: &tools::ToolResult,
    version: Version,
) -> Result<Map<String, Value>, Unusable> {
    let content = result
        .content
        .iter()
        .map(|block| self::content(block, version))
        .collect::<Result<Vec<_>, _>>()?;
    let structured = match &result.structured_content {
        Some(text) if version.has_structure() => {
            let value = json(text, "the structured content")?;
            // Any JSON value since 2026-07-28, an object before.
            (value.is_object() || version.is_modern()).then_some(value)
        }
        _ => None,
    };
    Ok(Object::default()
        .with("content", content)
        .with_some("structuredContent", structured)
        .with_some("isError", result.is_error.then_some(true))
        .with_some("_meta", meta(result.meta.as_ref(), "the tool's result")?)
        .0)
}

pub(super) fn read_result(
    result: &resources::ReadResult,
    version: Version,
) -> Result<Map<String, Value>, Unusable> {
    if result.contents.is_empty() {
        // The specification forbids the ambiguity: does it exist?
        return Err(Unusable("the resource has no contents".to_owned()));
    }
    let contents = result
        .contents
        .iter()
        .map(|part| resource_contents(part, version))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Object::default()
        .with("contents", contents)
        .with_some("_meta", meta(result.meta.as_ref(), "the resource")?)
        .0)
}

pub(super) fn prompt_result(
    result: &prompts::PromptResult,
    version: Version,
) -> Result<Map<String, Value>, Unusable> {
    let message = |message: &prompts::PromptMessage| {
        let content = content(&message.content, version)?;
        Ok(Object::default()
            .with("role", role(message.role))
            .with("content", content)
            .into())
    };
    Ok(Object::default()
        .with_some("description", result.description.clone())
        .with(
            "messages",
            result
                .messages
                .iter()
                .map(message)
                .collect::<Result<Vec<Value>, Unusable>>()?,
        )
        .with_some("_meta", meta(result.meta.as_ref(), "the prompt")?)
        .0)
}

fn content(block: &Content, version: Version) -> Result<Value, Unusable> {
    let body = match &block.body {
        ContentBody::Text(text) => text_block(text),
        ContentBody::Image(media) => media_block("image", media),
        ContentBody::Audio(media) if version.has_audio() => media_block("audio", media),
        ContentBody::Audio(media) => {
            let size = media.data.len();
            text_block(&format!(
                "[audio of type {}, {size} bytes, left out]",
                media.mime_type
            ))
        }
        ContentBody::ResourceLink(info) if version.has_structure() => {
            let mut link = Object::default().with("type", "resource_link");
            link.0.extend(resource_info(info, version)?.0);
            link
        }
        ContentBody::ResourceLink(info) => text_block(&format!("{}: {}", info.name, info.uri)),
        ContentBody::EmbeddedResource(contents) => {
            let contents = resource_contents(contents, version)?;
            Object::default()
                .with("type", "resource")
                .with("resource", contents)
        }
        ContentBody::Other(block) => Object(json_object(block, "a content block")?),
    };
    let meta = meta(block.meta.as_ref(), "a content block")?;
    Ok(body
        .with_some(
            "annotations",
            annotations(block.annotations.as_ref(), version),
        )
        .with_some("_meta", meta.filter(|_| version.has_structure()))
        .into())
}

fn text_block(text: &str) -> Object {
    Object::default().with("type", "text").with("text", text)
}

fn media_block(kind: &str, media: &Media) -> Object {
    Object::default()
        .with("type", kind)
        .with("data", BASE64.encode(&media.data))
        .with("mimeType", media.mime_type.clone())
}

fn resource_contents(part: &ResourceContents, version: Version) -> Result<Value, Unusable> {
    let body = match &part.body {
        ResourceBody::Text(text) => ("text", text.clone()),
        ResourceBody::Blob(bytes) => ("blob", BASE64.encode(bytes)),
    };
    Ok(Object::default()
        .with("uri", part.uri.clone())
        .with_some("mimeType", part.mime_type.clone())
        .with(body.0, body.1)
        .with_some(
            "_meta",
            meta(part.meta.as_ref(), &part.uri)?.filter(|_| version.has_structure()),
        )
        .into())
}

/// A resource's description: an entry of the list, or a link.
pub(super) fn resource_info(info: &ResourceInfo, version: Version) -> Result<Object, Unusable> {
    let structured = version.has_structure();
    Ok(Object::default()
        .with("uri", info.uri.clone())
        .with("name", info.name.clone())
        .with_some("title", info.title.clone().filter(|_| structured))
        .with_some("description", info.description.clone())
        .with_some("mimeType", info.mime_type.clone())
        .with_some("size", info.size)
        .with_some(
            "annotations",
            annotations(info.annotations.as_ref(), version),
        )
        .with_any("icons", icons(&info.icons, version))
        .with_some(
            "_meta",
            meta(info.meta.as_ref(), &info.uri)?.filter(|_| structured),
        ))
}

pub(super) fn annotations(annotations: Option<&Annotations>, version: Version) -> Option<Value> {
    let annotations = annotations?;
    let audience = annotations
        .audience
        .iter()
        .map(|&role| self::role(role).into())
        .collect();
    let object = Object::default()
        .with_any("audience", audience)
        .with_some(
            "priority",
            annotations.priority.filter(|priority| priority.is_finite()),
        )
        .with_some(
            "lastModified",
            annotations
                .last_modified
                .clone()
                .filter(|_| version.has_structure()),
        );
    (!object.0.is_empty()).then(|| object.into())
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}
