//! `workspace trust`: review and acceptance of workspace settings.

use hippo_proto::WorkspaceTrustRequest;

use crate::connect::{DaemonSession, absolute, text};
use crate::failure::Failure;
use crate::output::Output;
use crate::render;
use hippoctl::args::TrustArgs;

/// Trusts the current settings of a folder, or withdraws the trust.
///
/// # Errors
/// Fails if the folder is not registered, or if a file has changed since it was shown.
pub fn trust(session: &mut DaemonSession, args: TrustArgs, out: &mut Output) -> Result<(), Failure> {
    let workspace = match &args.dir {
        Some(dir) => text(&absolute(dir)?)?,
        None => session.workspace()?,
    };
    let show = WorkspaceTrustRequest {
        workspace: workspace.clone(),
        dry_run: true,
        ..WorkspaceTrustRequest::default()
    };
    let shown = session.call(show)?;
    let answer = if args.dry_run {
        shown
    } else {
        // The request names the hashes of the shown files, so the daemon accepts only the shown content.
        let files = shown.files.into_iter().map(|file| (file.path, file.hash));
        session.call(WorkspaceTrustRequest {
            workspace,
            files: (!args.revoke).then(|| files.collect()),
            revoke: args.revoke,
            dry_run: false,
        })?
    };
    out.answer(&answer, |answer, style| {
        render::trust::render_trust(answer, &args, style)
    })
}
