//! `prompt`: text that the next session gets from hippod.
//!
//! The verb reads the files that the harness loads, and calls the function of the session-start hook. The verb needs no
//! daemon, and writes no file.

use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_proto::Paths;
use hippo_types::tokens;

use super::hook::{own, root};
use super::init::{folder, unusable_failure};
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::harness::layout::paths;
use crate::harness::loaded::{INNER_CLAUDE, PromptPart, find_start_hook, read_parts};
use crate::harness::{Harness, InitRecord, PathSnapshot};
use crate::output::Output;
use crate::render::prompt::{PlatformPrompt, PromptAnswer, render_prompt};

/// Prints the text that the next session gets, for each platform.
///
/// # Errors
/// Fails if the folder cannot be opened, or if no platform is set up in it.
pub fn print_prompt(
    session: &DaemonSession,
    asked: Option<Harness>,
    out: &mut Output,
) -> Result<(), Failure> {
    let here = folder(session, None, None)?.root().to_path_buf();
    let mut answer = compute_prompt(session, &here, asked)?;
    if let Some(agent) = &session.agent {
        let own = session.another().call(own::request(answer.root.clone()))?;
        let source = format!("session-start hook of the agent {agent}");
        let part = PromptPart::new(
            source,
            &own::section(&own.entries),
            "the agent's own files have these entries",
        );
        for platform in &mut answer.platforms {
            platform.parts.push(part.clone());
            platform.tokens = tokens::of_bytes(platform.parts.iter().map(|part| part.bytes).sum());
        }
    }
    out.answer(&answer, render_prompt)
}

/// Returns the text that the next session in a folder gets, for each platform.
///
/// # Errors
/// See [`print_prompt`].
pub fn compute_prompt(
    session: &DaemonSession,
    here: &Path,
    asked: Option<Harness>,
) -> Result<PromptAnswer, Failure> {
    let state = &session.paths.state;
    let root = &root::find_workspace(state, here).unwrap_or_else(|| here.to_path_buf());
    let dir = WorkspaceDir::open(root).map_err(|error| Failure::file("open the folder", root, error))?;
    let paths = paths();
    let there = PathSnapshot::read(&dir, paths.iter().map(String::as_str).chain([INNER_CLAUDE]));
    let wanted = match asked {
        Some(platform) => [platform].into(),
        None => {
            let record = InitRecord::read(state, root);
            record.map_err(|problem| unusable_failure(&[problem]))?.platforms
        }
    };
    let platforms = wanted.into_iter().map(|platform| {
        let mut parts = read_parts(platform, &there);
        parts.extend(preview_hook(platform, &there, &session.paths, root));
        let tokens = tokens::of_bytes(parts.iter().map(|part| part.bytes).sum());
        PlatformPrompt {
            platform,
            parts,
            tokens,
        }
    });
    let platforms: Vec<_> = platforms.filter(|of| !of.parts.is_empty()).collect();
    let root = root.display().to_string();
    if platforms.is_empty() {
        let name = asked.map(Harness::name);
        let platforms = "claude-code (or codex, opencode, openclaw, pi)";
        let what = name.map_or("no harness is".to_owned(), |name| format!("{name} is not"));
        let failure = Failure::new(Exit::NotFound, format!("{what} set up in {root}"));
        return Err(failure.hint(format!(
            "set it up: hippoctl init {root} --platform {}",
            name.unwrap_or(platforms)
        )));
    }
    Ok(PromptAnswer { root, platforms })
}

/// Returns the text that the installed session-start hook would print now, without its list of pending work.
fn preview_hook(platform: Harness, there: &PathSnapshot, paths: &Paths, root: &Path) -> Option<PromptPart> {
    let (file, args) = find_start_hook(platform, there)?;
    let nothing = |why: &str| (String::new(), format!("the hook prints nothing: {why}"));
    let (text, mut why) = match root::section(paths, root, args.budget, platform == Harness::ClaudeCode) {
        Ok(Some(text)) => (text, "the hook prints this when a session starts".to_owned()),
        Ok(None) if root::find_workspace(&paths.state, root).is_none() => {
            nothing("the folder is not registered")
        }
        Ok(None) => {
            nothing("CLAUDE.md already imports memory/ROOT.md, or memory/ROOT.md is missing or empty")
        }
        Err(what) => nothing(&what),
    };
    if args.pending {
        why += "; with --pending, it also prints the work that `hippoctl heartbeat` lists";
    }
    let source = format!("session-start hook in {file}");
    Some(PromptPart::new(source, &text, why))
}
