//! Detection of machine-written text: message headers, code, listings, numbers.

use crate::instruction::MARK;
use hippo_types::time::find_date;

/// Strings that identify log lines written by a program, such as calls to an agent and their answers.
#[rustfmt::skip] // keep the list compact
const MACHINE: [&str; 16] = [
    "HEARTBEAT", "NO_REPLY", "message_id", "Session Key", "Session ID", "System:",
    "/new or /reset", "[media attached", "prefer the message tool",
    "DeprecationWarning", "(Use `node --trace", ":LOGBOOK:", ":END:", "CLOCK: [", "SCHEDULED: <", "DEADLINE: <",
];

/// Strings that identify code, markup and progress meters.
#[rustfmt::skip] // a list is read in lines
const CODE: [&str; 22] = [
    "{\"", "{{", "${", "={", "};", ") {", "</", "/>", "=>", "();", "::", "&&", "||", "\": ", "\":\"", "@DESKTOP", "█", "░", "▓", "#!/", "px;", "var(--",
];

/// Strings that identify status lines of a terminal: the header of a download meter, and the state of an editor.
#[rustfmt::skip] // a list is read in lines
const STATUS: [&str; 5] = ["% Total", "Dload  Upload", "(Open file: ", "(Current directory: ", "[File: /"];

/// Names of fields that describe a report itself and not its subject.
#[rustfmt::skip] // a list is read in lines
const METADATA: [&str; 6] = ["Author", "Current time", "Generated", "Last updated", "Query", "Report generated"];

/// Programs whose name, in lower case at the start of a line, begins a shell command.
#[rustfmt::skip] // keep the list compact
const PROGRAMS: [&str; 12] = [
    "cd", "chmod", "cp", "curl", "export", "mkdir", "node", "npm", "pip", "python", "python3", "sudo",
];

/// Returns a message without the notes in brackets that a chat program adds: sender, time, quoted message.
pub fn without_header(message: &str) -> String {
    let mut message = message.trim().to_owned();
    let mut from = 0;
    while let Some(at) = message[from..].find('[').map(|at| at + from)
        && let Some(end) = message[at..].find(']').map(|end| at + end)
    {
        let note = &message[at + 1..end];
        let is_mark = message[at..].starts_with(MARK);
        let header = note.contains(" id:") || (at == 0 && note.contains([' ', ':']) && !is_mark);
        if header {
            message.replace_range(at..=end, "");
            message.truncate(message.trim_end().len());
            message.drain(..message.len() - message.trim_start().len());
            from = at.min(message.len());
        } else {
            from = end;
        }
    }
    message
}

/// Returns true for machine output: a stack frame, a listing, numbers, a call to an agent.
pub fn is_machine(line: &str) -> bool {
    if MACHINE.iter().chain(&CODE).any(|mark| line.contains(mark)) {
        return true;
    }
    // Metadata of a log, such as `Session Date: 2026-01-10` and `Source: telegram`.
    let metadata = line.split_once(':').is_some_and(|(name, value)| {
        let (name, value) = (name.trim_matches(['-', '*', ' ']), value.trim_matches(['*', ' ']));
        METADATA.contains(&name)
            || value.len() <= 32
                && value.starts_with(|first: char| first.is_ascii_digit())
                && find_date(value).is_some()
            || name == "Source" && value.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    metadata || is_command(line) || is_commit(line) || is_printed(line)
}

/// Returns true for a shell command such as `python3 jobs/clean.py --all`.
fn is_command(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words
        .next()
        .unwrap_or_default()
        .trim_start_matches(['-', '*', '`', '$']);
    let is_argument =
        |word: &str| word.starts_with('-') || word.contains(['/', '~', '=']) || word.contains('.');
    PROGRAMS.contains(&first) && words.next().is_some_and(is_argument)
}

/// Returns true for an entry of a version history, such as `8168a35: Pump control`.
fn is_commit(line: &str) -> bool {
    let text = line.trim_start_matches(['-', '*', '`', ' ']);
    let hash = text
        .split(|mark: char| !mark.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let has = |is: fn(&u8) -> bool| hash.bytes().any(|byte| is(&byte));
    (7..=40).contains(&hash.len())
        && hash.bytes().all(is_hex)
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
}

/// Returns true for a line that no person types: a stack frame, a listing, numbers, a meter.
pub fn is_printed(line: &str) -> bool {
    let frame = (line.starts_with("at ") && line.ends_with(')') && line.contains(':'))
        || (line.starts_with("File \"") && line.contains("\", line "));
    let listing = line.len() > 11
        && matches!(line.as_bytes()[0], b'-' | b'd' | b'l')
        && line.as_bytes()[1..10].iter().all(|byte| b"rwxst-".contains(byte))
        && line.as_bytes()[10] != b'-';
    let letters = line.chars().filter(|mark| mark.is_alphabetic()).count();
    let marks = line.chars().filter(|mark| !mark.is_whitespace()).count();
    frame
        || listing
        || (marks > 24 && letters * 3 < marks)
        || STATUS.iter().any(|mark| line.contains(mark))
        || line.contains("├──")
        || line.contains("└──")
}

/// Returns true for a text that a program printed, but not for a paste with a request before or after it. Its first
/// line is machine output. It ends with a shell prompt, or its last line and half of its lines are output or markup.
pub fn is_output(text: &str) -> bool {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = lines().next_back().unwrap_or_default();
    let printed = |line: &str| {
        let markup = line.starts_with('<') && line.ends_with('>');
        markup || !line.contains(char::is_alphabetic) || is_printed(line)
    };
    let mostly = || lines().filter(|line| printed(line)).count() * 2 >= lines().count();
    lines().next().is_some_and(is_printed) && (last.ends_with("-$") || printed(last) && mostly())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_commits_are_machine_output() {
        for line in [
            "cd ~/pump && make",
            "python3 jobs/clean.py --all",
            "- 8168a35: Pump control",
            "1a262d3 valve moved",
        ] {
            assert!(is_machine(line), "{line}");
        }
        for line in [
            "node failures stop the pump",
            "20260302 was the day of the repair",
            "decade of pumps",
            "python is installed on the gate",
        ] {
            assert!(!is_machine(line), "{line}");
        }
    }

    #[test]
    fn output_of_a_program_differs_from_a_request_with_a_paste() {
        let meter = "  % Total    % Received % Xferd  Average Speed\n100   293  100   293    0     0  12993      0 --:--:-- --:--:-- 15421\n<html>\n<p>Pump</p>\n</html>\nA pump\n";
        let editor = "[File: /srv/pump.pl (1 lines total)]\n1:\n(Open file: /srv/pump.pl)\n(Current directory: /srv)\nbash-$";
        let trace = "at start (pump.js:3:1)\nat run (pump.js:9:4)\n";
        for (text, output) in [
            (format!("{meter}bash-$"), true),
            (
                format!("{meter}sub start;\nsub stop;\nsub drain;\nsub fill;\nbash-$"),
                true,
            ),
            (editor.to_owned(), true),
            (trace.to_owned(), true),
            (format!("Why does it stop?\n{trace}"), false),
            (format!("{trace}Why does it stop?"), false),
            ("<task>\nRepair the pump\n</task>".to_owned(), false),
            (
                "Run make && make test\nThen call pump::start();".to_owned(),
                false,
            ),
            ("1. 80\n2. 443\n".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(is_output(&text), output, "{text}");
        }
    }
}
