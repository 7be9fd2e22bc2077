//! The rows of a report: from words alone to all that a search of the memory does, one part more in each.

use ranking::Recipe;

use crate::security::echo;

/// One way to search.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// As requests and reports call it.
    pub(super) name: &'static str,
    pub(super) recipe: Recipe,
    /// What has a say besides relevance.
    pub(super) lifts: Lifts,
    /// Whether documents stand in an order, and in sessions, that mean nothing.
    pub(super) is_shuffled: bool,
    /// Whether the vectors of the configured provider are used.
    pub(super) asks_provider: bool,
}

/// What lifts a memory over others that are about as relevant.
#[derive(Clone, Copy)]
pub(super) struct Lifts {
    pub(super) recency: bool,
    pub(super) importance: bool,
}

impl Lifts {
    const NONE: Self = Self {
        recency: false,
        importance: false,
    };
    const RECENCY: Self = Self {
        recency: true,
        ..Self::NONE
    };
    const IMPORTANCE: Self = Self {
        importance: true,
        ..Self::NONE
    };
    const BOTH: Self = Self {
        recency: true,
        importance: true,
    };

    /// Whether anything does.
    pub(super) fn any(self) -> bool {
        self.recency || self.importance
    }
}

const fn row(name: &'static str, recipe: Recipe) -> Row {
    Row {
        name,
        recipe,
        lifts: Lifts::NONE,
        is_shuffled: false,
        asks_provider: false,
    }
}

/// What searches beyond the ranking: what lifts memories, order that means nothing, and a provider.
const BEYOND: [Row; 5] = [
    Row {
        lifts: Lifts::RECENCY,
        ..row("recency", Recipe::FULL)
    },
    Row {
        lifts: Lifts::IMPORTANCE,
        ..row("importance", Recipe::FULL)
    },
    Row {
        lifts: Lifts::BOTH,
        ..row("memory", Recipe::FULL)
    },
    Row {
        is_shuffled: true,
        ..row("shuffled", Recipe::FULL)
    },
    Row {
        asks_provider: true,
        ..row("provider", Recipe::FULL)
    },
];

/// In the order of a report.
fn rows() -> impl Iterator<Item = Row> {
    let steps = Recipe::STEPS.map(|(name, recipe)| row(name, recipe));
    steps.into_iter().chain(BEYOND)
}

impl Row {
    /// Those of these names, in the order of the report; all that are possible if none are named.
    pub(super) fn chosen(
        names: Option<&[String]>,
        has_embedder: bool,
    ) -> Result<Vec<Self>, String> {
        let Some(names) = names else {
            return Ok(rows()
                .filter(|row| has_embedder || !row.asks_provider)
                .collect());
        };
        for name in names {
            let Some(row) = rows().find(|row| row.name == name) else {
                let known: Vec<&str> = rows().map(|row| row.name).collect();
                return Err(format!(
                    "unknown row {}; known are {}",
                    echo(name),
                    known.join(", ")
                ));
            };
            if row.asks_provider && !has_embedder {
                return Err(format!("no embedder is configured for the row {name:?}"));
            }
        }
        let is_named = |row: &Row| names.iter().any(|name| row.name == name);
        Ok(rows().filter(is_named).collect())
    }
}
