//! `backup` and `restore`.

use std::path::Path;

use hippo_proto::{BackupRequest, BackupVerifyRequest, RestoreRequest};

use super::watched::timed;
use crate::args::{BackupArgs, BackupVerb, RestoreArgs};
use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;

/// Creates or verifies a backup.
///
/// # Errors
/// Fails if the backup exists already, if the disk is full, if the backup is damaged, or if the daemon refuses the
/// request.
pub fn backup(session: &mut DaemonSession, args: BackupArgs, out: &mut Output) -> Result<(), Failure> {
    if let Some(BackupVerb::Verify { file }) = args.verb {
        let from = text(&absolute(&file)?)?;
        let answer = timed(session, BackupVerifyRequest { from }, "backup verify", out)?;
        return out.answer(&answer, render::backup::verified);
    }
    let workspace = match (args.all, session.given_workspace()?) {
        (true, Some(_)) => {
            let what = "--all and --workspace cannot be combined";
            return Err(Failure::new(Exit::Usage, what).hint("omit one of them"));
        }
        (true, None) => None,
        (false, _) => Some(session.workspace()?),
    };
    let request = BackupRequest {
        workspace,
        to: text(&absolute(&args.file.unwrap_or_default())?)?,
    };
    let answer = timed(session, request, "backup", out)?;
    out.answer(&answer, render::backup::written)?;
    // The command fails if any workspace is not in the backup.
    match answer.left_out.is_empty() {
        true => Ok(()),
        false => Err(Failure::silent(Exit::Failed)),
    }
}

/// Restores workspaces from a backup.
///
/// # Errors
/// Fails without changes if the backup is unusable, or if the target folder is in use.
pub fn restore(session: &mut DaemonSession, args: &RestoreArgs, out: &mut Output) -> Result<(), Failure> {
    let optional = |path: Option<&Path>| path.map(|path| text(&absolute(path)?)).transpose();
    let request = RestoreRequest {
        from: text(&absolute(&args.from)?)?,
        workspace: session.given_workspace()?.as_deref().map(text).transpose()?,
        into: optional(args.into.as_deref())?,
        other_files: args.other_files,
    };
    let answer = timed(session, request, "restore", out)?;
    out.answer(&answer, render::backup::restored)
}
