//! The person's consent, where they want to be asked before something is saved, changed or forgotten.
//!
//! A call that wants consent changes nothing and says what is to be asked; whoever carries it asks, and makes the same call
//! again with the answer. Only a plain yes to the very same thing counts: an answer that can't be understood is none, and
//! neither is one to a question about what has changed since.
//!
//! What travels with the question is a fingerprint of what was asked, and no secret. It does not prove that a person
//! answered: the app shows the question and could answer by itself, as it could call any tool by itself. It guards against
//! mistakes, which is all that can be guarded against here.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::config::{CONFIRM, Confirm, SERVER_NAME};
use crate::request::Moment;
use crate::store::fingerprint;
use crate::visible::one_line;

/// What is wanted of the person, as the call's edge tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asking {
    /// What the person wants to be asked before.
    pub confirm: Confirm,
    /// Whether the app can show a question.
    pub can_ask: bool,
    /// What came back, if the call is made again.
    pub reply: Option<Reply>,
}

/// An answer, and what it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The state of the question.
    pub state: Vec<u8>,
    /// The answer.
    pub answer: Answer,
}

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The app's result, JSON as it came: hostile input.
    Input(String),
    /// No answer; the text says why.
    Failed(String),
}

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is to be done, and to what.
    pub message: String,
    /// The name of the one thing that can be ticked.
    pub title: &'static str,
    /// Comes back with the answer.
    pub state: Vec<u8>,
}

impl Question {
    /// The form's schema: a boolean, which stands for no until it is ticked.
    pub fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {CONFIRM: {"type": "boolean", "title": self.title, "default": false}},
            "required": [CONFIRM],
        })
    }
}

/// What a tool does that a person may want to be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Something new is kept.
    Save,
    /// A memory comes to say something else.
    Update,
    /// A memory is hidden.
    Forget,
}

impl Deed {
    /// What was not done to it, after "nothing was".
    pub fn done(self) -> &'static str {
        match self {
            Self::Save => "stored",
            Self::Update => "changed",
            Self::Forget => "forgotten",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Save => "Save it",
            Self::Update => "Change it",
            Self::Forget => "Forget it",
        }
    }

    fn is_asked_about(self, confirm: Confirm) -> bool {
        match confirm {
            Confirm::Saves => true,
            Confirm::Forgets => self == Self::Forget,
            Confirm::None => false,
        }
    }

    /// The setting under which it needs no question.
    fn unasked_with(self) -> Confirm {
        match self {
            Self::Save | Self::Update => Confirm::Forgets,
            Self::Forget => Confirm::None,
        }
    }
}

/// What is about to be done.
#[derive(Clone, Copy, Debug)]
pub struct Proposal<'a> {
    /// Which kind of thing.
    pub deed: Deed,
    /// The call's arguments.
    pub arguments: &'a Value,
    /// What the person is shown: the memory as it is, and as it will be. On lines of its own, nothing in it hidden.
    pub message: &'a str,
    /// All that the person agrees to, the part that the message has no room for included.
    pub subject: &'a str,
    /// What the person can do where they can't be asked.
    pub instead: &'a str,
}

/// Whether something may be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// It may.
    Given,
    /// The person has to be asked first.
    Needed(Question),
    /// It may not; the text says why.
    Withheld(String),
}

/// Finds out whether something may be done.
pub fn consent(proposal: &Proposal<'_>, moment: &Moment) -> Consent {
    let asking = moment.asking();
    let done = proposal.deed.done();
    if !proposal.deed.is_asked_about(asking.confirm) {
        return Consent::Given;
    }
    let state = state_of(proposal);
    match &asking.reply {
        None if asking.can_ask => Consent::Needed(Question {
            message: proposal.message.to_owned(),
            title: proposal.deed.title(),
            state,
        }),
        // Without a question nobody agrees; a person who is not told that something was forgotten won't restore it.
        None => Consent::Withheld(format!(
            "nothing was {done}: the user wants to be asked first, and this app can't show them a question; they can {}, or \
             start the server with `--set {CONFIRM}={}`",
            proposal.instead,
            proposal.deed.unasked_with().name(),
        )),
        Some(reply) => match understand(&reply.answer) {
            Err(reason) => Consent::Withheld(format!("nothing was {done}: {reason}")),
            Ok(()) if reply.state != state => Consent::Withheld(format!(
                "nothing was {done}: what the user was asked about has changed since; call again to ask about it as it is now"
            )),
            Ok(()) => Consent::Given,
        },
    }
}

/// Names what is asked. Different for whatever a person would want to be asked about again.
fn state_of(proposal: &Proposal<'_>) -> Vec<u8> {
    let arguments = proposal.arguments.to_string();
    let parts = [
        SERVER_NAME.as_bytes(),
        proposal.deed.done().as_bytes(),
        arguments.as_bytes(),
        proposal.subject.as_bytes(),
    ];
    fingerprint(&parts).to_le_bytes().to_vec()
}

/// The result of an elicitation. Other members are the protocol's to add.
///
/// See <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation>.
#[derive(Deserialize)]
struct Elicited<'a> {
    action: String,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// What was filled in: what the form has, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filled {
    confirm: bool,
}

/// A plain yes, or why it is none.
fn understand(answer: &Answer) -> Result<(), String> {
    const NO: &str = "the user said no; don't ask again unless they come back to it";
    const UNCLEAR: &str = "the app's answer to the question can't be understood";
    let input = match answer {
        Answer::Input(input) => input,
        Answer::Failed(reason) => {
            return Err(format!("the user gave no answer ({})", one_line(reason)));
        }
    };
    let elicited: Elicited<'_> = object(input).ok_or(UNCLEAR)?;
    match elicited.action.as_str() {
        "accept" => {
            let content = elicited.content.ok_or(UNCLEAR)?;
            let filled: Filled = object(content.get()).ok_or(UNCLEAR)?;
            filled.confirm.then_some(()).ok_or(NO.to_owned())
        }
        "decline" => Err(NO.to_owned()),
        "cancel" => Err("the user closed the question without an answer".to_owned()),
        _ => Err(UNCLEAR.to_owned()),
    }
}

/// An object, each member of which stands in it once. (Read as a structure, an array of its values would pass as well.)
fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    let is_object = json.trim_start().starts_with('{');
    serde_json::from_str(json).ok().filter(|_| is_object)
}

#[cfg(test)]
#[path = "consent_tests.rs"]
mod tests;
