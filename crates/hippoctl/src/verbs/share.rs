//! `share`: sharing with other workspaces of the machine, and with a team.

use hippo_proto::{
    ShareAddRequest, ShareInitRequest, ShareListRequest, SharePublishRequest, ShareRemoveRequest,
    ShareSelectors, ShareStatusRequest,
};

use crate::connect::{DaemonSession, absolute, text};
use crate::failure::Failure;
use crate::output::Output;
use crate::render;
use hippoctl::args::{InitDbArgs, ShareAddArgs, ShareVerb};

/// Runs a verb of `share`.
///
/// # Errors
/// Fails if the daemon refuses the request.
pub fn share(session: &mut DaemonSession, verb: ShareVerb, out: &mut Output) -> Result<(), Failure> {
    match verb {
        ShareVerb::Add(args) => add(session, args, out),
        ShareVerb::List { all, removed } => {
            let workspace = (!all).then(|| session.workspace()).transpose()?;
            let answer = session.call(ShareListRequest { workspace, removed })?;
            out.answer(&answer, render::share::list)
        }
        ShareVerb::Remove { id } => {
            let answer = session.call(ShareRemoveRequest { id })?;
            out.notes(&answer.notes);
            out.answer(&answer, |answer, _| render::share::remove(answer))
        }
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

fn add(session: &mut DaemonSession, args: ShareAddArgs, out: &mut Output) -> Result<(), Failure> {
    let request = ShareAddRequest {
        workspace: session.workspace()?,
        to: text(&absolute(&args.to)?)?,
        name: args.name,
        selectors: ShareSelectors {
            paths: args.paths,
            topics: args.topics,
            tags: args.tags,
            types: args.types,
        },
        dry_run: args.dry_run,
    };
    let answer = session.call(request)?;
    if answer.entries.is_empty() {
        out.remark("note: no entry matches; hippoctl index list shows the topics and tags of all entries");
    }
    out.answer(&answer, |answer, style| {
        render::share::add(answer, args.dry_run, style)
    })
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
