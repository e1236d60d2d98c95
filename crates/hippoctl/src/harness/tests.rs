//! Tests of `init` and its undo.
//!
//! Undo restores every byte, and a second init changes nothing.

mod any_bytes;
mod laws;
mod servers;

use std::collections::{BTreeMap, BTreeSet};

use super::layout::{LayoutPart, layout};
use super::plan::PathChange;
use super::*;

/// A configuration that adds the index file to the prompt.
const IN_PROMPT: &str = r#"{"index": {"inPrompt": true}}"#;

/// The files and folders of a workspace.
#[derive(Clone, Default, PartialEq, Eq)]
struct World {
    files: BTreeMap<String, Vec<u8>>,
    folders: BTreeSet<String>,
    /// The record of init in the state folder.
    record: InitRecord,
    /// True if init runs with `--full`.
    full: bool,
}

impl std::fmt::Debug for World {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let files = self.files.iter();
        let short =
            files.map(|(path, bytes)| (path, String::from_utf8_lossy(&bytes[..bytes.len().min(400)])));
        out.debug_map().entries(short).finish()?;
        self.folders.fmt(out)
    }
}

impl World {
    fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut world = Self::default();
        for (path, text) in files {
            world.write(path, text.as_bytes());
        }
        world
    }

    fn write(&mut self, path: &str, bytes: &[u8]) {
        let ends = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
        self.folders.extend(ends);
        self.files.insert(path.to_owned(), bytes.to_vec());
    }

    fn text(&self, path: &str) -> &str {
        std::str::from_utf8(&self.files[path]).unwrap()
    }

    fn snapshot(&self) -> PathSnapshot {
        let files = self.files.iter().map(|(path, bytes)| (path.as_str(), bytes));
        PathSnapshot::of(files).with_folders(self.folders.iter().map(String::as_str))
    }

    fn apply(&mut self, plan: &ChangePlan) {
        assert_eq!(plan.problems, []);
        for folder in &plan.folders {
            let above = folder
                .rsplit_once('/')
                .is_none_or(|(above, _)| self.folders.contains(above));
            assert!(above && self.folders.insert(folder.clone()), "{folder}");
        }
        for PathChange {
            path, before, after, ..
        } in &plan.changes
        {
            assert_eq!(self.files.get(path), before.as_ref(), "{path}");
            let above = path
                .rsplit_once('/')
                .is_none_or(|(above, _)| self.folders.contains(above));
            assert!(above, "no folder for {path}");
            match after {
                Some(after) => self.files.insert(path.clone(), after.clone()),
                None => self.files.remove(path),
            };
        }
        for folder in &plan.removed_folders {
            let below = format!("{folder}/");
            let all = self.files.keys().chain(&self.folders);
            if !all.clone().any(|path| path.starts_with(&below)) {
                self.folders.remove(folder);
            }
        }
    }

    fn plan(&self, platform: Harness) -> ChangePlan {
        let there = self.snapshot();
        let config = there.file(CONFIG).map(|bytes| LayoutConfig::read(bytes).0);
        let config = LayoutConfig {
            full: self.full,
            ..config.unwrap_or_default()
        };
        let mut parts = layout(platform, &config, &there, &self.record.folders);
        parts.push(LayoutPart::Template(CONFIG, LayoutConfig::text(platform)));
        plan(platform, &parts, &there, &self.record)
    }

    /// Applies the first `most` steps of init. The steps are, in this order: the record, the folders, the files.
    fn init_until(&mut self, platform: Harness, most: usize) {
        let whole = self.plan(platform);
        let step = |folders: Vec<String>, changes: Vec<PathChange>| ChangePlan {
            folders,
            changes,
            ..ChangePlan::default()
        };
        if most > 0 {
            self.record = whole.record;
        }
        let folders = whole.folders.into_iter().map(|folder| step(vec![folder], vec![]));
        let files = whole.changes.into_iter().map(|change| step(vec![], vec![change]));
        for step in folders.chain(files).take(most.saturating_sub(1)) {
            self.apply(&step);
        }
    }

    /// Runs init. Returns true if it changed anything.
    fn init(&mut self, platform: Harness) -> bool {
        let plan = self.plan(platform);
        self.apply(&plan);
        let changed = self.record != plan.record || !plan.folders.is_empty() || !plan.changes.is_empty();
        self.record = plan.record;
        changed
    }

    fn deinit(&mut self) -> ChangePlan {
        let there = self.snapshot();
        let plan = take_back(&there, &self.record);
        self.apply(&plan);
        self.record = plan.record.clone();
        plan
    }
}

#[test]
fn each_platform_gets_its_files() {
    for platform in [
        Harness::ClaudeCode,
        Harness::OpenClaw,
        Harness::OpenCode,
        Harness::Codex,
        Harness::Pi,
    ] {
        for (full, prefix) in [(false, "files"), (true, "all_files")] {
            let mut world = World {
                full,
                ..World::default()
            };
            world.init(platform);
            let files: Vec<&str> = world.files.keys().map(String::as_str).collect();
            insta::assert_snapshot!(format!("{prefix}_of_{}", platform.name()), files.join("\n"));
        }
    }
}

#[test]
fn the_root_is_in_the_prompt_of_each_platform() {
    let mut claude = World::of([("CLAUDE.md", "# Rules\n")]);
    claude.init(Harness::ClaudeCode);
    assert!(
        claude
            .text("CLAUDE.md")
            .starts_with("# Rules\n\n<!-- hippod: protocol for claude-code -->\n")
    );
    assert!(
        claude
            .text("CLAUDE.md")
            .ends_with("\n@memory/ROOT.md\n<!-- /hippod -->\n")
    );
    let mut once = World::of([("CLAUDE.md", "@memory/ROOT.md\n")]);
    once.init(Harness::ClaudeCode);
    assert_eq!(once.text("CLAUDE.md").matches("@memory/ROOT.md").count(), 1);
    let root = (
        "memory/ROOT.md",
        "---\ntype: root\n---\n\n## Topics Index\n- pump [project, 2d]: blue\n",
    );
    let mut unasked = World::of([root, ("MEMORY.md", "mine\n")]);
    unasked.init(Harness::OpenClaw);
    assert_eq!(unasked.text("MEMORY.md"), "mine\n");
    assert!(
        unasked
            .text("AGENTS.md")
            .contains("`memory/ROOT.md`; if it was not shown to you")
    );
    let mut openclaw = World::of([root, (CONFIG, IN_PROMPT)]);
    openclaw.init(Harness::OpenClaw);
    let memory = openclaw.text("MEMORY.md");
    assert!(
        memory
            .contains("<!-- hippod: root -->\n## Topics Index\n- pump [project, 2d]: blue\n<!-- /hippod -->"),
        "{memory}"
    );
    let mut opencode = World::default();
    opencode.init(Harness::OpenCode);
    assert!(opencode.text("opencode.json").contains("\"memory/ROOT.md\""));
}

#[test]
fn the_block_of_each_platform_names_the_index_file() {
    for (platform, file) in [
        (Harness::ClaudeCode, "CLAUDE.md"),
        (Harness::OpenClaw, "AGENTS.md"),
        (Harness::OpenCode, "AGENTS.md"),
        (Harness::Codex, "AGENTS.md"),
        (Harness::Pi, "AGENTS.md"),
    ] {
        let mut world = World::default();
        world.init(platform);
        assert!(world.text(file).contains("`HIPPOCAMPUS.md`"), "{file}");
    }
}

#[test]
fn the_index_file_is_in_the_prompt_if_configured() {
    for (platform, file, line) in [
        (Harness::ClaudeCode, "CLAUDE.md", "@HIPPOCAMPUS.md"),
        (
            Harness::Codex,
            "AGENTS.md",
            "after this file and before `MEMORY.md`, read `HIPPOCAMPUS.md`",
        ),
        (
            Harness::OpenClaw,
            "AGENTS.md",
            "after this file and before `MEMORY.md`, read `HIPPOCAMPUS.md`",
        ),
        (Harness::OpenCode, "opencode.json", "\"HIPPOCAMPUS.md\""),
    ] {
        for wanted in [true, false] {
            let mut world = World::of([(CONFIG, &*format!("{{\"index\": {{\"inPrompt\": {wanted}}}}}"))]);
            world.init(platform);
            assert_eq!(world.text(file).contains(line), wanted, "{file}");
        }
    }
}

#[test]
fn deinit_removes_a_block_that_the_daemon_updated() {
    let before = World::of([("AGENTS.md", "# Rules"), (CONFIG, IN_PROMPT)]);
    let mut world = before.clone();
    world.init(Harness::OpenClaw);
    let memory = hippo_text::own_block::put(&world.files["MEMORY.md"], "root", "## Topics\n- new\n").unwrap();
    world.write("MEMORY.md", &memory);
    world.deinit();
    assert_eq!(world, before);
}

#[test]
fn no_block_is_added_to_a_file_in_utf_16() {
    let mut world = World::default();
    let wide: Vec<u8> = "\u{feff}# Rules\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    world.write("CLAUDE.md", &wide);
    let problems = world.plan(Harness::ClaudeCode).problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].why.contains("UTF-16"), "{problems:?}");
}

#[test]
fn codex_hooks_are_added_to_an_existing_hooks_file() {
    for (hooks, entered) in [(None, false), (Some("{}\n"), true), (Some("[]\n"), false)] {
        let mut world = World::of(hooks.map(|hooks| (".codex/hooks.json", hooks)));
        world.init(Harness::Codex);
        assert_eq!(
            world.text(".codex/config.toml").contains("hippoctl hook"),
            !entered
        );
        let json = world.files.get(".codex/hooks.json").cloned().unwrap_or_default();
        assert_eq!(
            String::from_utf8(json).unwrap().contains("hippoctl hook"),
            entered
        );
    }
}

#[test]
fn a_folder_of_notes_gets_a_gitignore_only_in_a_repository() {
    for (platform, git, expected) in [
        (Harness::None, None, false),
        (
            Harness::None,
            Some((".git", "gitdir: ../.git/worktrees/w\n")),
            true,
        ),
        (Harness::ClaudeCode, None, true),
    ] {
        let mut world = World::of(git);
        world.init(platform);
        assert_eq!(world.files.contains_key(".gitignore"), expected, "{platform:?}");
    }
}

#[test]
fn deinit_removes_edited_hooks_and_keeps_foreign_ones() {
    let theirs = "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";
    let mut world = World::of([(".claude/settings.json", theirs)]);
    world.init(Harness::ClaudeCode);
    let now = world.text(".claude/settings.json");
    let mine = "{ \"hooks\": [{ \"type\": \"command\", \"command\": \"echo\" }] },";
    let now = now
        .replace("\"timeout\": 10", "\"timeout\": 20")
        .replace("\"PreCompact\": [", &format!("\"PreCompact\": [{mine}"));
    world.write(".claude/settings.json", now.as_bytes());
    world.deinit();
    insta::assert_snapshot!(world.text(".claude/settings.json"));
}

#[test]
fn a_newer_version_updates_its_files_and_keeps_the_originals() {
    let mut world = World::of([("CLAUDE.md", "mine")]);
    let before = world.clone();
    world.init(Harness::ClaudeCode);
    // Rewrite the files as an earlier version of hippoctl would have written them.
    let now = String::from_utf8(world.record.to_bytes()).unwrap();
    let hash = |text: &str| record::hash(text.as_bytes());
    let (skill, claude) = (".claude/skills/hippod-core/SKILL.md", "CLAUDE.md");
    let old_claude = world.text(claude).replace("## Memory", "## Memories");
    let now = now
        .replace(&hash(world.text(skill)), &hash("old"))
        .replace(&hash(world.text(claude)), &hash(&old_claude))
        .replace("## Memory", "## Memories");
    let new = world.clone();
    world.write(skill, b"old");
    world.write(claude, old_claude.as_bytes());
    world.record = serde_json::from_str(&now).unwrap();
    assert!(world.init(Harness::ClaudeCode));
    assert_eq!(
        (world.text(skill), world.text(claude)),
        (new.text(skill), new.text(claude))
    );
    world.write(skill, b"changed by me");
    let plan = world.plan(Harness::ClaudeCode);
    assert_eq!((plan.changes.len(), plan.kept.len()), (0, 1));
    world.files.remove(skill);
    world.deinit();
    assert_eq!(world, before);
}

#[test]
fn unusable_files_are_refused_without_a_partial_plan() {
    for (path, text, what) in [
        (
            "CLAUDE.md",
            "<!-- hippod: protocol for claude-code -->\n",
            "line 1",
        ),
        (".claude/settings.json", "{\n  oops\n}\n", "line 2, column 3"),
        (".claude/settings.json", "[]\n", "not a JSON object"),
    ] {
        let plan = World::of([(path, text)]).plan(Harness::ClaudeCode);
        assert_eq!(plan.problems.len(), 1, "{:?}", plan.problems);
        assert!(
            plan.problems[0].path == path && plan.problems[0].why.contains(what),
            "{:?}",
            plan.problems
        );
    }
    for (text, what) in [
        ("a = 1\nb = = 2\n", "line 2, column 5"),
        ("hooks = 1\n", "invalid with the hooks of hippod"),
    ] {
        let plan = World::of([(".codex/config.toml", text)]).plan(Harness::Codex);
        assert!(plan.problems[0].why.contains(what), "{:?}", plan.problems);
    }
    let mut world = World::default();
    world.folders.insert("CLAUDE.md".to_owned());
    world.write("memory", b"a file");
    assert_eq!(world.plan(Harness::ClaudeCode).problems.len(), 2);
}

#[test]
fn changes_that_cannot_be_undone_stay_in_the_record() {
    let mut world = World::of([("CLAUDE.md", "mine\n")]);
    world.init(Harness::ClaudeCode);
    let torn = world.text("CLAUDE.md").replace("<!-- /hippod -->\n", "and more");
    world.write("CLAUDE.md", torn.as_bytes());
    let plan = world.deinit();
    assert_eq!(plan.kept.len(), 1);
    assert_eq!(
        (world.files.len(), world.record.files.len()),
        (1, 1),
        "{:?}",
        world.files.keys()
    );
    world.write("CLAUDE.md", (torn + "\n<!-- /hippod -->\n").as_bytes());
    world.deinit();
    assert_eq!(world, World::of([("CLAUDE.md", "mine\n")]));
}
