//! A client within the program, through the same door as any other: for what models are offered.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::convert;
use crate::embedder::Embedder;
use crate::jsonrpc::{self, Outgoing, OutgoingNotification};
use crate::protocol::{DEFAULT_ASK_TIMEOUT, Finished, Outbox, Resumed, Service, Session, Step};
use crate::sandbox::Sandbox;
use crate::seal_key::SealKey;
use crate::transport;

/// How often a call is made again because the component wants something; the protocol gives up earlier.
const MAX_ATTEMPTS: usize = 10_000;

/// A connection. What is saved over it belongs together in time, as with any client.
pub(super) struct Client {
    session: Session,
    last_id: u64,
}

impl Client {
    pub(super) fn new(sandbox: &Sandbox) -> Result<Client> {
        let profile = sandbox.profile().clone();
        // It declares nothing that it could be asked for, so what is sealed is never needed.
        let service = Service::new(profile, SealKey::beside(None), DEFAULT_ASK_TIMEOUT);
        let session = Session::new(Arc::new(service), transport::connection_id()?);
        Ok(Client {
            session,
            last_id: 0,
        })
    }

    /// Makes a request; returns its result.
    ///
    /// # Errors
    ///
    /// The response is an error, whose message this is.
    pub(super) fn request(
        &mut self,
        method: &str,
        params: &Value,
        sandbox: &mut Sandbox,
        embedder: Option<&Embedder>,
    ) -> Result<Value> {
        self.last_id += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        let outbox: Arc<dyn Outbox> = Arc::new(Nobody);
        let received = self
            .session
            .receive(jsonrpc::parse(request.to_string().as_bytes()), &outbox);
        let mut response = match answer(received, sandbox, embedder)? {
            Some(response) => serde_json::to_value(response)?,
            None => bail!("{method} was not answered"),
        };
        match response.pointer("/error/message").and_then(Value::as_str) {
            Some(message) => bail!("{message}"),
            None => Ok(response["result"].take()),
        }
    }

    /// Calls a tool; returns its result.
    ///
    /// # Errors
    ///
    /// The tool refuses, or the call fails: with the text that a model would read.
    pub(super) fn call_tool(
        &mut self,
        name: &str,
        arguments: &Value,
        sandbox: &mut Sandbox,
        embedder: Option<&Embedder>,
    ) -> Result<ToolReply> {
        let params = json!({"name": name, "arguments": arguments});
        let mut result = self.request("tools/call", &params, sandbox, embedder)?;
        let text = result["content"][0]["text"].as_str();
        let text = text
            .with_context(|| format!("{name} says nothing: {result}"))?
            .to_owned();
        if result["isError"] == true {
            bail!("{text}");
        }
        let structured = result["structuredContent"].take();
        Ok(ToolReply { text, structured })
    }
}

/// What a tool replied.
pub(super) struct ToolReply {
    /// For a model.
    pub(super) text: String,
    /// The same as JSON.
    pub(super) structured: Value,
}

fn answer(
    step: Step,
    sandbox: &mut Sandbox,
    embedder: Option<&Embedder>,
) -> Result<Option<jsonrpc::Response>> {
    let mut pending = match step {
        Step::Call(pending) => pending,
        Step::Reply(response) => return Ok(Some(response)),
        Step::Nothing | Step::Batch(_) => return Ok(None),
    };
    for _ in 0..MAX_ATTEMPTS {
        let outcome = sandbox.call(&pending.context, &pending.call, &pending.cancel, None);
        let mut finished = pending.finish(outcome);
        pending = loop {
            match finished {
                Finished::With(response) => return Ok(Some(response)),
                Finished::Silently | Finished::Asking(_) => return Ok(None),
                Finished::Wanting(call, wanted) => {
                    match call.resume(convert::meet(wanted, embedder)) {
                        Resumed::Again(call) => break call,
                        Resumed::Finished(then) => finished = then,
                    }
                }
            }
        };
    }
    bail!("the component had no answer after {MAX_ATTEMPTS} attempts")
}

/// Nothing is said besides the answer.
struct Nobody;

impl Outbox for Nobody {
    fn send(&self, _: Outgoing) {}
    fn offer(&self, _: OutgoingNotification) {}
}
