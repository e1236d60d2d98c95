//! May a line hold a secret?
//!
//! What a fact repeats may be shown, proposed and copied, so a doubt counts as a secret: a fact that is left out is
//! still in its log.

/// What known keys and tokens begin with.
const BEGINNINGS: [&str; 18] = [
    "sk-",
    "pk_live",
    "sk_live",
    "rk_live",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
    "ya29.",
    "npm_",
    "hf_",
];
/// Words that name a secret.
const NAMES: [&str; 20] = [
    "password",
    "passwd",
    "passwort",
    "kennwort",
    "passphrase",
    "contraseña",
    "пароль",
    "密码",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "api key",
    "private key",
    "credential",
    "bearer",
    "authorization",
    "seed phrase",
    "pin",
];
/// Characters from which on a word without a telling beginning may be a key.
const KEY: usize = 20;

/// Whether a line may hold a key, a token, a password or the like.
pub(super) fn may_be_secret(line: &str) -> bool {
    line.contains("-----BEGIN")
        || line
            .split([' ', '\t', '"', '\'', '`', '=', ',', ';', '(', ')'])
            .any(is_key)
        || states_secret(line)
}

/// Whether a word looks like a key.
fn is_key(word: &str) -> bool {
    let word = word.trim_matches(['.', ':', '*', '<', '>', '[', ']', '{', '}']);
    if word.len() >= 12 && BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)) {
        return true;
    }
    // An address with a password in it.
    if let Some((_, behind)) = word.split_once("://")
        && let Some((user, _)) = behind.split_once('@')
    {
        return user.contains(':');
    }
    let plain = word
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'-' | b'/'));
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    // Paths and names have few digits, and those at the ends of their parts.
    let mixed = digits >= 3 && letters >= 6 && changes(word) >= 6;
    word.len() >= KEY && plain && mixed
}

/// How often a word goes from a digit to a letter or back.
fn changes(word: &str) -> usize {
    let sorts: Vec<bool> = word
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.is_ascii_digit())
        .collect();
    sorts.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// Whether a line names a secret and gives a value for it.
fn states_secret(line: &str) -> bool {
    let lower = line.to_lowercase();
    NAMES.iter().any(|name| {
        lower.match_indices(name).any(|(at, _)| {
            let before = lower[..at].chars().next_back();
            let behind = &lower[at + name.len()..];
            if name.is_ascii() && before.is_some_and(char::is_alphanumeric) {
                return false;
            }
            let behind = behind.strip_prefix('s').unwrap_or(behind);
            if name.is_ascii() && behind.starts_with(char::is_alphanumeric) {
                return false;
            }
            gives_value(behind)
        })
    })
}

/// Whether what follows a name is a value: behind a colon or an equals sign, or a word with figures.
fn gives_value(behind: &str) -> bool {
    let behind = behind.trim_start_matches(['*', '`', '"', '\'', '_', ')', ' ']);
    if behind.starts_with([':', '=', '：']) {
        return true;
    }
    let words = behind.split_whitespace().take(6);
    words
        .into_iter()
        .any(|word| word.bytes().any(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_told_from_what_is_not() {
        let secrets = [
            "API key: sk-abcdef0123456789abcdef",
            "The token is ghp_0123456789abcdefABCDEF",
            "export PASSWORD=hunter2",
            "**Password**: tr0ub4dor",
            "The passwords: see below",
            "Das Passwort ist geheim99",
            "пароль: слон",
            "密码：大象",
            "postgres://ada:pw@db.example/main",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "Authorization: Bearer abc",
            "session 9f8a7c6b5d4e3f2a1b0c9d8e7f6a5b4c",
            "The PIN of the door is 4711",
        ];
        for line in secrets {
            assert!(may_be_secret(line), "{line}");
        }
        let others = [
            "The tokenizer counts words of the summary",
            "Tokens are kept in the vault of the harbour office",
            "Passwords live in the vault, never in the logs",
            "Deploys need two reviews and a green build",
            "packages/starknet-daydreams-extension holds the services",
            "The pinned version of the crane firmware is 4.2",
            "See https://docs.example.org/guide/crane-firmware-2026",
            "The secretary of the harbour office is Ilse",
        ];
        for line in others {
            assert!(!may_be_secret(line), "{line}");
        }
    }
}
