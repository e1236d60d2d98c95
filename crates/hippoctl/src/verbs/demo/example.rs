//! Files of the example workspace.

/// Returns the names and contents of files of the example workspace.
macro_rules! example {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../../../../../examples/workspace/", $name)))),*]
    };
}

/// All files of the example workspace.
#[rustfmt::skip] // keep the list compact
pub const EXAMPLE: [(&str, &str); 38] = example![
    "AGENTS.md", "HEARTBEAT.md", "MEMORY.md", "SCRATCHPAD.md", "TASK-QUEUE.md", "TOOLS.md", "USER.md",
    "WORKING.md", "knowledge/deploy-runbook.md", "knowledge/incident-2026-03-15-disk-full.md",
    "knowledge/legal-data-processing.md", "knowledge/lora-radio-notes.md", "knowledge/postgres-tuning.md",
    "knowledge/sms-gateway-comparison.md", "memory/2026-03-02.md", "memory/2026-03-03.md",
    "memory/2026-03-04.md", "memory/2026-03-05.md", "memory/2026-03-06.md", "memory/2026-03-09.md",
    "memory/2026-03-10.md", "memory/2026-03-11.md", "memory/2026-03-12.md", "memory/2026-03-13.md",
    "memory/2026-03-15.md", "memory/2026-03-17.md", "memory/2026-03-18.md", "memory/2026-03-19.md",
    "memory/2026-03-23.md", "memory/2026-03-25.md", "memory/2026-03-27.md", "memory/2026-03-30.md",
    "plans/2026-q2-roadmap.md", "plans/sapporo-trip.md", "projects/heron-logger/PROJECT.md",
    "projects/heron-logger/field-notes-otterbach.md", "projects/homelab/PROJECT.md",
    "projects/riverwatch/PROJECT.md",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use super::*;

    fn read(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }

    #[test]
    fn the_program_contains_each_file_of_the_example_workspace() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/workspace");
        let mut expected = BTreeMap::new();
        read(&root, &root, &mut expected);
        let embedded = EXAMPLE.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(BTreeMap::from(embedded), expected);
    }
}
