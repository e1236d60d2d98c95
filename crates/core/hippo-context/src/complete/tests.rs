//! Tests of the retrieval flows of v2 §7.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const CAPTURED: &[u8] = b"<page>\n<button ref=e12>Submit</button>\n</page>\n";
const NOW: &[u8] = b"<page>\n<button ref=e40>Send</button>\n</page>\n";

fn at_hand<'a>(
    stored: Result<&'a [u8], &'a str>,
    source: Result<&'a [u8], &'a str>,
    hash: Option<&'a str>,
) -> CompletionSources<'a> {
    CompletionSources {
        stored,
        source,
        follows_source: false,
        stored_hash: hash,
        summary: "A form with a submit button.",
        key_data: None,
    }
}

#[test]
fn stored_content_is_returned_as_captured() {
    let hash = content_hash(CAPTURED);
    assert!(hash.starts_with("b3:") && hash.len() == 67, "{hash}");
    for source in [Err("a browser is not asked again"), Ok(CAPTURED)] {
        let given = complete(&at_hand(Ok(CAPTURED), source, Some(&hash)));
        assert_eq!(
            (given.outcome, given.from),
            (FetchOutcome::Full, Some(FetchOrigin::Store))
        );
        assert_eq!(
            (given.content, given.stale, given.reason),
            (Some(CAPTURED), false, None)
        );
    }
    let changed = complete(&at_hand(Ok(CAPTURED), Ok(NOW), Some(&hash)));
    assert_eq!(
        (changed.outcome, changed.content),
        (FetchOutcome::Full, Some(CAPTURED))
    );
    assert!(changed.stale && changed.reason.unwrap().contains("has changed"));
    assert_eq!(changed.stored_hash.as_deref(), Some(hash.as_str()));
    assert_eq!(changed.source_hash, Some(content_hash(NOW)));
}

#[test]
fn an_entry_that_follows_its_source_returns_the_current_source() {
    let hash = content_hash(CAPTURED);
    let follow = |source| {
        complete(&CompletionSources {
            follows_source: true,
            ..at_hand(Ok(CAPTURED), source, Some(&hash))
        })
    };
    let longer = [CAPTURED, b"<p>more</p>\n"].concat();
    assert_eq!(follow(Ok(&longer)).content, Some(&longer[..]));
    let changed = follow(Ok(NOW));
    assert_eq!(
        (changed.content, changed.from),
        (Some(NOW), Some(FetchOrigin::Source))
    );
    assert!(!changed.stale && changed.reason.unwrap().contains(&hash));
    for source in [Ok(CAPTURED), Err("gone")] {
        let given = follow(source);
        assert_eq!((given.content, given.reason), (Some(CAPTURED), None));
    }
}

#[test]
fn the_captured_part_of_a_file_is_found() {
    let file = b"one\n  two\nthree\n";
    assert_eq!(compare(file, b"one\n  two\nthree"), Some(CapturedPart::Whole));
    assert_eq!(
        compare(file, b"     1\tone\n     2\t  two\n     3\tthree"),
        Some(CapturedPart::Whole)
    );
    assert_eq!(compare(file, b"  two\nthree"), Some(CapturedPart::Excerpt));
    assert_eq!(compare(file, b"four"), None);
    assert_eq!(compare(b"", b"\n"), Some(CapturedPart::Whole));
}

#[test]
fn without_stored_content_the_source_is_read() {
    let hash = content_hash(CAPTURED);
    let same = complete(&at_hand(Err("too old"), Ok(CAPTURED), Some(&hash)));
    assert_eq!(
        (same.outcome, same.from),
        (FetchOutcome::Full, Some(FetchOrigin::Source))
    );
    assert_eq!((same.stale, same.reason), (false, None));
    let other = complete(&at_hand(Err("too old"), Ok(NOW), Some(&hash)));
    assert_eq!(
        (other.outcome, other.content, other.stale),
        (FetchOutcome::Full, Some(NOW), true)
    );
    assert!(other.reason.unwrap().contains("too old"));
    assert_ne!(other.stored_hash, other.source_hash);
    let unknown = complete(&at_hand(Err("too old"), Ok(NOW), None));
    assert_eq!((unknown.stale, unknown.stored_hash), (false, None));
    assert!(unknown.reason.unwrap().contains("not known"));
}

#[test]
fn without_the_source_the_summary_is_returned() {
    let hash = content_hash(CAPTURED);
    let given = complete(&at_hand(Err("too old"), Err("no such file"), Some(&hash)));
    assert_eq!(
        (given.outcome, given.from),
        (FetchOutcome::Partial, Some(FetchOrigin::Summary))
    );
    assert!(given.stale && given.content.is_none());
    let reason = given.reason.unwrap();
    assert!(reason.contains("too old") && reason.contains("no such file") && reason.contains("again"));
    let key_data = json!({"submit": "e12"});
    let mut values = at_hand(Err("too old"), Err("gone"), None);
    (values.summary, values.key_data) = (" ", key_data.as_object());
    assert_eq!(
        complete(&values).outcome,
        FetchOutcome::Partial,
        "key data may be enough"
    );
}

#[test]
fn the_reason_explains_that_nothing_is_available() {
    let mut nothing = at_hand(Err("too old"), Err("no such file"), None);
    nothing.summary = "\n";
    let given = complete(&nothing);
    assert_eq!(
        (given.outcome, given.from, given.stale),
        (FetchOutcome::Unavailable, None, true)
    );
    assert!(given.reason.unwrap().contains("capture the content again"));
}

#[test]
fn damaged_content_is_not_returned() {
    let hash = content_hash(CAPTURED);
    let given = complete(&at_hand(Ok(NOW), Err("gone"), Some(&hash)));
    assert_eq!(given.outcome, FetchOutcome::Partial);
    assert!(given.reason.unwrap().contains("damaged"));
}

#[test]
fn an_excerpt_is_not_stale_while_the_file_contains_it() {
    let file = b"one\n  two\nthree\n";
    let fresh = |content: &[u8]| !complete(&at_hand(Ok(content), Ok(file), None)).stale;
    assert!(fresh(b"  two\nthree"));
    assert!(fresh("     2→  two\n     3→three".as_bytes()));
    assert!(fresh(b"     1\tone\n     2\t  two\n"));
    assert!(!fresh(b"     2\ttwo, changed\n"));
    assert!(!fresh(b""), "an empty content is not a part of anything");
}

#[test]
fn file_paths_are_extracted_from_sources() {
    let of = |kind, reference| source_path(kind, reference).map(Cow::into_owned);
    assert_eq!(of("file", "src/a.rs").as_deref(), Some("src/a.rs"));
    assert_eq!(
        of("Read", r#"{"file_path": "/tmp/ä b"}"#).as_deref(),
        Some("/tmp/ä b")
    );
    assert_eq!(of("read", "file:///tmp/a").as_deref(), Some("/tmp/a"));
    for (kind, reference) in [
        ("exec", "cat a"),
        ("file", ""),
        ("read", "{\"n\": 1}"),
        ("read", "{"),
        ("file", "a\nb"),
    ] {
        assert_eq!(of(kind, reference), None, "{kind} {reference}");
    }
}

proptest! {
    #[test]
    fn every_combination_of_sources_has_a_result(
        stored in proptest::option::of(".{0,20}"), source in proptest::option::of(".{0,20}"),
        hash in proptest::option::of(".{0,20}"), summary in ".{0,5}",
    ) {
        let hash = hash.map(|of| content_hash(of.as_bytes()));
        let given = complete(&CompletionSources {
            stored: stored.as_deref().map(str::as_bytes).ok_or("why"),
            source: source.as_deref().map(str::as_bytes).ok_or("gone"),
            follows_source: false,
            stored_hash: hash.as_deref(),
            summary: &summary,
            key_data: None,
        });
        prop_assert_eq!(given.content.is_some(), given.outcome == FetchOutcome::Full);
        prop_assert_eq!(given.from.is_none(), given.outcome == FetchOutcome::Unavailable);
        prop_assert!(given.outcome == FetchOutcome::Full || given.reason.is_some());
        prop_assert!(!given.stale || given.reason.is_some());
        prop_assert_eq!(given.source_hash, source.map(|source| content_hash(source.as_bytes())));
    }
}
