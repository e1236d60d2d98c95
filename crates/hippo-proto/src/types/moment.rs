//! Syntax check of dates and timestamps.
//!
//! The daemon checks that the date exists.

use crate::error::RpcError;

/// Refuses an `at` that is neither a date nor a timestamp.
pub(super) fn check_time(at: Option<&str>) -> Result<(), RpcError> {
    match at {
        Some(at) if !is_date(at) && !is_timestamp(at) => Err(RpcError::bad_request(
            "the field \"at\" is not a date or a timestamp",
        )
        .hint("write YYYY-MM-DD or a timestamp like 2026-01-10T09:30:00Z")),
        _ => Ok(()),
    }
}

/// Returns whether a text has the form `YYYY-MM-DD`.
pub(super) fn is_date(text: &str) -> bool {
    matches_pattern(text.as_bytes(), b"0000-00-00")
}

/// Returns whether a text has the form of RFC 3339, with `T` and `Z` in upper case.
fn is_timestamp(text: &str) -> bool {
    let Some((seconds, rest)) = text.as_bytes().split_at_checked(19) else {
        return false;
    };
    let zone = match rest.strip_prefix(b".") {
        Some(fraction) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            &fraction[digits..]
        }
        None => rest,
    };
    let zones = [&b"Z"[..], b"+00:00", b"-00:00"];
    matches_pattern(seconds, b"0000-00-00T00:00:00") && zones.iter().any(|form| matches_pattern(zone, form))
}

/// Returns whether a text matches a pattern, in which `0` stands for any digit.
fn matches_pattern(text: &[u8], pattern: &[u8]) -> bool {
    let fits = |(byte, wanted): (&u8, &u8)| match wanted {
        b'0' => byte.is_ascii_digit(),
        _ => byte == wanted,
    };
    text.len() == pattern.len() && text.iter().zip(pattern).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_timestamps_are_recognised_by_their_form() {
        for good in [
            "2026-01-10",
            "2026-01-10T09:30:00Z",
            "2026-01-10T09:30:00.125Z",
            "2026-01-10T09:30:00+02:00",
            "2026-01-10T09:30:00.5-11:30",
        ] {
            assert_eq!(check_time(Some(good)), Ok(()), "{good}");
        }
        for bad in [
            "",
            "tomorrow",
            "2026-1-10",
            "2026-01-10T09:30:00",
            "2026-01-10T09:30Z",
            "2026-01-10 09:30:00Z",
            "2026-01-10T09:30:00.Z",
            "2026-01-10T09:30:00+0200",
            "2026-01-10T09:30:00Zulu",
            "2026-01-1é:30:00ZZZZ",
        ] {
            assert!(check_time(Some(bad)).is_err(), "{bad}");
        }
        assert_eq!(check_time(None), Ok(()));
    }
}
