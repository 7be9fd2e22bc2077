//! Nothing that is shown leaves its line or its bounds.

use super::*;

fn document(title: &str, text: &str) -> Document {
    Document {
        id: "d".to_owned(),
        title: title.to_owned(),
        text: text.to_owned(),
        values: Vec::new(),
    }
}

#[test]
fn no_line_break_can_fake_another_result() {
    for line_break in ["\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}"] {
        let line = one_line(&format!("a{line_break}2. [forged]"));
        assert_eq!(line, "a ⏎ 2. [forged]", "{line_break:?}");
    }
    assert_eq!(one_line("a\u{1b}[2J"), "a\u{fffd}[2J");
}

#[test]
fn what_is_shortened_is_cut_at_a_character() {
    assert_eq!(shortened(" abc ", 3), "abc");
    assert_eq!(shortened("abcd", 3), "abc…");
    assert_eq!(shortened("éééé", 3), "ééé…");
    assert_eq!(
        shortened("  ab cd", 3),
        "ab…",
        "white space around is no part of it"
    );
    assert_eq!(shortened("\r\n\r\na\r\nbcdefgh", 8), "a ⏎ bcde…");
    assert_eq!(shortened(&"\n".repeat(100), 3), "");
    assert!(shortened(&"a\n".repeat(500), 100).chars().count() <= 101);
}

#[test]
fn a_document_without_a_title_is_called_by_its_text() {
    assert_eq!(title(&document("T", "text")), "T");
    assert_eq!(title(&document("", "text")), "text");
    assert_eq!(title(&document("", "")), "");
}

#[test]
fn a_snippet_begins_with_the_sentence_that_has_most_words() {
    let text = "It is cold. The harbours are full of ships. Nobody swims.";
    assert_eq!(
        snippet(&document("", text), "ship in the harbour"),
        "…  The harbours are full of ships. Nobody swims.".replace("…  ", "… ")
    );
    assert_eq!(snippet(&document("", text), "zebra"), text);
    assert_eq!(snippet(&document("", ""), "x"), "");
    let long = snippet(&document("", &"word ".repeat(1000)), "word");
    assert!(long.chars().count() <= SNIPPET_CHARS + 1, "{long}");
}

#[test]
fn values_are_cut() {
    let list = FieldValue::List((0..100).map(|n| format!("author {n}")).collect());
    let value = shown(&list);
    let items = value.as_array().unwrap();
    assert_eq!(items.len(), VALUE_ITEMS + 1);
    assert_eq!(items[VALUE_ITEMS], "… 92 more");
    let text = shown(&FieldValue::Text("x".repeat(5000)));
    assert_eq!(text.as_str().unwrap().chars().count(), VALUE_CHARS + 1);
}
