//! The calls that can be made of a component, as values: they wait in a queue and travel to the thread that owns the
//! instance.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use super::bindings::exports::personal_memory::mcp::{completion, prompts, resources, tools};
use super::bindings::personal_memory::mcp::types::{Error as ComponentError, Resumption};

/// One call, with its arguments.
#[derive(Debug)]
#[expect(
    missing_docs,
    reason = "the arguments are those of the functions in wit/mcp"
)]
pub enum Call {
    /// `tools.list`
    ListTools { cursor: Option<String> },
    /// `tools.call`
    CallTool {
        name: String,
        arguments: String,
        resume: Option<Resumption>,
    },
    /// `resources.list`
    ListResources { cursor: Option<String> },
    /// `resources.list-templates`
    ListTemplates { cursor: Option<String> },
    /// `resources.read`
    ReadResource {
        uri: String,
        resume: Option<Resumption>,
    },
    /// `prompts.list`
    ListPrompts { cursor: Option<String> },
    /// `prompts.get`
    GetPrompt {
        name: String,
        arguments: Vec<(String, String)>,
        resume: Option<Resumption>,
    },
    /// `completion.complete`
    Complete {
        reference: completion::Reference,
        argument: completion::Argument,
        resolved: Vec<(String, String)>,
    },
    /// `changes.can-subscribe`, of each
    CanSubscribe { uris: Vec<String> },
}

impl Call {
    /// What the call names, for messages about a name that does not exist.
    pub fn noun(&self) -> &'static str {
        match self {
            Call::ListTools { .. } | Call::CallTool { .. } => "tool",
            Call::ListPrompts { .. } | Call::GetPrompt { .. } => "prompt",
            Call::ListResources { .. }
            | Call::ListTemplates { .. }
            | Call::ReadResource { .. }
            | Call::CanSubscribe { .. } => "resource",
            Call::Complete { .. } => "reference",
        }
    }

    /// Whether the component can want anything before it answers.
    pub fn can_ask(&self) -> bool {
        matches!(
            self,
            Call::CallTool { .. } | Call::ReadResource { .. } | Call::GetPrompt { .. }
        )
    }

    /// Gives the call what the component wanted to have, where it can want anything.
    pub fn resume(&mut self, resumption: Resumption) {
        match self {
            Call::CallTool { resume, .. }
            | Call::ReadResource { resume, .. }
            | Call::GetPrompt { resume, .. } => *resume = Some(resumption),
            _ => {}
        }
    }

    /// Whether a component that keeps a store may look into it for this call. What a component *is* does not depend on
    /// its store (`server.description` in `wit/mcp`), so that can be asked while another process holds the lock.
    pub fn uses_store(&self) -> bool {
        match self {
            Call::ListTools { .. } | Call::ListTemplates { .. } | Call::ListPrompts { .. } => false,
            Call::CanSubscribe { uris } => !uris.is_empty(),
            _ => true,
        }
    }
}

/// What a [`Call`] gave back; the cases correspond.
#[derive(Debug)]
pub enum Outcome {
    /// Of [`Call::ListTools`].
    Tools(tools::ToolPage),
    /// Of [`Call::CallTool`].
    Tool(tools::ToolOutcome),
    /// Of [`Call::ListResources`].
    Resources(resources::ResourcePage),
    /// Of [`Call::ListTemplates`].
    Templates(resources::TemplatePage),
    /// Of [`Call::ReadResource`].
    Read(resources::ReadOutcome),
    /// Of [`Call::ListPrompts`].
    Prompts(prompts::PromptPage),
    /// Of [`Call::GetPrompt`].
    Prompt(prompts::PromptOutcome),
    /// Of [`Call::Complete`].
    Suggestions(completion::Suggestions),
    /// Of [`Call::CanSubscribe`], in its order.
    CanSubscribe(Vec<bool>),
}

/// Why there is no [`Outcome`].
#[derive(Debug)]
pub enum CallError {
    /// The component says that the request is wrong.
    Refused(ComponentError),
    /// The call did not end; its instance is gone and the next call gets a fresh one.
    Abnormal(Abnormal),
    /// Another process has the store; the text says which. Nothing was called.
    Busy(String),
    /// The store can't be used at present; the text says why.
    Unavailable(String),
    /// The component does not export this.
    NotExported(&'static str),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Refused(refusal) => write!(f, "the component refuses: {refusal:?}"),
            CallError::Abnormal(abnormal) => abnormal.fmt(f),
            CallError::Busy(reason) | CallError::Unavailable(reason) => f.write_str(reason),
            CallError::NotExported(interface) => write!(f, "it does not export `{interface}`"),
        }
    }
}

/// How a call ended that did not return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Abnormal {
    /// It took longer than this.
    Deadline(Duration),
    /// It wanted more memory than this many bytes.
    Memory(usize),
    /// It trapped: a panic, an impossible instruction, a stack overflow. The details went to the log.
    Trap,
    /// It was cancelled.
    Cancelled,
    /// A fresh instance could not be made. The details went to the log.
    Start,
}

impl fmt::Display for Abnormal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Abnormal::Deadline(limit) => {
                write!(
                    f,
                    "the call was stopped: it took longer than {} ms",
                    limit.as_millis()
                )
            }
            Abnormal::Memory(limit) => write!(
                f,
                "the call was stopped: it wanted more than {limit} bytes of memory"
            ),
            Abnormal::Trap => f.write_str("the component failed; standard error has the details"),
            Abnormal::Cancelled => f.write_str("the call was cancelled"),
            Abnormal::Start => {
                f.write_str("the component could not be started; standard error has the details")
            }
        }
    }
}

/// Stops a call, from any thread and whether it runs or still waits. Clones stop the same call.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<CancelState>);

#[derive(Debug, Default)]
struct CancelState {
    cancelled: AtomicBool,
    changed: Notify,
}

impl Cancel {
    /// Stops the call. Only the first time has an effect.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        // Stored for a call that starts to wait later.
        self.0.changed.notify_one();
    }

    /// Whether the call was stopped.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Returns when the call is stopped. Only one call waits for it.
    pub(super) async fn cancelled(&self) {
        while !self.is_cancelled() {
            self.0.changed.notified().await;
        }
    }
}
