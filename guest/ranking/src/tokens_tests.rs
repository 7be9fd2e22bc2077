//! What is found by what.

use super::*;
use proptest::prelude::*;

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer::default().document_terms(text, |term, _| terms.push(term.to_owned()));
    terms
}

/// Every term of the query is a term of the document.
fn covers(document: &str, query: &str) -> bool {
    let document = terms(document);
    let query = Analyzer::default().query_terms(query);
    !query.is_empty() && query.iter().all(|term| document.contains(term))
}

#[test]
fn case_accents_and_widths_do_not_matter() {
    for (document, query) in [
        ("Café Müller", "cafe muller"),
        ("cafe", "CAFÉ"),
        ("ＦＵＬＬ width ｶﾞ", "full ガ"),
        ("Straße", "STRASSE"),
        ("Ελλάδα Οδυσσέας", "ελλαδα οδυσσεασ"),
        ("Ёлка", "елка"),
        ("İstanbul Łódź", "istanbul lodz"),
        ("e\u{301}te\u{301}", "été"),
    ] {
        assert!(
            covers(document, query),
            "{query:?} in {document:?}: {:?} {:?}",
            Analyzer::default().query_terms(query),
            terms(document)
        );
    }
}

#[test]
fn marks_that_carry_meaning_survive() {
    assert!(!covers("か", "が"), "dakuten");
    assert!(!covers("はし", "ばし"), "dakuten in a pair");
    assert!(covers("हिन्दी भाषा", "हिन्दी"));
    assert!(!covers("हन्दी", "हिन्दी"), "a vowel sign");
}

#[test]
fn scripts_without_spaces_are_found_by_any_substring() {
    let document = "来週の火曜日に東京で会議があります。";
    for query in ["東京", "会議", "火曜", "火曜日", "東", "会議があ"] {
        assert!(
            covers(document, query),
            "{query}: {:?}",
            Analyzer::default().query_terms(query)
        );
    }
    assert!(!covers(document, "京都"));
    assert!(covers("서울에서 만나요", "서울"));
    assert!(covers("ประชุมวันจันทร์", "วันจันทร์"));
}

#[test]
fn a_longer_run_is_not_asked_for_by_its_single_characters() {
    assert_eq!(Analyzer::default().query_terms("東京"), ["東京"]);
}

#[test]
fn identifiers_are_found_whole_and_by_their_parts() {
    for (document, queries) in [
        (
            "call getUserName() twice",
            &["getUserName", "getusername", "user", "name", "user names"][..],
        ),
        ("HTTPServer", &["httpserver", "HTTP", "server"]),
        ("snake_case_name", &["snake_case_name", "snake", "case"]),
        ("released v1.2.3 today", &["v1.2.3", "1.2.3 v1"][..1]),
        ("I write C++ and C#.", &["C++", "c#", "C"]),
        (
            "moved to .NET (see .gitignore)",
            &[".NET", ".net", "net", ".gitignore", "gitignore"],
        ),
        (
            "mail foo@bar.com!",
            &["foo@bar.com", "foo", "bar.com", "bar"],
        ),
        ("see (a/b/c)", &["a/b/c", "b", "c"]),
        ("due 2026-11-30", &["2026-11-30", "2026", "11"]),
        (
            "https://example.org/x?y=1",
            &["https://example.org/x?y=1", "example.org", "example"],
        ),
        (
            "O'Brien doesn’t",
            &["o'brien", "obrien", "doesn't", "doesnt"],
        ),
        ("Ann's book", &["Ann", "ann’s"]),
        ("party 🎉!", &["🎉"]),
    ] {
        for query in queries {
            assert!(
                covers(document, query),
                "{query:?} in {document:?}: {:?} {:?}",
                Analyzer::default().query_terms(query),
                terms(document)
            );
        }
    }
    assert!(!covers("plain c", "c++"), "the whole tells them apart");
    assert!(!covers("fishing net", ".NET"), "the whole tells them apart");
}

#[test]
fn english_words_meet_in_their_stem() {
    assert!(covers("she prefers running", "preferred run"));
    assert!(!covers("Bären", "Bär runs"), "only ASCII words are stemmed");
}

#[test]
fn stop_words_are_dropped_from_a_query_unless_nothing_else_is_left() {
    assert_eq!(
        Analyzer::default().query_terms("what is the plan"),
        ["plan"]
    );
    assert!(covers("to be or not to be", "to be or not to be"));
}

#[test]
fn punctuation_alone_has_no_terms() {
    for text in ["", " ", "…", "--", "?!", "\u{301}", "\u{0}", "' _'_ ’"] {
        assert_eq!(Analyzer::default().query_terms(text), [""; 0], "{text:?}");
    }
    assert_eq!(terms("'s"), ["s"]);
}

/// The short cut for plain words must not change what the terms are.
#[test]
fn plain_words_give_the_terms_of_the_long_way_round() {
    for (plain, long) in [
        ("word,", "wörd,"),
        ("(meetings)", "(mëetings)"),
        ("_it_", "_ït_"),
        ("\"x1\".", "\"ẍ1\"."),
    ] {
        assert_eq!(terms(plain), terms(long), "{plain}");
    }
}

proptest! {
    #[test]
    fn no_text_panics_or_gives_an_empty_term(text in any::<String>()) {
        prop_assert!(terms(&text).iter().all(|term| !term.is_empty()));
    }

    #[test]
    fn a_document_is_found_by_its_own_text(text in any::<String>()) {
        prop_assert!(Analyzer::default().query_terms(&text).is_empty() || covers(&text, &text));
    }
}

#[test]
fn whoever_takes_a_term_may_ask_for_more_terms_at_once() {
    let analyzer = Analyzer::default();
    let mut nested = Vec::new();
    // The second word is known by then, the first is not.
    analyzer.document_terms("meetings meetings", |_, _| {
        nested.extend(analyzer.query_terms("gardens"));
    });
    assert_eq!(nested, ["garden", "garden"]);
}

#[test]
fn of_words_that_nobody_says_none_is_remembered() {
    let analyzer = Analyzer::default();
    for length in [1, MAX_STEMMED_BYTES, MAX_STEMMED_BYTES + 1, 4_000] {
        analyzer.query_words(&"x".repeat(length));
    }
    assert_eq!(analyzer.words.borrow().len(), 2);
}
