//! The rows of a report: from words alone to all that a search of the memory does, one part more in each.

use ranking::{Recipe, Smoothing};

use crate::security::echo;

/// One way to search.
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

const SOFT: Recipe = Recipe {
    soft: Recipe::FULL.soft,
    ..Recipe::HYBRID
};
const NEIGHBOURS: Recipe = Recipe {
    smoothing: Smoothing {
        answers: 0.0,
        ..Smoothing::ON
    },
    ..SOFT
};
const ANSWERS: Recipe = Recipe {
    smoothing: Smoothing::ON,
    ..NEIGHBOURS
};
const DATES: Recipe = Recipe {
    date: Recipe::FULL.date,
    ..ANSWERS
};
const LABELS: Recipe = Recipe {
    label: Recipe::FULL.label,
    ..DATES
};
const WHEN: Recipe = Recipe {
    when: Recipe::FULL.when,
    ..LABELS
};
const QUESTIONS: Recipe = Recipe {
    question: Recipe::FULL.question,
    ..WHEN
};
const TYPOS: Recipe = Recipe {
    typos: true,
    ..QUESTIONS
};

/// In the order of a report.
const ROWS: &[Row] = &[
    row("lexical", Recipe::LEXICAL),
    row("dense", Recipe::DENSE),
    row("hybrid", Recipe::HYBRID),
    row("soft", SOFT),
    row("neighbours", NEIGHBOURS),
    row("answers", ANSWERS),
    row("dates", DATES),
    row("labels", LABELS),
    row("when", WHEN),
    row("questions", QUESTIONS),
    row("typos", TYPOS),
    row("full", Recipe::FULL),
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

impl Row {
    /// Those of these names, in the order of the report; all that are possible if none are named.
    pub(super) fn chosen(
        names: Option<&[String]>,
        has_embedder: bool,
    ) -> Result<Vec<&'static Self>, String> {
        let Some(names) = names else {
            let possible = |row: &&Row| has_embedder || !row.asks_provider;
            return Ok(ROWS.iter().filter(possible).collect());
        };
        for name in names {
            let Some(row) = ROWS.iter().find(|row| row.name == name) else {
                let known: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
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
        let named = |row: &&Row| names.iter().any(|name| row.name == name);
        Ok(ROWS.iter().filter(named).collect())
    }
}
