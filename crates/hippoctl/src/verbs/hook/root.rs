//! What of the memory does a session begin with: ROOT.md, fenced and within its budget, and what waits for the agent?

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use hippo_core::context::render::fenced;
use hippo_core::harness::FILE;
use hippo_proto::Pending;

/// The file, in a workspace.
const ROOT: &str = "memory/ROOT.md";
/// Bytes of it that are read.
const LONGEST: u64 = 1 << 20;
/// Tokens that are printed unless something says otherwise.
const BUDGET: usize = 3_000;
/// Tokens of what waits.
const PENDING: usize = 500;
/// How the instructions of Claude Code bring the file into the prompt by themselves.
const IMPORT: &str = "@memory/ROOT.md";
/// Where they do.
const IMPORTING: [&str; 2] = ["CLAUDE.md", ".claude/CLAUDE.md"];

/// The section for the prompt; nothing where there is no such file, or the prompt has it already. `imports`: who asks follows the
/// imports of `CLAUDE.md`, as Claude Code alone does.
pub fn section(folder: &Path, budget: Option<u32>, imports: bool) -> Option<String> {
    let workspace = workspace(folder)?;
    let imported = |name: &str| {
        let text = read(&workspace.join(name)).unwrap_or_default();
        text.lines().any(|line| line.trim() == IMPORT)
    };
    if imports && IMPORTING.into_iter().any(imported) {
        return None;
    }
    let text = read(&workspace.join(ROOT))?;
    let budget = budget.map_or_else(|| configured(&workspace), |tokens| tokens as usize);
    let section = fenced(body(&text), budget, ROOT);
    (!section.is_empty()).then_some(section)
}

/// What waits for the agent, as a section of its own.
pub fn pending(pending: &[Pending]) -> Option<String> {
    let mut text = String::new();
    for one in pending {
        let line: Vec<&str> = one.text.split_whitespace().collect();
        text.push_str(&format!("- pending ({}): {}\n", one.kind, line.join(" ")));
    }
    let section = fenced(&text, PENDING, "hippoctl heartbeat");
    (!section.is_empty()).then_some(section)
}

/// The nearest folder with the file, at or above this one.
fn workspace(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .find(|above| above.join(ROOT).is_file())
        .map(Path::to_path_buf)
}

/// The cap that the harness's own configuration has.
fn configured(workspace: &Path) -> usize {
    let tokens = || {
        let text = read(&workspace.join(FILE))?;
        let (said, _) = hippo_core::harness::read(text.as_bytes());
        usize::try_from(said.root_max_tokens?).ok()
    };
    tokens().unwrap_or(BUDGET)
}

fn read(path: &Path) -> Option<String> {
    // A pipe in its place would be waited for.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(LONGEST)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text without its front matter.
fn body(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    let Some(rest) = text
        .strip_prefix("---\n")
        .or_else(|| text.strip_prefix("---\r\n"))
    else {
        return text;
    };
    let end = rest.match_indices("\n---").find(|(at, mark)| {
        let behind = &rest[at + mark.len()..];
        behind.is_empty() || behind.starts_with(['\n', '\r'])
    });
    end.map_or(text, |(at, mark)| &rest[at + mark.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_root_is_shown_without_front_matter_unless_it_is_imported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("memory")).unwrap();
        std::fs::create_dir_all(root.join("src/deep")).unwrap();
        assert_eq!(section(&root.join("src/deep"), None, true), None);
        std::fs::write(root.join(ROOT), "---\ntype: root\n---\n\n# Root\n- pumps\n").unwrap();
        let shown = section(&root.join("src/deep"), None, true).unwrap();
        assert!(
            shown.contains("# Root\n- pumps\n") && !shown.contains("type: root"),
            "{shown}"
        );
        assert_eq!(section(root, Some(1), true), None);
        let few = |tokens: u32| {
            let text = format!("{{\"compaction\":{{ // few\n\"rootMaxTokens\":{tokens},}}}}");
            std::fs::write(root.join(FILE), text).unwrap();
        };
        std::fs::write(root.join(ROOT), "- pumps ".repeat(100)).unwrap();
        few(200);
        assert_eq!(section(root, None, true), None);
        assert!(section(root, Some(500), true).is_some());
        few(1);
        assert!(
            section(root, None, true).is_some(),
            "what cannot be meant is not heeded"
        );
        let shown = |imports: bool| section(root, Some(500), imports).is_some();
        std::fs::write(
            root.join("CLAUDE.md"),
            "# x\nnever write `@memory/ROOT.md` here\n",
        )
        .unwrap();
        assert!(shown(true), "a line that speaks of the import is none");
        std::fs::write(root.join("CLAUDE.md"), "# x\n@memory/ROOT.md\n").unwrap();
        assert!(!shown(true) && shown(false));
    }

    #[test]
    fn what_waits_is_a_list() {
        assert_eq!(pending(&[]), None);
        let one = Pending {
            kind: "proposal".into(),
            text: "add\nthis".into(),
            paths: vec![],
        };
        assert!(
            pending(&[one])
                .unwrap()
                .contains("- pending (proposal): add this\n")
        );
    }
}
