//! `backup` and `restore`.

use std::path::Path;

use hippo_proto::{BackupRequest, BackupResponse, BackupVerifyRequest, RestoreRequest, RestoreResponse};

use crate::args::{BackupArgs, BackupVerb, RestoreArgs};
use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;

/// Creates or verifies a backup.
///
/// # Errors
/// Fails if the daemon refuses because the destination exists, the disk is full, or the backup is damaged.
pub fn backup(session: &mut DaemonSession, args: BackupArgs, out: &mut Output) -> Result<(), Failure> {
    if let Some(BackupVerb::Verify { file }) = args.verb {
        let from = text(&absolute(&file)?)?;
        let answer: BackupResponse = session.call_patiently(BackupVerifyRequest { from }, |_| {})?;
        return out.answer(&answer, render::backup::verified);
    }
    let workspace = match (args.all, session.given_workspace()?) {
        (true, Some(_)) => {
            return Err(
                Failure::new(Exit::Usage, "--all and --workspace cannot be combined")
                    .hint("omit one of them"),
            );
        }
        (true, None) => None,
        (false, _) => Some(session.workspace()?),
    };
    let request = BackupRequest {
        workspace,
        to: text(&absolute(&args.file.unwrap_or_default())?)?,
    };
    let answer: BackupResponse = session.call_patiently(request, |_| {})?;
    out.answer(&answer, render::backup::written)?;
    // If any workspace was omitted, the command fails.
    match answer.left_out.is_empty() {
        true => Ok(()),
        false => Err(Failure::silent(Exit::Failed)),
    }
}

/// Restores workspaces.
///
/// # Errors
/// Fails without changes if the backup is unusable or if the folder is in use.
pub fn restore(session: &mut DaemonSession, args: &RestoreArgs, out: &mut Output) -> Result<(), Failure> {
    let optional = |path: Option<&Path>| path.map(|path| text(&absolute(path)?)).transpose();
    let request = RestoreRequest {
        from: text(&absolute(&args.from)?)?,
        workspace: session.given_workspace()?.as_deref().map(text).transpose()?,
        into: optional(args.into.as_deref())?,
        other_files: args.other_files,
    };
    let answer: RestoreResponse = session.call_patiently(request, |_| {})?;
    out.answer(&answer, render::backup::restored)
}
