//! Prefixes and formats of the secrets of providers.

/// Prefix of the secrets of one provider.
pub(super) struct ProviderPrefix {
    pub mark: &'static str,
    /// Minimum number of characters after the prefix.
    pub least: usize,
    /// Characters after the prefix.
    pub body: SecretBody,
}

/// Characters after a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretBody {
    /// Letters and digits.
    Word,
    /// Letters, digits, `-`, `_`, `.`, `=`.
    Any,
    /// Capitals and digits, exactly `least` characters.
    Capitals,
    /// Hexadecimal digits, exactly `least` characters.
    Hex,
    /// Letters and digits that look random, exactly `least` characters.
    Exact,
    /// URL characters; the prefix is the start of the URL and is not redacted.
    Path,
    /// Parts of fixed length, see [`find_shape_end`].
    Shape(&'static str),
}

const fn prefix(mark: &'static str, least: usize, body: SecretBody) -> ProviderPrefix {
    ProviderPrefix { mark, least, body }
}

/// The prefixes, as documented by the providers.
#[rustfmt::skip] // keep the list compact
pub(super) const PREFIXES: [ProviderPrefix; 195] = {
    use SecretBody::{Any, Capitals, Exact, Hex, Path, Shape, Word};
    [
    prefix("sk-ant-", 10, Any), prefix("sk-proj-", 16, Any), prefix("sk-or-", 16, Any),
    prefix("sk-", 20, Any), prefix("ghp_", 20, Word), prefix("gho_", 20, Word), prefix("ghu_", 20, Word),
    prefix("ghs_", 20, Word), prefix("ghr_", 20, Word), prefix("github_pat_", 20, Any),
    prefix("xoxa-", 10, Any), prefix("xoxb-", 10, Any), prefix("xoxe-", 10, Any), prefix("xoxo-", 10, Any),
    prefix("xoxp-", 10, Any), prefix("xoxr-", 10, Any), prefix("xoxs-", 10, Any), prefix("xapp-", 16, Any),
    prefix("AKIA", 16, Capitals), prefix("ASIA", 16, Capitals), prefix("AIza", 30, Any),
    prefix("ya29.", 20, Any), prefix("GOCSPX-", 20, Any), prefix("glpat-", 16, Any), prefix("gldt-", 16, Any),
    prefix("glrt-", 16, Any), prefix("npm_", 30, Word), prefix("pypi-", 30, Any), prefix("hf_", 30, Word),
    prefix("whsec_", 16, Any), prefix("sk_live_", 10, Word), prefix("rk_live_", 10, Word),
    prefix("pk_live_", 10, Word), prefix("sk_test_", 10, Word), prefix("rk_test_", 10, Word),
    prefix("pk_test_", 10, Word), prefix("SG.", 32, Any), prefix("dop_v1_", 32, Word),
    prefix("shpat_", 20, Word), prefix("shpss_", 20, Word), prefix("sq0atp-", 20, Any),
    prefix("sq0csp-", 20, Any), prefix("dckr_pat_", 20, Any), prefix("lin_api_", 20, Word),
    prefix("figd_", 20, Any), prefix("ATATT3", 30, Any), prefix("NRAK-", 20, Word), prefix("tskey-", 16, Any),
    prefix("gsk_", 30, Word), prefix("xai-", 40, Word), prefix("pplx-", 30, Word), prefix("r8_", 30, Word),
    prefix("AGE-SECRET-KEY-1", 40, Word), prefix("key-", 32, Hex), prefix("glptt-", 20, Word),
    prefix("glcbt-", 16, Any), prefix("glft-", 16, Any), prefix("glsoat-", 16, Any),
    prefix("glagent-", 20, Any), prefix("shpca_", 20, Word), prefix("shppa_", 20, Word),
    prefix("sq0idp-", 20, Any), prefix("dor_v1_", 32, Word), prefix("doo_v1_", 32, Word),
    prefix("dckr_oat_", 20, Any), prefix("lin_oauth_", 20, Word), prefix("dapi", 32, Hex),
    prefix("hvs.", 24, Any), prefix("hvb.", 24, Any), prefix("hvr.", 24, Any), prefix("sbp_", 40, Word),
    prefix("sb_secret_", 20, Any), prefix("sntrys_", 30, Any), prefix("sntryu_", 30, Word),
    prefix("pscale_tkn_", 30, Any), prefix("pscale_pw_", 30, Any), prefix("pscale_oauth_", 30, Any),
    prefix("nfp_", 30, Word), prefix("ntn_", 30, Word), prefix("cio", 32, Exact),
    prefix("rubygems_", 40, Word), prefix("PMAK-", 40, Any), prefix("glsa_", 30, Any),
    prefix("glc_", 40, Any), prefix("dp.pt.", 40, Word), prefix("pul-", 40, Word), prefix("lsv2_", 40, Any),
    prefix("nvapi-", 40, Any), prefix("tvly-", 24, Any),
    // URLs to which anyone who knows them may post. The rest of the URL is the secret.
    prefix("hooks.slack.com/services/", 30, Path), prefix("hooks.slack.com/workflows/", 30, Path),
    prefix("discord.com/api/webhooks/", 40, Path), prefix("discordapp.com/api/webhooks/", 40, Path),
    // Prefixes that are short or occur in words, with parts of fixed length.
    prefix("A3-", 0, Shape("A6'-A6'-A5'-A5'-A5|A6'-A11'-A5'-A5'-A5")), prefix("ops_eyJ", 0, Shape("b40-0")),
    prefix("p8e-", 0, Shape("w30-0")), prefix("pat", 0, Shape("w14'.h64")),
    prefix("LTAI", 0, Shape("w12-30")), prefix("AKCp", 0, Shape("w60-80")),
    prefix("cmVmdGtu", 0, Shape("w50-80")), prefix("sc_", 0, Shape("w5-30'.w4-6'.b10-40'.b30-0")),
    prefix("ext_", 0, Shape("w5-30'.w4-6'.b10-40'.b30-0")),
    prefix("scauth_", 0, Shape("w5-30'.w4-6'.b10-40'.b30-0")),
    prefix("authress_", 0, Shape("w5-30'.w4-6'.b10-40'.b30-0")), prefix("ABIA", 0, Shape("A16")),
    prefix("ACCA", 0, Shape("A16")), prefix("ABSK", 0, Shape("s100-0")),
    prefix("bedrock-api-key-", 0, Shape("s60-0")), prefix("b_", 0, Shape("b44")),
    prefix("4b1d", 0, Shape("w38")), prefix("CLOJARS_", 0, Shape("w60")),
    prefix("v1.0-", 0, Shape("h24'-h140-150")), prefix("dnkey-", 0, Shape("b26'-b52")),
    prefix("sl.", 0, Shape("b100-0")), prefix("sl.u.", 0, Shape("b100-0")),
    prefix("duffel_test_", 0, Shape("b43")), prefix("duffel_live_", 0, Shape("b43")),
    prefix("dt0c01.", 0, Shape("A24'.A64")), prefix("EZAK", 0, Shape("w54")), prefix("EZTK", 0, Shape("w54")),
    prefix("EAA", 0, Shape("w100-0")), prefix("EAAA", 0, Shape("b60-0")),
    prefix("FLWSECK_TEST-", 0, Shape("h12-32")), prefix("FLWSECK-", 0, Shape("h12-32")),
    prefix("FLWPUBK_TEST-", 0, Shape("h12-32")), prefix("fo1_", 0, Shape("b43")),
    prefix("fm1a_", 0, Shape("s100-0")), prefix("fm1r_", 0, Shape("s100-0")),
    prefix("fm2_", 0, Shape("s100-0")), prefix("fio-u-", 0, Shape("b64")),
    prefix("GR1348941", 0, Shape("b20-0")), prefix("glimt-", 0, Shape("b25")),
    prefix("gloas-", 0, Shape("w40-0")), prefix("glffct-", 0, Shape("b20")),
    prefix("_gitlab_session=", 0, Shape("h32")), prefix("live_", 0, Shape("h35|b40")),
    prefix("test_", 0, Shape("h35")), prefix("live_pub_", 0, Shape("h31")),
    prefix("test_pub_", 0, Shape("h31")), prefix("sat.", 0, Shape("b22'.w24'.w20")),
    prefix("pat.", 0, Shape("b22'.w24'.w20")), prefix("HRKU-AA", 0, Shape("b58")),
    prefix("api_org_", 0, Shape("w34")), prefix("ico-", 0, Shape("w32")),
    prefix("s-s4t2ud-", 0, Shape("h64")), prefix("s-s4t2af-", 0, Shape("h64")),
    prefix("ZXlK", 0, Shape("s40-0")), prefix("pubkey-", 0, Shape("h32")),
    prefix("pk.eyJ", 0, Shape("b40-0'.b20-0")), prefix("sk.eyJ", 0, Shape("b40-0'.b20-0")),
    prefix("NRJS-", 0, Shape("h19")), prefix("NRII-", 0, Shape("b32")), prefix("API-", 0, Shape("A26")),
    prefix("sha256~", 0, Shape("b43")), prefix("access-sandbox-", 0, Shape("h8'-h4'-h4'-h4'-h12")),
    prefix("access-development-", 0, Shape("h8'-h4'-h4'-h4'-h12")),
    prefix("access-production-", 0, Shape("h8'-h4'-h4'-h4'-h12")), prefix("pnu_", 0, Shape("w36")),
    prefix("rdme_", 0, Shape("w70")), prefix("tk-us-", 0, Shape("b48")),
    prefix("xkeysib-", 0, Shape("h64'-w16")), prefix("sm_aat_", 0, Shape("w16")),
    prefix("sm_pat_", 0, Shape("w16")), prefix("sm_sat_", 0, Shape("w16")),
    prefix("shippo_live_", 0, Shape("h40")), prefix("shippo_test_", 0, Shape("h40")),
    prefix("squ_", 0, Shape("h40")), prefix("sqp_", 0, Shape("h40")), prefix("sqa_", 0, Shape("h40")),
    prefix("sgp_", 0, Shape("w16'_h40|h40")), prefix("AAAAAAAAAAAAAAAAAAAA", 0, Shape("c40-0")),
    prefix("tfp_", 0, Shape("b30-0")), prefix("t1.", 0, Shape("b7-0'.b86")),
    prefix("AQVN", 0, Shape("b35-0")), prefix("YC", 0, Shape("b38")), prefix("xoxe.xoxb-", 0, Shape("b20-0")),
    prefix("xoxe.xoxp-", 0, Shape("b20-0")), prefix("SK0", 0, Shape("h31")), prefix("SK1", 0, Shape("h31")),
    prefix("SK2", 0, Shape("h31")), prefix("SK3", 0, Shape("h31")), prefix("SK4", 0, Shape("h31")),
    prefix("SK5", 0, Shape("h31")), prefix("SK6", 0, Shape("h31")), prefix("SK7", 0, Shape("h31")),
    prefix("SK8", 0, Shape("h31")), prefix("SK9", 0, Shape("h31")), prefix("SKa", 0, Shape("h31")),
    prefix("SKb", 0, Shape("h31")), prefix("SKc", 0, Shape("h31")), prefix("SKd", 0, Shape("h31")),
    prefix("SKe", 0, Shape("h31")), prefix("SKf", 0, Shape("h31")),
    prefix("webhook.office.com/webhookb2/", 40, Path), prefix("logic.azure.com/workflows/", 40, Path),
    ]
};

/// Returns the end of the text that matches the shape from an offset.
///
/// A shape is a list of parts: a letter for a character class with its count (`w20`), or minimum and maximum
/// (`w5-30`; `w40-0` has no maximum), or `'` and a literal character. The classes are: `h` hexadecimal, `d` digit,
/// `A` capital or digit, `w` letter or digit, `b` as `w` with `-` and `_`, `s` both alphabets of base64, `c` letter,
/// digit or `%`. No letter or digit may follow the last part.
pub(super) fn find_shape_end(shape: &str, text: &[u8], from: usize) -> Option<usize> {
    let (mut shape, mut at) = (shape.as_bytes(), from);
    while let [class, rest @ ..] = shape {
        if *class == b'\'' {
            let [mark, rest @ ..] = rest else { return None };
            if text.get(at) != Some(mark) {
                return None;
            }
            (shape, at) = (rest, at + 1);
            continue;
        }
        let (fewest, rest) = parse_number(rest);
        let (most, rest) = match rest {
            [b'-', rest @ ..] => parse_number(rest),
            _ => (fewest, rest),
        };
        let most = if most == 0 { usize::MAX } else { most };
        let wanted = |byte: &&u8| is_in_class(*class, **byte);
        let there = text.get(at..).unwrap_or_default();
        let length = there.iter().take(most).take_while(wanted).count();
        if length < fewest {
            return None;
        }
        (shape, at) = (rest, at + length);
    }
    let next = text.get(at).copied().unwrap_or(b' ');
    (!next.is_ascii_alphanumeric()).then_some(at)
}

const fn is_in_class(class: u8, byte: u8) -> bool {
    match class {
        b'h' => byte.is_ascii_hexdigit(),
        b'd' => byte.is_ascii_digit(),
        b'A' => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        b'b' => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
        b's' => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'/' | b'=' | b','),
        b'c' => byte.is_ascii_alphanumeric() || byte == b'%',
        _ => byte.is_ascii_alphanumeric(),
    }
}

fn parse_number(shape: &[u8]) -> (usize, &[u8]) {
    let digits = shape.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = shape[..digits]
        .iter()
        .fold(0, |number, byte| number * 10 + usize::from(byte - b'0'));
    (number, &shape[digits..])
}
