//! Nesting and size: what any reader must survive on a small stack.

#[allow(dead_code, reason = "the other tests use the rest")]
mod inputs;

use hippo_fuzz::TARGETS;
use inputs::{OPENERS, survives_nesting, survives_nesting_line_by_line, survives_size};

#[test]
fn nesting_costs_no_stack() {
    for (name, target) in TARGETS {
        survives_nesting(name, target, &OPENERS[..11]);
    }
}

#[test]
fn nesting_of_other_openers_costs_no_stack() {
    for (name, target) in TARGETS {
        survives_nesting(name, target, &OPENERS[11..]);
    }
}

#[test]
fn nesting_line_by_line_costs_no_stack() {
    for (name, target) in TARGETS {
        survives_nesting_line_by_line(name, target);
    }
}

#[test]
fn size_is_survived() {
    for (name, target) in TARGETS {
        survives_size(name, target);
    }
}
