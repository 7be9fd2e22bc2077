//! Our entry in a document of settings: added, changed and removed without touching the rest of it.

use std::fmt;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::apps::App;

/// The name of our entry.
pub(in crate::cli) const NAME: &str = "personal-memory";

/// The option that an entry's arguments name the data directory with.
const DATA_DIR: &str = "--data-dir";

/// What an entry is to say.
pub(super) struct Registration {
    /// Absolute path of the program.
    pub(super) command: String,
    /// Absolute path; `None`: an entry that is there keeps what it says.
    pub(super) data_dir: Option<String>,
}

impl Registration {
    /// The arguments of an entry that has these by now.
    pub(super) fn args(&self, present: &[String]) -> Vec<String> {
        let mut args = present.to_vec();
        let Some(data_dir) = &self.data_dir else {
            return args;
        };
        if let Some(at) = args.iter().position(|arg| arg == DATA_DIR) {
            args.splice(
                at..args.len().min(at + 2),
                [DATA_DIR.to_owned(), data_dir.clone()],
            );
        } else if let Some(joined) = args.iter_mut().find(|arg| joined(arg).is_some()) {
            *joined = format!("{DATA_DIR}={data_dir}");
        } else {
            args.extend([DATA_DIR.to_owned(), data_dir.clone()]);
        }
        args
    }
}

/// The path in `--data-dir=PATH`.
fn joined(arg: &str) -> Option<&str> {
    arg.strip_prefix(DATA_DIR)?.strip_prefix('=')
}

/// What is to be done with a document.
#[derive(Debug, PartialEq)]
pub(super) enum Change {
    /// It says so already.
    Nothing,
    /// This is to be the document.
    To {
        text: String,
        /// What our entry started, if it was another program.
        before: Option<String>,
    },
}

/// Why a document is left alone. Comes after its path.
#[derive(Debug, PartialEq)]
pub(in crate::cli) enum Problem {
    /// It is no JSON, with or without comments.
    Malformed {
        line: usize,
        column: usize,
        what: String,
    },
    /// It is not what settings look like; the text says how.
    Unexpected(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Malformed { line, column, what } => write!(
                f,
                ":{line}:{column}: {what}; correct the file, it was left as it is"
            ),
            Problem::Unexpected(what) => write!(f, ": {what}; the file was left as it is"),
        }
    }
}

/// JSON, with the comments and trailing commas that VS Code allows.
const SYNTAX: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
};

fn parse(text: &str) -> Result<CstRootNode, Problem> {
    let root = CstRootNode::parse(text, &SYNTAX).map_err(|error| Problem::Malformed {
        line: error.line_display(),
        column: error.column_display(),
        what: lower_case(&error.kind().to_string()),
    })?;
    // What can't be reproduced must not be rewritten.
    match root.to_string() == text {
        true => Ok(root),
        false => Err(Problem::Unexpected(
            "it can't be reproduced exactly".to_owned(),
        )),
    }
}

fn lower_case(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// A member of an object; an error if there are two, of which readers take one or the other.
fn member(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, Problem> {
    let named = |member: &CstObjectProp| member.decoded_name().as_deref() == Some(name);
    let mut members = object.properties().into_iter().filter(named);
    match (members.next(), members.next()) {
        (_, Some(_)) => Err(Problem::Unexpected(format!("it has `{name}` twice"))),
        (member, None) => Ok(member),
    }
}

/// The list of servers; `None` if there is none yet.
fn servers(root: &CstRootNode, app: App) -> Result<Option<CstObject>, Problem> {
    let no_object = |what: &str| Problem::Unexpected(format!("{what} is not a JSON object"));
    let Some(value) = root.value() else {
        return Ok(None);
    };
    let object = value.as_object().ok_or_else(|| no_object("it"))?;
    let Some(list) = member(&object, app.list())? else {
        return Ok(None);
    };
    let servers = list.object_value();
    servers
        .map(Some)
        .ok_or_else(|| no_object(&format!("`{}`", app.list())))
}

/// Our entry as it is; `None` if there is none.
pub(in crate::cli) fn entry(text: &str, app: App) -> Result<Option<Value>, Problem> {
    let Some(servers) = servers(&parse(text)?, app)? else {
        return Ok(None);
    };
    Ok(member(&servers, NAME)?.and_then(|entry| entry.to_serde_value()))
}

/// The program that an entry starts, and its arguments; `None` if it is none that starts a program.
pub(in crate::cli) fn command_of(entry: &Value) -> Option<(&str, Vec<String>)> {
    let args = entry["args"].as_array();
    let args = args
        .into_iter()
        .flatten()
        .map(|arg| arg.as_str().map(str::to_owned));
    Some((entry["command"].as_str()?, args.collect::<Option<_>>()?))
}

/// The data directory that an entry's arguments name.
pub(in crate::cli) fn data_dir_of(args: &[String]) -> Option<&str> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == DATA_DIR {
            return args.next().map(String::as_str);
        }
        if let Some(path) = joined(arg) {
            return Some(path);
        }
    }
    None
}

/// Adds our entry, or brings the one that is there up to date: its command, and its data directory if one is named.
pub(super) fn connect(
    text: &str,
    app: App,
    registration: &Registration,
) -> Result<Change, Problem> {
    let root = parse(text)?;
    let present = match servers(&root, app)? {
        Some(servers) => member(&servers, NAME)?,
        None => None,
    };
    let Some(present) = present else {
        let entry = app.entry(&registration.command, &registration.args(&[]));
        add(&root, app, &entry);
        return Ok(Change::To {
            text: ended(&root, text),
            before: None,
        });
    };
    let value = present.to_serde_value().unwrap_or_default();
    let Some((command, args)) = command_of(&value) else {
        return Err(Problem::Unexpected(format!(
            "its entry `{NAME}` starts no program; remove it first"
        )));
    };
    let before = Some(command.to_owned()).filter(|command| *command != registration.command);
    let wanted = registration.args(&args);
    if before.is_none() && wanted == args {
        return Ok(Change::Nothing);
    }
    // `command_of` found members, so it is an object.
    if let Some(object) = present.object_value() {
        set(&object, "command", registration.command.as_str().into());
        if wanted != args {
            set(&object, "args", input(&wanted.into()));
        }
    }
    Ok(Change::To {
        text: root.to_string(),
        before,
    })
}

/// Takes our entry out; `None` if there is none.
pub(super) fn disconnect(text: &str, app: App) -> Result<Option<String>, Problem> {
    let root = parse(text)?;
    let Some(servers) = servers(&root, app)? else {
        return Ok(None);
    };
    let Some(entry) = member(&servers, NAME)? else {
        return Ok(None);
    };
    entry.remove();
    Ok(Some(root.to_string()))
}

fn add(root: &CstRootNode, app: App, entry: &Value) {
    let servers = root.object_value_or_set().object_value_or_set(app.list());
    servers.append(NAME, input(entry));
}

/// A document that was empty ends with its line.
fn ended(root: &CstRootNode, before: &str) -> String {
    let text = root.to_string();
    match before.trim().is_empty() && !text.ends_with('\n') {
        true => text + "\n",
        false => text,
    }
}

fn set(object: &CstObject, name: &str, value: CstInputValue) {
    match object.get(name) {
        Some(member) => member.set_value(value),
        None => {
            object.append(name, value);
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| (name.clone(), input(value));
            CstInputValue::Object(members.iter().map(member).collect())
        }
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
