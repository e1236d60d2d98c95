//! Hostile texts and large files from other programs.

use std::path::Path;

/// Texts with a special meaning for a log, markdown, a terminal or a file system.
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

/// Writes a sparse file of 2^40 bytes that starts with the given bytes.
pub fn sparse(path: &Path, begins: &[u8]) {
    std::fs::write(path, begins).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_len(1 << 40).unwrap();
}
