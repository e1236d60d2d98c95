//! `remember`: addition of a text to the memory.

use hippo_proto::{MAX_TEXT_BYTES, RememberRequest};

use super::input;
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::RememberArgs;

/// Appends the text to today's log.
///
/// # Errors
/// Fails if the text is empty, if no workspace is found, or if the daemon refuses the request.
pub fn remember(session: &mut DaemonSession, args: RememberArgs, out: &mut Output) -> Result<(), Failure> {
    let text = match args.text.as_slice() {
        [] => standard_input(out)?,
        [dash] if dash == "-" => standard_input(out)?,
        words => words.join(" "),
    };
    // In markdown, the indentation of the first line is significant, but blank lines around the text are not.
    let text = text.trim_end().trim_start_matches(['\n', '\r']);
    if text.is_empty() {
        return Err(Failure::new(Exit::Usage, "the text to remember is empty")
            .hint("give a text, or redirect a file: hippoctl remember < FILE"));
    }
    let request = RememberRequest {
        workspace: session.workspace()?,
        text: text.to_owned(),
        topic: args.topic,
        type_: args.type_,
        tags: args.tags.map(super::index::tags),
        priority: args.priority,
        private: args.private,
    };
    let answer = session.call(request)?;
    out.notes(&answer.notes);
    out.answer(&answer, render::index::remembered)
}

fn standard_input(out: &mut Output) -> Result<String, Failure> {
    let too_long = "remember a summary instead, or store the text as a separate file in the workspace";
    input::text(None, MAX_TEXT_BYTES, too_long, out)
}
