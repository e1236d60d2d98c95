//! Arguments of `context`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hippo_proto::{ContextKind, ContextPriority, ContextPutSource, MAX_ENTRIES};

/// Text below the help of `context`.
pub const EXAMPLES: &str = "\
Examples:
  session=$(hippoctl context open --agent scribe)
  make test 2>&1 | hippoctl context put --session $session --turn 3 \\
    --type tool_result --source 'exec:make test'
  hippoctl context turn --session $session --turn 3
  hippoctl context render --session $session --budget 2000
  hippoctl context fetch ctx-04f1a2b3c4 --session $session > output.txt
  hippoctl context close --session $session";

/// Text below the help of `context put`.
const PUT_EXAMPLES: &str = "\
Examples:
  make test 2>&1 | hippoctl context put --session s1 --turn 3 \\
    --type tool_result --source 'exec:make test'
  hippoctl context put --session s1 --turn 4 --type tool_result \\
    --source file:src/lib.rs --file src/lib.rs
  echo 'deploying Acme' | hippoctl context put --session s1 --turn 5 \\
    --type state --source agent --manual --persist";

/// Text below the help of `context fetch`.
const FETCH_EXAMPLES: &str = "\
Examples:
  hippoctl context fetch ctx-04f1a2b3c4 > output.txt
  hippoctl context fetch b3:7d1f0c2a9e7b

Exit: 0 if the command printed the content, or the current state of its source; 4 if both are missing. With 4, the
command prints the summary of the entry to standard error.";

/// Verbs of `context`.
#[derive(Debug, Subcommand)]
pub enum ContextVerb {
    /// Open or resume a session, and print its id
    Open {
        /// Name of the agent that owns the session
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Id of the session [default: generated]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Store content in a session, from standard input or a file
    #[command(after_help = PUT_EXAMPLES)]
    Put(ContextPutArgs),
    /// Record the end of a turn: entries fade, and the weakest entries become dormant
    Turn(ContextTurnArgs),
    /// Print the active entries of a session, as text for a prompt
    Render(ContextRenderArgs),
    /// Print the stored content of an entry, byte for byte
    #[command(after_help = FETCH_EXAMPLES)]
    Fetch {
        /// Id of an entry, id of a content (b3: and at least 12 digits), or id from a summary of `compact --store`
        id: String,
        /// Id of the session that requests the content; the daemon records an access of the entry
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// List the sessions of the workspace, or the entries of a session
    List(ContextListArgs),
    /// Close a session, and write its lasting entries to today's log
    Close {
        /// Id of the session
        #[arg(long, value_name = "ID")]
        session: String,
    },
}

/// Options of `context put`.
#[derive(Debug, Args)]
pub struct ContextPutArgs {
    /// Id of the session
    #[arg(long, value_name = "ID")]
    pub session: String,
    /// Number of the turn in which the content was created
    #[arg(long, value_name = "N")]
    pub turn: u64,
    /// Type of the content
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub type_: ContextKind,
    /// Origin of the content, such as exec:make test, file:src/lib.rs or browser.snapshot:example.org; a path is
    /// absolute or relative to the workspace
    #[arg(long, value_name = "TYPE:REF", value_parser = source)]
    pub source: ContextPutSource,
    /// Read the content from a file [default: standard input]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Summary in a few lines [default: extracted from the content]
    #[arg(long, value_name = "TEXT")]
    pub summary: Option<String>,
    /// Priority of the entry [default: set by the policies]
    #[arg(long = "priority", alias = "pri", value_enum, value_name = "PRIORITY")]
    pub priority: Option<ContextPriority>,
    /// Mark the entry as written on purpose, so that it fades more slowly
    #[arg(long)]
    pub manual: bool,
    /// Write the entry to the daily log when the session is closed
    #[arg(long)]
    pub persist: bool,
    /// Mark the content as a failure; the daemon creates an entry for a failure of any size
    #[arg(long)]
    pub error: bool,
}

// The type of the request is not used here, because a command line has help texts and ranges of its own.
/// Options of `context turn`.
#[derive(Debug, Args)]
pub struct ContextTurnArgs {
    /// Id of the session
    #[arg(long, value_name = "ID")]
    pub session: String,
    /// Number of the turn that has ended
    #[arg(long, value_name = "N")]
    pub turn: u64,
    /// Number of tokens in the agent's context now
    #[arg(long, value_name = "TOKENS", requires = "context_limit")]
    pub context_tokens: Option<u64>,
    /// Maximum number of tokens in the agent's context
    #[arg(long, value_name = "TOKENS", requires = "context_tokens",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub context_limit: Option<u64>,
}

/// Options of `context render`.
#[derive(Debug, Args)]
pub struct ContextRenderArgs {
    /// Id of the session
    #[arg(long, value_name = "ID")]
    pub session: String,
    /// Maximum number of tokens of the text [default: 5000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// Text about the agent's next step; dormant entries that match the text become active again
    #[arg(long, value_name = "TEXT")]
    pub cue: Option<String>,
}

/// Options of `context list`.
#[derive(Debug, Args)]
pub struct ContextListArgs {
    /// List the entries of this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Show the strengths at this turn
    #[arg(long, value_name = "N", requires = "session")]
    pub at_turn: Option<u64>,
    /// List the sessions of all workspaces
    #[arg(long, conflicts_with_all = ["session", "workspace"])]
    pub all: bool,
    /// Maximum number of sessions or entries to list
    #[arg(short = 'n', long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_ENTRIES)))]
    pub limit: Option<u32>,
}

/// Parses `TYPE:REF`, or `TYPE` without a reference.
fn source(text: &str) -> Result<ContextPutSource, String> {
    let (type_, reference) = text.split_once(':').unwrap_or((text, ""));
    if type_.trim().is_empty() {
        return Err("a source is TYPE:REF, such as exec:make test".to_owned());
    }
    Ok(ContextPutSource {
        type_: type_.to_owned(),
        reference: reference.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Verb};

    fn parse(line: &str) -> Result<ContextVerb, clap::Error> {
        match Cli::try_parse_from(line.split(' '))?.verb {
            Verb::Context { verb } => Ok(verb),
            _ => panic!("no verb of context: {line}"),
        }
    }

    #[test]
    fn the_type_of_a_source_ends_at_the_first_colon() {
        let parts = |text| {
            source(text)
                .map(|source| (source.type_, source.reference))
                .unwrap()
        };
        let pair = |type_: &str, reference: &str| (type_.to_owned(), reference.to_owned());
        assert_eq!(parts("exec:make test"), pair("exec", "make test"));
        assert_eq!(
            parts("browser.snapshot:https://a:8"),
            pair("browser.snapshot", "https://a:8")
        );
        assert_eq!(parts("agent"), pair("agent", ""));
        assert!(source(":x").is_err() && source(" ").is_err());
    }

    #[test]
    fn wrong_usage_exits_with_2() {
        for line in [
            "hippoctl context",
            "hippoctl context put --session s --turn 1 --type message",
            "hippoctl context put --session s --type message --source user",
            "hippoctl context put --session s --turn -1 --type message --source user",
            "hippoctl context put --session s --turn 1 --type thought --source user",
            "hippoctl context put --session s --turn 1 --type message --source :x",
            "hippoctl context turn --session s",
            "hippoctl context turn --session s --turn 1 --context-tokens 7",
            "hippoctl context turn --session s --turn 1 --context-tokens 7 --context-limit 0",
            "hippoctl context render --session s --budget 0",
            "hippoctl context render",
            "hippoctl context fetch",
            "hippoctl context list --at-turn 3",
            "hippoctl context list --all --session s",
            "hippoctl context list --all --workspace /w",
            "hippoctl context list -n 0",
            "hippoctl context close",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
