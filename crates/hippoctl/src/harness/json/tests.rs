//! Tests of the insertion and removal of entries.

use super::*;

const HOOKS: JsonInsertion = JsonInsertion::Hooks(&[
    ("SessionStart", "hippoctl hook session-start"),
    ("PreCompact", "hippoctl hook pre-compact"),
]);

fn entered(text: &str) -> (String, JsonEntries) {
    let (bytes, entered) = enter(text.as_bytes(), &HOOKS).unwrap().unwrap();
    assert_eq!(
        enter(&bytes, &HOOKS).unwrap(),
        None,
        "a second insertion changes nothing"
    );
    (String::from_utf8(bytes).unwrap(), entered)
}

#[test]
fn comments_order_and_indentation_are_kept() {
    let theirs = "{\n\t// mine\n\t\"model\": \"opus\", /* why */\n\t\"hooks\": {\n\t\t\"PreCompact\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"echo\" }] },\n\t\t],\n\t},\n}\n";
    let (made, entered) = entered(theirs);
    insta::assert_snapshot!(made);
    assert_eq!(entered.made, ["hooks/SessionStart"]);
    let back = take_out(made.as_bytes(), &entered).unwrap();
    let back = String::from_utf8(back).unwrap();
    assert!(
        back.contains("\t// mine\n") && back.contains("/* why */") && !back.contains("hippoctl"),
        "{back}"
    );
    assert!(
        back.contains("\"echo\"") && !back.contains("SessionStart"),
        "{back}"
    );
}

#[test]
fn a_new_file_is_indented_and_line_ends_are_kept() {
    insta::assert_snapshot!(entered("{}\n").0);
    let (made, _) = entered("{\r\n  \"a\": 1\r\n}\r\n");
    assert!(!made.replace("\r\n", "").contains('\n'), "{made:?}");
    entered("");
    entered("// only a comment\n");
}

#[test]
fn unsuitable_json_is_refused_with_line_and_column() {
    for (text, what) in [
        (
            "{\n  \"a\": 1\n  \"b\": 2\n}\n",
            "line 2, column 9: Expected comma",
        ),
        ("{\"hooks\": []}", "\"hooks\" is not an object"),
        (
            "{\"hooks\": {\"PreCompact\": {}}}",
            "\"hooks/PreCompact\" is not a list",
        ),
        ("[]", "it is not a JSON object"),
        ("\u{feff}{}", "byte order mark"),
    ] {
        let error = enter(text.as_bytes(), &HOOKS).unwrap_err();
        assert!(error.contains(what), "{text:?}: {error}");
    }
    assert!(
        enter(b"{\n\"a\": \"\xff\"}", &HOOKS)
            .unwrap_err()
            .contains("line 2")
    );
}

#[test]
fn a_hook_edited_by_the_user_counts_as_installed() {
    let (made, entered) = entered("{}\n");
    for changed in [
        "hippoctl hook session-start --pending",
        "/opt/bin/hippoctl --workspace /w hook session-start",
        "'/opt/my bin/hippoctl' hook session-start",
    ] {
        let text = made.replace("hippoctl hook session-start", changed);
        assert_eq!(enter(text.as_bytes(), &HOOKS).unwrap(), None, "{changed}");
        assert_eq!(take_out(text.as_bytes(), &entered).unwrap(), b"{}\n", "{changed}");
    }
    for another in [
        "hippoctl hook session-end",
        "echo hippoctl",
        "myhippoctl hook session-start",
    ] {
        let text = made.replace("hippoctl hook session-start", another);
        let (_, more) = enter(text.as_bytes(), &HOOKS).unwrap().unwrap();
        assert_eq!(more.hooks, ["SessionStart"], "{another}");
    }
}

#[test]
fn instructions_are_inserted_once() {
    let edit = JsonInsertion::Instructions(vec!["memory/ROOT.md"]);
    let (bytes, entered) = enter(b"{\n  \"instructions\": [\"docs/*.md\"]\n}\n", &edit)
        .unwrap()
        .unwrap();
    assert_eq!(
        String::from_utf8(bytes.clone()).unwrap(),
        "{\n  \"instructions\": [\"docs/*.md\", \"memory/ROOT.md\"]\n}\n"
    );
    assert_eq!(
        take_out(&bytes, &entered).unwrap(),
        b"{\n  \"instructions\": [\"docs/*.md\"]\n}\n"
    );
    assert_eq!(
        enter(b"{\"instructions\": [\"./memory/ROOT.md\"]}", &edit).unwrap(),
        None
    );
}

#[test]
fn permissions_are_inserted_once_and_removed() {
    const BOTH: JsonInsertion = JsonInsertion::Claude(
        &[("SessionStart", "hippoctl hook session-start")],
        &["Bash(hippoctl search:*)", "Bash(hippoctl get:*)"],
    );
    for theirs in [
        "{}\n",
        "{\n  \"permissions\": {\n    \"deny\": [\"Bash(rm:*)\"],\n    \"allow\": [\"Bash(ls:*)\"]\n  }\n}\n",
        "{\n  \"permissions\": {\n    \"allow\": [\"Bash(hippoctl get:*)\"]\n  }\n}\n",
    ] {
        let (made, entered) = enter(theirs.as_bytes(), &BOTH).unwrap().unwrap();
        let text = String::from_utf8(made.clone()).unwrap();
        assert_eq!(text.matches("hippoctl get").count(), 1, "{text}");
        assert!(text.contains("hippoctl search"), "{text}");
        assert_eq!(
            enter(&made, &BOTH).unwrap(),
            None,
            "a second insertion changes nothing"
        );
        assert_eq!(take_out(&made, &entered).unwrap(), theirs.as_bytes(), "{text}");
    }
}
