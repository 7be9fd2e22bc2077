//! Tools.

use serde_json::Value;

use super::{
    Component, QUERY_KEY, Stands, asking, given, moment, only_page, stands, static_list,
    text_content, with_backend,
};
use crate::bindings::exports::personal_memory::mcp::tools;
use crate::bindings::exports::personal_memory::mcp::types::{Error, RequestContext, Resumption};
use crate::tools::{TOOLS, dispatch};

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
        resume: Option<Resumption>,
    ) -> Result<tools::ToolOutcome, Error> {
        let arguments: Value = serde_json::from_str(&arguments)
            .map_err(|error| Error::InvalidParams(format!("arguments are not JSON: {error}")))?;
        let moment = moment(&context)
            .with_asking(asking(&context, resume.as_ref()))
            .with_answer(given(resume, QUERY_KEY));
        let outcome = with_backend(|backend| dispatch(&name, &arguments, backend, &moment));
        let reply = match stands(outcome)? {
            Stands::Answered(reply) => reply,
            Stands::Needs(pending) => return Ok(tools::ToolOutcome::Needs(pending)),
        };
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
            destructive: tool.annotations.destructive,
            idempotent: tool.annotations.idempotent,
            open_world: false,
        }),
        icons: Vec::new(),
        meta: None,
    }
}
