//! Examples in the help of verbs without a module of their own

pub const SEARCH: &str = "Examples:
  hippoctl search \"which port does staging use\"
  hippoctl search -i
  hippoctl search --since 2026-05-01 --until 2026-05-31 release
  hippoctl search -w ~/agent -w ~/notes \"backup of the database\"
  hippoctl search --json -n 3 \"which port does staging use\"";
pub const GET: &str = "Examples:
  hippoctl get MEMORY.md
  hippoctl get memory/2026-03-02.md:12-20
  hippoctl get \"memory/2026-03-02.md#Deploy\"
  hippoctl get \"[[Sourdough#Feeding]]\"";
pub const INDEX: &str = "Examples:
  hippoctl index list -n 20
  hippoctl index show acme-staging
  hippoctl index pin acme-staging";
pub const CONTEXT: &str = "Examples:
  hippoctl context list
  hippoctl context fetch ctx-04f1a2b3c4 > output.txt";
pub const PROMPT: &str = "Examples:\n  hippoctl prompt\n  hippoctl prompt --platform codex --json";
pub const HEARTBEAT: &str = "Examples:\n  hippoctl heartbeat\n  hippoctl heartbeat --json";
pub const MCP: &str =
    "Examples:\n  claude mcp add hippod -- hippoctl mcp\n  hippoctl mcp --workspace ~/agent";
pub const STATUS: &str = "Examples:\n  hippoctl status\n  hippoctl status --metrics";
pub const TOP: &str = "Examples:\n  hippoctl top\n  hippoctl top -w ~/agent";
pub const DOCTOR: &str = "Examples:
  hippoctl doctor
  hippoctl doctor --fix --dry-run
  hippoctl doctor --audit --verbose";
pub const SYNC: &str = "Examples:\n  hippoctl sync\n  hippoctl sync --wait --progress plain";
pub const WORKSPACE: &str = "Examples:
  hippoctl workspace add ~/notes
  hippoctl workspace list
  hippoctl workspace trust --dry-run";
pub const MODEL: &str = "Examples:
  hippoctl model list
  hippoctl model pull
  hippoctl model compare minilm-l6-dialogue-int8 e5 --questions questions.jsonl";
pub const DEMO: &str = "Examples:\n  hippoctl demo\n  hippoctl demo --json";
