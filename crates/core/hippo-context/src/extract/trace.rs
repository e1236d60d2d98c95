//! Extraction of the exception and the frames from stack traces.

use super::draft::Draft;
use super::lines::NumberedText;
use super::{ContentKind, counted};
use hippo_text::text::{clip, start};

/// Maximum number of frames kept.
const FRAMES: usize = 400;
/// Number of bytes at the start of a line that are examined.
const LINE: usize = 2_000;

/// A frame of a stack trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StackFrame {
    /// `path:line`
    pub place: String,
    /// Name of the function; may be empty.
    pub name: String,
}

/// Returns true if a location is in a library or a runtime.
pub(super) fn is_foreign(place: &str) -> bool {
    #[rustfmt::skip] // keep the list compact
    const FOREIGN: [&str; 16] = [
        "site-packages", "node_modules", "/lib/python", "<frozen", "node:", "/rustc/", ".cargo/", "/usr/lib",
        "/usr/local/go", "java.base", "<anonymous>", "internal/", "/std/src", "core::", "Thread.java", "Method.java",
    ];
    FOREIGN.iter().any(|part| place.contains(part))
}

impl StackFrame {
    fn new(place: impl Into<String>, name: &str) -> Self {
        let (place, name) = (place.into(), name.to_owned());
        Self { place, name }
    }
}

impl std::fmt::Display for StackFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name.as_str() {
            "" | "<module>" => f.write_str(&self.place),
            name => write!(f, "{} {name}", self.place),
        }
    }
}

/// Returns the stack frame that a line describes, or `None`.
pub(super) fn frame(line: &str) -> Option<StackFrame> {
    let line = start(line, LINE).trim();
    let number = |text: &str| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty()).then_some(digits)
    };
    // Python
    if let Some(rest) = line.strip_prefix("File \"") {
        let (path, rest) = rest.split_once('"')?;
        let rest = rest.strip_prefix(", line ")?;
        let name = rest.split_once(" in ").map_or("", |(_, name)| name);
        return Some(StackFrame::new(format!("{path}:{}", number(rest)?), name));
    }
    // Java, JavaScript, and locations in a Rust backtrace
    if let Some(rest) = line.strip_prefix("at ") {
        let (name, place) = match rest.rsplit_once('(') {
            Some((name, place)) => (name.trim(), place.trim_end_matches(')')),
            None => ("", rest),
        };
        let place = place.trim_start_matches("file://");
        place_of(place)?;
        let name = name.trim_start_matches("async ");
        return Some(StackFrame::new(shorter(place), name));
    }
    // Go: the line after the name of a function
    if line.contains('+')
        && let Some((place, offset)) = line.split_once(" +0x")
        && place.contains(".go:")
        && offset.len() < 12
    {
        return Some(StackFrame::new(place, ""));
    }
    // Compilers: `--> src/a.rs:1:2`
    let place = line.strip_prefix("--> ")?;
    place_of(place)?;
    Some(StackFrame::new(shorter(place), ""))
}

/// Returns the path and the line in a location such as `path:12` or `path:12:3`.
pub(super) fn place_of(text: &str) -> Option<(&str, u32)> {
    let mut parts = text.splitn(2, ':');
    let mut path = parts.next()?;
    let mut rest = parts.next()?;
    // The first colon belongs to the drive: `C:\a.rs:1`.
    if path.len() == 1 {
        let (name, after) = rest.split_once(':')?;
        path = text.get(..name.len() + 2)?;
        rest = after;
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let sound = !path.is_empty() && !path.contains([' ', '\t', '"', '(']) && path.contains(['.', '/', '<']);
    let end = rest.as_bytes().get(digits);
    let ends = matches!(end, None | Some(b':' | b' ' | b')' | b','));
    let line = rest[..digits].parse().ok()?;
    (sound && ends).then_some((path, line))
}

/// Returns a location without its column: `path:12` for `path:12:3`.
pub(super) fn shorter(place: &str) -> String {
    match place_of(place) {
        Some((path, line)) => format!("{path}:{line}"),
        None => place.to_owned(),
    }
}

/// Suffixes of the names of exceptions.
#[rustfmt::skip] // keep the list compact
const EXCEPTIONS: [&str; 6] = ["Error", "Exception", "Failure", "Interrupt", "Exit", "Fault"];

/// Returns the type and message of the exception in a line.
pub(super) fn exception(line: &str) -> Option<(&str, &str)> {
    let line = start(line, LINE).trim();
    let line = line.strip_prefix("E  ").map_or(line, str::trim_start);
    let line = line.strip_prefix("Caused by: ").unwrap_or(line);
    let line = line.strip_prefix("Uncaught ").unwrap_or(line);
    if line.contains('"')
        && let Some((_, rest)) = line.split_once("Exception in thread ")
    {
        return exception(rest.split_once("\" ").map_or(rest, |(_, rest)| rest));
    }
    if line.starts_with("thread '") && line.contains(" panicked at ") {
        let place = line.split_once(" panicked at ");
        return Some(("panic", place.map_or(line, |(_, place)| place)));
    }
    if let Some(rest) = line.strip_prefix("panic: ") {
        return Some(("panic", rest));
    }
    if !line.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '\\' | '$')) {
        return None;
    }
    let (name, words) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
    let last = name.rsplit(['.', ':', '\\']).next().unwrap_or(name);
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'\\' | b'$');
    let is_end = |end: &&str| last.ends_with(end) && (last.len() > end.len() || *end == "Error");
    let sound = name.bytes().all(is_plain)
        && last.starts_with(|c: char| c.is_ascii_uppercase())
        && EXCEPTIONS.iter().any(is_end);
    sound.then_some((name, words))
}

pub(super) fn draft(text: &NumberedText<'_>) -> Option<Draft> {
    let mut frames: Vec<StackFrame> = Vec::new();
    let mut thrown: Vec<(String, String)> = Vec::new();
    let (mut python, mut after_panic, mut count) = (false, false, 0);
    for line in text.lines() {
        let line = line.text;
        python |= line.starts_with("Traceback (most recent call last)");
        if after_panic {
            after_panic = false;
            if let Some(last) = thrown.last_mut() {
                last.1 = line.trim().to_owned();
            }
            continue;
        }
        if let Some(frame) = frame(line) {
            count += 1;
            if frames.len() < FRAMES {
                frames.push(frame);
            }
        } else if let Some((name, words)) = exception(line).filter(|_| thrown.len() < 50) {
            if name == "panic" && words.ends_with(':') {
                // Rust prints the location in this line and the message in the next one.
                after_panic = true;
                count += 1;
                let place = shorter(words.trim_end_matches(':'));
                frames.insert(0, StackFrame::new(place, ""));
            }
            thrown.push((name.to_owned(), words.to_owned()));
        }
    }
    if frames.is_empty() && !python {
        return None;
    }
    // Python prints the innermost frame and the last exception at the end, whereas other languages print them at the
    // start.
    if python {
        frames.reverse();
        thrown.reverse();
    }
    let (name, words) = thrown.first().cloned().unwrap_or_default();
    let said = match (name.is_empty(), words.is_empty()) {
        (true, _) => counted(count, "frame"),
        (false, true) => name.clone(),
        (false, false) => format!("{name}: {}", clip(&words, 200)),
    };
    let mut draft = Draft::new(ContentKind::Trace, said);
    draft.say(counted(count, "frame"));
    let (foreign, own): (Vec<_>, Vec<_>) = frames.iter().partition(|frame| is_foreign(&frame.place));
    let all = own.into_iter().chain(foreign).map(ToString::to_string);
    draft.list("frames", all, 2);
    let causes = thrown.iter().skip(1);
    let causes = causes.map(|(name, words)| clip(&format!("{name}: {words}"), 120));
    draft.list("also", causes, 1);
    if !name.is_empty() {
        draft.one("exception", name);
    }
    Some(draft)
}
