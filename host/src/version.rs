//! The protocol's revisions and what each of them knows.

/// A revision of MCP that is served here, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// The first that was published.
    V2024_11_05,
    /// Audio, tool annotations, batches.
    V2025_03_26,
    /// Structured content, resource links, titles, elicitation; no batches any more.
    V2025_06_18,
    /// Icons, defaults in forms; the last one with a handshake.
    V2025_11_25,
    /// Stateless: every request says all about itself.
    V2026_07_28,
}

impl Version {
    /// Every revision that is served, oldest first.
    pub const ALL: [Version; 5] = [
        Version::V2024_11_05,
        Version::V2025_03_26,
        Version::V2025_06_18,
        Version::V2025_11_25,
        Version::V2026_07_28,
    ];

    /// What a legacy client gets that asks for something unknown, or for nothing.
    pub const LATEST_LEGACY: Version = Version::V2025_11_25;

    /// The revisions that a request may name in its metadata, and so what `server/discover` and the error for other
    /// versions list. The legacy ones are served too, but only after `initialize`: a client that picked one from this
    /// list and named it per request would be refused.
    pub const MODERN: [Version; 1] = [Version::V2026_07_28];

    /// As it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Version::V2024_11_05 => "2024-11-05",
            Version::V2025_03_26 => "2025-03-26",
            Version::V2025_06_18 => "2025-06-18",
            Version::V2025_11_25 => "2025-11-25",
            Version::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision with this name, if it is served.
    pub fn parse(text: &str) -> Option<Version> {
        Version::ALL
            .into_iter()
            .find(|version| version.as_str() == text)
    }

    /// Whether requests carry their own metadata and results say what they are.
    pub fn is_modern(self) -> bool {
        Version::MODERN.contains(&self)
    }

    /// Whether a line may be an array of messages.
    pub fn has_batches(self) -> bool {
        self == Version::V2025_03_26
    }

    /// Whether a client knows that a stream of events may begin with one that says nothing, so that there is something to
    /// resume from.
    pub fn has_primed_streams(self) -> bool {
        self == Version::V2025_11_25
    }

    /// Whether an error to an unreadable request carries `"id": null` rather than no id.
    pub fn has_null_ids(self) -> bool {
        self < Version::V2025_11_25
    }

    /// Whether content may be audio.
    pub fn has_audio(self) -> bool {
        self >= Version::V2025_03_26
    }

    /// Whether tools have hints on what they do.
    pub fn has_tool_annotations(self) -> bool {
        self >= Version::V2025_03_26
    }

    /// Whether completions are a capability of their own.
    pub fn has_completions(self) -> bool {
        self >= Version::V2025_03_26
    }

    /// Whether a progress notification may have a text.
    pub fn has_progress_messages(self) -> bool {
        self >= Version::V2025_03_26
    }

    /// Structured content and output schemas, resource links, titles, `_meta` on list members.
    pub fn has_structure(self) -> bool {
        self >= Version::V2025_06_18
    }

    /// Whether a client can show the person a form.
    pub fn has_forms(self) -> bool {
        self >= Version::V2025_06_18
    }

    /// Whether a client can send the person to a page, and its model can be asked with tools.
    pub fn has_visits_and_sampling_tools(self) -> bool {
        self >= Version::V2025_11_25
    }

    /// Icons, and descriptions of implementations.
    pub fn has_icons(self) -> bool {
        self >= Version::V2025_11_25
    }
}
