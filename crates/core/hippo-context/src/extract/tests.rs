//! Tests of extraction for each kind of content.

mod told;

use serde_json::json;

use super::*;

/// Returns a small sample of each kind of content, with its name.
pub(super) fn fixtures() -> [(&'static str, &'static str); 10] {
    [
        ("json", JSON),
        ("json lines", JSONL),
        ("snapshot", SNAPSHOT),
        ("rust", RUST),
        ("python", PYTHON),
        ("pytest", PYTEST),
        ("cargo", CARGO),
        ("trace", TRACE),
        ("diff", DIFF),
        ("text", TEXT),
    ]
}

const JSON: &str = r#"{"total": 2, "next": "https://api.example.org/orders?page=2", "orders": [
  {"id": "ORD-1041", "customer": {"email": "ada@example.org"}, "price": 19.5, "status": "paid"},
  {"id": "ORD-1042", "customer": {"email": "bo@example.org"}, "price": 240, "status": "open"},
  {"id": "ORD-1043", "customer": {"email": "cy@example.org"}, "price": 7, "status": "open"},
  {"id": "ORD-1044", "customer": {"email": "di@example.org"}, "price": 12, "status": "paid"}]}"#;

const JSONL: &str =
    "{\"run\":\"r-1\",\"ok\":true}\n{\"run\":\"r-2\",\"ok\":false}\n{\"run\":\"r-3\",\"ok\":true}\n";

const SNAPSHOT: &str = r#"- Page URL: https://shop.example.org/cart
- Page Title: Cart
- main [ref=e2]:
  - heading "Your cart" [level=1] [ref=e3]
  - link "Home" [ref=e4]
  - textbox "Voucher" [ref=e7]
  - button "Apply voucher" [ref=e8]
  - button "Check out" [ref=e12] [cursor=pointer]
  - text: 3 things in it"#;

const RUST: &str = "//! Berths.\n\nuse std::fmt;\n\n/// A place for a boat.\npub struct Berth {\n    number: u32,\n}\n\nimpl Berth {\n    /// Books it.\n    pub fn book(&mut self, boat: &str) -> bool {\n        helper(boat)\n    }\n}\n\nfn helper(boat: &str) -> bool {\n    boat.len() > 3\n}\n";

const PYTHON: &str = "     1\timport os\n     2\t\n     3\tLIMIT = 4\n     4\t\n     5\tclass Harbour:\n     6\t    def moor(self, boat):\n     7\t        return boat\n     8\t\n     9\tdef main():\n    10\t    Harbour().moor(1)\n";

const PYTEST: &str = "============ test session starts ============
collected 3 items

tests/test_tide.py .F.                                   [100%]

================= FAILURES ==================
_______________ test_low_tide _______________

    def test_low_tide():
>       assert level(3) == 2
E       AssertionError: assert 5 == 2

tests/test_tide.py:14: AssertionError
========== short test summary info ==========
FAILED tests/test_tide.py::test_low_tide - AssertionError: assert 5 == 2
======= 1 failed, 2 passed in 0.12s ========
";

const CARGO: &str = "   Compiling harbour v0.1.0
warning: unused variable: `x`
 --> src/main.rs:3:9
error[E0308]: mismatched types
  --> src/berth.rs:12:5
   |
error: could not compile `harbour` (bin \"harbour\") due to 1 previous error; 1 warning emitted
Command exited with code 101
";

const TRACE: &str = "Traceback (most recent call last):
  File \"/app/harbour/main.py\", line 40, in run
    moor(boat)
  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode
    raise JSONDecodeError(1)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
";

const DIFF: &str = "diff --git a/src/berth.rs b/src/berth.rs
index 1..2 100644
--- a/src/berth.rs
+++ b/src/berth.rs
@@ -10,3 +10,4 @@ impl Berth {
 a
-b
+c
+d
 e
diff --git a/new.md b/new.md
new file mode 100644
--- /dev/null
+++ b/new.md
@@ -0,0 +1 @@
+--- not a header
";

const TEXT: &str = "Call the office on 555-0199 about berth HB-204.\nThe invoice is in /srv/files/invoices/2026-03.pdf today.\n";

fn told(content: &str, tokens: usize) -> Extract {
    extract(content.as_bytes(), &Hints::default(), Some(tokens))
}

#[test]
fn each_kind_is_detected_from_its_content_and_summarized() {
    use ContentKind::{Diff, Json, Log, Snapshot, Trace};
    let expected = [
        (Json, "object: total, next, orders[4]"),
        (Json, "3 JSON values: run, ok"),
        (
            Snapshot,
            "Cart: 6 elements, 2 buttons, 1 link, 1 field; Your cart",
        ),
        (ContentKind::Text, "19 lines"),
        (ContentKind::Text, "10 lines: import os"),
        (Log, "1 failed, 2 passed in 0.12s"),
        (Log, "2 errors"),
        (
            Trace,
            "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0); 2 frames",
        ),
        (Diff, "2 files, 2 hunks, +3 −1"),
        (
            ContentKind::Text,
            "2 lines: Call the office on 555-0199 about berth HB-204.",
        ),
    ];
    for ((name, content), (kind, summary)) in fixtures().into_iter().zip(expected) {
        let entry = told(content, 300);
        assert_eq!(
            (entry.kind, entry.summary.as_str()),
            (kind, summary),
            "{name}: {entry:?}"
        );
    }
}

#[test]
fn key_data_contains_the_important_values_of_each_kind() {
    let cases = [
        (
            JSON,
            "id",
            json!(["ORD-1041", "ORD-1042", "ORD-1043", "ORD-1044"]),
        ),
        (JSON, "total", json!(2)),
        (JSON, "next", json!("https://api.example.org/orders?page=2")),
        (JSON, "range", json!({"price": "7–240"})),
        (JSON, "values", json!({"status": "paid|open"})),
        (JSONL, "run", json!(["r-1", "r-2", "r-3"])),
        (SNAPSHOT, "url", json!("https://shop.example.org/cart")),
        (PYTEST, "failed", json!(["test_low_tide"])),
        (PYTEST, "error", json!("AssertionError: assert 5 == 2")),
        (
            PYTEST,
            "at",
            json!(["tests/test_tide.py:14", "tests/test_tide.py"]),
        ),
        (CARGO, "error", json!("error[E0308]: mismatched types")),
        (CARGO, "exit", json!(101)),
        (CARGO, "warnings", json!(1)),
        (
            TRACE,
            "frames",
            json!([
                "/app/harbour/main.py:40 run",
                "/usr/lib/python3.11/json/decoder.py:355 raw_decode"
            ]),
        ),
        (
            DIFF,
            "files",
            json!({"src/berth.rs": "+2 −1", "new.md": "new +1 −0"}),
        ),
        (DIFF, "hunks", json!(["src/berth.rs:10 impl Berth {", "new.md:1"])),
        (TEXT, "paths", json!(["/srv/files/invoices/2026-03.pdf"])),
        (TEXT, "ids", json!(["HB-204"])),
    ];
    for (content, key, expected) in cases {
        let entry = told(content, 400);
        assert_eq!(entry.key_data.get(key), Some(&expected), "{key}: {entry:?}");
    }
    let refs = told(SNAPSHOT, 400).key_data["refs"].clone();
    assert_eq!(
        (&refs["check_out"], &refs["voucher"]),
        (&json!("e12"), &json!("e7"))
    );
}

#[test]
fn a_small_budget_keeps_the_most_useful_values() {
    let entry = told(SNAPSHOT, 30);
    assert!(entry.key_data["refs"].get("apply_voucher").is_some(), "{entry:?}");
    let entry = told(PYTEST, 30);
    assert_eq!(entry.key_data["failed"], json!(["test_low_tide"]), "{entry:?}");
    assert!(entry.summary.starts_with("1 failed, 2 passed"), "{entry:?}");
}

#[test]
fn secrets_are_redacted_in_every_content_format() {
    let secret = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5";
    for content in [
        format!(r#"{{"id": 7, "token": "{secret}", "auth": {{"api_key": "{secret}"}}}}"#),
        format!("# Notes\n\n## {secret}\n\nUse `{secret}` at https://x:{secret}@example.org/a"),
        format!("boat,secret,n\nAda,{secret},1\nBo,{secret},2\n"),
        format!("Error: could not log in with {secret}\nCommand exited with code 1"),
        format!("const API_KEY = \"{secret}\";\nfunction login() {{\n}}\n"),
        format!("{secret}\n"),
    ] {
        for tokens in [20, 60, 300] {
            let shown = told(&content, tokens).rendered();
            assert!(!shown.contains("aB3dE5gH7"), "{shown}");
        }
    }
}

#[test]
fn the_default_size_grows_slowly_up_to_its_bound() {
    let sizes = [0, 80, 200, 1_000, 2_000, 5_000, 9_000, 300_000].map(default_tokens);
    assert_eq!(sizes, [24, 24, 50, 100, 100, 250, 450, 450]);
}
