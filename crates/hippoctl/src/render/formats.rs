//! Rendering of results as CSV, XML, Markdown and lists.

use std::fmt::Write;

use hippo_proto::{SearchHit, SearchResponse};
use hippo_text::text::escape_xml;

use super::harmless;
use hippoctl::args::OutputFormat;

/// Renders the results in a machine-readable format other than JSON.
pub fn results(answer: &SearchResponse, format: OutputFormat) -> String {
    let hits = answer.results.iter();
    match format {
        OutputFormat::Csv => {
            let head = "id,score,path,start_line,end_line,title,text\n".to_owned();
            head + &hits.map(row).collect::<String>()
        }
        OutputFormat::Xml => {
            let elements = hits.map(element).collect::<String>();
            format!("<results>\n{elements}</results>\n")
        }
        OutputFormat::Md => hits.map(section).collect::<Vec<_>>().join("\n---\n\n"),
        OutputFormat::Files | OutputFormat::Cli | OutputFormat::Json => hits.map(line).collect(),
    }
}

fn title(hit: &SearchHit) -> String {
    harmless(&hit.heading.join(" › "))
}

fn row(hit: &SearchHit) -> String {
    #[rustfmt::skip] // keep the list compact
    let cells = [
        cell(&hit.id), format!("{:.4}", hit.score), cell(&hit.path), hit.start_line.to_string(),
        hit.end_line.to_string(), cell(&title(hit)), cell(&harmless(&hit.text)),
    ];
    cells.join(",") + "\n"
}

/// Quotes a cell as RFC 4180 requires.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn element(hit: &SearchHit) -> String {
    format!(
        "<result id=\"{}\" score=\"{:.4}\" path=\"{}\" start_line=\"{}\" end_line=\"{}\" title=\"{}\">\n{}\n</result>\n",
        escape_xml(&hit.id),
        hit.score,
        escape_xml(&hit.path),
        hit.start_line,
        hit.end_line,
        escape_xml(&title(hit)),
        escape_xml(harmless(&hit.text).trim_end())
    )
}

fn section(hit: &SearchHit) -> String {
    let place = format!(
        "{}:{}",
        harmless(&hit.path),
        super::lines(hit.start_line, hit.end_line)
    );
    let mut text = format!("# {place}\n\n");
    if !hit.heading.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "**{}**\n", title(hit));
    }
    let _ = writeln!(
        text,
        "score: {:.4}, id: {}\n\n{}",
        hit.score,
        hit.id,
        harmless(hit.text.trim_end())
    );
    text
}

fn line(hit: &SearchHit) -> String {
    format!("{},{:.4},{}\n", hit.id, hit.score, cell(&hit.path))
}

/// Returns a text with a line number before each line.
pub fn numbered(text: &str, first: u32) -> String {
    let numbers = (first..).zip(text.lines());
    let mut out = String::with_capacity(text.len() * 2);
    for (number, line) in numbers {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{number}: {line}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_in_cells_and_elements_are_escaped() {
        assert_eq!(cell("a, \"b\"\nc"), "\"a, \"\"b\"\"\nc\"");
        assert_eq!(cell("plain"), "plain");
        assert_eq!(numbered("one\ntwo\n", 9), "9: one\n10: two\n");
    }
}
