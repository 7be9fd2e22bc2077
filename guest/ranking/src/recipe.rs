//! What a search takes into account, and what each part weighs.
//!
//! A score is a weighted sum of signals that lie between 0 and 1 (see [`Recipe`]). Every weight is a constant here, with
//! where it comes from; every signal can be switched off by a weight of 0, so that its worth can be measured.
//!
//! Most weights were fitted on five long conversations of the LoCoMo benchmark (Maharana et al., 2024) and checked on five
//! others, with two collections of abstracts (SciFact, Cranfield) to see that nothing that helps conversations hurts texts
//! that have no order, dates or speakers. `examples/beir.rs` measures them again.

use crate::bm25::Bm25Params;

/// Half dense, half lexical: the best mixture of a static embedding of 64 dimensions with BM25 once the latter matches
/// softly; .4 is as good without that.
pub const DENSE_SHARE: f32 = 0.5;

/// A word that a memory has only a likeness of counts half of what the likeness is worth.
pub const SOFT: f32 = 0.5;

/// Two words are alike from this cosine on. Below, nearly everything is like everything.
pub const SOFT_FLOOR: f32 = 0.45;

/// What the memories before hand on, the nearest first.
pub const FROM_BEFORE: [f32; 3] = [0.4, 0.3, 0.1];

/// An answer follows its question: the memory before hands on so much more if it ends in a question, and half of that less
/// if it does not.
///
/// Fitted on four of five LoCoMo conversations and measured on the fifth, each in turn: nDCG@10 +.010 [.001, .019], recall@5
/// +.016, recall@10 +.007 [-.001, .015], and no conversation loses. About 27 variants of this and other ideas were
/// measured on the same questions, which the intervals do not allow for.
pub const FROM_QUESTION: f32 = 0.4;

/// What the memories after hand on, the nearest first.
pub const FROM_AFTER: [f32; 2] = [0.15, 0.15];

/// What the best memory of a sitting hands on to all of it.
pub const FROM_SITTING: f32 = 0.7;

/// Neighbours count in full once they are this much more alike than memories at random. A store whose order means nothing
/// is at 0, conversations are at .16 to .26.
pub const FULL_COHERENCE: f32 = 0.1;

/// A memory from the time that the query names.
pub const DATE: f32 = 0.5;

/// A memory whose leading `Name:` the query names.
pub const LABEL: f32 = 0.45;

/// A memory that speaks of a time, when the query asks for one.
pub const WHEN: f32 = 0.35;

/// A memory that ends in a question answers none.
pub const QUESTION: f32 = 0.15;

/// Coverage below which nothing was found. Rejects .6 % of the questions that have an answer.
pub const NOTHING_BELOW: f32 = 0.16;

/// A document that shares no word with the query may say the same in others. No floor of the cosine tells that from chance
/// ("kangaroo" reaches .34 anywhere), but what is alike by chance is alike to many: a document stands out if its cosine is
/// at least this, and
pub const LIKE_AT_LEAST: f32 = 0.4;
/// so much above that
pub const STANDS_OUT_BY: f32 = 0.2;
/// of the last of so many. With these, three of five paraphrases that had been turned away are found, with low confidence,
/// and of 760 questions that were put to another conversation as many are turned away as before (182).
pub const STANDS_OUT_AMONG: usize = 5;

/// Coverage below which what was found should be taken with a grain of salt.
pub const DOUBT_BELOW: f32 = 0.24;

/// The weights of one search.
///
/// With `minmax` over all documents of the pool:
///
/// ```text
/// lexical = minmax(BM25 + soft x Soft)
/// base    = (1 - dense) x lexical + dense x minmax(cosine)
/// P       = base^2 - mean(base^2)
/// score   = base
///         + gate x (sum of before[d] x P(d + 1 places before) + after[d] x P(d + 1 places after)
///                   + sitting x max of base over the sitting
///                   + answers x (1 if the place before ends in "?", else -1/2) x P(1 place before))
///         + date x Date + label x Label + when x When - question x Question
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// The two knobs of BM25.
    pub bm25: Bm25Params,
    /// The share of the dense part, from 0 (lexical only) to 1 (dense only).
    pub dense: f32,
    /// Whether a rare word weighs more than a common one in the query's vector. The built-in embedder only.
    pub query_idf: bool,
    /// What a likeness counts, see [`SOFT`]. 0 leaves soft matching out, and its cost.
    pub soft: f32,
    /// What neighbours hand on.
    pub smoothing: Smoothing,
    /// See [`DATE`].
    pub date: f32,
    /// See [`LABEL`].
    pub label: f32,
    /// See [`WHEN`].
    pub when: f32,
    /// See [`QUESTION`].
    pub question: f32,
    /// Whether words that nobody wrote are taken for the nearest that somebody did.
    pub typos: bool,
    /// Whether too little coverage empties the answer. The verdict is given either way.
    pub cut_nothing: bool,
}

/// What neighbours hand on to each other: memories of one sitting (the same session, no long gap), in the order of saving.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothing {
    /// See [`FROM_BEFORE`].
    pub before: [f32; 3],
    /// See [`FROM_QUESTION`].
    pub answers: f32,
    /// See [`FROM_AFTER`].
    pub after: [f32; 2],
    /// See [`FROM_SITTING`].
    pub sitting: f32,
}

impl Smoothing {
    /// Neighbours hand nothing on.
    pub const OFF: Self = Self {
        before: [0.0; 3],
        answers: 0.0,
        after: [0.0; 2],
        sitting: 0.0,
    };

    /// As measured.
    pub const ON: Self = Self {
        before: FROM_BEFORE,
        answers: FROM_QUESTION,
        after: FROM_AFTER,
        sitting: FROM_SITTING,
    };

    /// What the nearest memory before hands on.
    pub fn from_nearest(&self, is_question: bool) -> f32 {
        let more = if is_question {
            self.answers
        } else {
            -self.answers / 2.0
        };
        self.before[0] + more
    }

    /// Whether any weight is left.
    pub fn is_on(&self) -> bool {
        *self != Self::OFF
    }
}

impl Recipe {
    /// Words and nothing else.
    pub const LEXICAL: Self = Self {
        bm25: Bm25Params::MEMORIES,
        dense: 0.0,
        query_idf: true,
        soft: 0.0,
        smoothing: Smoothing::OFF,
        date: 0.0,
        label: 0.0,
        when: 0.0,
        question: 0.0,
        typos: false,
        cut_nothing: false,
    };

    /// Vectors and nothing else.
    pub const DENSE: Self = Self {
        dense: 1.0,
        ..Self::LEXICAL
    };

    /// Words and vectors.
    pub const HYBRID: Self = Self {
        dense: DENSE_SHARE,
        ..Self::LEXICAL
    };

    /// Everything: what a memory has and a collection of documents has not.
    pub const FULL: Self = Self {
        cut_nothing: true,
        ..Self::TYPOS
    };

    /// From words alone to everything, with the names that reports have for them. From the third on each has one part more
    /// than the one before, so that what a part is worth shows between the two.
    pub const STEPS: [(&str, Self); 12] = [
        ("lexical", Self::LEXICAL),
        ("dense", Self::DENSE),
        ("hybrid", Self::HYBRID),
        ("soft", Self::SOFT),
        ("neighbours", Self::NEIGHBOURS),
        ("answers", Self::ANSWERS),
        ("dates", Self::DATES),
        ("labels", Self::LABELS),
        ("when", Self::WHEN),
        ("questions", Self::QUESTIONS),
        ("typos", Self::TYPOS),
        ("full", Self::FULL),
    ];

    const SOFT: Self = Self {
        soft: SOFT,
        ..Self::HYBRID
    };
    const NEIGHBOURS: Self = Self {
        smoothing: Smoothing {
            answers: 0.0,
            ..Smoothing::ON
        },
        ..Self::SOFT
    };
    const ANSWERS: Self = Self {
        smoothing: Smoothing::ON,
        ..Self::NEIGHBOURS
    };
    const DATES: Self = Self {
        date: DATE,
        ..Self::ANSWERS
    };
    const LABELS: Self = Self {
        label: LABEL,
        ..Self::DATES
    };
    const WHEN: Self = Self {
        when: WHEN,
        ..Self::LABELS
    };
    const QUESTIONS: Self = Self {
        question: QUESTION,
        ..Self::WHEN
    };
    const TYPOS: Self = Self {
        typos: true,
        ..Self::QUESTIONS
    };
}

impl Default for Recipe {
    fn default() -> Self {
        Self::FULL
    }
}
