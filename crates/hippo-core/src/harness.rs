//! What is `hipocampus.config.json` called, and how strictly is it read?

use jsonc_parser::ParseOptions;

/// The file, in a workspace. It is the one that hipocampus has, so that its workspaces are understood.
pub const FILE: &str = "hipocampus.config.json";

/// JSON as people write it into the settings of a harness: comments and trailing commas are allowed, nothing else beyond it.
#[must_use]
pub fn as_people_write() -> ParseOptions {
    ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
        ..ParseOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_and_nothing_else() {
        let read =
            |text: &str| jsonc_parser::parse_to_serde_value::<serde_json::Value>(text, &as_people_write());
        assert_eq!(read("// a\n{\"b\": [1, 2,], /* c */}").unwrap()["b"][1], 2);
        for no in [
            "{b: 1}",
            "{'b': 1}",
            "{\"b\": 0x1}",
            "{\"b\": .5}",
            "{\"b\": NaN}",
            "{\"a\": 1 \"b\": 2}",
        ] {
            assert!(read(no).is_err(), "{no}");
        }
    }
}
