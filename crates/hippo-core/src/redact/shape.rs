//! Does a run of characters look like a secret, like words, or like something that stands for one?

/// Shortest run that is a secret by its looks alone.
pub(super) const RANDOM: usize = 20;

/// How a run of characters is made up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub lower: usize,
    pub upper: usize,
    pub digits: usize,
    /// Everything else, letters beyond ASCII not counted.
    pub marks: usize,
    /// Letters beyond ASCII, in bytes.
    pub wide: usize,
    /// From a small letter to a capital, and between letters and digits.
    pub changes: usize,
}

impl Shape {
    pub fn of(text: &str) -> Self {
        let mut shape = Self::default();
        let mut before = 0;
        for &byte in text.as_bytes() {
            let sort = match byte {
                b'a'..=b'z' => {
                    shape.lower += 1;
                    1
                }
                b'A'..=b'Z' => {
                    shape.upper += 1;
                    2
                }
                b'0'..=b'9' => {
                    shape.digits += 1;
                    3
                }
                0x80.. => {
                    shape.wide += 1;
                    4
                }
                _ => {
                    shape.marks += 1;
                    0
                }
            };
            shape.changes += usize::from(matches!((before, sort), (1, 2) | (1 | 2, 3) | (3, 1 | 2)));
            before = sort;
        }
        shape
    }

    pub const fn letters(&self) -> usize {
        self.lower + self.upper + self.wide
    }

    pub const fn length(&self) -> usize {
        self.letters() + self.digits + self.marks
    }
}

/// Letters alone, digits alone, or letters with a number behind them: what people write by hand.
pub(super) fn is_plain(part: &str) -> bool {
    let letters = part.trim_end_matches(|mark: char| mark.is_ascii_digit());
    let number = part.len() - letters.len();
    let wordy = letters.chars().all(char::is_alphabetic) && Shape::of(letters).changes * 4 <= letters.len();
    wordy && (number <= 4 || letters.is_empty())
}

/// Words and numbers joined by marks, such as `gpt-4o-mini`, `feature/login-2` or `2026-03-18`.
pub(super) fn is_slug(text: &str) -> bool {
    let parts = text.split([
        '-', '_', '.', '/', ':', '+', '=', '@', '~', '#', '&', '?', ',', '(', ')', ' ',
    ]);
    let mut parts = parts.filter(|part| !part.is_empty());
    let numbered = |part: &str| part.len() <= 4 && part.starts_with(|mark: char| mark.is_ascii_digit());
    parts.all(|part| is_plain(part) || numbered(part))
}

/// A run that nobody made up: long, of several sorts of characters in no order.
pub(super) fn is_random(text: &str) -> bool {
    let shape = Shape::of(text);
    let classes = [shape.lower, shape.upper, shape.digits];
    let classes = classes.iter().filter(|count| **count > 0).count();
    let mixed = classes == 3 && shape.digits > 1 && shape.changes * 10 >= shape.length() * 3;
    shape.length() >= RANDOM && shape.wide == 0 && mixed && !is_slug(text) && !is_known_harmless(text)
}

/// Hexadecimal digits alone, as hashes and many keys are.
pub(super) fn is_hex(text: &str) -> bool {
    let shape = Shape::of(text);
    text.bytes().all(|byte| byte.is_ascii_hexdigit()) && shape.digits > 0 && shape.letters() > 0
}

/// Eight, four, four, four and twelve hexadecimal digits.
pub(super) fn is_uuid(text: &str) -> bool {
    let mut parts = text.split('-');
    let fits = [8, 4, 4, 4, 12].into_iter().all(|length| {
        parts
            .next()
            .is_some_and(|part| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    fits && parts.next().is_none()
}

/// Public parts of keys, checksums, data in place.
fn is_known_harmless(text: &str) -> bool {
    let starts = [
        "AAAAB3", "AAAAC3", "AAAAE2", "sha1-", "sha256-", "sha384-", "sha512-", "SHA256:", "data:",
    ];
    starts.iter().any(|start| text.starts_with(start)) || is_uuid(text) || text.contains("://")
}

/// Addresses, paths, dates, versions, sizes: things that have digits and are no secrets.
pub(super) fn is_thing(text: &str) -> bool {
    let first = text.as_bytes().first().copied().unwrap_or(0);
    let path = text.starts_with("~/")
        || text.starts_with("./")
        || text.starts_with("../")
        || text.starts_with("C:\\");
    let rooted = first == b'/' && text.len() > 1 && !is_random(&text[1..]);
    let folders = text.contains('/') && is_slug(text) && !text.contains('+');
    let file = text.rsplit_once('.').is_some_and(|(stem, ending)| {
        let known = [
            "md", "txt", "json", "jsonl", "yaml", "yml", "toml", "env", "pem", "key", "crt", "py", "rs",
            "ts", "js", "tsx", "go", "sh", "cfg", "conf", "ini", "xml", "html", "csv", "db", "sql", "log",
            "lock", "com", "org", "net", "io", "dev", "app", "local",
        ];
        !stem.is_empty() && known.iter().any(|known| ending.eq_ignore_ascii_case(known))
    });
    let number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".,:-/+%x~_".contains(&byte));
    let hours = first.is_ascii_digit() && Shape::of(text).letters() <= 4 && Shape::of(text).changes <= 2;
    let moment = text.len() >= 10
        && text.as_bytes()[..10]
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'-')
        && text.contains('-');
    path || rooted
        || folders
        || file
        || number
        || hours
        || moment
        || text.contains("://")
        || is_slug_of_version(text)
}

fn is_slug_of_version(text: &str) -> bool {
    let version = text.strip_prefix(['v', 'V']).unwrap_or(text);
    version.starts_with(|mark: char| mark.is_ascii_digit()) && version.contains('.') && is_slug(text)
}

/// What stands where a secret would: `<your-key>`, `xxx`, `$ENV`, `${VAR}`, `****`, `changeme`, `…`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let text = text.trim_matches(|mark: char| matches!(mark, '"' | '\'' | '`' | '*' | ' ' | '\\'));
    if text.is_empty() || text.starts_with("[redacted]") {
        return true;
    }
    let first = text.as_bytes()[0];
    if matches!(first, b'<' | b'{' | b'%' | b'[' | b'(') || text.starts_with("${") || text.starts_with("$(") {
        return true;
    }
    if first == b'$'
        && text[1..]
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
    {
        return true;
    }
    if text.contains("...")
        || text.contains('…')
        || text.contains("***")
        || text.contains("•••")
        || text.contains("{{")
    {
        return true;
    }
    let same = |mark: char| {
        text.chars()
            .filter(|other| other.eq_ignore_ascii_case(&mark))
            .count()
    };
    let letters = text.chars().filter(|mark| mark.is_alphanumeric());
    let mut sorts: Vec<char> = letters.map(|mark| mark.to_ascii_lowercase()).take(64).collect();
    sorts.sort_unstable();
    sorts.dedup();
    // `xxxx`, `------`, `00000000`, `abababab`.
    if sorts.len() <= 1
        || (sorts.len() <= 2 && text.len() >= 8)
        || same('x') * 2 > text.len() && text.len() >= 3
    {
        return true;
    }
    let mut lower = text.as_bytes()[..text.len().min(64)].to_vec();
    lower.make_ascii_lowercase();
    let lower = String::from_utf8_lossy(&lower);
    let parts = || {
        lower
            .split(|mark: char| !mark.is_alphanumeric())
            .filter(|part| !part.is_empty())
    };
    let says = |part: &str| super::words::PLACEHOLDER.contains(&part);
    let labels = |part: &str| super::words::is_label(part);
    parts().any(|part| {
        matches!(
            part,
            "your"
                | "yours"
                | "my"
                | "xxx"
                | "xxxx"
                | "example"
                | "changeme"
                | "placeholder"
                | "insert"
                | "replace"
                | "redacted"
        )
    }) && parts().count() > 1
        || lower.contains("example") && lower.len() >= 16
        || lower.contains("xxxx")
        || parts().all(|part| says(part) || labels(part))
        || ["your", "insert", "replace", "dummy", "fake", "sample"]
            .iter()
            .any(|start| lower.starts_with(start))
            && Shape::of(text).digits < 3
}

/// Code that computes the value, or names where it is: `os.environ["X"]`, `config.password`, `getpass()`, `&str`.
pub(super) fn is_expression(text: &str) -> bool {
    let first = text.as_bytes().first().copied().unwrap_or(0);
    if matches!(first, b'&' | b'(' | b'[' | b'{' | b'<' | b'@' | b'|' | b'=') {
        return true;
    }
    let name = |part: &str| {
        let first = part.as_bytes().first().copied().unwrap_or(0);
        (first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let callee = text.find(['(', '[', '<', '{', '!']).filter(|at| *at > 0);
    if callee.is_some_and(|at| {
        text[..at]
            .split(['.', ':', '-', '>'])
            .filter(|part| !part.is_empty())
            .all(|part| name(part) && is_slug(part))
            && !text.as_bytes()[at].eq(&b'!')
    }) {
        return true;
    }
    if text.contains("::") || text.contains("->") {
        return true;
    }
    let members = text.split('.').count() > 1
        && text.split('.').all(|part| {
            name(part) && is_plain(part.trim_matches('_')) || part.contains('_') && is_slug(part)
        });
    members || text.starts_with("$env:") || text.starts_with("process.env") || text.starts_with("os.environ")
}
