//! `import`: how do the memories of another program come into a workspace?

use hippo_proto::{ImportRequest, ImportResponse};

use super::watched::{COUNT, watched};
use crate::connect::{Session, absolute, text};
use crate::failure::Failure;
use crate::output::Output;
use crate::render;
use hippoctl::args::ImportArgs;

/// Has the daemon take them over, or say what that would write.
///
/// # Errors
/// No workspace, no daemon, or it refuses.
pub fn import(session: &mut Session, args: &ImportArgs, out: &mut Output) -> Result<(), Failure> {
    let request = ImportRequest {
        workspace: session.workspace()?,
        from: args.from.into(),
        path: text(&absolute(&args.path)?)?,
        into: args.into.as_deref().map(text).transpose()?,
        apply: args.apply,
    };
    let answer: ImportResponse = watched(session, request, out, COUNT)?;
    out.answer(&answer, render::import::imported)
}
