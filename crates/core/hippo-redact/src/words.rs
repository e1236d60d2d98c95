//! Word lists for labels, placeholders and ordinary language.

/// Words before a label that make it denote a secret: `api key`, `access_token`.
#[rustfmt::skip] // keep the list compact
pub(super) const OF_SECRETS: &[&str] = &[
    "access", "account", "admin", "aes", "anthropic", "api", "app", "application", "auth",
    "authentication", "authorization", "aws", "azure", "bearer", "bot", "client", "consumer", "csrf",
    "database", "db", "decryption", "deploy", "discord", "encryption", "github", "gitlab", "google",
    "hmac", "jwt", "license", "master", "openai", "personal", "preshared", "priv", "private", "refresh",
    "root", "secret", "security", "service", "session", "shared", "signing", "slack", "storage", "stripe",
    "subscription", "telegram", "user", "webhook", "wifi",
];

/// Words before a label that make it denote something else: `public key`, `page token`, `max_tokens`.
#[rustfmt::skip] // keep the list compact
pub(super) const OF_OTHERS: &[&str] = &[
    "arrow", "bos", "cache", "cancel", "cancellation", "composite", "continuation", "design", "dict",
    "enter", "eos", "escape", "first", "foreign", "governance", "group", "host", "hot", "idempotency",
    "index", "input", "key", "last", "lookup", "map", "mask", "max", "min", "native", "next", "output",
    "pad", "page", "partition", "per", "primary", "pub", "public", "registry", "reward", "row", "shift",
    "sort", "sorting", "special", "start", "stop", "unique", "unk",
];

/// Suffixes of a name that still denotes a secret: `API_KEY_PROD`.
#[rustfmt::skip] // keep the list compact
pub(super) const ENVIRONMENTS: &[&str] = &[
    "b64", "backup", "base", "base64", "default", "dev", "development", "hex", "live", "local", "new", "old",
    "plain", "prod", "production", "sandbox", "stage", "staging", "test", "testing", "v1", "v2", "value",
];

/// Placeholders for a secret.
#[rustfmt::skip] // keep the list compact
pub(super) const PLACEHOLDER: &[&str] = &[
    "a", "actual", "admin", "an", "bar", "baz", "change", "changeme", "default", "demo", "dummy", "empty",
    "enter", "env", "example", "fake", "false", "foo", "foobar", "generated", "goes", "here", "hidden",
    "in", "insert", "it", "masked", "me", "my", "n", "na", "new", "nil", "none", "null", "old", "omitted",
    "placeholder", "please", "real", "redacted", "removed", "replace", "replaceme", "sample", "set",
    "some", "string", "super", "tbd", "test", "that", "the", "this", "todo", "true", "undefined", "unset",
    "user", "username", "value", "with", "xxx", "xxxx", "your", "yours",
];

/// Type names of programming languages, and words used in forms.
#[rustfmt::skip] // keep the list compact
const TYPES: &[&str] = &[
    "address", "any", "array", "bool", "boolean", "buffer", "bytearray", "bytes", "char",
    "contractaddress", "dict", "double", "enum", "felt", "felt252", "field", "float", "input", "int",
    "integer", "json", "list", "map", "number", "object", "option", "optional", "required", "secretstr",
    "self", "str", "string", "text", "u128", "u256", "u64", "uint256", "usize", "uuid", "var", "varchar",
    "void",
];

/// Function words.
#[rustfmt::skip] // keep the list compact
const GRAMMAR: &[&str] = &[
    "a", "an", "and", "are", "at", "be", "by", "can", "cannot", "did", "do", "does", "enter", "for",
    "from", "had", "has", "have", "her", "his", "how", "i", "if", "in", "is", "it", "its", "may", "must",
    "my", "no", "not", "of", "on", "or", "our", "please", "should", "that", "the", "their", "these",
    "they", "this", "to", "was", "we", "what", "when", "where", "which", "who", "why", "will", "with",
    "without", "would", "you", "your",
];

/// Words that follow a label and describe the secret instead of stating it.
#[rustfmt::skip] // keep the list compact
const SPEECH: &[&str] = &[
    "above", "again", "already", "also", "always", "anything", "ask", "async", "available", "await",
    "bad", "below", "blank", "changed", "check", "compromised", "const", "correct", "created", "deleted",
    "different", "disabled", "empty", "enabled", "encrypted", "essential", "everything", "expired",
    "expiring", "fine", "function", "generated", "get", "given", "gone", "good", "hashed", "here",
    "important", "incorrect", "input", "invalid", "just", "kept", "known", "lambda", "leaked", "let",
    "lives", "long", "managed", "manager", "missing", "needed", "never", "new", "nothing", "now", "ok",
    "only", "optional", "posted", "printed", "protected", "ready", "required", "reset", "return",
    "rotated", "safe", "same", "saved", "secret", "secure", "see", "sent", "set", "shared", "short",
    "something", "stays", "still", "stored", "strong", "there", "through", "too", "typeof", "unknown",
    "unset", "unused", "use", "used", "valid", "very", "via", "weak", "written", "wrong", "yes",
];

/// Last words of names of secrets.
#[rustfmt::skip] // keep the list compact
const LABELS: &[&str] = &[
    "auth", "bearer", "credential", "credentials", "key", "keys", "pass", "passphrase", "passwd",
    "password", "passwords", "pw", "pwd", "secret", "secrets", "token", "tokens",
];

/// Suffixes of files and hosts.
#[rustfmt::skip] // keep the list compact
pub(super) const FILES: &[&str] = &[
    "app", "cfg", "com", "conf", "crt", "csv", "db", "dev", "env", "go", "html", "ini", "io", "js",
    "json", "jsonl", "key", "local", "lock", "log", "md", "net", "org", "pem", "py", "rs", "sh", "sql",
    "toml", "ts", "tsx", "txt", "xml", "yaml", "yml",
];

/// Methods of storing passwords.
#[rustfmt::skip] // keep the list compact
pub(super) const TECHNIQUES: &[&str] = &[
    "1password", "2fa", "aes256", "argon2", "argon2id", "base64", "bcrypt", "md5", "oauth", "oauth2",
    "pbkdf2", "scrypt", "sha-256", "sha1", "sha256", "sha512", "totp", "utf-8", "utf8", "x509",
];

/// Length of the longest word in the lists.
const LONGEST: usize = 20;

/// Returns true if a sorted list contains the word, ignoring case.
pub(super) fn contains_word(words: &[&str], word: &str) -> bool {
    let mut lower = [0; LONGEST];
    let Some(lower) = lower.get_mut(..word.len()) else {
        return false;
    };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    words
        .binary_search_by(|known| known.as_bytes().cmp(lower))
        .is_ok()
}

/// Returns true for a function word, which indicates a sentence.
pub(super) fn is_grammar(word: &str) -> bool {
    contains_word(GRAMMAR, word)
}

/// Returns true for a word that describes a secret instead of being one.
pub(super) fn is_speech(word: &str) -> bool {
    [GRAMMAR, SPEECH, TYPES, PLACEHOLDER]
        .iter()
        .any(|words| contains_word(words, word))
}

/// Returns true if a name ends in a label: `authToken`, `hashed_password`. A variable of that name is not a secret.
pub(super) fn is_label(name: &str) -> bool {
    let letters = name
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.'));
    let ends = |label: &&str| {
        let at = name.len().checked_sub(label.len());
        at.and_then(|at| name.get(at..))
            .is_some_and(|end| end.eq_ignore_ascii_case(label))
    };
    letters && (LABELS.iter().any(ends) || contains_word(OF_SECRETS, name))
}

#[cfg(test)]
#[test]
fn the_lists_are_sorted() {
    for words in [
        OF_SECRETS,
        OF_OTHERS,
        ENVIRONMENTS,
        PLACEHOLDER,
        TYPES,
        GRAMMAR,
        SPEECH,
        FILES,
        TECHNIQUES,
    ] {
        assert!(
            words.is_sorted() && words.iter().all(|word| word.len() <= LONGEST),
            "{words:?}"
        );
    }
}
