//! Foreign `ROOT.md` files that an earlier build moved to `.hippocampus/carried/`.
//! The tests cover where these files are read and restored.

use std::os::unix::fs::symlink;
use std::path::Path;

use hippo_proto::{ClientError, RpcError, WorkspaceRemoveRequest, WorkspaceRemoveResponse};
use hippod_tests::{Caller, Clocked, Scratch};
use serde_json::Value;

use super::hostile_links::assert_link_is_named;
use super::tree::{NOW, compact, day, log};

const THEIRS: &str = "# Root\n\n## Historical Summary\n- 2025-11: the merger with Acme closed on a Friday";
const CARRIED: &str = ".hippocampus/carried/ROOT.md";

/// Writes logs of four days.
fn fill(scratch: &Scratch) {
    for before in 1..5 {
        scratch.write(&format!("memory/{}.md", day(before)), log(day(before), 12));
    }
}

/// Writes the state of the tree as an earlier build did. That build took over trees without a confirmation.
fn set_state_of_an_earlier_build(scratch: &Scratch) {
    let file = scratch.state("tree.json");
    let mut state: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(state["asks"], true, "{state}");
    state["asks"] = false.into();
    std::fs::write(&file, state.to_string()).unwrap();
}

#[test]
fn a_carried_root_is_not_read_through_a_link() {
    for is_link in [false, true] {
        let scratch = Scratch::new();
        let root = scratch.workspace();
        fill(&scratch);
        let daemon = Clocked::start(&scratch, NOW, &[]);
        let mut client = daemon.client();
        client.index(&root);
        compact(&mut client, &root);
        drop((client, daemon));
        set_state_of_an_earlier_build(&scratch);
        if is_link {
            std::fs::write(scratch.beside("todo.md"), THEIRS).unwrap();
            std::fs::create_dir_all(root.join(".hippocampus/carried")).unwrap();
            symlink("../../../todo.md", root.join(CARRIED)).unwrap();
        } else {
            scratch.write(CARRIED, THEIRS);
        }
        scratch.write(&format!("memory/{}.md", day(2)), log(day(2), 20));
        let daemon = Clocked::start(&scratch, NOW, &[]);
        let mut client = daemon.client();
        client.sync(&root);
        compact(&mut client, &root);
        let tree = std::fs::read_to_string(root.join("memory/ROOT.md")).unwrap();
        assert_eq!(tree.contains("Acme"), !is_link, "{tree}");
        if is_link {
            assert_link_is_named(&mut client, &root, CARRIED);
        }
    }
}

fn remove(client: &mut Caller, root: &Path) -> Result<WorkspaceRemoveResponse, RpcError> {
    let request = WorkspaceRemoveRequest {
        workspace: root.display().to_string(),
        restore_carried: true,
        ..WorkspaceRemoveRequest::default()
    };
    client.raw().call(&request.into()).map_err(|error| match error {
        ClientError::Refused(error) => error,
        other => panic!("{other}"),
    })
}

#[test]
fn a_root_is_restored_neither_from_nor_to_a_link() {
    for linked in ["", CARRIED, ".hippocampus/carried", "memory/ROOT.md"] {
        let scratch = Scratch::new();
        let root = scratch.workspace();
        fill(&scratch);
        let daemon = Clocked::start(&scratch, NOW, &[]);
        let mut client = daemon.client();
        client.index(&root);
        compact(&mut client, &root);
        scratch.write(CARRIED, THEIRS);
        let ours = std::fs::read_to_string(root.join("memory/ROOT.md")).unwrap();
        let outside = scratch.beside("outside");
        if !linked.is_empty() {
            std::fs::rename(root.join(linked), &outside).unwrap();
            symlink(&outside, root.join(linked)).unwrap();
        }
        let answer = remove(&mut client, &root);
        let now = std::fs::read_to_string(root.join("memory/ROOT.md")).unwrap();
        if linked.is_empty() {
            assert_eq!(answer.unwrap().restored, ["memory/ROOT.md"]);
            assert_eq!(now, THEIRS);
            continue;
        }
        let restored = answer.map_or_else(|_| Vec::new(), |answer| answer.restored);
        assert_eq!(restored, Vec::<String>::new(), "{linked}");
        assert_eq!(now, ours, "{linked}");
        let kept = if outside.is_dir() {
            outside.join("ROOT.md")
        } else {
            outside
        };
        let expected = if linked == "memory/ROOT.md" { &ours } else { THEIRS };
        assert_eq!(std::fs::read_to_string(kept).unwrap(), expected, "{linked}");
    }
}
