//! Tests of the characters that are removed or kept.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

#[test]
fn escape_sequences_are_removed_and_text_is_kept() {
    for (text, seen) in [
        ("\x1b[31mFAILED\x1b[0m a", "FAILED a"),
        ("\x1b[31msrc/main.rs", "src/main.rs"),
        ("\x1b[38;5;12;1mx\x1b[m", "x"),
        ("\x1b[?25lx\x1b[2 q", "x"),
        // Sequences for titles and links, which end with BEL or with ESC \.
        ("\x1b]0;title\x07prompt$", "prompt$"),
        ("\x1b]8;;http://a.b\x1b\\name\x1b]8;;\x1b\\", "name"),
        ("\x1b]0;never\nnext", "\nnext"),
        // Sequences that select character sets.
        ("\x1b(Bplain\x1b)0\x1b%Gx", "plainx"),
        ("\x1b#8\x1b=\x1b7x\x1b8\x1b>", "x"),
        // Sequences for images and settings: DCS, APC, PM and SOS.
        ("a\x1bPq#0;2;0;0;0#0~~@@vv\x1b\\b", "ab"),
        ("a\x1b_Gf=100,a=T;iVBORw0KGgo=\x1b\\b", "ab"),
        ("a\x1b^secret\x1b\\\x1bXmore\x1b\\b", "ab"),
        ("a\x1bPtmux;\x1b\x1b]0;t\x07b", "ab"),
        ("a\x1bPnever\nb", "a\nb"),
        // Single control characters.
        ("\u{9b}31mred\u{9b}0m \u{9b}mx", "red x"),
        ("a\u{9d}0;title\u{9c}b\u{90}q\x1b\\c", "abc"),
        // Letters in a wrong encoding are not control sequences.
        ("â\u{80}\u{9c}quotedâ\u{80}\u{9d} and on", "âquotedâ and on"),
        ("a\u{85}b © · é", "a\u{85}b © · é"),
        ("a\x1b\nb", "a\nb"),
        ("a\x1bé\x1b", "aé"),
        ("a\rb\x08c", "a\rb\x08c"),
    ] {
        assert_eq!(without_escapes(text), seen, "{text:?}");
    }
}

#[test]
fn overwritten_text_is_removed() {
    for (text, seen) in [
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("- \x08\\ \x08done\r\n", "-\\done\r\n"),
        ("10%\r\x1b[K50%\x1b[0m", "50%"),
        // A colour sequence does not overwrite the text before it.
        ("whole\r\x1b[0m\nnext", "whole\r\nnext"),
        ("a\r\nb\r\nc\r", "a\r\nb\r\nc\r"),
        ("a\r\rb", "b"),
        ("\n\x08\x08a", "\na"),
        ("日本\x08語", "日語"),
    ] {
        assert_eq!(as_seen(text), seen, "{text:?}");
    }
}

#[test]
fn a_text_without_controls_is_not_copied() {
    let text = "plain, Grüße, ©, 日本\r\nnext\r\n";
    assert!(matches!(without_escapes(text), Cow::Borrowed(_)));
    assert!(matches!(as_seen(text), Cow::Borrowed(_)));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_escape_sequence_remains_and_no_text_is_added(
        parts in prop::collection::vec(
            prop_oneof![
                "[a-z]{1,5}", Just("\x1b".to_owned()), Just("[".to_owned()), Just("]".to_owned()),
                Just("\u{9b}".to_owned()), Just("\u{9d}".to_owned()), Just("\u{9c}".to_owned()),
                Just("\n".to_owned()), Just("\r".to_owned()), Just("\x08".to_owned()), Just("\x07".to_owned()),
                Just("31m".to_owned()), Just("\\".to_owned()), Just("(".to_owned()), Just("é©".to_owned()),
            ],
            0..24,
        ),
    ) {
        let text = parts.concat();
        let shown = without_escapes(&text);
        prop_assert!(!shown.contains(['\x1b', '\u{9b}', '\u{9c}', '\u{9d}']), "{:?}", shown);
        prop_assert_eq!(without_escapes(&shown), &*shown);
        let mut left = text.chars();
        prop_assert!(shown.chars().all(|c| left.any(|given| given == c)), "{:?} of {:?}", shown, text);
        let seen = as_seen(&text);
        prop_assert!(!seen.contains('\x08'));
        prop_assert_eq!(as_seen(&seen), &*seen);
        let lines = |text: &str| text.matches('\n').count();
        prop_assert_eq!(lines(&seen), lines(&shown));
    }
}
