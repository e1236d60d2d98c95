//! Detection and take-over of another program's compaction tree.

use hippo_fs::WorkspaceDir;
use hippo_proto::{TreeCompactRequest, TreeCompactResponse};
use hippo_tree::{Node, Period};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use crate::connect::DaemonSession;
use crate::failure::Failure;
use crate::harness::PathSnapshot;
use crate::output::Output;
use crate::render;

/// The folders of nodes, in addition to `memory/ROOT.md`.
const FOLDERS: [&str; 3] = ["memory/daily", "memory/weekly", "memory/monthly"];
/// The path at which earlier versions kept the `ROOT.md` of another program.
const CARRIED: &str = ".hippocampus/carried/ROOT.md";
/// Maximum size in bytes of a file that is restored.
const LARGEST: u64 = 4 << 20;
/// Maximum number of lines of the file that a question shows.
const SHOWN: usize = 8;
/// Maximum number of nodes that a question lists.
const NAMED: usize = 5;

/// Returns the paths of the nodes in a folder that another program wrote.
pub fn nodes(dir: &WorkspaceDir) -> Vec<String> {
    let mut paths = vec![Period::All.path()];
    for folder in FOLDERS {
        let entries = dir.entries(folder).unwrap_or_default().into_iter();
        paths.extend(entries.filter_map(|entry| Some(format!("{folder}/{}", entry.name.to_str()?))));
    }
    paths.sort();
    let there = PathSnapshot::read(dir, paths.iter().map(String::as_str));
    let is_foreign = |path: &String| {
        let (period, bytes) = Period::of_path(path).zip(there.file(path))?;
        Some(Node::read(period, &String::from_utf8_lossy(bytes)).is_foreign())
    };
    paths.retain(|path| is_foreign(path) == Some(true));
    paths
}

/// Asks the user at the terminal to confirm the take-over of a tree. Without a terminal, returns false.
pub fn is_confirmed(nodes: &[String], out: &Output) -> bool {
    if nodes.is_empty() {
        return false;
    }
    let named: Vec<String> = nodes
        .iter()
        .take(NAMED)
        .map(|path| render::one_line(path))
        .collect();
    let more = match nodes.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let question = format!(
        "Another program wrote {}{more}. Take over this tree? (`hippoctl init --undo` restores the original \
         files.) [y/N] ",
        named.join(", ")
    );
    says_yes(&question, out)
}

/// Returns whether to restore the `ROOT.md` that an earlier version took over. The user confirms this with `confirmed`,
/// or at the terminal after a preview.
pub fn restores_carried(root: &Path, confirmed: bool, out: &mut Output) -> bool {
    let Ok(bytes) = hippo_fs::read(root, CARRIED, LARGEST) else {
        return false;
    };
    if confirmed {
        return true;
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines = text
        .lines()
        .take(SHOWN)
        .map(|line| format!("    {}\n", render::one_line(line)));
    let question = format!(
        "An earlier version replaced memory/ROOT.md of another program. The original is kept in {CARRIED} ({} \
         bytes):\n{}Restore it? [y/N] ",
        bytes.len(),
        lines.collect::<String>()
    );
    let yes = says_yes(&question, out);
    if !yes && !out.json {
        out.note(&format!(
            "{CARRIED} stays unchanged; to restore the file, use --restore-carried"
        ));
    }
    yes
}

/// Asks the user a question. Without a terminal, returns false.
fn says_yes(question: &str, out: &Output) -> bool {
    let (input, mut errors) = (io::stdin(), io::stderr());
    if out.json || !input.is_terminal() || !errors.is_terminal() {
        return false;
    }
    let mut answer = String::new();
    let asked = errors
        .write_all(question.as_bytes())
        .and_then(|()| errors.flush());
    let answered = asked.and_then(|()| input.lock().read_line(&mut answer));
    answered.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Asks the daemon for the nodes of another program that it left unchanged, or asks it to take them over.
///
/// # Errors
/// Fails if the daemon refuses.
pub fn compact(
    session: &mut DaemonSession,
    workspace: &str,
    take_over: bool,
) -> Result<Vec<String>, Failure> {
    let request = TreeCompactRequest {
        workspace: workspace.to_owned(),
        dry_run: !take_over,
        take_over,
        ..TreeCompactRequest::default()
    };
    let answer: TreeCompactResponse = session.call_patiently(request, |_| {})?;
    Ok(answer.foreign)
}
