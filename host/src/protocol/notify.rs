//! What a running call tells its client: progress and log messages, as far as the client asked for them.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::scope::Scope;
use crate::jsonrpc::OutgoingNotification;
use crate::sandbox::Notifier;
use crate::sandbox::bindings::personal_memory::mcp::types::LogLevel;

/// Where a transport takes notifications for a connection.
pub trait Outbox: Send + Sync {
    /// Sends it now, before the response to the call that is running.
    fn send(&self, notification: &OutgoingNotification);
}

/// Notifications of one call.
pub(super) struct CallNotifier {
    outbox: Arc<dyn Outbox>,
    scope: Scope,
    /// The progress sent last: it must grow (specification, "Progress").
    last_progress: Mutex<f64>,
}

impl CallNotifier {
    pub(super) fn new(outbox: Arc<dyn Outbox>, scope: Scope) -> CallNotifier {
        CallNotifier {
            outbox,
            scope,
            last_progress: Mutex::new(f64::NEG_INFINITY),
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
        if !done.is_finite() || done <= *last {
            return;
        }
        *last = done;
        let mut params = json!({"progressToken": token, "progress": done});
        if let Some(total) = total.filter(|total| total.is_finite()) {
            params["total"] = total.into();
        }
        if let Some(message) = message.filter(|_| self.scope.version.has_audio_and_annotations()) {
            params["message"] = message.into();
        }
        self.outbox
            .send(&OutgoingNotification::new("notifications/progress", params));
    }

    fn log(&self, level: LogLevel, logger: Option<String>, data: &str) {
        if self
            .scope
            .log_level
            .is_none_or(|wanted| severity(level) < severity(wanted))
        {
            return;
        }
        // Malformed data is still worth reading.
        let data = serde_json::from_str(data).unwrap_or_else(|_| Value::from(data));
        let mut params = json!({"level": name(level)});
        if let Some(logger) = logger {
            params["logger"] = logger.into();
        }
        params["data"] = data;
        self.outbox
            .send(&OutgoingNotification::new("notifications/message", params));
    }
}

const LEVELS: [(LogLevel, &str); 8] = [
    (LogLevel::Debug, "debug"),
    (LogLevel::Info, "info"),
    (LogLevel::Notice, "notice"),
    (LogLevel::Warning, "warning"),
    (LogLevel::Error, "error"),
    (LogLevel::Critical, "critical"),
    (LogLevel::Alert, "alert"),
    (LogLevel::Emergency, "emergency"),
];

fn severity(level: LogLevel) -> usize {
    LEVELS
        .iter()
        .position(|(other, _)| *other == level)
        .unwrap_or(LEVELS.len())
}

fn name(level: LogLevel) -> &'static str {
    LEVELS[severity(level)].1
}
