//! Truncated archives, and archives with false headers.

use std::io::Write;
use std::path::{Path, PathBuf};

use hippod_tests::{Daemon, Dice};
use serde_json::{Value, json};

use crate::archives::{Member, agree, read, snapshot};
use crate::scale::{Cases, attack, is_long};
use crate::stage::Stage;
use crate::wire::{Failure, Wire, roomy};

/// Number of bytes in an archive block.
const BLOCK: usize = 512;
/// Memory limit of the daemon, in KiB.
const MEMORY: u64 = 400 * 1024;
/// Maximum length of a refusal, in bytes.
const MESSAGE: usize = 8 * 1024;
/// Member names that no backup contains.
const NAMES: [&str; 16] = [
    "../mine.md",
    "1/files/../../mine.md",
    "1/files/memory/../../../mine.md",
    "/tmp/hippod-attack",
    "CLAUDE.md",
    "1/files/CLAUDE.md",
    "1/files/Makefile",
    "1/files/.hippocampus/harness.json",
    "1/files/.hippocampus/canary",
    "1/files/C:/x.md",
    "C:/x.md",
    "1/files/memory/x\0.md",
    "1/files/memory/x.md\0/../../../mine.md",
    "1/files/memory/nul\u{1b}]0;x\u{7}.md",
    "1/vectors.dump",
    "1/index.db-wal",
];

/// A member of an archive. Its header may be false.
struct Entry {
    member: Member,
    /// Size according to the header.
    declared: u64,
}

impl Entry {
    fn of(member: Member) -> Self {
        let declared = member.bytes.len() as u64;
        Self { member, declared }
    }

    fn header(&self, name: &[u8], kind: tar::EntryType, size: u64) -> [u8; BLOCK] {
        let mut header = tar::Header::new_gnu();
        let start = name.len().min(100);
        header.as_gnu_mut().unwrap().name[..start].copy_from_slice(&name[..start]);
        if matches!(kind, tar::EntryType::Symlink | tar::EntryType::Link) {
            header.set_link_name("../../mine.md").unwrap();
        }
        header.set_entry_type(kind);
        // The header stores sizes above 8 GiB in binary.
        header.set_size(size);
        header.set_mode(0o6777);
        header.set_cksum();
        *header.as_bytes()
    }

    fn write(&self, into: &mut Vec<u8>) {
        let name = self.member.name.as_bytes();
        if name.len() > 100 || name.contains(&0) {
            into.extend(self.header(b"././@LongLink", tar::EntryType::GNULongName, name.len() as u64));
            into.extend(name);
            pad(into);
        }
        into.extend(self.header(name, self.member.kind, self.declared));
        into.extend(&self.member.bytes);
        pad(into);
    }
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
}

fn file(name: &str, bytes: &[u8]) -> Member {
    Member {
        name: name.to_owned(),
        kind: tar::EntryType::Regular,
        bytes: bytes.to_vec(),
    }
}

fn packed(path: &Path, bytes: &[u8]) {
    let mut encoder = zstd::Encoder::new(std::fs::File::create(path).unwrap(), 1).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap();
}

/// Puts a false value into the manifest, and returns a description of the change.
fn lie(dice: &mut Dice, manifest: &mut Value) -> &'static str {
    let members = manifest["members"].as_array().map_or(0, Vec::len);
    let member = &mut manifest["members"][dice.below(members.max(1))];
    match dice.below(7) {
        0 => {
            member["bytes"] = json!(1u64 << 60);
            "a size of 2^60 in the manifest"
        }
        1 => {
            member["bytes"] = json!(-1);
            "a negative size in the manifest"
        }
        2 => {
            member["mtime_ns"] = json!(*dice.one_of(&[i64::MAX, i64::MIN, -1]));
            "a time out of range"
        }
        3 => {
            member["mode"] = json!(u32::MAX);
            "all rights"
        }
        4 => {
            let nested = format!("{}1{}", "[".repeat(100), "]".repeat(100));
            manifest["workspaces"][0]["left_out"] = serde_json::from_str(&nested).unwrap();
            "nesting in the manifest"
        }
        5 => {
            manifest["workspaces"][0]["root"] =
                json!(dice.one_of(&["", "..", "/", "relative", "/proc", "a\0b"]));
            "an odd root"
        }
        _ => {
            manifest["workspaces"][0]["index_schema"] = json!(*dice.one_of(&[i64::MIN, -1, 0, i64::MAX]));
            "an odd schema"
        }
    }
}

/// Changes an archive. Returns a description of the change and the bytes of the changed archive.
fn change(dice: &mut Dice, members: &[Member], agrees: bool) -> (String, Vec<u8>) {
    let mut members = members.to_vec();
    let at = dice.below(members.len());
    let mut what = String::new();
    let mut sizes: Option<(usize, u64)> = None;
    match dice.below(9) {
        0 => {
            let size = *dice.one_of(&[1u64 << 60, u64::MAX, 1 << 33, 8 << 30]);
            sizes = Some((at, size));
            what = format!("{} declares {size} bytes", members[at].name);
        }
        1 => {
            let bytes = members[at].bytes.len() as u64;
            let size = *dice.one_of(&[bytes + 1, bytes.saturating_sub(1), bytes + 512, 0]);
            sizes = Some((at, size));
            what = format!("{} declares {size} instead of {bytes} bytes", members[at].name);
        }
        2 => {
            members.insert(at, members[at].clone());
            what = format!("{} twice", members[at].name);
        }
        3..=5 => {
            let name = *dice.one_of(&NAMES);
            members.insert(at, file(name, b"hostile\n"));
            what = format!("{name:?} is there");
        }
        6 => {
            let kinds = [
                tar::EntryType::Symlink,
                tar::EntryType::Link,
                tar::EntryType::Char,
                tar::EntryType::Block,
                tar::EntryType::Fifo,
                tar::EntryType::GNUSparse,
                tar::EntryType::XGlobalHeader,
                tar::EntryType::XHeader,
                tar::EntryType::GNULongName,
                tar::EntryType::GNULongLink,
            ];
            let mut odd = file("1/files/memory/odd.md", b"30 path=../../../../mine.md\n");
            odd.kind = *dice.one_of(&kinds);
            what = format!("a {:?}", odd.kind);
            members.insert(at, odd);
        }
        7 => {
            // A restore creates every file that the manifest lists. If the manifest lists the new files, add fewer
            // files.
            let count = match (agrees, is_long()) {
                (true, _) => 500,
                (false, true) => 100_000,
                (false, false) => 10_000,
            };
            let many = (0..count).map(|number| file(&format!("1/files/memory/{number}.md"), b""));
            let rest = members.split_off(at);
            members.extend(many);
            members.extend(rest);
            what = format!("{count} empty files");
        }
        _ => {}
    }
    if agrees {
        agree(&mut members);
    }
    let manifest = members
        .iter_mut()
        .find(|member| member.name == "manifest.json")
        .unwrap();
    if what.is_empty() {
        let mut value: Value = serde_json::from_slice(&manifest.bytes).unwrap();
        lie(dice, &mut value).clone_into(&mut what);
        manifest.bytes = value.to_string().into_bytes();
    }
    let mut bytes = Vec::new();
    for (number, member) in members.into_iter().enumerate() {
        let mut entry = Entry::of(member);
        if let Some((at, size)) = sizes
            && at == number
        {
            entry.declared = size;
        }
        entry.write(&mut bytes);
    }
    bytes.resize(bytes.len() + 2 * BLOCK, 0);
    (what, bytes)
}

/// A daemon, an intact backup, and folders that no restore may change.
struct Range {
    stage: Stage,
    daemon: Daemon,
    members: Vec<Member>,
    world: PathBuf,
}

impl Range {
    fn new() -> Self {
        let stage = Stage::set();
        let daemon = Daemon::start(&stage.scratch.home(), &roomy());
        let whole = stage.scratch.beside("backup.tar.zst");
        let root = stage.scratch.workspace();
        Wire::new(&daemon).expect("backup", json!({"to": whole, "workspace": root}));
        let world = stage.scratch.beside("world");
        std::fs::create_dir_all(world.join("taken")).unwrap();
        std::fs::write(world.join("mine.md"), "mine\n").unwrap();
        std::fs::write(world.join("taken/mine.md"), "mine\n").unwrap();
        Self {
            members: read(&whole),
            daemon,
            world,
            stage,
        }
    }

    /// Restores an archive into a new folder and into a folder that is not empty. Asserts that no other file changed.
    fn assert_harmless(&self, what: &str, bytes: &[u8]) -> bool {
        let from = self.world.join("hostile.tar.zst");
        packed(&from, bytes);
        let before = snapshot(&self.world);
        let mut wire = Wire::new(&self.daemon);
        let mut restored = false;
        for into in [self.world.join("taken"), self.world.join("new")] {
            match wire.call("restore", json!({"from": from, "into": into})) {
                Ok(_) => {
                    assert!(into.ends_with("new"), "{what}: a taken folder was replaced");
                    let files = snapshot(&into);
                    let odd: Vec<&PathBuf> = files.keys().filter(|path| path.is_symlink()).collect();
                    assert!(odd.is_empty(), "{what}: {odd:?}");
                    wire.expect("workspace.remove", json!({"workspace": into}));
                    std::fs::remove_dir_all(&into).unwrap();
                    restored = true;
                }
                Err(Failure::Refused(error)) => {
                    let message = error["message"].as_str().unwrap();
                    assert!(message.len() < MESSAGE, "{what}: {} bytes", message.len());
                    assert_ne!(error["data"]["kind"], "internal", "{what}: {error}");
                    assert!(
                        error["data"]["hint"]
                            .as_str()
                            .is_some_and(|hint| !hint.is_empty()),
                        "{what}: {error}"
                    );
                }
                Err(Failure::Gone) => panic!("{what}: the daemon died: {}", self.daemon.log()),
            }
        }
        assert!(
            snapshot(&self.world) == before,
            "{what} changed something beside its folder"
        );
        let root = self.stage.scratch.workspace();
        let kept = wire.expect("search", json!({"workspace": root, "query": "lantern green"}));
        assert!(
            kept["results"][0]["text"].as_str().unwrap().contains("green"),
            "{what}: {kept}"
        );
        let log = self.daemon.log();
        assert!(!log.contains("panicked"), "{what}: {log}");
        assert!(!Path::new("/tmp/hippod-attack").exists(), "{what}");
        let memory = self.daemon.most_memory();
        assert!(memory < MEMORY, "{what}: {memory} KiB");
        restored
    }
}

#[test]
fn an_archive_that_lies_about_its_members_changes_nothing_outside() {
    let range = Range::new();
    attack("headers", Cases::Drawn(16), |dice, _| {
        let agrees = dice.below(4) > 0;
        let (what, bytes) = change(dice, &range.members, agrees);
        range.assert_harmless(&what, &bytes);
        1
    });
}

#[test]
fn an_archive_truncated_at_any_block_restores_nothing() {
    let range = Range::new();
    let mut whole = Vec::new();
    for member in &range.members {
        Entry::of(member.clone()).write(&mut whole);
    }
    assert!(range.assert_harmless("the whole archive", &[&whole[..], &[0; 2 * BLOCK]].concat()));
    let blocks = whole.len() / BLOCK;
    let cases = Cases::Numbered {
        all: blocks,
        in_gate: 24,
    };
    attack("cuts", cases, |_, block| {
        let what = format!("cut behind block {block} of {blocks}");
        assert!(
            !range.assert_harmless(&what, &whole[..block * BLOCK]),
            "{what}: it was restored"
        );
        1
    });
}
