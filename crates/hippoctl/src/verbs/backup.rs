//! `backup` and `restore`.

use std::path::Path;

use clap::ValueEnum as _;
use hippo_proto::{
    BackupRequest, BackupResponse, BackupVerifyRequest, RestoreRequest, RestoreResponse, Restored,
};

use super::watched::{BYTES, watched};
use crate::args::{BackupArgs, BackupVerb, RestoreArgs};
use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::harness::{Harness, InitRecord};
use crate::output::Output;
use crate::render;

/// Creates or verifies a backup.
///
/// # Errors
/// Fails if the daemon refuses because the destination exists, the disk is full, or the backup is damaged.
pub fn backup(session: &mut DaemonSession, args: BackupArgs, out: &mut Output) -> Result<(), Failure> {
    if let Some(BackupVerb::Verify { file }) = args.verb {
        let from = text(&absolute(&file)?)?;
        let answer: BackupResponse = watched(session, BackupVerifyRequest { from }, out, BYTES)?;
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
        force: args.force,
    };
    let answer: BackupResponse = watched(session, request, out, BYTES)?;
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
    let answer: RestoreResponse = watched(session, request, out, BYTES)?;
    out.answer(&answer, render::backup::restored)?;
    if !out.json {
        let state = &session.paths.state;
        for note in answer
            .workspaces
            .iter()
            .flat_map(|restored| missing(state, restored))
        {
            out.note(&format!("note: {note}"));
        }
    }
    Ok(())
}

/// Returns notes about the files of harnesses, which backups do not contain.
fn missing(state: &Path, workspace: &Restored) -> Vec<String> {
    let shown = render::one_line(&workspace.root);
    let record = InitRecord::read(state, Path::new(&workspace.was)).unwrap_or_default();
    let platforms = record
        .platforms
        .iter()
        .filter(|platform| **platform != Harness::None);
    platforms
        .filter_map(|platform| {
            let platform = platform.to_possible_value()?;
            let name = platform.get_name();
            Some(format!(
                "the backup does not contain the files that `hippoctl init` wrote for {name}; to create them \
                 again: hippoctl init --platform {name} {shown}"
            ))
        })
        .collect()
}
