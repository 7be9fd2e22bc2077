//! The contract's interfaces, one file each. Converts between the domain and the contract, reads the clock and chance, and
//! owns the one backend.

mod admin;
mod changes;
mod completion;
mod maintenance;
mod prompts;
mod resources;
mod tools;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

use crate::backend::MemoryBackend;
use crate::bindings::exports::personal_memory::mcp::server;
use crate::bindings::exports::personal_memory::mcp::types::{
    self as exported, CacheHint, CacheScope, ClientCapabilities, Content, ContentBody,
    EmbeddingPurpose, EmbeddingRequest, Error, Form, InputRequest, Need, Pending, RequestContext,
    Resumption, UnknownResource, Want,
};
use crate::config::{
    CONFIRM, Confirm, DATA_DIR, INSTRUCTIONS, SERVER_DESCRIPTION, SERVER_NAME, SERVER_TITLE,
    SERVER_VERSION, STATIC_LIST_TTL_MS,
};
use crate::consent::{Answer, Asking, Question, Reply};
use crate::request::{Given, Moment, RequestError};
use crate::security::echo;
use crate::store::disk::DirDisk;
use crate::visible::one_line;

pub(crate) struct Component;

thread_local! {
    /// The state of this instance. What matters is on the disk: an instance may be thrown away at any time.
    static BACKEND: RefCell<MemoryBackend> =
        RefCell::new(MemoryBackend::new(Box::new(DirDisk::new(DATA_DIR)), Box::new(random_id)));
    /// What the person wants to be asked before.
    static CONFIRM_BEFORE: Cell<Confirm> = const { Cell::new(Confirm::Forgets) };
}

/// Runs one call, and passes on what the person should know.
fn with_backend<T>(call: impl FnOnce(&mut MemoryBackend) -> T) -> T {
    BACKEND.with_borrow_mut(|backend| {
        let outcome = call(backend);
        for warning in backend.take_warnings() {
            eprintln!("{SERVER_NAME}: {}", one_line(&warning));
        }
        outcome
    })
}

fn random_id() -> [u8; 16] {
    let mut id = [0; 16];
    if getrandom::fill(&mut id).is_err() {
        // A runtime without chance: the time tells stores apart as well as may be.
        let nanos = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_nanos());
        id = nanos.to_be_bytes();
    }
    id
}

fn moment(context: &RequestContext) -> Moment {
    moment_in(&context.session)
}

/// The present moment, under a session id; none for what the owner does, which belongs to no conversation.
fn moment_in(session: &str) -> Moment {
    let now = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
    Moment::new(now, session)
}

/// Answers whether so many milliseconds have passed since now.
fn time_is_up_after(budget_ms: u32) -> impl FnMut() -> bool {
    let start = Instant::now();
    let budget = Duration::from_millis(budget_ms.into());
    move || start.elapsed() >= budget
}

impl server::Guest for Component {
    fn describe() -> server::Description {
        server::Description {
            name: SERVER_NAME.to_owned(),
            title: Some(SERVER_TITLE.to_owned()),
            version: SERVER_VERSION.to_owned(),
            description: Some(SERVER_DESCRIPTION.to_owned()),
            website_url: None,
            icons: Vec::new(),
            instructions: Some(INSTRUCTIONS.to_owned()),
            keeps_store: true,
            extensions: None,
        }
    }

    fn configure(environment: String) -> Result<(), String> {
        let environment = crate::request::read_environment(&environment)?;
        CONFIRM_BEFORE.set(environment.confirm);
        with_backend(|backend| backend.set_embedder(environment.embedder));
        Ok(())
    }
}

impl From<RequestError> for Error {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::UnknownName(name) => Self::UnknownName(name),
            RequestError::UnknownResource { uri, reason } => {
                Self::UnknownResource(UnknownResource { uri, reason })
            }
            RequestError::InvalidParams(text) => Self::InvalidParams(text),
            RequestError::Internal(text) => Self::Internal(text),
            // Where a call can't say what it needs.
            RequestError::NeedsVector(_) | RequestError::NeedsConsent(_) => {
                Self::Internal(error.to_string())
            }
        }
    }
}

/// The key under which the vector of a query is asked for.
const QUERY_KEY: &str = "query";
/// The key under which the vectors of memories are asked for.
const PASSAGES_KEY: &str = "passages";

/// Where a call stands: answered, or in need of something.
enum Stands<T> {
    Answered(T),
    Needs(Pending),
}

/// Tells a need from an error.
fn stands<T>(outcome: Result<T, RequestError>) -> Result<Stands<T>, Error> {
    match outcome {
        Ok(answer) => Ok(Stands::Answered(answer)),
        Err(RequestError::NeedsVector(query)) => Ok(Stands::Needs(Pending {
            needs: vec![embed(QUERY_KEY, vec![query], EmbeddingPurpose::Query)],
            state: None,
        })),
        Err(RequestError::NeedsConsent(question)) => Ok(Stands::Needs(ask(question))),
        Err(error) => Err(error.into()),
    }
}

fn embed(key: &str, texts: Vec<String>, purpose: EmbeddingPurpose) -> Need {
    Need {
        key: key.to_owned(),
        want: Want::Embed(EmbeddingRequest { texts, purpose }),
    }
}

fn ask(question: Question) -> Pending {
    let form = Form {
        requested_schema: question.schema().to_string(),
        message: question.message,
    };
    Pending {
        needs: vec![Need {
            key: CONFIRM.to_owned(),
            want: Want::Ask(InputRequest::ElicitForm(form)),
        }],
        state: Some(question.state),
    }
}

/// What the person wants to be asked before, whether this client can ask, and what it answered.
fn asking(context: &RequestContext, resume: Option<&Resumption>) -> Asking {
    Asking {
        confirm: CONFIRM_BEFORE.get(),
        can_ask: context.client_capabilities & ClientCapabilities::ELICITATION_FORM
            == ClientCapabilities::ELICITATION_FORM,
        reply: resume.and_then(reply),
    }
}

/// The answer to a question; one that was given none is asked again.
fn reply(resume: &Resumption) -> Option<Reply> {
    let mut answers = resume.answers.iter();
    let answer = answers.find(|answer| answer.key == CONFIRM)?;
    let answer = match &answer.given {
        exported::Given::Input(input) => Answer::Input(input.clone()),
        exported::Given::Failed(reason) => Answer::Failed(reason.clone()),
        exported::Given::Vectors(_) => return None,
    };
    Some(Reply {
        state: resume.state.clone().unwrap_or_default(),
        answer,
    })
}

/// The vectors that were given under a key, or why there are none.
fn given(resume: Option<Resumption>, key: &str) -> Option<Given> {
    let answers = resume?.answers.into_iter();
    answers
        .filter(|answer| answer.key == key)
        .find_map(|answer| match answer.given {
            exported::Given::Input(_) => None,
            exported::Given::Failed(reason) => Some(Given::Failed(reason)),
            exported::Given::Vectors(embedding) => Some(Given::Vectors {
                embedder: embedding.embedder,
                vectors: embedding.vectors,
            }),
        })
}

/// Lists that fit on one page give out no cursor, so any that comes is wrong.
fn only_page(cursor: Option<String>) -> Result<(), Error> {
    match cursor {
        Some(cursor) => Err(Error::InvalidParams(format!(
            "cursor {} was not given out by this server",
            echo(&cursor)
        ))),
        None => Ok(()),
    }
}

fn text_content(text: String) -> Content {
    Content {
        body: ContentBody::Text(text),
        annotations: None,
        meta: None,
    }
}

/// Memories are nobody else's, and may change with any call.
fn private() -> CacheHint {
    CacheHint {
        ttl_ms: 0,
        scope: CacheScope::Private,
    }
}

fn static_list() -> CacheHint {
    CacheHint {
        ttl_ms: STATIC_LIST_TTL_MS,
        scope: CacheScope::Public,
    }
}
