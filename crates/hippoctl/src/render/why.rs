//! Rendering of `why`.

use hippo_proto::{
    ExplainedPassage, GetResponse, LoggedPassage, LoggedQuestion, RecallWhyResponse, SearchHit,
};

use super::{INDENT, lines, one_line, plural, short, table};
use crate::output::Style;

/// Maximum number of characters of a question in a list.
const SHOWN: usize = 72;

/// Renders a list of questions, latest first.
pub fn list(questions: &[LoggedQuestion], style: Style) -> String {
    let rows: Vec<Vec<String>> = (questions.iter())
        .map(|asked| {
            let given = asked.passages.iter().filter(|passage| passage.outcome == "given");
            vec![
                style.quiet(when(asked)),
                who(asked),
                plural(given.count() as u64, "passage"),
                format!("{:.0} ms", asked.took_ms),
                style.strong(short(&one_line(&asked.question), SHOWN)),
            ]
        })
        .collect();
    table(&rows, rows.first().map_or(0, Vec::len))
}

/// Renders questions with the passages that they got, and with the reasons why others were left out.
pub fn details(questions: &[LoggedQuestion], style: Style) -> String {
    let questions: Vec<String> = questions.iter().map(|asked| detail(asked, style)).collect();
    questions.join("\n")
}

fn detail(asked: &LoggedQuestion, style: Style) -> String {
    let session = asked
        .session
        .as_ref()
        .map(|session| format!("  session {}", one_line(session)));
    let mut text = format!(
        "{}  {}, {}, {:.0} ms{}\n",
        style.quiet(when(asked)),
        who(asked),
        super::word(asked.mode),
        asked.took_ms,
        session.unwrap_or_default()
    );
    let mut add = |line: String| text += &format!("{INDENT}{line}\n");
    add(style.strong(one_line(&asked.question)));
    if let Some(reason) = &asked.reason {
        let floor = asked
            .floor
            .map_or(String::new(), |floor| format!(" (floor {floor:.2})"));
        add(format!("{}{floor}", one_line(reason)));
    }
    if let Some(filters) = &asked.filters {
        add(format!("filters: {}", one_line(filters)));
    }
    if let Some(degraded) = &asked.degraded {
        add(format!("degraded: {}", one_line(degraded)));
    }
    if asked.nothing_relevant {
        add("nothing relevant: all results are weak".to_owned());
    }
    for passage in &asked.passages {
        let outcome = one_line(&passage.outcome);
        let place = style.path(one_line(&passage.place));
        add(format!(
            "{:.2}  {outcome:<14}  {place}{}",
            passage.score,
            reason(passage)
        ));
    }
    if asked.passages.is_empty() {
        add("no passage".to_owned());
    }
    text
}

/// Returns the meaning of an outcome that is not obvious from its name.
fn reason(passage: &LoggedPassage) -> String {
    let meaning = match passage.outcome.as_str() {
        "near-duplicate" => "nearly the same words as a better passage",
        "not-needed" => "the answer was full",
        "no-room" => "did not fit into the tokens of the answer",
        "changed" => "the file has changed since it was indexed",
        "instruction" => "reads like an instruction to an agent",
        "given-before" => "the session already has it",
        "session" => "pages of sessions are not added to prompts",
        "only-heading" => "a heading without a word of the question",
        _ => "",
    };
    match (&passage.superseded_by, meaning) {
        (Some(newer), _) => format!("  corrected by {}", one_line(newer)),
        (None, "") => String::new(),
        (None, meaning) => format!("  {meaning}"),
    }
}

/// Renders the reasons why passages were found, or not.
pub fn explanation(answer: &RecallWhyResponse, style: Style) -> String {
    let mut text = String::new();
    if answer.passages.is_empty() {
        text += "The question finds nothing. To see why a passage is missing, add --missed PATH:LINE.\n";
    }
    for note in &answer.notes {
        text += &format!("note: {}\n", one_line(note));
    }
    let passages: Vec<String> = answer
        .passages
        .iter()
        .map(|passage| explained(passage, style))
        .collect();
    text + &passages.join("\n")
}

fn explained(passage: &ExplainedPassage, style: Style) -> String {
    let place = format!("{}:{}", passage.path, lines(passage.start_line, passage.end_line));
    let rank = match (passage.rank, passage.score) {
        (Some(rank), Some(score)) => format!("{rank:>2} {}", style.strong(format!("{score:.2}"))),
        _ => style.strong(format!("not found ({})", one_line(&passage.outcome))),
    };
    let mut text = format!("{rank} {}\n", style.path(one_line(&place)));
    for sentence in &passage.because {
        text += &format!("{INDENT}{}\n", one_line(sentence));
    }
    if let Some(change) = &passage.change {
        text += &format!("{INDENT}{} {}\n", style.strong("To find it:"), one_line(change));
    }
    text
}

/// Renders the texts about a fact, from the oldest to the latest.
pub fn corrections(pointed: &GetResponse, texts: &[SearchHit], style: Style) -> String {
    if texts.is_empty() {
        return format!(
            "{}:{}: no text corrects it\n",
            one_line(&pointed.path),
            pointed.start_line
        );
    }
    let mut text = String::new();
    for hit in texts {
        let place = format!("{}:{}", one_line(&hit.path), lines(hit.start_line, hit.end_line));
        let date = hit.date.as_deref().unwrap_or("no date");
        let state = match &hit.superseded_by {
            Some(newer) => format!("corrected by {}", one_line(newer)),
            None => "current".to_owned(),
        };
        text += &format!(
            "{}  {}  {state}\n",
            style.quiet(one_line(date)),
            style.path(place)
        );
        for line in hit.text.trim_end().lines() {
            text += &format!("{INDENT}{}\n", super::harmless(line));
        }
    }
    text
}

/// Returns the time of a question without fractions of a second.
fn when(asked: &LoggedQuestion) -> String {
    let at = one_line(&asked.at);
    at.get(..19).unwrap_or(&at).replace('T', " ")
}

fn who(asked: &LoggedQuestion) -> String {
    let client = asked.client.as_deref().unwrap_or("unknown client");
    one_line(client)
}
