//! `remember`: how does a text get into the memory?

use std::io::{IsTerminal, Read};

use hippo_proto::{MAX_TEXT_BYTES, RememberRequest, RememberResponse};

use crate::args::RememberArgs;
use crate::connect::Session;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;

/// Appends the text to the log of today.
///
/// # Errors
/// There is no text, no workspace, or the daemon refuses.
pub fn remember(session: &mut Session, args: RememberArgs, out: &mut Output) -> Result<(), Failure> {
    let RememberArgs {
        text,
        topic,
        type_,
        tags,
        priority,
    } = args;
    let text = match text.as_slice() {
        [] => standard_input(out)?,
        [dash] if dash == "-" => standard_input(out)?,
        words => words.join(" "),
    };
    // The text is markdown: the indent of its first line means something, blank lines around it do not.
    let text = text.trim_end().trim_start_matches(['\n', '\r']);
    if text.is_empty() {
        return Err(Failure::new(Exit::Usage, "there is nothing to remember")
            .hint("give a text, or pipe one in: hippoctl remember < FILE"));
    }
    let request = RememberRequest {
        workspace: session.workspace()?,
        text: text.to_owned(),
        topic,
        type_: type_.map(Into::into),
        tags: tags.map(super::index::tags),
        priority: priority.map(Into::into),
    };
    let answer: RememberResponse = session.call(request)?;
    if !out.json {
        for note in &answer.notes {
            out.note(&format!("note: {}", render::one_line(note)));
        }
    }
    out.answer(&answer, render::remember::remembered)
}

/// All of standard input, as far as a text may be long.
fn standard_input(out: &mut Output) -> Result<String, Failure> {
    let input = std::io::stdin();
    if input.is_terminal() {
        out.note("reading the text from the terminal; Ctrl-D ends it");
    }
    let mut bytes = Vec::new();
    // One byte more tells a text that is too long from one that just fits.
    let most = u64::try_from(MAX_TEXT_BYTES)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    input
        .take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(Exit::Failed, format!("could not read standard input: {error}")))?;
    if bytes.len() > MAX_TEXT_BYTES {
        let what = format!("the text is longer than {MAX_TEXT_BYTES} bytes");
        return Err(Failure::new(Exit::Refused, what)
            .hint("remember its gist, or keep it as a file of its own in the workspace"));
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(Exit::Usage, "standard input is no text: it is not UTF-8")
            .hint("convert it, for example: iconv -f latin1 -t utf-8 FILE | hippoctl remember")
    })
}
