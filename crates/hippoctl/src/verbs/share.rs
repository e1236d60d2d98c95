//! `share`: sharing with a team.

use hippo_proto::{ShareInitRequest, SharePublishRequest, ShareStatusRequest};

use crate::connect::{DaemonSession, absolute, text};
use crate::failure::Failure;
use crate::output::Output;
use crate::render;
use hippoctl::args::{InitDbArgs, ShareVerb};

/// Runs a verb of `share`.
///
/// # Errors
/// Fails if the daemon refuses the request.
pub fn share(session: &mut DaemonSession, verb: ShareVerb, out: &mut Output) -> Result<(), Failure> {
    match verb {
        ShareVerb::InitDb(args) => init_db(session, args, out),
        ShareVerb::Publish { dry_run } => {
            let request = SharePublishRequest {
                workspace: session.workspace()?,
                dry_run,
            };
            let answer = session.call_patiently(request)?;
            out.notes(&answer.notes);
            out.answer(&answer, |answer, style| {
                render::share::publish(answer, dry_run, style)
            })
        }
        ShareVerb::Status => {
            let answer = session.call(ShareStatusRequest {})?;
            out.answer(&answer, render::share::status)
        }
    }
}

fn init_db(session: &mut DaemonSession, args: InitDbArgs, out: &mut Output) -> Result<(), Failure> {
    let password_file = args.password_file.as_deref().map(|path| text(&absolute(path)?));
    let answer = session.call_patiently(ShareInitRequest {
        url: args.url,
        password_file: password_file.transpose()?,
        team: args.team,
        writers: args.writers,
        readers: args.readers,
    })?;
    out.answer(&answer, |answer, _| render::share::init(answer))
}
