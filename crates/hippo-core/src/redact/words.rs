//! Which words tell a secret's label from other words, and a secret from what is said about it?

/// Parts of names that make the last word of a label one of a secret: `api key`, `access_token`.
pub(super) const OF_SECRETS: &[&str] = &[
    "api", "access", "secret", "private", "priv", "encryption", "decryption", "signing", "auth", "authentication", "authorization",
    "service", "client", "app", "application", "account", "admin", "root", "user", "db", "database", "master", "shared", "preshared",
    "subscription", "consumer", "session", "webhook", "deploy", "bot", "refresh", "bearer", "jwt", "hmac", "aes", "personal",
    "security", "storage", "license", "openai", "anthropic", "stripe", "github", "gitlab", "slack", "discord", "telegram", "aws",
    "azure", "google", "wifi", "csrf",
];

/// Parts of names that make it something else: `public key`, `page token`, `max_tokens`.
pub(super) const OF_OTHERS: &[&str] = &[
    "public", "pub", "primary", "foreign", "sort", "partition", "cache", "idempotency", "unique", "composite", "row", "group", "hot",
    "arrow", "enter", "shift", "escape", "map", "dict", "index", "lookup", "registry", "sorting", "page", "next", "cancel", "cancellation",
    "pad", "eos", "bos", "unk", "mask", "max", "min", "stop", "start", "input", "output", "per", "continuation", "design", "reward",
    "governance", "native", "first", "last", "special", "key", "host",
];

/// Endings of a label that leave it one: `API_KEY_PROD`.
pub(super) const ENVIRONMENTS: &[&str] = &[
    "prod", "production", "dev", "development", "staging", "stage", "test", "testing", "live", "local", "sandbox", "old", "new",
    "backup", "base64", "b64", "hex", "value", "plain", "v1", "v2", "default",
];

/// What is written in the place of a secret.
pub(super) const PLACEHOLDER: &[&str] = &[
    "your", "my", "the", "a", "an", "here", "goes", "example", "sample", "dummy", "fake", "test", "changeme", "change", "me", "please",
    "replace", "replaceme", "with", "insert", "placeholder", "todo", "tbd", "none", "null", "nil", "undefined", "unset", "empty",
    "true", "false", "redacted", "removed", "hidden", "masked", "omitted", "xxx", "xxxx", "foo", "bar", "baz", "foobar", "value", "string",
    "some", "this", "that", "new", "old", "user", "username", "admin", "default", "demo", "n", "na", "actual", "real", "enter", "set",
    "it", "in", "env", "super", "generated", "yours",
];

/// Types of programming languages, and what forms say.
const TYPES: &[&str] = &[
    "string", "str", "int", "integer", "number", "bool", "boolean", "bytes", "text", "char", "varchar", "any", "object", "option",
    "optional", "secretstr", "felt", "felt252", "uint256", "u256", "u128", "u64", "usize", "address", "contractaddress", "bytearray",
    "buffer", "float", "double", "uuid", "enum", "array", "list", "dict", "map", "void", "self", "field", "input", "required",
    "var", "json",
];

/// Words that sentences are made with.
const GRAMMAR: &[&str] = &[
    "the", "a", "an", "to", "of", "in", "on", "at", "is", "are", "be", "was", "for", "with", "without", "from", "by", "and", "or", "not", "no",
    "your", "my", "our", "their", "his", "her", "its", "this", "that", "these", "it", "you", "we", "they", "i", "if", "when", "where", "how",
    "what", "which", "who", "why", "must", "should", "can", "cannot", "will", "would", "may", "has", "have", "had", "do", "does", "did",
    "please", "enter",
];

/// Words that follow a label and speak of the secret instead of stating it.
const SPEECH: &[&str] = &[
    "required", "wrong", "correct", "incorrect", "stored", "saved", "kept", "hashed", "encrypted", "empty", "blank", "set", "unset", "reset", "unknown",
    "invalid", "valid", "expired", "expiring", "missing", "optional", "changed", "needed", "rotated", "leaked", "compromised", "long", "short",
    "strong", "weak", "safe", "secure", "secret", "known", "shared", "protected", "managed", "manager", "used", "unused", "only", "always", "never",
    "still", "now", "also", "again", "already", "too", "very", "just", "same", "different", "written", "printed", "sent", "posted", "given", "gone",
    "available", "generated", "created", "deleted", "disabled", "enabled", "ready", "here", "there", "below", "above", "see", "ask", "use",
    "check", "get", "stays", "lives", "via", "through", "everything", "nothing", "something", "anything", "ok", "fine", "yes", "good", "bad", "important",
    "essential", "async", "await", "new", "function", "const", "let", "return", "typeof", "lambda", "input",
];

/// Whether a word makes what it stands in a sentence.
pub(super) fn is_grammar(word: &str) -> bool {
    GRAMMAR.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a word speaks of a secret instead of being one.
pub(super) fn is_speech(word: &str) -> bool {
    let known = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    is_grammar(word) || known(SPEECH) || known(TYPES) || known(PLACEHOLDER)
}

/// Whether a name ends in a label: `authToken`, `hashed_password`. A variable of that name is no secret.
pub(super) fn is_label(name: &str) -> bool {
    const LABELS: [&str; 17] = [
        "key", "keys", "token", "tokens", "secret", "secrets", "password", "passwords", "passwd", "pwd", "pass", "pw", "passphrase",
        "credential", "credentials", "bearer", "auth",
    ];
    let letters = name.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.'));
    let ends = |label: &&str| {
        let at = name.len().checked_sub(label.len());
        at.and_then(|at| name.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(label))
    };
    letters && (LABELS.iter().any(ends) || OF_SECRETS.iter().any(|word| word.eq_ignore_ascii_case(name)))
}
