//! Tests of deep nesting and large texts, on a small stack.

#[allow(dead_code, reason = "the other tests use the rest")]
mod inputs;

use hippo_fuzz::TARGETS;
use inputs::{OPENERS, assert_survives_nesting, assert_survives_nesting_by_line, assert_survives_size};

#[test]
fn nesting_does_not_overflow_the_stack() {
    for (name, target) in TARGETS {
        assert_survives_nesting(name, target, &OPENERS[..11]);
    }
}

#[test]
fn nesting_of_other_openers_does_not_overflow_the_stack() {
    for (name, target) in TARGETS {
        assert_survives_nesting(name, target, &OPENERS[11..]);
    }
}

#[test]
fn nesting_by_line_does_not_overflow_the_stack() {
    for (name, target) in TARGETS {
        assert_survives_nesting_by_line(name, target);
    }
}

#[test]
fn large_inputs_are_handled() {
    for (name, target) in TARGETS {
        assert_survives_size(name, target);
    }
}
