//! What a running call tells its client: progress and log messages, as far as the client asked for them.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::outbox::{Outbox, notification};
use super::scope::Scope;
use crate::convert;
use crate::sandbox::bindings::personal_memory::mcp::types::LogLevel;
use crate::sandbox::{Cancel, Notifier};

/// Notifications of one call.
pub(super) struct CallNotifier {
    outbox: Arc<dyn Outbox>,
    scope: Scope,
    /// A cancelled call says nothing more (specification, "Cancellation").
    cancel: Cancel,
    /// The progress sent last: it must grow (specification, "Progress").
    last_progress: Mutex<f64>,
}

impl CallNotifier {
    pub(super) fn new(outbox: Arc<dyn Outbox>, scope: Scope, cancel: Cancel) -> CallNotifier {
        CallNotifier {
            outbox,
            scope,
            cancel,
            last_progress: Mutex::new(f64::NEG_INFINITY),
        }
    }

    /// The call goes on, with all that it holds, while this is said: so it is not waited for.
    fn offer(&self, method: &'static str, params: Value) {
        if let Some(notification) = notification(method, params) {
            self.outbox.offer(notification);
        }
    }
}

impl Notifier for CallNotifier {
    fn progress(&self, done: f64, total: Option<f64>, message: Option<String>) {
        let Some(token) = &self.scope.progress_token else {
            return;
        };
        let mut last = self
            .last_progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !done.is_finite() || done <= *last || self.cancel.is_cancelled() {
            return;
        }
        *last = done;
        let mut params = json!({"progressToken": token, "progress": done});
        if let Some(total) = total.filter(|total| total.is_finite()) {
            params["total"] = total.into();
        }
        if let Some(message) = message.filter(|_| self.scope.version.has_progress_messages()) {
            params["message"] = message.into();
        }
        self.offer("notifications/progress", params);
    }

    fn log(&self, level: LogLevel, logger: Option<String>, data: &str) {
        let name = self
            .scope
            .log_level
            .and_then(|wanted| convert::log_level_name(level, wanted));
        let Some(name) = name.filter(|_| !self.cancel.is_cancelled()) else {
            return;
        };
        // Malformed data is still worth reading.
        let data = serde_json::from_str(data).unwrap_or_else(|_| Value::from(data));
        let mut params = json!({"level": name});
        if let Some(logger) = logger {
            params["logger"] = logger.into();
        }
        params["data"] = data;
        self.offer("notifications/message", params);
    }
}
