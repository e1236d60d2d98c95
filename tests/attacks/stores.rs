//! Hostile databases, large files and folders of notes, as other programs might have left them.

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use hippod_tests::Dice;
use rusqlite::Connection;

/// Texts that mean something to a log, to markdown, to a terminal or to a file system.
pub const TEXTS: [&str; 14] = [
    "",
    " ",
    "plain words of a memory",
    "# heading\n\n## another\n",
    "<!-- hippod:import mem0 1 -->",
    "---\nkind: x\n---\n",
    "../../../etc/passwd",
    "CLAUDE.md",
    "memory/../../x",
    "a\u{0}b",
    "\u{1b}]0;x\u{7}",
    "\u{202e}gnp",
    "```\nnever closed",
    "\r\n\u{feff}\u{2028}",
];

/// A database with tables that are not what their names promise, or bytes that are damaged.
pub fn database(dice: &mut Dice, path: &Path) -> String {
    let mut what = String::new();
    // What the schema says in the end; for some a harmless one is there while rows are added.
    let harmless = "CREATE TABLE history (memory_id TEXT, new_memory TEXT GENERATED ALWAYS AS ('x'))";
    let tables = [
        "CREATE TABLE history (id TEXT, memory_id TEXT, new_memory TEXT, event TEXT, created_at TEXT)",
        "CREATE TABLE history (memory_id TEXT, new_memory TEXT GENERATED ALWAYS AS (hex(zeroblob(400000000))))",
        "CREATE TABLE history (memory_id TEXT, new_memory TEXT GENERATED ALWAYS AS
            (printf('%.*c', 200000, 'a') LIKE '%a%a%a%a%a%a%a%a%a%a%a%b'))",
        "CREATE VIEW history AS WITH RECURSIVE n(memory_id, new_memory) AS
            (SELECT 1, 'x' UNION ALL SELECT memory_id + 1, 'x' FROM n) SELECT * FROM n",
        "CREATE VIRTUAL TABLE history USING fts5(memory_id, new_memory)",
        "CREATE TABLE history (memory_id TEXT PRIMARY KEY, new_memory TEXT) WITHOUT ROWID",
        "CREATE TABLE history (rowid TEXT, memory_id BLOB, new_memory INTEGER, event REAL)",
        "CREATE TABLE history (memory_id TEXT, new_memory TEXT, \"a\"\" FROM x; --\" TEXT)",
        "CREATE TABLE history (new_memory TEXT)",
    ];
    let connection = Connection::open(path).unwrap();
    let table = *dice.one_of(&tables);
    write!(what, "{table}").unwrap();
    let is_costly = table.contains("GENERATED");
    connection
        .execute_batch(if is_costly { harmless } else { table })
        .unwrap();
    for number in 0..50 {
        let text = *dice.one_of(&TEXTS);
        let size = 1_i64 << dice.below(18);
        // Views take no rows, and some tables have other columns.
        let _ = connection.execute(
            "INSERT INTO history (memory_id, new_memory) VALUES (?1, ?2 || printf('%.*c', ?3, 'y'))",
            rusqlite::params![number, text, size],
        );
        let _ = connection.execute("INSERT INTO history (memory_id) VALUES (?1)", [number]);
    }
    if is_costly {
        let rewrite = "UPDATE sqlite_master SET sql = ?1 WHERE name = 'history'";
        connection.pragma_update(None, "writable_schema", true).unwrap();
        connection.execute(rewrite, [table]).unwrap();
    }
    drop(connection);
    let mut bytes = std::fs::read(path).unwrap();
    match dice.below(4) {
        0 => {
            for _ in 0..1 + dice.below(40) {
                let at = dice.below(bytes.len());
                bytes[at] ^= 1 << dice.below(8);
            }
            what.push_str(", with bits turned over");
        }
        1 => {
            let page = dice.below(bytes.len()) / 4096 * 4096;
            let end = (page + 4096).min(bytes.len());
            bytes[page..end].fill(*dice.one_of(&[0, 0xff, 0x0d]));
            what.push_str(", with a page of one byte");
        }
        2 => {
            bytes.truncate(dice.below(bytes.len()));
            what.push_str(", cut");
        }
        _ => std::fs::write(path.with_file_name("history.db-wal"), vec![7; 40_000]).unwrap(),
    }
    std::fs::write(path, bytes).unwrap();
    what
}

/// A file that claims a size of 2^40 bytes.
pub fn sparse(path: &Path, begins: &[u8]) {
    std::fs::write(path, begins).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_len(1 << 40).unwrap();
}

/// A folder of notes.
pub fn notes(dice: &mut Dice, folder: &Path) -> String {
    let mut what = String::new();
    let front = [
        format!("---\n{}x\n---\ntext\n", "- ".repeat(9000)),
        format!(
            "---\na: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n{}---\ntext\n",
            "c: [*b,*b,*b,*b,*b,*b]\n".repeat(50)
        ),
        "---\ntitle: [\npermalink: ../../../x\n---\ntext\n".to_owned(),
        "---\ncreated: 99999-99-99\npermalink: /etc/passwd\ntype: {a: {b: c}}\n---\ntext\n".to_owned(),
        "---\nnever closed\n".to_owned(),
        "words of a note\n".to_owned(),
        "\u{feff}---\r\ntitle: x\r\n---\r\n\r\ntext\0\r\n".to_owned(),
    ];
    for number in 0..1 + dice.below(6) {
        let text = dice.one_of(&front).clone();
        let name = *dice.one_of(&[
            "a",
            "CLAUDE",
            ".hidden",
            "new\nline",
            "x\u{1b}[31m",
            "sub/deep/x",
            "..b",
            "C:x",
        ]);
        let path = folder.join(format!("{name}{number}.md"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
        write!(what, "{name:?}: {:.40?} ", text).unwrap();
    }
    // What may be there already.
    let _ = match dice.below(5) {
        0 => symlink("/etc/passwd", folder.join("link.md")),
        1 => symlink("..", folder.join("loop")),
        2 => symlink("/proc/self/environ", folder.join("environ.md")),
        3 => std::fs::write(folder.join("large.md"), vec![b'x'; 6 << 20]),
        _ => std::fs::create_dir_all(folder.join("d/".repeat(60))),
    };
    what
}
