//! The signals of one query, an array each, and what they add up to.

use super::columns::{ENDS_IN_A_QUESTION, NAMES_A_TIME};
use super::{Columns, Pool, Sittings};
use crate::answer::Parts;
use crate::cues;
use crate::dates::Asked;
use crate::recipe::{Recipe, Smoothing};

/// A label is one when it stands on so many documents; `Note: ` on a single one is a way of writing.
const MIN_LABELLED: u32 = 3;

/// Cosines that lie closer together than this are not stretched any further: in a store of a few memories their
/// differences are chance.
const LEAST_SPREAD: f32 = 0.25;

/// Numbers that are added, or compared, side by side: what a processor does at once.
const LANES: usize = 8;

/// Everything that a score is made of, by slot.
pub(super) struct Signals<'a> {
    columns: &'a Columns,
    recipe: &'a Recipe,
    lexical: Spread,
    /// None when vectors play no role.
    dense: Option<Spread>,
    /// The sum of both.
    base: Vec<f32>,
    /// Empty when neighbours play no role, as is the next.
    neighbours: Vec<f32>,
    sitting: Vec<f32>,
    asked: Option<Asked>,
    asks_for_a_time: bool,
    /// Whether each label was named; empty when none was.
    named: Vec<bool>,
}

impl<'a> Signals<'a> {
    /// `words` is what the words of the query are worth to each slot, `cosines` what its vector is; the latter is empty
    /// when vectors play no role.
    pub(super) fn new(
        pool: &'a Pool,
        recipe: &'a Recipe,
        query: &str,
        words: Vec<f32>,
        cosines: Vec<f32>,
    ) -> Self {
        let order = &pool.sittings.order;
        let lexical = Spread::of_words(words, order, 1.0 - recipe.dense);
        let dense = (!cosines.is_empty()).then(|| Spread::of_cosines(cosines, order, recipe.dense));
        let mut base: Vec<f32> = lexical.all().collect();
        if let Some(dense) = &dense {
            base.iter_mut()
                .zip(dense.all())
                .for_each(|(base, dense)| *base += dense);
        }
        let mut signals = Self {
            columns: &pool.columns,
            recipe,
            lexical,
            dense,
            base,
            neighbours: Vec::new(),
            sitting: Vec::new(),
            asked: (recipe.date != 0.0).then(|| Asked::of(query)).flatten(),
            asks_for_a_time: recipe.when != 0.0 && cues::asks_for_a_time(query),
            named: named_labels(pool, recipe, query),
        };
        let gate = pool.sittings.gate();
        if recipe.smoothing.is_on() && gate > 0.0 {
            signals.smooth(&pool.sittings, gate);
        }
        signals
    }

    /// What neighbours and sittings hand on.
    fn smooth(&mut self, sittings: &Sittings, gate: f32) {
        let Smoothing {
            before,
            after,
            sitting: from_sitting,
        } = self.recipe.smoothing;
        let base = &self.base;
        let squares = sum(&sittings.order, |slot| base[slot as usize].powi(2));
        let mean = squares / (sittings.order.len() as f32).max(1.0);
        self.neighbours = vec![0.0; base.len()];
        self.sitting = vec![0.0; base.len()];
        // With room before the first and after the last, so that each member has all its neighbours.
        let mut told = Vec::new();
        for members in sittings.each(self.columns) {
            told.clear();
            told.resize(before.len(), 0.0);
            let mut best = 0.0;
            told.extend(members.iter().map(|&slot| {
                let own = base[slot as usize];
                best = if own > best { own } else { best };
                own.powi(2) - mean
            }));
            told.resize(told.len() + after.len(), 0.0);
            let around = told.windows(before.len() + 1 + after.len());
            for (&slot, around) in members.iter().zip(around) {
                let earlier = around[..before.len()].iter().rev().zip(before);
                let later = around[before.len() + 1..].iter().zip(after);
                let sum: f32 = earlier
                    .chain(later)
                    .map(|(told, weight)| told * weight)
                    .sum();
                self.neighbours[slot as usize] = gate * sum;
                self.sitting[slot as usize] = gate * from_sitting * best;
            }
        }
    }

    /// What each signal gives a document, weights included.
    pub(super) fn parts(&self, slot: u32) -> Parts {
        let at = slot as usize;
        Parts {
            lexical: self.lexical.at(at),
            dense: self.dense.as_ref().map_or(0.0, |dense| dense.at(at)),
            neighbours: self.neighbours.get(at).copied().unwrap_or(0.0),
            sitting: self.sitting.get(at).copied().unwrap_or(0.0),
            date: self.date(slot),
            label: self.label(at),
            when: self.when(at),
            question: self.question(at),
        }
    }

    /// The sum of the parts, to the last bit, without taking them apart.
    pub(super) fn score(&self, slot: u32) -> f32 {
        let at = slot as usize;
        let mut score = self.base[at];
        if let (Some(neighbours), Some(sitting)) = (self.neighbours.get(at), self.sitting.get(at)) {
            score = score + neighbours + sitting;
        }
        score + self.date(slot) + self.label(at) + self.when(at) + self.question(at)
    }

    /// Whether a document has a word of the query, or one like it.
    pub(super) fn has_words(&self, slot: u32) -> bool {
        self.lexical.values[slot as usize] > 0.0
    }

    /// The cosine of a document with the query, when vectors play a role.
    pub(super) fn cosine(&self, slot: u32) -> Option<f32> {
        self.dense.as_ref().map(|dense| dense.values[slot as usize])
    }

    fn date(&self, slot: u32) -> f32 {
        self.asked.as_ref().map_or(0.0, |asked| {
            let fits = self.columns.days(slot).map(|day| asked.fit(day));
            self.recipe.date * fits.fold(0.0, f32::max)
        })
    }

    fn label(&self, at: usize) -> f32 {
        // Of most queries: no look at the columns.
        if self.named.is_empty() {
            return 0.0;
        }
        let named = self.named.get(self.columns.labels[at] as usize);
        weight(self.recipe.label, named == Some(&true))
    }

    fn when(&self, at: usize) -> f32 {
        let applies = self.asks_for_a_time && self.columns.cues[at] & NAMES_A_TIME != 0;
        weight(self.recipe.when, applies)
    }

    fn question(&self, at: usize) -> f32 {
        let applies = self.columns.cues[at] & ENDS_IN_A_QUESTION != 0;
        weight(-self.recipe.question, applies)
    }
}

fn weight(weight: f32, applies: bool) -> f32 {
    if applies { weight } else { 0.0 }
}

/// Values of slots, of which the living are stretched over 0 to a width.
struct Spread {
    values: Vec<f32>,
    least: f32,
    factor: f32,
}

impl Spread {
    /// Words that all say alike are worth what they are worth to each: the least is a document that says none.
    fn of_words(values: Vec<f32>, order: &[u32], width: f32) -> Self {
        let (_, most) = Self::living(&values, order);
        Self::over((0.0, most), values, width)
    }

    fn of_cosines(values: Vec<f32>, order: &[u32], width: f32) -> Self {
        let (least, most) = Self::living(&values, order);
        Self::over((least, most.max(least + LEAST_SPREAD)), values, width)
    }

    /// The bounds of the living.
    fn living(values: &[f32], order: &[u32]) -> (f32, f32) {
        if order.len() == values.len() {
            bounds(values)
        } else {
            let living = order.iter().map(|&slot| values[slot as usize]);
            living.fold(EMPTY, widen)
        }
    }

    fn over((least, most): (f32, f32), values: Vec<f32>, width: f32) -> Self {
        Self {
            factor: width / (most - least).max(1e-9),
            values,
            least,
        }
    }

    fn at(&self, slot: usize) -> f32 {
        (self.values[slot] - self.least) * self.factor
    }

    fn all(&self) -> impl Iterator<Item = f32> {
        let stretch = |value: &f32| (value - self.least) * self.factor;
        self.values.iter().map(stretch)
    }
}

/// The bounds of nothing.
const EMPTY: (f32, f32) = (f32::INFINITY, f32::NEG_INFINITY);

fn widen((least, most): (f32, f32), value: f32) -> (f32, f32) {
    // Unlike `f32::min`, this is one instruction for several lanes; no value is not a number.
    let least = if value < least { value } else { least };
    let most = if value > most { value } else { most };
    (least, most)
}

fn bounds(values: &[f32]) -> (f32, f32) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut least = [EMPTY.0; LANES];
    let mut most = [EMPTY.1; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            (least[lane], most[lane]) = widen((least[lane], most[lane]), chunk[lane]);
        }
    }
    let widened = |bounds, values: &[f32]| {
        let values = values.iter();
        values.fold(bounds, |bounds, &value| widen(bounds, value))
    };
    // Lanes that nothing was put into are not values.
    if chunks.is_empty() {
        return widened(EMPTY, rest);
    }
    widened(widened(widened(EMPTY, &least), &most), rest)
}

/// The sum over slots. The order of additions depends on how many there are and on nothing else.
fn sum(order: &[u32], value: impl Fn(u32) -> f32) -> f32 {
    let (chunks, rest) = order.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for (lane, &slot) in lanes.iter_mut().zip(chunk) {
            *lane += value(slot);
        }
    }
    let rest = rest.iter().map(|&slot| value(slot));
    lanes.into_iter().chain(rest).sum()
}

/// Which labels the query names, by any of their words; nothing if it names none.
fn named_labels(pool: &Pool, recipe: &Recipe, query: &str) -> Vec<bool> {
    if recipe.label == 0.0 {
        return Vec::new();
    }
    let asked: Vec<String> = label_words(query).collect();
    let mut named: Vec<bool> = Vec::new();
    for (label, &count) in pool.sittings.label_counts.iter().enumerate() {
        let is_named = count >= MIN_LABELLED
            && label_words(pool.labels.get(label as u32)).any(|word| asked.contains(&word));
        if is_named {
            named.resize(label, false);
            named.push(true);
        }
    }
    named
}

fn label_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
