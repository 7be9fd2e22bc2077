//! Small signs in a text that say what kind of text it is: who speaks, whether it names a time, whether it asks.

/// A label has so many words at most, and characters.
const MAX_LABEL_WORDS: usize = 3;
const MAX_LABEL_CHARS: usize = 40;

/// Words that place something in time, singular.
const TIME_WORDS: &[&str] = &[
    "ago",
    "april",
    "august",
    "day",
    "december",
    "february",
    "friday",
    "january",
    "july",
    "june",
    "last",
    "march",
    "monday",
    "month",
    "morning",
    "next",
    "night",
    "november",
    "october",
    "recently",
    "saturday",
    "september",
    "since",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "wednesday",
    "week",
    "weekend",
    "year",
    "yesterday",
];

/// What is asked for with `what` or `which` when the answer is a time.
const TIME_NOUNS: &[&str] = &["date", "day", "month", "time", "year"];

/// Who speaks: the `Name` of a leading `Name: `, as written. Up to three words, each of which begins with a capital or
/// with a letter of a script that has none.
///
/// ```
/// use ranking::cues::label;
///
/// assert_eq!(label("Ann Lee: I moved to Berlin"), Some("Ann Lee"));
/// assert_eq!(label("小明：我搬到北京了"), Some("小明"));
/// assert_eq!(label("note: buy milk"), None);
/// assert_eq!(label("The plan is this: we go"), None);
/// ```
pub fn label(text: &str) -> Option<&str> {
    let end = text
        .char_indices()
        .take(MAX_LABEL_CHARS + 1)
        .find(|(_, character)| matches!(character, ':' | '：'))?
        .0;
    let (label, rest) = text.split_at(end);
    let separated = rest.starts_with('：') || rest[1..].starts_with(char::is_whitespace);
    let mut count = 0;
    let named = label.split(' ').all(|word| {
        count += 1;
        let capital =
            word.starts_with(|first: char| first.is_alphabetic() && !first.is_lowercase());
        let clean = |character: char| character.is_alphanumeric() || "_'’-.".contains(character);
        capital && word.chars().all(clean)
    });
    (separated && named && count <= MAX_LABEL_WORDS).then_some(label)
}

/// Whether a text names a time, relative or absolute.
///
/// ```
/// use ranking::cues::names_a_time;
///
/// assert!(names_a_time("I went there two days ago"));
/// assert!(names_a_time("since 2019"));
/// assert!(!names_a_time("I prefer dark mode"));
/// ```
pub fn names_a_time(text: &str) -> bool {
    words(text).any(|word| {
        let singular = word.strip_suffix('s').unwrap_or(&word);
        let is_year = singular.len() == 4
            && (singular.starts_with("19") || singular.starts_with("20"))
            && singular.bytes().all(|byte| byte.is_ascii_digit());
        is_year || TIME_WORDS.binary_search(&singular).is_ok()
    })
}

/// Whether a query asks for a time.
///
/// ```
/// use ranking::cues::asks_for_a_time;
///
/// assert!(asks_for_a_time("When is the demo?"));
/// assert!(asks_for_a_time("In which month did he move?"));
/// assert!(asks_for_a_time("how long was the trip"));
/// assert!(!asks_for_a_time("What does she do when it rains?"));
/// ```
pub fn asks_for_a_time(query: &str) -> bool {
    let mut before = String::new();
    words(query).enumerate().any(|(at, word)| {
        let asks = match before.as_str() {
            "what" | "which" => TIME_NOUNS.binary_search(&word.as_str()).is_ok(),
            "how" => word == "long",
            _ => at == 0 && word == "when",
        };
        before = word;
        asks
    })
}

/// Whether a text ends in a question mark, a note in brackets after it aside.
///
/// ```
/// use ranking::cues::ends_in_a_question;
///
/// assert!(ends_in_a_question("What's new? "));
/// assert!(ends_in_a_question("Do you like it? [a photo of a cat]"));
/// assert!(!ends_in_a_question("Why? Because."));
/// ```
pub fn ends_in_a_question(text: &str) -> bool {
    let mut text = text.trim_end();
    if text.ends_with(']')
        && let Some(start) = text.rfind('[')
    {
        text = text[..start].trim_end();
    }
    text.ends_with(['?', '？', '؟'])
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_for_the_bisection() {
        assert!(TIME_WORDS.is_sorted());
        assert!(TIME_NOUNS.is_sorted());
    }

    #[test]
    fn what_only_looks_like_a_label_is_none() {
        for text in [
            "",
            ":",
            "Ann:no space",
            "https://example.org: down",
            "Ann Mary Lou Lee: four words",
            "A name that goes on and on and on and on: long",
            "Ann  Lee: two spaces",
        ] {
            assert_eq!(label(text), None, "{text:?}");
        }
        assert_eq!(label("O'Brien Jr.: yes"), Some("O'Brien Jr."));
    }
}
