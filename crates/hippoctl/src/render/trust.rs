//! Rendering of workspace settings, trusted or not.

use hippo_proto::{SettingsFile, WorkspaceTrustResponse};

use super::one_line;
use crate::output::Style;
use hippoctl::args::TrustArgs;

/// Returns the line of `status` about a file with settings that are not trusted.
pub fn line(file: &SettingsFile, root: &str, style: Style) -> String {
    let keys: Vec<&str> = file.changes.iter().map(|change| change.key.as_str()).collect();
    let (path, keys) = (style.path(one_line(&file.path)), one_line(&keys.join(", ")));
    let accept = format!("to accept the file: hippoctl workspace trust {}", one_line(root));
    format!("  untrusted {path}: these keys have no effect: {keys}; {accept}\n")
}

/// Renders the answer of `workspace trust`.
pub fn render_trust(answer: &WorkspaceTrustResponse, args: &TrustArgs, style: Style) -> String {
    let root = one_line(&answer.root);
    if answer.files.is_empty() {
        return format!("{} has no settings of its own\n", style.path(&root));
    }
    let mut text = String::new();
    for file in &answer.files {
        let state = if file.trusted { "trusted" } else { "not trusted" };
        text += &format!("{}: {state}\n", style.path(one_line(&file.path)));
        if let Some(wrong) = &file.wrong {
            text += &format!("  {}\n", style.bad(one_line(wrong)));
        }
        for change in &file.changes {
            let [key, from, to] = [&change.key, &change.from, &change.to].map(|part| one_line(part));
            text += &format!("  {key}: {from} -> {to}\n");
        }
        if file.changes.is_empty() && file.wrong.is_none() {
            text += "  this file only restricts your settings and needs no trust\n";
        }
    }
    text += &match (args.dry_run, args.revoke) {
        (true, _) => format!("nothing was changed; to accept the files: hippoctl workspace trust {root}\n"),
        (false, true) => "revoked; from now on, these files can only restrict your settings\n".to_owned(),
        (false, false) => format!(
            "accepted; after a change of a file, run `hippoctl workspace trust` again; to revoke: hippoctl workspace \
             trust --revoke {root}\n"
        ),
    };
    text
}
