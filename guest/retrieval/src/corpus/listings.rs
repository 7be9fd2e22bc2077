//! The synthetic corpus: property listings, made by a seeded generator, with queries whose answers are known by
//! construction.
//!
//! Nobody wrote these listings and none of the places exists, so anybody may use them and nobody can be misled by a price.
//! Each listing has two of the themes in its text, and facts (city, price, bedrooms ...) in its fields **and nowhere
//! in its text** but for the city and the kind of home. A query asks for a theme in words, for facts in filters, or both.
//! So what is relevant follows from how a listing was made; nobody had to judge it, and the retriever had no say.
//!
//! **Invariant:** the same seed gives the same corpus, byte for byte, on every machine. A test holds its checksum.

mod queries;
mod random;
mod themes;

use jiff::ToSpan;
use jiff::civil::{Date, date};
use serde_json::{Map, Value, json};

use super::files::Place;
use super::records::Draft;
use super::{About, Corpus, CorpusError, Origin};
use crate::config::SERVER_NAME;
use queries::queries;
use random::Random;
use themes::{CITIES, FEATURES, KINDS, NEUTRAL, THEMES};

/// The seed of the corpus that is served.
pub const SEED: u64 = 20_260_630;
/// Listings in it: each theme is in some 40 of them.
pub const LISTINGS: usize = 640;
/// Themes in a listing's text.
const THEMES_EACH: usize = 2;
/// Every listing was listed in the year that begins here.
const FIRST_DAY: Date = date(2025, 1, 1);
const DAYS: u64 = 365;

/// A listing as it was made.
struct Listing {
    themes: [usize; THEMES_EACH],
}

/// Makes the corpus.
///
/// # Errors
///
/// None in practice: it is made as a corpus has to be.
pub fn generate(seed: u64) -> Result<Corpus, CorpusError> {
    let mut random = Random::new(seed);
    let mut listings = Vec::with_capacity(LISTINGS);
    let mut drafts = Vec::with_capacity(LISTINGS);
    for number in 0..LISTINGS {
        let (listing, record) = listing(number, &mut random);
        let place = Place {
            file: "the generator's output",
            line: number + 1,
        };
        listings.push(listing);
        drafts.push(Draft::of(place, record)?);
    }
    let about = About {
        origin: Origin::Synthetic,
        source: Some(format!(
            "made by the generator in {SERVER_NAME} (seed {seed}); no such place, listing or price exists"
        )),
        licence: Some("Apache-2.0, as the program".to_owned()),
        format: "generated",
    };
    let mut corpus = Corpus::of(about, drafts)?;
    corpus.queries = queries(&corpus, &listings, &mut random);
    Ok(corpus)
}

fn listing(number: usize, random: &mut Random) -> (Listing, Map<String, Value>) {
    let (city, price_per_m2) = *random.pick(CITIES);
    let kind = random.pick(KINDS);
    let bedrooms = kind.bedrooms.0 + random.below(kind.bedrooms.1 - kind.bedrooms.0 + 1);
    let area = 28 + 19 * bedrooms + random.below(30);
    // From four fifths to six fifths of what is usual in the city, in steps of 5,000.
    let price = area * price_per_m2 * (80 + random.below(41)) / 100 / 5_000 * 5_000;
    let listed = FIRST_DAY.saturating_add((random.below(DAYS) as i64).days());
    let feature_count = 1 + random.below(4) as usize;
    let features = random.choose(FEATURES, feature_count);
    let themes = random.choose_positions(THEMES.len(), THEMES_EACH);
    let themes = [themes[0], themes[1]];

    let mut sentences = vec![format!("A {} for sale in {city}.", kind.name)];
    for theme in themes {
        sentences.push((*random.pick(THEMES[theme].sentences)).to_owned());
        sentences.push((*random.pick(NEUTRAL)).to_owned());
    }
    let record = json!({
        "id": format!("L{number:04}"),
        "title": format!("{} in {city}", capitalised(kind.name)),
        "text": sentences.join(" "),
        "city": city,
        "kind": kind.name,
        "price": price,
        "bedrooms": bedrooms,
        "area_m2": area,
        "features": features,
        "listed": listed.to_string(),
    });
    let Value::Object(record) = record else {
        // `json!` with braces makes an object.
        return (Listing { themes }, Map::new());
    };
    (Listing { themes }, record)
}

fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    rest.next()
        .map(|first| first.to_uppercase().chain(rest).collect())
        .unwrap_or_default()
}

#[cfg(test)]
#[path = "listings_tests.rs"]
mod tests;
