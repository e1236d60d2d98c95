//! Manipulated backups: their members, names, kinds and manifest.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use hippod_tests::{Daemon, Dice};
use serde_json::{Value, json};

use crate::scale::{Cases, attack};
use crate::stage::Stage;
use crate::wire::{Wire, roomy};

/// Member names that lead out of the target folder or have a special meaning for other programs.
const NAMES: [&str; 16] = [
    "../outside/x.md",
    "1/files/../../../outside/x.md",
    "/etc/hippod-attack",
    "1/files/../../x.md",
    "1//files//x.md",
    "1/files/./x.md",
    "1/files/.git/config",
    "1/files/.git/hooks/post-checkout",
    "1/files/.hippocampus/harness.json",
    "1/files/memory",
    "1/files/C:/x.md",
    "1/files/a\\..\\x.md",
    "1/files/\u{1b}[31m.md",
    "2/files/x.md",
    "manifest.json",
    "",
];

#[derive(Clone)]
pub struct Member {
    /// Path of the member in the archive.
    pub name: String,
    /// Kind of the member according to its header.
    pub kind: tar::EntryType,
    pub bytes: Vec<u8>,
}

/// Reads the members of an archive.
pub fn read(path: &Path) -> Vec<Member> {
    let file = zstd::Decoder::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut archive = tar::Archive::new(file);
    let entries = archive.entries().unwrap();
    entries
        .map(|entry| {
            let mut entry = entry.unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            Member {
                name: entry.path().unwrap().to_string_lossy().into_owned(),
                kind: entry.header().entry_type(),
                bytes,
            }
        })
        .collect()
}

/// Writes an archive of the members without checking their names or kinds.
fn write(path: &Path, members: &[Member]) {
    let mut packed = zstd::Encoder::new(std::fs::File::create(path).unwrap(), 1).unwrap();
    for member in members {
        let mut header = tar::Header::new_gnu();
        let name = &member.name.as_bytes()[..member.name.len().min(100)];
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name);
        if member.kind != tar::EntryType::Regular {
            header.set_link_name("../../outside").unwrap();
        }
        header.set_entry_type(member.kind);
        header.set_size(member.bytes.len() as u64);
        header.set_mode(0o6777);
        header.set_cksum();
        packed.write_all(header.as_bytes()).unwrap();
        packed.write_all(&member.bytes).unwrap();
        packed
            .write_all(&vec![0; (512 - member.bytes.len() % 512) % 512])
            .unwrap();
    }
    packed.write_all(&[0; 1024]).unwrap();
    packed.finish().unwrap();
}

/// Updates the manifest so that it lists the members as they are now.
pub fn agree(members: &mut [Member]) {
    let list: Vec<Value> = members
        .iter()
        .filter(|member| member.name != "manifest.json")
        .map(|member| {
            let hash = blake3::hash(&member.bytes).to_hex().to_string();
            json!({"path": member.name, "bytes": member.bytes.len(), "blake3": hash})
        })
        .collect();
    for member in members.iter_mut().filter(|member| member.name == "manifest.json") {
        let Ok(mut manifest) = serde_json::from_slice::<Value>(&member.bytes) else {
            continue;
        };
        if manifest.is_object() {
            manifest["members"] = list.clone().into();
            member.bytes = manifest.to_string().into_bytes();
        }
    }
}

fn change(dice: &mut Dice, members: &mut Vec<Member>) -> String {
    let at = dice.below(members.len());
    let name = members[at].name.clone();
    match dice.below(6) {
        0 | 1 => {
            members[at].name = (*dice.one_of(&NAMES)).to_owned();
            format!("{name} is called {:?}", members[at].name)
        }
        2 => {
            let kinds = [
                tar::EntryType::Symlink,
                tar::EntryType::Link,
                tar::EntryType::Directory,
                tar::EntryType::Fifo,
                tar::EntryType::Char,
            ];
            members[at].kind = *dice.one_of(&kinds);
            format!("{name} is a {:?}", members[at].kind)
        }
        3 => {
            let bytes = &mut members[at].bytes;
            let place = dice.below(bytes.len().max(1));
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= 1 << dice.below(8);
            }
            format!("a bit of {name} at {place}")
        }
        4 => {
            let again = members[at].clone();
            members.push(again);
            format!("{name} twice")
        }
        _ if members.len() > 1 => {
            members.remove(at);
            format!("no {name}")
        }
        _ => String::new(),
    }
}

/// Returns the path of every file and folder below a folder, and the content of each file.
pub fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            all.extend(snapshot(&path));
        }
        all.insert(path.clone(), std::fs::read(&path).ok());
    }
    all
}

#[test]
fn a_mutated_backup_writes_nothing_outside_its_folder() {
    let stage = Stage::set();
    let (scratch, daemon) = (&stage.scratch, Daemon::start(&stage.scratch.home(), &roomy()));
    let whole = scratch.beside("backup.tar.zst");
    Wire::new(&daemon).expect("backup", json!({"to": whole, "workspace": scratch.workspace()}));
    let members = read(&whole);
    assert!(members.len() > 3, "{}", members.len());
    let world = scratch.beside("world");
    std::fs::create_dir_all(world.join("outside")).unwrap();
    std::fs::write(world.join("outside/a.md"), "a\n").unwrap();
    attack("archives", Cases::Drawn(30), |dice, _| {
        let mut changed = members.clone();
        let changes: Vec<String> = (0..1 + dice.below(3))
            .map(|_| change(dice, &mut changed))
            .collect();
        if dice.below(4) > 0 {
            agree(&mut changed);
        }
        let from = world.join("changed.tar.zst");
        write(&from, &changed);
        let before = snapshot(&world);
        let into = world.join("into/workspace");
        std::fs::create_dir_all(into.parent().unwrap()).unwrap();
        let mut wire = Wire::new(&daemon);
        let restored = wire.call("restore", json!({"from": from, "into": into}));
        let log = daemon.log();
        assert!(!log.contains("panicked"), "{changes:?}: {log}");
        assert!(wire.call("status", json!({})).is_ok(), "{changes:?}: {log}");
        if restored.is_ok() {
            let odd: Vec<PathBuf> = snapshot(&into)
                .into_keys()
                .filter(|path| path.is_symlink())
                .collect();
            assert!(odd.is_empty(), "{changes:?}: {odd:?}");
            wire.expect("workspace.remove", json!({"workspace": into}));
        }
        std::fs::remove_dir_all(world.join("into")).unwrap();
        assert!(snapshot(&world) == before, "{changes:?} wrote beside its folder");
        assert!(!Path::new("/etc/hippod-attack").exists(), "{changes:?}");
        1
    });
}
