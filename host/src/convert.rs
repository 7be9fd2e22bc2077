//! JSON on one side, the contract's types on the other. The only room that turns one into the other.
//!
//! What a revision of the protocol does not know is left out here, field by field; what a revision *adds around* a
//! result (its type, the server's identity, cache hints) is the protocol's business.

mod asks;
mod content;
mod kept;
mod lists;
mod memories;
mod needs;
mod params;

use serde_json::{Map, Value};

use crate::sandbox::Outcome;
use crate::sandbox::bindings::exports::personal_memory::mcp::{prompts, resources, tools};
use crate::sandbox::bindings::personal_memory::mcp::types::{CacheHint, Pending};
use crate::version::Version;

pub use self::asks::{given, question, required};
pub use self::kept::Kept;
pub use self::lists::implementation;
pub use self::memories::{Memory, figures};
pub use self::needs::meet;
pub use self::params::{
    Params, client, client_capabilities, completion, declaration, log_level, log_level_name, page,
    prompt_get, resource_read, tool_call, uri,
};

/// An outcome as the members of a JSON-RPC result.
#[derive(Debug)]
pub enum Converted {
    /// The call is finished.
    Complete {
        /// Members of the result.
        result: Map<String, Value>,
        /// How long it may be cached, where the method has that.
        cache: Option<CacheHint>,
    },
    /// The component wants something before it can finish.
    Needs(Pending),
}

/// A component returned something that is no MCP, such as malformed JSON. Says where.
#[derive(Debug, PartialEq, Eq)]
pub struct Unusable(pub String);

/// Converts an outcome for a client that speaks `version`.
pub fn outcome(outcome: Outcome, version: Version) -> Result<Converted, Unusable> {
    let (result, cache) = match outcome {
        Outcome::Tools(page) => (lists::tools(&page, version)?, Some(page.cache)),
        Outcome::Resources(page) => (lists::resources(&page, version)?, Some(page.cache)),
        Outcome::Templates(page) => (lists::templates(&page, version)?, Some(page.cache)),
        Outcome::Prompts(page) => (lists::prompts(&page, version)?, Some(page.cache)),
        Outcome::Tool(tools::ToolOutcome::Complete(result)) => {
            (content::tool_result(&result, version)?, None)
        }
        Outcome::Read(resources::ReadOutcome::Complete(result)) => {
            (content::read_result(&result, version)?, Some(result.cache))
        }
        Outcome::Prompt(prompts::PromptOutcome::Complete(result)) => {
            (content::prompt_result(&result, version)?, None)
        }
        Outcome::Suggestions(suggestions) => (lists::suggestions(suggestions), None),
        // Nobody's result: the protocol acts on it.
        Outcome::CanSubscribe(_) => (Map::new(), None),
        Outcome::Tool(tools::ToolOutcome::Needs(pending))
        | Outcome::Read(resources::ReadOutcome::Needs(pending))
        | Outcome::Prompt(prompts::PromptOutcome::Needs(pending)) => {
            return Ok(Converted::Needs(pending));
        }
    };
    Ok(Converted::Complete { result, cache })
}

/// An object under construction; what is absent is left out, never `null`.
#[derive(Default)]
struct Object(Map<String, Value>);

impl Object {
    fn with(mut self, name: &str, value: impl Into<Value>) -> Object {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    fn with_some<T: Into<Value>>(self, name: &str, value: Option<T>) -> Object {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a list, unless it is empty.
    fn with_any(self, name: &str, values: Vec<Value>) -> Object {
        if values.is_empty() {
            self
        } else {
            self.with(name, values)
        }
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Value {
        Value::Object(object.0)
    }
}

/// Reads JSON that a component returned.
fn json(text: &str, what: &str) -> Result<Value, Unusable> {
    serde_json::from_str(text).map_err(|error| Unusable(format!("{what} is not JSON: {error}")))
}

/// Reads a JSON object that a component returned.
fn json_object(text: &str, what: &str) -> Result<Map<String, Value>, Unusable> {
    match json(text, what)? {
        Value::Object(object) => Ok(object),
        _ => Err(Unusable(format!("{what} is not a JSON object"))),
    }
}

/// Reads the optional object for `_meta`.
fn meta(text: Option<&String>, what: &str) -> Result<Option<Map<String, Value>>, Unusable> {
    text.map(|text| json_object(text, &format!("`_meta` of {what}")))
        .transpose()
}
