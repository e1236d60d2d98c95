//! Marks and shapes of the secrets of providers.

/// A mark that the secrets of one provider begin with.
pub(super) struct Prefix {
    pub mark: &'static str,
    /// Characters that follow it at least.
    pub least: usize,
    /// What they are.
    pub body: Body,
}

/// What follows a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// Letters and digits.
    Word,
    /// Letters, digits, `-`, `_`, `.`, `=`.
    Any,
    /// Capitals and digits, exactly `least` of them.
    Capitals,
    /// Hexadecimal digits, exactly `least` of them.
    Hex,
    /// Letters and digits, exactly `least` of them, in no order.
    Exact,
    /// Those of an address; the mark is its beginning, and stays.
    Path,
    /// Parts of known length, see [`end_of_shape`].
    Shape(&'static str),
}

const fn prefix(mark: &'static str, least: usize, body: Body) -> Prefix {
    Prefix { mark, least, body }
}

/// The marks, as providers document them.
pub(super) const PREFIXES: [Prefix; 195] = [
    prefix("sk-ant-", 10, Body::Any),
    prefix("sk-proj-", 16, Body::Any),
    prefix("sk-or-", 16, Body::Any),
    prefix("sk-", 20, Body::Any),
    prefix("ghp_", 20, Body::Word),
    prefix("gho_", 20, Body::Word),
    prefix("ghu_", 20, Body::Word),
    prefix("ghs_", 20, Body::Word),
    prefix("ghr_", 20, Body::Word),
    prefix("github_pat_", 20, Body::Any),
    prefix("xoxa-", 10, Body::Any),
    prefix("xoxb-", 10, Body::Any),
    prefix("xoxe-", 10, Body::Any),
    prefix("xoxo-", 10, Body::Any),
    prefix("xoxp-", 10, Body::Any),
    prefix("xoxr-", 10, Body::Any),
    prefix("xoxs-", 10, Body::Any),
    prefix("xapp-", 16, Body::Any),
    prefix("AKIA", 16, Body::Capitals),
    prefix("ASIA", 16, Body::Capitals),
    prefix("AIza", 30, Body::Any),
    prefix("ya29.", 20, Body::Any),
    prefix("GOCSPX-", 20, Body::Any),
    prefix("glpat-", 16, Body::Any),
    prefix("gldt-", 16, Body::Any),
    prefix("glrt-", 16, Body::Any),
    prefix("npm_", 30, Body::Word),
    prefix("pypi-", 30, Body::Any),
    prefix("hf_", 30, Body::Word),
    prefix("whsec_", 16, Body::Any),
    prefix("sk_live_", 10, Body::Word),
    prefix("rk_live_", 10, Body::Word),
    prefix("pk_live_", 10, Body::Word),
    prefix("sk_test_", 10, Body::Word),
    prefix("rk_test_", 10, Body::Word),
    prefix("pk_test_", 10, Body::Word),
    prefix("SG.", 32, Body::Any),
    prefix("dop_v1_", 32, Body::Word),
    prefix("shpat_", 20, Body::Word),
    prefix("shpss_", 20, Body::Word),
    prefix("sq0atp-", 20, Body::Any),
    prefix("sq0csp-", 20, Body::Any),
    prefix("dckr_pat_", 20, Body::Any),
    prefix("lin_api_", 20, Body::Word),
    prefix("figd_", 20, Body::Any),
    prefix("ATATT3", 30, Body::Any),
    prefix("NRAK-", 20, Body::Word),
    prefix("tskey-", 16, Body::Any),
    prefix("gsk_", 30, Body::Word),
    prefix("xai-", 40, Body::Word),
    prefix("pplx-", 30, Body::Word),
    prefix("r8_", 30, Body::Word),
    prefix("AGE-SECRET-KEY-1", 40, Body::Word),
    prefix("key-", 32, Body::Hex),
    prefix("glptt-", 20, Body::Word),
    prefix("glcbt-", 16, Body::Any),
    prefix("glft-", 16, Body::Any),
    prefix("glsoat-", 16, Body::Any),
    prefix("glagent-", 20, Body::Any),
    prefix("shpca_", 20, Body::Word),
    prefix("shppa_", 20, Body::Word),
    prefix("sq0idp-", 20, Body::Any),
    prefix("dor_v1_", 32, Body::Word),
    prefix("doo_v1_", 32, Body::Word),
    prefix("dckr_oat_", 20, Body::Any),
    prefix("lin_oauth_", 20, Body::Word),
    prefix("dapi", 32, Body::Hex),
    prefix("hvs.", 24, Body::Any),
    prefix("hvb.", 24, Body::Any),
    prefix("hvr.", 24, Body::Any),
    prefix("sbp_", 40, Body::Word),
    prefix("sb_secret_", 20, Body::Any),
    prefix("sntrys_", 30, Body::Any),
    prefix("sntryu_", 30, Body::Word),
    prefix("pscale_tkn_", 30, Body::Any),
    prefix("pscale_pw_", 30, Body::Any),
    prefix("pscale_oauth_", 30, Body::Any),
    prefix("nfp_", 30, Body::Word),
    prefix("ntn_", 30, Body::Word),
    prefix("cio", 32, Body::Exact),
    prefix("rubygems_", 40, Body::Word),
    prefix("PMAK-", 40, Body::Any),
    prefix("glsa_", 30, Body::Any),
    prefix("glc_", 40, Body::Any),
    prefix("dp.pt.", 40, Body::Word),
    prefix("pul-", 40, Body::Word),
    prefix("lsv2_", 40, Body::Any),
    prefix("nvapi-", 40, Body::Any),
    prefix("tvly-", 24, Body::Any),
    // Addresses that anybody may post to who knows them: what follows is the secret.
    prefix("hooks.slack.com/services/", 30, Body::Path),
    prefix("hooks.slack.com/workflows/", 30, Body::Path),
    prefix("discord.com/api/webhooks/", 40, Body::Path),
    prefix("discordapp.com/api/webhooks/", 40, Body::Path),
    // Parts of known length: the marks are short, or occur in words.
    prefix("A3-", 0, Body::Shape("A6'-A6'-A5'-A5'-A5|A6'-A11'-A5'-A5'-A5")),
    prefix("ops_eyJ", 0, Body::Shape("b40-0")),
    prefix("p8e-", 0, Body::Shape("w30-0")),
    prefix("pat", 0, Body::Shape("w14'.h64")),
    prefix("LTAI", 0, Body::Shape("w12-30")),
    prefix("AKCp", 0, Body::Shape("w60-80")),
    prefix("cmVmdGtu", 0, Body::Shape("w50-80")),
    prefix("sc_", 0, Body::Shape("w5-30'.w4-6'.b10-40'.b30-0")),
    prefix("ext_", 0, Body::Shape("w5-30'.w4-6'.b10-40'.b30-0")),
    prefix("scauth_", 0, Body::Shape("w5-30'.w4-6'.b10-40'.b30-0")),
    prefix("authress_", 0, Body::Shape("w5-30'.w4-6'.b10-40'.b30-0")),
    prefix("ABIA", 0, Body::Shape("A16")),
    prefix("ACCA", 0, Body::Shape("A16")),
    prefix("ABSK", 0, Body::Shape("s100-0")),
    prefix("bedrock-api-key-", 0, Body::Shape("s60-0")),
    prefix("b_", 0, Body::Shape("b44")),
    prefix("4b1d", 0, Body::Shape("w38")),
    prefix("CLOJARS_", 0, Body::Shape("w60")),
    prefix("v1.0-", 0, Body::Shape("h24'-h140-150")),
    prefix("dnkey-", 0, Body::Shape("b26'-b52")),
    prefix("sl.", 0, Body::Shape("b100-0")),
    prefix("sl.u.", 0, Body::Shape("b100-0")),
    prefix("duffel_test_", 0, Body::Shape("b43")),
    prefix("duffel_live_", 0, Body::Shape("b43")),
    prefix("dt0c01.", 0, Body::Shape("A24'.A64")),
    prefix("EZAK", 0, Body::Shape("w54")),
    prefix("EZTK", 0, Body::Shape("w54")),
    prefix("EAA", 0, Body::Shape("w100-0")),
    prefix("EAAA", 0, Body::Shape("b60-0")),
    prefix("FLWSECK_TEST-", 0, Body::Shape("h12-32")),
    prefix("FLWSECK-", 0, Body::Shape("h12-32")),
    prefix("FLWPUBK_TEST-", 0, Body::Shape("h12-32")),
    prefix("fo1_", 0, Body::Shape("b43")),
    prefix("fm1a_", 0, Body::Shape("s100-0")),
    prefix("fm1r_", 0, Body::Shape("s100-0")),
    prefix("fm2_", 0, Body::Shape("s100-0")),
    prefix("fio-u-", 0, Body::Shape("b64")),
    prefix("GR1348941", 0, Body::Shape("b20-0")),
    prefix("glimt-", 0, Body::Shape("b25")),
    prefix("gloas-", 0, Body::Shape("w40-0")),
    prefix("glffct-", 0, Body::Shape("b20")),
    prefix("_gitlab_session=", 0, Body::Shape("h32")),
    prefix("live_", 0, Body::Shape("h35|b40")),
    prefix("test_", 0, Body::Shape("h35")),
    prefix("live_pub_", 0, Body::Shape("h31")),
    prefix("test_pub_", 0, Body::Shape("h31")),
    prefix("sat.", 0, Body::Shape("b22'.w24'.w20")),
    prefix("pat.", 0, Body::Shape("b22'.w24'.w20")),
    prefix("HRKU-AA", 0, Body::Shape("b58")),
    prefix("api_org_", 0, Body::Shape("w34")),
    prefix("ico-", 0, Body::Shape("w32")),
    prefix("s-s4t2ud-", 0, Body::Shape("h64")),
    prefix("s-s4t2af-", 0, Body::Shape("h64")),
    prefix("ZXlK", 0, Body::Shape("s40-0")),
    prefix("pubkey-", 0, Body::Shape("h32")),
    prefix("pk.eyJ", 0, Body::Shape("b40-0'.b20-0")),
    prefix("sk.eyJ", 0, Body::Shape("b40-0'.b20-0")),
    prefix("NRJS-", 0, Body::Shape("h19")),
    prefix("NRII-", 0, Body::Shape("b32")),
    prefix("API-", 0, Body::Shape("A26")),
    prefix("sha256~", 0, Body::Shape("b43")),
    prefix("access-sandbox-", 0, Body::Shape("h8'-h4'-h4'-h4'-h12")),
    prefix("access-development-", 0, Body::Shape("h8'-h4'-h4'-h4'-h12")),
    prefix("access-production-", 0, Body::Shape("h8'-h4'-h4'-h4'-h12")),
    prefix("pnu_", 0, Body::Shape("w36")),
    prefix("rdme_", 0, Body::Shape("w70")),
    prefix("tk-us-", 0, Body::Shape("b48")),
    prefix("xkeysib-", 0, Body::Shape("h64'-w16")),
    prefix("sm_aat_", 0, Body::Shape("w16")),
    prefix("sm_pat_", 0, Body::Shape("w16")),
    prefix("sm_sat_", 0, Body::Shape("w16")),
    prefix("shippo_live_", 0, Body::Shape("h40")),
    prefix("shippo_test_", 0, Body::Shape("h40")),
    prefix("squ_", 0, Body::Shape("h40")),
    prefix("sqp_", 0, Body::Shape("h40")),
    prefix("sqa_", 0, Body::Shape("h40")),
    prefix("sgp_", 0, Body::Shape("w16'_h40|h40")),
    prefix("AAAAAAAAAAAAAAAAAAAA", 0, Body::Shape("c40-0")),
    prefix("tfp_", 0, Body::Shape("b30-0")),
    prefix("t1.", 0, Body::Shape("b7-0'.b86")),
    prefix("AQVN", 0, Body::Shape("b35-0")),
    prefix("YC", 0, Body::Shape("b38")),
    prefix("xoxe.xoxb-", 0, Body::Shape("b20-0")),
    prefix("xoxe.xoxp-", 0, Body::Shape("b20-0")),
    prefix("SK0", 0, Body::Shape("h31")),
    prefix("SK1", 0, Body::Shape("h31")),
    prefix("SK2", 0, Body::Shape("h31")),
    prefix("SK3", 0, Body::Shape("h31")),
    prefix("SK4", 0, Body::Shape("h31")),
    prefix("SK5", 0, Body::Shape("h31")),
    prefix("SK6", 0, Body::Shape("h31")),
    prefix("SK7", 0, Body::Shape("h31")),
    prefix("SK8", 0, Body::Shape("h31")),
    prefix("SK9", 0, Body::Shape("h31")),
    prefix("SKa", 0, Body::Shape("h31")),
    prefix("SKb", 0, Body::Shape("h31")),
    prefix("SKc", 0, Body::Shape("h31")),
    prefix("SKd", 0, Body::Shape("h31")),
    prefix("SKe", 0, Body::Shape("h31")),
    prefix("SKf", 0, Body::Shape("h31")),
    prefix("webhook.office.com/webhookb2/", 40, Body::Path),
    prefix("logic.azure.com/workflows/", 40, Body::Path),
];

/// The end of the text that has this shape from an offset on.
///
/// A shape is a list of parts: a letter for the characters and their number (`w20`), or the fewest and the most (`w5-30`; `w40-0`
/// has no most), or `'` and a character that stands for itself. `h` is hexadecimal, `d` a digit, `A` a capital or a digit, `w` a
/// letter or a digit, `b` these with `-` and `_`, `s` letters of base64 of both kinds, `c` those of an address with `%`.
/// Behind the last part no letter and no digit may follow.
pub(super) fn end_of_shape(shape: &str, text: &[u8], from: usize) -> Option<usize> {
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
        let (fewest, rest) = number(rest);
        let (most, rest) = match rest {
            [b'-', rest @ ..] => number(rest),
            _ => (fewest, rest),
        };
        let most = if most == 0 { usize::MAX } else { most };
        let wanted = |byte: &&u8| is_of(*class, **byte);
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

const fn is_of(class: u8, byte: u8) -> bool {
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

fn number(shape: &[u8]) -> (usize, &[u8]) {
    let digits = shape.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = shape[..digits]
        .iter()
        .fold(0, |number, byte| number * 10 + usize::from(byte - b'0'));
    (number, &shape[digits..])
}
