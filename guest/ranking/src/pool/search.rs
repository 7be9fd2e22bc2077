//! One search, from the query to the answer.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use super::lexical::Lexical;
use super::signals::{Handed, Signals, bounds};
use super::{NONE, Pool, Sittings, external};
use crate::answer::{Found, Hit, Query, Verdict};
use crate::dates::Asked;
use crate::recipe::{
    DOUBT_BELOW, FROM_AFTER, FROM_BEFORE, LIKE_AT_LEAST, NOTHING_BELOW, Recipe, STANDS_OUT_AMONG,
    STANDS_OUT_BY,
};
use crate::scan::{self, Probe};
use crate::table::{self, DIMENSIONS};
use crate::tokens::{self, Class, QueryWord};

/// Without a word in common, with no neighbour that has one, and less like the query than this, a document is no hit. The
/// built-in embedding finds a cosine of .34 between things that have nothing to do with each other.
const LEAST_COSINE: f32 = 0.35;

impl Pool {
    /// The `k` best documents among those that `admits` lets pass, best first.
    ///
    /// What a word is worth, and how signals compare, is decided by all documents, so that a filter changes who is in the
    /// answer and not in which order. The verdict is about those that may pass.
    ///
    /// No text is an error. A vector that can't be compared (another number of dimensions, no direction, an embedder that
    /// nothing was given by) leaves the dense part out.
    pub fn search(
        &self,
        query: &Query<'_>,
        recipe: &Recipe,
        k: usize,
        admits: impl Fn(u32) -> bool,
    ) -> Found {
        let mut words = self.analyzer.query_words(query.text);
        let corrections = if recipe.typos {
            self.correct(&mut words)
        } else {
            Vec::new()
        };
        let names_a_day = recipe.date != 0.0 && Asked::of(query.text).is_some();
        let lexical = self.lexical(&words, recipe, names_a_day);
        let coverage = self.best_coverage(&lexical, &admits);
        let cosines = self.cosines(query, recipe, &words, &lexical);
        let verdict = match verdict(coverage, query.vector.is_some()) {
            Verdict::Nothing if self.one_stands_out(&cosines, &admits) => Verdict::LowConfidence,
            verdict => verdict,
        };
        let mut found = Found {
            hits: Vec::new(),
            verdict,
            coverage,
            corrections,
        };
        if k == 0 || (recipe.cut_nothing && verdict == Verdict::Nothing) {
            return found;
        }
        let text = with_corrections(query.text, &found.corrections);
        let signals = Signals::new(self, recipe, &text, lexical.scores, cosines);
        let is_like = |cosine: f32| query.vector.is_some() || cosine >= LEAST_COSINE;
        let is_hit = |slot: u32, handed: Handed| {
            !recipe.cut_nothing
                || signals.has_words(slot)
                || signals.cosine(slot).is_some_and(is_like)
                || handed.neighbours > 0.0
                || signals.date(slot) > 0.0
        };
        found.hits = self.best(&signals, k, |slot, handed| {
            is_hit(slot, handed) && admits(self.columns.doc(slot))
        });
        found
    }

    /// The cosine of each slot with the query; empty when the dense part plays no role.
    fn cosines(
        &self,
        query: &Query<'_>,
        recipe: &Recipe,
        words: &[QueryWord],
        lexical: &Lexical,
    ) -> Vec<f32> {
        if recipe.dense == 0.0 {
            return Vec::new();
        }
        if let Some((embedder, vector)) = query.vector {
            let space = self
                .externals
                .iter()
                .find(|space| space.name() == embedder)
                .filter(|space| space.dimensions() == vector.dimensions());
            let probe = external::probe(vector);
            return space.zip(probe).map_or_else(Vec::new, |(space, probe)| {
                let mut cosines = space.cosines(&probe, &self.base, self.columns.len());
                external::fill_unknown(&mut cosines, &self.sittings.order);
                cosines
            });
        }
        if is_of_names(query.text) {
            return Vec::new();
        }
        let mut sum = [0.0; DIMENSIONS];
        if recipe.query_idf {
            for (word, &idf) in words.iter().zip(&lexical.idf) {
                if word.class != Class::Extra {
                    table::add(&word.word, idf, &mut sum);
                }
            }
        } else {
            table::add(query.text, 1.0, &mut sum);
        }
        let Some(probe) = Probe::new(&sum) else {
            return Vec::new();
        };
        let (first, rest) = self.columns.inverses.split_at(self.base.documents());
        let mut cosines = Vec::with_capacity(self.columns.len());
        probe.append_cosines(scan::signed(self.base.rows()), first, &mut cosines);
        probe.append_cosines(self.tail.rows(), rest, &mut cosines);
        cosines
    }

    /// Whether a document means the same in other words: alike, and more so than chance makes the next ones.
    fn one_stands_out(&self, cosines: &[f32], admits: &impl Fn(u32) -> bool) -> bool {
        let mut best = [f32::NEG_INFINITY; STANDS_OUT_AMONG];
        for &slot in &self.sittings.order {
            let cosine = cosines.get(slot as usize).copied().unwrap_or(0.0);
            if cosine > best[STANDS_OUT_AMONG - 1] && admits(self.columns.docs[slot as usize]) {
                best[STANDS_OUT_AMONG - 1] = cosine;
                best.sort_unstable_by(|a, b| b.total_cmp(a));
            }
        }
        // Among fewer it stands out from the last of them.
        let last = best.iter().rev().find(|cosine| cosine.is_finite());
        last.is_some_and(|last| best[0] >= LIKE_AT_LEAST && best[0] - last >= STANDS_OUT_BY)
    }

    /// How much of the query the best document says that may be a hit.
    fn best_coverage(&self, lexical: &Lexical, admits: &impl Fn(u32) -> bool) -> f32 {
        // Only the living have any. What comes first of a search without a filter is the best of all.
        let (_, most) = bounds(&lexical.coverage);
        let admitted = |slot: usize| admits(self.columns.docs[slot]);
        let coverage = &lexical.coverage;
        let best = match coverage.iter().position(|&coverage| coverage == most) {
            Some(slot) if admitted(slot) => most,
            _ => (0..coverage.len()).fold(0.0, |best, slot| {
                let better = coverage[slot] > best && admitted(slot);
                if better { coverage[slot] } else { best }
            }),
        };
        best / lexical.asked.max(f32::MIN_POSITIVE)
    }

    /// The best of those that are hits, best first.
    fn best(
        &self,
        signals: &Signals<'_>,
        k: usize,
        is_hit: impl Fn(u32, Handed) -> bool,
    ) -> Vec<Hit> {
        let mut best = Best {
            hits: BinaryHeap::new(),
            k,
            least: 0.0,
        };
        let offer = |best: &mut Best, slot: u32, handed: Handed| {
            let score = signals.score(slot, handed);
            // Nearly all fail here.
            if score > 0.0 && score >= best.least && is_hit(slot, handed) {
                let doc = self.columns.doc(slot);
                best.push(Ranked {
                    score,
                    doc,
                    slot,
                    handed,
                });
            }
        };
        if !signals.smooths() {
            self.each_with_enough(signals, &mut best, |best, slot| {
                offer(best, slot, Handed::default());
            });
            return best.into_hits(signals);
        }
        for block in blocks(signals, &self.sittings, k) {
            if block.ceiling < best.least {
                continue;
            }
            for (slot, handed) in signals.handed(block.sitting, block.range, block.best) {
                offer(&mut best, slot, handed);
            }
        }
        if self.sittings.some_are_alone() {
            self.each_with_enough(signals, &mut best, |best, slot| {
                if self.columns.sessions[slot as usize] == NONE {
                    offer(best, slot, signals.handed_by_itself(slot));
                }
            });
        }
        best.into_hits(signals)
    }

    /// Each living document whose base is enough to be one of the best if it sits alone. Chunks with high ones come first,
    /// so that after a few of them little is enough.
    fn each_with_enough(
        &self,
        signals: &Signals<'_>,
        best: &mut Best,
        mut offer: impl FnMut(&mut Best, u32),
    ) {
        let mut chunks: Vec<_> = signals
            .bases()
            .map(|(first, bases)| (bounds(bases).1, first, bases))
            .collect();
        chunks.sort_unstable_by(|left, right| right.0.total_cmp(&left.0));
        let mut needed = signals.least_own(best.least);
        for (most, first, bases) in chunks {
            if most < needed {
                break;
            }
            for (slot, &base) in (first..).zip(bases) {
                if base >= needed && self.columns.is_alive(slot) {
                    offer(best, slot);
                    needed = signals.least_own(best.least);
                }
            }
        }
    }
}

/// Members of a sitting that follow each other.
struct Block<'a> {
    sitting: &'a [u32],
    range: Range<usize>,
    /// The best base of the sitting.
    best: f32,
    /// No score among them is higher.
    ceiling: f32,
}

/// A block has so many members at most: a sitting of thousands is not looked through for the sake of a few.
const MAX_BLOCK: usize = 32;

/// All blocks of all sittings. The `k` whose scores can be highest come first, so that most others need no look.
fn blocks<'a>(signals: &Signals<'_>, sittings: &'a Sittings, k: usize) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    for sitting in sittings.each() {
        let best = signals.best_base(sitting);
        for start in (0..sitting.len()).step_by(MAX_BLOCK) {
            let end = sitting.len().min(start + MAX_BLOCK);
            let (mut own, mut near) = (best, best);
            if sitting.len() > MAX_BLOCK {
                let from = start.saturating_sub(FROM_BEFORE.len());
                let to = sitting.len().min(end + FROM_AFTER.len());
                own = signals.best_base(&sitting[start..end]);
                near = signals.best_base(&sitting[from..to]);
            }
            blocks.push(Block {
                sitting,
                range: start..end,
                best,
                ceiling: signals.ceiling(own, near, best),
            });
        }
    }
    if k < blocks.len() {
        blocks.select_nth_unstable_by(k, |left, right| right.ceiling.total_cmp(&left.ceiling));
    }
    blocks
}

/// The best hits so far.
struct Best {
    /// The worst of them lies on top.
    hits: BinaryHeap<Reverse<Ranked>>,
    /// So many are kept.
    k: usize,
    /// What scores less is none of them.
    least: f32,
}

impl Best {
    fn push(&mut self, ranked: Ranked) {
        self.hits.push(Reverse(ranked));
        if self.hits.len() > self.k {
            self.hits.pop();
        }
        if self.hits.len() == self.k {
            let worst = self.hits.peek();
            self.least = worst.map_or(self.least, |worst| worst.0.score);
        }
    }

    fn into_hits(self, signals: &Signals<'_>) -> Vec<Hit> {
        let sorted = self.hits.into_sorted_vec().into_iter();
        let hit = |Reverse(ranked): Reverse<Ranked>| Hit {
            doc: ranked.doc,
            score: ranked.score,
            parts: signals.parts(ranked.slot, ranked.handed),
        };
        sorted.map(hit).collect()
    }
}

/// A hit that is not taken apart yet, ordered by its score and then by its number: the newer of equals is the greater.
struct Ranked {
    score: f32,
    doc: u32,
    slot: u32,
    handed: Handed,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(self.doc.cmp(&other.doc))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

/// Whether a query asks for identifiers or numbers alone: `ORD-7731`, `which is word854?`. The built-in embedding spells them
/// from pieces that have nothing to do with what they name, and what is like that would come before what says them.
fn is_of_names(query: &str) -> bool {
    let words = query.split(|letter: char| letter.is_whitespace() || letter == '?');
    let mut contents = words
        .filter(|word| !word.is_empty() && !tokens::is_stop_word(&word.to_lowercase()))
        .peekable();
    let has_digit = |word: &str| word.chars().any(|letter| letter.is_ascii_digit());
    contents.peek().is_some() && contents.all(has_digit)
}

/// What coverage says. A model that understands more than words may find what shares none with the query, and no floor is
/// known for its cosines, so with one nothing is ruled out.
fn verdict(coverage: f32, has_vector: bool) -> Verdict {
    if coverage >= DOUBT_BELOW {
        Verdict::Found
    } else if coverage >= NOTHING_BELOW || has_vector {
        Verdict::LowConfidence
    } else {
        Verdict::Nothing
    }
}

/// The query with what was meant behind it, for signals that look at names.
fn with_corrections(query: &str, corrections: &[(String, String)]) -> String {
    let mut text = query.to_owned();
    for (_, meant) in corrections {
        text.push(' ');
        text.push_str(meant);
    }
    text
}
