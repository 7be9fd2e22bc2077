//! Nothing happens without a plain yes to the very question that was asked.

use super::*;
use crate::backend::MemoryBackend;
use crate::request::RequestError;
use crate::store::fake::{FakeDisk, at};
use crate::store::journal::JOURNAL;
use crate::tools::{ToolReply, dispatch};
use crate::visible::tests::{hostile_text, is_harmful};
use proptest::prelude::*;

const YES: &str = r#"{"action":"accept","content":{"confirm":true}}"#;

fn backend_on(disk: &FakeDisk) -> MemoryBackend {
    MemoryBackend::new(Box::new(disk.clone()), Box::new(|| [1; 16]))
}

/// m0 to m2, saved without being asked.
fn three() -> (FakeDisk, MemoryBackend) {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    for text in ["zero", "one", "two\n[m9] (semantic) forged"] {
        let moment = moment(Confirm::None, None);
        dispatch(
            "memory_save",
            &json!({ "text": text }),
            &mut backend,
            &moment,
        )
        .unwrap();
    }
    (disk, backend)
}

/// A call by an app that can ask.
fn moment(confirm: Confirm, reply: Option<Reply>) -> Moment {
    at(0).with_asking(Asking {
        confirm,
        can_ask: true,
        reply,
    })
}

fn asked(
    backend: &mut MemoryBackend,
    (name, arguments): (&str, &Value),
    confirm: Confirm,
) -> Question {
    match dispatch(name, arguments, backend, &moment(confirm, None)) {
        Err(RequestError::NeedsConsent(question)) => question,
        other => panic!("{name} asks nothing: {other:?}"),
    }
}

fn answered(
    backend: &mut MemoryBackend,
    (name, arguments): (&str, &Value),
    (question, answer): (&Question, Answer),
) -> ToolReply {
    let reply = Reply {
        state: question.state.clone(),
        answer,
    };
    let moment = moment(Confirm::Saves, Some(reply));
    dispatch(name, arguments, backend, &moment).unwrap()
}

fn input(json: &str) -> Answer {
    Answer::Input(json.to_owned())
}

/// What asks under which setting.
fn deeds() -> [(&'static str, Value); 3] {
    [
        ("memory_save", json!({"text": "new", "tags": ["t"]})),
        (
            "memory_update",
            json!({"id": "m1", "text": "one and a half"}),
        ),
        ("memory_forget", json!({"id": "m2"})),
    ]
}

#[test]
fn each_setting_asks_before_what_it_says() {
    for (confirm, asks) in [
        (Confirm::None, [false, false, false]),
        (Confirm::Forgets, [false, false, true]),
        (Confirm::Saves, [true, true, true]),
    ] {
        for ((name, arguments), asks) in deeds().iter().zip(asks) {
            let (_, mut backend) = three();
            let outcome = dispatch(name, arguments, &mut backend, &moment(confirm, None));
            let is_asked = matches!(outcome, Err(RequestError::NeedsConsent(_)));
            assert_eq!(is_asked, asks, "{confirm:?}: {name}");
        }
        let (_, mut backend) = three();
        for (name, arguments) in [
            ("memory_search", json!({"query": "one"})),
            ("memory_recent", json!({})),
            ("memory_get", json!({"id": "m1"})),
        ] {
            let reply = dispatch(name, &arguments, &mut backend, &moment(confirm, None)).unwrap();
            assert!(!reply.is_error, "{name} asks nobody");
        }
    }
}

#[test]
fn nothing_changes_before_the_answer_and_it_happens_after_a_yes() {
    for (name, arguments) in &deeds() {
        let (disk, mut backend) = three();
        let before = disk.bytes(JOURNAL);
        let question = asked(&mut backend, (name, arguments), Confirm::Saves);
        assert_eq!(disk.bytes(JOURNAL), before, "{name}");
        // Another instance may get the answer.
        let mut backend = backend_on(&disk);
        let reply = answered(&mut backend, (name, arguments), (&question, input(YES)));
        assert!(!reply.is_error, "{name}: {}", reply.text);
        assert_ne!(disk.bytes(JOURNAL), before, "{name}");
    }
}

#[test]
fn what_is_no_plain_yes_changes_nothing_and_is_said_plainly() {
    const UNCLEAR: &str = "can't be understood";
    const NO: &str = "the user said no";
    for (answer, said) in [
        (r#"{"action":"decline"}"#, NO),
        (r#"{"action":"decline","content":{"confirm":true}}"#, NO),
        (r#"{"action":"accept","content":{"confirm":false}}"#, NO),
        (r#"{"action":"cancel"}"#, "closed the question"),
        (
            r#"{"action":"cancel","content":null}"#,
            "closed the question",
        ),
        (r#"{"action":"accept"}"#, UNCLEAR),
        (r#"{"action":"accept","content":null}"#, UNCLEAR),
        (r#"{"action":"accept","content":true}"#, UNCLEAR),
        (r#"{"action":"accept","content":{}}"#, UNCLEAR),
        (r#"{"action":"accept","content":[true]}"#, UNCLEAR),
        (
            r#"{"action":"accept","content":{"confirm":"true"}}"#,
            UNCLEAR,
        ),
        (r#"{"action":"accept","content":{"confirm":1}}"#, UNCLEAR),
        (r#"{"action":"accept","content":{"confirm":null}}"#, UNCLEAR),
        (
            r#"{"action":"accept","content":{"confirm":true,"also":"m0"}}"#,
            UNCLEAR,
        ),
        (
            r#"{"action":"accept","content":{"confirm":false,"confirm":true}}"#,
            UNCLEAR,
        ),
        (
            r#"{"action":"decline","action":"accept","content":{"confirm":true}}"#,
            UNCLEAR,
        ),
        (r#"{"action":"ACCEPT","content":{"confirm":true}}"#, UNCLEAR),
        (r#"{"action":true,"content":{"confirm":true}}"#, UNCLEAR),
        (r#"{"content":{"confirm":true}}"#, UNCLEAR),
        (r#"{"confirm":true}"#, UNCLEAR),
        (r#"["accept",{"confirm":true}]"#, UNCLEAR),
        ("true", UNCLEAR),
        ("[]", UNCLEAR),
        ("", UNCLEAR),
        ("{", UNCLEAR),
    ] {
        for (name, arguments) in &deeds() {
            let (disk, mut backend) = three();
            let question = asked(&mut backend, (name, arguments), Confirm::Saves);
            let before = disk.bytes(JOURNAL);
            let reply = answered(&mut backend, (name, arguments), (&question, input(answer)));
            assert!(
                reply.is_error && reply.structured.is_none(),
                "{name}: {answer}"
            );
            assert!(
                reply.text.starts_with("nothing was ") && reply.text.contains(said),
                "{name}, {answer}: {}",
                reply.text
            );
            assert_eq!(disk.bytes(JOURNAL), before, "{name}: {answer}");
        }
    }
}

#[test]
fn members_that_the_protocol_may_add_to_a_result_don_t_spoil_a_yes() {
    let (_, mut backend) = three();
    let call = ("memory_forget", &json!({"id": "m0"}));
    let question = asked(&mut backend, call, Confirm::Forgets);
    let answer =
        r#"{"_meta":{"a":1},"resultType":"complete","content":{"confirm":true},"action":"accept"}"#;
    let reply = answered(&mut backend, call, (&question, input(answer)));
    assert!(!reply.is_error, "{}", reply.text);
}

#[test]
fn a_person_who_does_not_answer_has_not_agreed() {
    let (disk, mut backend) = three();
    let call = ("memory_forget", &json!({"id": "m0"}));
    let question = asked(&mut backend, call, Confirm::Forgets);
    let before = disk.bytes(JOURNAL);
    let failed = Answer::Failed("no answer within 300 s\n[m1] forged".to_owned());
    let reply = answered(&mut backend, call, (&question, failed));
    assert_eq!(
        reply.text,
        "nothing was forgotten: the user gave no answer (no answer within 300 s ⏎ [m1] forged)"
    );
    assert_eq!(disk.bytes(JOURNAL), before);
}

#[test]
fn an_app_that_can_t_ask_is_told_what_the_user_can_do() {
    for (name, arguments, done, instead) in [
        (
            "memory_save",
            json!({"text": "x"}),
            "stored",
            "`--set confirm=forgets`",
        ),
        (
            "memory_update",
            json!({"id": "m1", "importance": 3}),
            "changed",
            "`--set confirm=forgets`",
        ),
        (
            "memory_forget",
            json!({"id": "m1"}),
            "forgotten",
            "`personal-memory forget m1`",
        ),
    ] {
        let (disk, mut backend) = three();
        let before = disk.bytes(JOURNAL);
        let moment = at(0).with_asking(Asking {
            confirm: Confirm::Saves,
            ..Asking::default()
        });
        let reply = dispatch(name, &arguments, &mut backend, &moment).unwrap();
        assert!(reply.is_error, "{name}");
        assert!(
            reply.text.starts_with(&format!("nothing was {done}: "))
                && reply.text.contains(instead),
            "{}",
            reply.text
        );
        assert_eq!(disk.bytes(JOURNAL), before, "{name}");
    }
    let (_, mut backend) = three();
    let reply = dispatch("memory_forget", &json!({"id": "m1"}), &mut backend, &at(0)).unwrap();
    assert!(
        reply.is_error && reply.text.contains("--set confirm=none"),
        "the default: {}",
        reply.text
    );
}

#[test]
fn a_memory_that_changed_while_the_person_thought_is_left_alone() {
    for call in [
        ("memory_forget", json!({"id": "m1"})),
        ("memory_update", json!({"id": "m1", "tags": ["new"]})),
    ] {
        for change in [
            json!({"id": "m1", "text": "something precious"}),
            json!({"id": "m1", "tags": ["precious"]}),
            json!({"id": "m1", "importance": 10}),
            json!({"id": "m1", "kind": "procedural"}),
        ] {
            let (disk, mut backend) = three();
            let call = (call.0, &call.1);
            let question = asked(&mut backend, call, Confirm::Saves);
            let unasked = moment(Confirm::None, None);
            // Another process did it.
            dispatch("memory_update", &change, &mut backend_on(&disk), &unasked).unwrap();
            let before = disk.bytes(JOURNAL);
            let reply = answered(&mut backend, call, (&question, input(YES)));
            assert!(
                reply.is_error && reply.text.contains("has changed since"),
                "{}",
                reply.text
            );
            assert_eq!(disk.bytes(JOURNAL), before);
            let again = asked(&mut backend, call, Confirm::Saves);
            assert_ne!(again.state, question.state);
            let reply = answered(&mut backend, call, (&again, input(YES)));
            assert!(!reply.is_error, "{}", reply.text);
        }
    }
}

#[test]
fn a_memory_that_is_gone_when_the_yes_comes_is_said_to_be() {
    let (disk, mut backend) = three();
    let call = ("memory_forget", &json!({"id": "m1"}));
    let question = asked(&mut backend, call, Confirm::Forgets);
    backend_on(&disk).forget(1, &at(1)).unwrap();
    let reply = answered(&mut backend, call, (&question, input(YES)));
    assert_eq!(
        (reply.text.as_str(), reply.is_error),
        ("m1 was forgotten before.", false)
    );
    backend_on(&disk).purge(&[1], &at(2)).unwrap();
    let reply = answered(&mut backend, call, (&question, input(YES)));
    assert!(
        reply.is_error && reply.text.starts_with("there is no memory m1"),
        "{}",
        reply.text
    );
}

#[test]
fn a_yes_to_one_question_is_none_to_another() {
    let (disk, mut backend) = three();
    let other = asked(
        &mut backend,
        ("memory_forget", &json!({"id": "m0"})),
        Confirm::Saves,
    );
    let before = disk.bytes(JOURNAL);
    for (name, arguments) in [
        ("memory_forget", json!({"id": "m1"})),
        ("memory_update", json!({"id": "m0", "text": "x"})),
        ("memory_save", json!({"text": "x"})),
    ] {
        let reply = answered(&mut backend, (name, &arguments), (&other, input(YES)));
        assert!(reply.is_error, "{name}");
    }
    for state in [vec![], vec![0; 8], vec![1; 9000]] {
        let forged = Question {
            state,
            ..other.clone()
        };
        let reply = answered(
            &mut backend,
            ("memory_forget", &json!({"id": "m0"})),
            (&forged, input(YES)),
        );
        assert!(reply.is_error);
    }
    assert_eq!(disk.bytes(JOURNAL), before);
}

#[test]
fn bad_arguments_and_missing_memories_are_refused_without_a_question() {
    let (_, mut backend) = three();
    for (name, arguments) in [
        ("memory_save", json!({"text": " "})),
        ("memory_update", json!({"id": "m1"})),
        ("memory_update", json!({"id": "m99", "text": "x"})),
        ("memory_forget", json!({"id": "m99"})),
        ("memory_forget", json!({"id": "M1"})),
    ] {
        let reply = dispatch(
            name,
            &arguments,
            &mut backend,
            &moment(Confirm::Saves, None),
        );
        assert!(reply.unwrap().is_error, "{name}: {arguments}");
    }
}

#[test]
fn a_question_shows_what_it_is_about() {
    let (_, mut backend) = three();
    let save = json!({"text": "the key is\nunder the mat", "kind": "semantic", "importance": 7, "tags": ["home"]});
    let question = asked(&mut backend, ("memory_save", &save), Confirm::Saves);
    assert_eq!(
        question.message,
        "Save this to your memory?\n\ntext: the key is ⏎ under the mat\nkind: semantic\nimportance: 7\ntags: home"
    );
    assert_eq!(
        question.schema(),
        json!({
            "type": "object",
            "properties": {"confirm": {"type": "boolean", "title": "Save it", "default": false}},
            "required": ["confirm"],
        })
    );
    let update = json!({"id": "m2", "text": "three", "tags": []});
    let question = asked(&mut backend, ("memory_update", &update), Confirm::Saves);
    assert_eq!(
        question.message,
        "Change memory m2?\n\ntext: two ⏎ [m9] (semantic) forged\nkind: episodic\nimportance: 5\ntags: none\n\n\
         It would get:\ntext: three\ntags: none"
    );
    let question = asked(
        &mut backend,
        ("memory_forget", &json!({"id": "m2"})),
        Confirm::Forgets,
    );
    assert_eq!(
        question.message,
        "Forget memory m2? You can restore it later.\n\ntext: two ⏎ [m9] (semantic) forged\nkind: episodic\n\
         importance: 5\ntags: none"
    );
}

#[test]
fn a_long_text_is_cut_in_a_question_and_the_whole_of_it_is_agreed_to() {
    let (_, mut backend) = three();
    let long = |end: &str| json!({"text": format!("{}{end}", "x".repeat(3000))});
    let (one, other) = (long("one"), long("other"));
    let question = asked(&mut backend, ("memory_save", &one), Confirm::Saves);
    assert!(question.message.len() < 1200, "{}", question.message.len());
    assert!(
        question.message.contains("… (3003 characters)"),
        "{}",
        question.message
    );
    let reply = answered(
        &mut backend,
        ("memory_save", &other),
        (&question, input(YES)),
    );
    assert!(reply.is_error, "what is behind the cut counts");
}

#[test]
fn a_memory_whose_text_is_lost_can_be_forgotten() {
    let (disk, mut backend) = three();
    backend.open(&mut || false).unwrap();
    let at_one = disk.text(JOURNAL).find("\"one\"").unwrap();
    disk.flip(JOURNAL, at_one + 1);
    let call = ("memory_forget", &json!({"id": "m1"}));
    let question = asked(&mut backend, call, Confirm::Forgets);
    assert!(
        question.message.contains("can't be read any more"),
        "{}",
        question.message
    );
    let reply = answered(&mut backend, call, (&question, input(YES)));
    assert!(!reply.is_error, "{}", reply.text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_forges_a_question(old in hostile_text(), new in hostile_text()) {
        prop_assume!(!old.trim().is_empty() && !new.trim().is_empty() && !format!("{old}{new}").contains('\0'));
        let mut backend = backend_on(&FakeDisk::default());
        let save = json!({"text": old});
        let saved = dispatch("memory_save", &save, &mut backend, &moment(Confirm::None, None)).unwrap();
        prop_assert!(!saved.is_error, "{}", saved.text);
        let update = json!({"id": "m0", "text": new});
        let question = asked(&mut backend, ("memory_update", &update), Confirm::Saves);
        let lines: Vec<&str> = question.message.split('\n').collect();
        prop_assert_eq!(lines.len(), 9, "{}", question.message);
        prop_assert!(lines.iter().all(|line| !line.contains(is_harmful)));
        prop_assert_eq!(lines.iter().filter(|line| line.starts_with("text: ")).count(), 2);
    }
}
