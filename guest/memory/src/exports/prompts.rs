//! Prompts.

use super::{
    Component, QUERY_KEY, Stands, given, moment, only_page, stands, static_list, text_content,
    with_backend,
};
use crate::bindings::exports::personal_memory::mcp::prompts;
use crate::bindings::exports::personal_memory::mcp::types::{
    Error, RequestContext, Resumption, Role,
};
use crate::prompts::PROMPTS;

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
        resume: Option<Resumption>,
    ) -> Result<prompts::PromptOutcome, Error> {
        let moment = moment(&context).with_answer(given(resume, QUERY_KEY));
        let outcome =
            with_backend(|backend| crate::prompts::get(&name, &arguments, backend, &moment));
        let filled = match stands(outcome)? {
            Stands::Answered(filled) => filled,
            Stands::Needs(pending) => return Ok(prompts::PromptOutcome::Needs(pending)),
        };
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
