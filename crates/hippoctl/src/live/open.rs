//! Start of the user's editor.

use std::path::Path;
use std::process::Command;

/// Editors that take the line as part of the path, with the option that they need.
const BY_PATH: [(&str, &str); 7] = [
    ("code", "-g "),
    ("codium", "-g "),
    ("cursor", "-g "),
    ("hx", ""),
    ("helix", ""),
    ("subl", ""),
    ("zed", ""),
];

/// Opens a file at a line in the editor of the user, and waits until the editor exits. As for git, the editor is the
/// shell command in VISUAL or EDITOR, otherwise vi.
///
/// # Errors
/// Returns the reason if the editor could not be started or failed.
pub fn open(file: &Path, line: u32) -> Result<(), String> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR"));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let status = Command::new("sh")
        .args(["-c", &script(&editor), "sh"])
        .arg(file)
        .arg(line.to_string())
        .status()
        .map_err(|error| format!("could not start sh: {error}"))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(126 | 127) => Err(format!(
            "could not start the editor {editor}: set VISUAL or EDITOR"
        )),
        _ => Err(format!("the editor {editor} ended with {status}")),
    }
}

/// Returns the shell command that opens the file `$1` at the line `$2`.
fn script(editor: &str) -> String {
    let program = editor.split_whitespace().next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    match BY_PATH.iter().find(|(known, _)| *known == name) {
        Some((_, option)) => format!("{editor} {option}\"$1:$2\""),
        None => format!("{editor} \"+$2\" \"$1\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_editor_gets_the_line_in_its_form() {
        assert_eq!(script("vim -R"), "vim -R \"+$2\" \"$1\"");
        assert_eq!(script("/usr/bin/nano"), "/usr/bin/nano \"+$2\" \"$1\"");
        assert_eq!(script("code --wait"), "code --wait -g \"$1:$2\"");
        assert_eq!(script("hx"), "hx \"$1:$2\"");
    }
}
