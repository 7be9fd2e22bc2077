//! Completion.

use super::{Component, with_backend};
use crate::bindings::exports::personal_memory::mcp::completion;
use crate::bindings::exports::personal_memory::mcp::types::{Error, RequestContext};
use crate::completion::{Reference, complete};

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
