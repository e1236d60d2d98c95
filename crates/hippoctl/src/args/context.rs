//! Which words does `context` understand?

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use hippo_proto::{ContextFormat, ContextPriority, ContextPutSource, ContextType, MAX_ENTRIES};
use serde_json::{Map, Value};

/// Below the help of `context`.
pub const EXAMPLES: &str = "\
Examples:
  session=$(hippoctl context open --agent scribe)
  make test 2>&1 | hippoctl context put --session $session --turn 3 \\
    --type tool_result --source 'exec:make test'
  hippoctl context turn --session $session --turn 3
  hippoctl context render --session $session --budget 2000
  hippoctl context fetch ctx_2 --session $session > output.txt
  hippoctl context close --session $session";

/// Below the help of `context put`.
const PUT_EXAMPLES: &str = "\
Examples:
  make test 2>&1 | hippoctl context put --session s1 --turn 3 \\
    --type tool_result --source 'exec:make test'
  hippoctl context put --session s1 --turn 4 --type tool_result \\
    --source file:src/lib.rs --file src/lib.rs
  echo 'deploying Acme' | hippoctl context put --session s1 --turn 5 \\
    --type state --source agent --manual --persist";

/// Below the help of `context fetch`.
const FETCH_EXAMPLES: &str = "\
Examples:
  hippoctl context fetch ctx_2 > output.txt
  hippoctl context fetch b3:7d1f0c2a9e7b

Exit: 0 the content, or its source as it is now, is on standard output; 4 neither could be had. What is left then, the
summary, is on standard error.";

/// Verbs of `context`.
#[derive(Debug, Subcommand)]
pub enum ContextVerb {
    /// Open a session, or go on with one; its id is on standard output
    Open {
        /// The agent whose session it is
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// The id that it is to have [default: one that the daemon makes]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Give content to a session: standard input, or a file
    #[command(after_help = PUT_EXAMPLES)]
    Put(ContextPutArgs),
    /// Say that a turn is complete: entries fade, some leave the context
    Turn(ContextTurnArgs),
    /// Print the active entries of a session, as text for a prompt
    Render(ContextRenderArgs),
    /// Print content again, byte for byte
    #[command(after_help = FETCH_EXAMPLES)]
    Fetch {
        /// An entry; or content: b3: and at least 12 digits, or an id from a summary of `compact --store`
        id: String,
        /// The session that asks
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Access an entry: it is strong again
    Touch {
        /// The entry
        id: String,
        /// Its session
        #[arg(long, value_name = "ID")]
        session: String,
        /// The turn of the access [default: the highest so far]
        #[arg(long, value_name = "N")]
        turn: Option<u64>,
    },
    /// List the sessions of the workspace, or the entries of a session
    List(ContextListArgs),
    /// End a session: what is to last goes into long-term memory
    Close {
        /// The session
        #[arg(long, value_name = "ID")]
        session: String,
    },
}

/// Options of `context put`.
#[derive(Debug, Args)]
pub struct ContextPutArgs {
    /// The session
    #[arg(long, value_name = "ID")]
    pub session: String,
    /// The turn in which the content came up
    #[arg(long, value_name = "N")]
    pub turn: u64,
    /// What it is
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub type_: ContextTypeArg,
    /// How it was made, and of what: exec:make test, file:src/lib.rs, browser.snapshot:example.org; a path is absolute, or
    /// relative to the root of the workspace
    #[arg(long, value_name = "TYPE:REF", value_parser = source)]
    pub source: ContextPutSource,
    /// Read the content from a file [default: standard input]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// What it says, in a few lines [default: taken from the content]
    #[arg(long, value_name = "TEXT")]
    pub summary: Option<String>,
    /// Values that will be asked for again, a JSON object [default: taken from the content]
    #[arg(long, value_name = "JSON", value_parser = object)]
    pub key_data: Option<Map<String, Value>>,
    /// How much it matters [default: as the policies say]
    #[arg(long = "priority", alias = "pri", value_enum, value_name = "PRIORITY")]
    pub priority: Option<ContextPriorityArg>,
    /// It is made on purpose: it fades more slowly
    #[arg(long)]
    pub manual: bool,
    /// Related entries, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    pub related: Option<Vec<String>>,
    /// From this turn on it is out of the context
    #[arg(long, value_name = "N")]
    pub expires: Option<u64>,
    /// It goes into long-term memory when the session ends
    #[arg(long)]
    pub persist: bool,
    /// It tells of a failure: it gets an entry though it is small
    #[arg(long)]
    pub error: bool,
}

/// Options of `context turn`.
#[derive(Debug, Args)]
pub struct ContextTurnArgs {
    /// The session
    #[arg(long, value_name = "ID")]
    pub session: String,
    /// The turn that is complete
    #[arg(long, value_name = "N")]
    pub turn: u64,
    /// Tokens in the agent's context now
    #[arg(long, value_name = "TOKENS", requires = "context_limit")]
    pub context_tokens: Option<u64>,
    /// Tokens that it can hold
    #[arg(long, value_name = "TOKENS", requires = "context_tokens",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub context_limit: Option<u64>,
}

/// Options of `context render`.
#[derive(Debug, Args)]
pub struct ContextRenderArgs {
    /// The session
    #[arg(long, value_name = "ID")]
    pub session: String,
    /// Most tokens [default: as the configuration says]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// The form of the section
    #[arg(long, value_enum, default_value_t = ContextFormatArg::Markdown)]
    pub format: ContextFormatArg,
    /// What the agent is about to do: dormant entries that fit it come back
    #[arg(long, value_name = "TEXT")]
    pub cue: Option<String>,
}

/// Options of `context list`.
#[derive(Debug, Args)]
pub struct ContextListArgs {
    /// The entries of this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Strengths in another turn
    #[arg(long, value_name = "N", requires = "session")]
    pub at_turn: Option<u64>,
    /// The sessions of all workspaces
    #[arg(long, conflicts_with_all = ["session", "workspace"])]
    pub all: bool,
    /// Most of what is listed
    #[arg(short = 'n', long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_ENTRIES)))]
    pub limit: Option<u32>,
}

/// The form of the section of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ContextFormatArg {
    /// A list
    Markdown,
    /// An object
    Json,
}

impl From<ContextFormatArg> for ContextFormat {
    fn from(format: ContextFormatArg) -> Self {
        match format {
            ContextFormatArg::Markdown => Self::Markdown,
            ContextFormatArg::Json => Self::Json,
        }
    }
}

/// What an entry stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum ContextTypeArg {
    /// What a tool answered
    #[value(alias = "tool-result")]
    ToolResult,
    /// What somebody said
    Message,
    /// What the agent is doing
    State,
    /// What was read from long-term memory
    Memory,
}

impl From<ContextTypeArg> for ContextType {
    fn from(type_: ContextTypeArg) -> Self {
        match type_ {
            ContextTypeArg::ToolResult => Self::ToolResult,
            ContextTypeArg::Message => Self::Message,
            ContextTypeArg::State => Self::State,
            ContextTypeArg::Memory => Self::Memory,
        }
    }
}

/// How much an entry matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ContextPriorityArg {
    /// Never fades
    Critical,
    /// Fades slowly
    High,
    /// As most entries
    Normal,
    /// Fades twice as fast
    Low,
}

impl From<ContextPriorityArg> for ContextPriority {
    fn from(priority: ContextPriorityArg) -> Self {
        match priority {
            ContextPriorityArg::Critical => Self::Critical,
            ContextPriorityArg::High => Self::High,
            ContextPriorityArg::Normal => Self::Normal,
            ContextPriorityArg::Low => Self::Low,
        }
    }
}

/// `TYPE:REF`, or `TYPE` alone.
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

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("no JSON object: {error}"))
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
    fn sources_end_their_type_at_the_first_colon() {
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
    fn wrong_usage_is_exit_2() {
        for line in [
            "hippoctl context",
            "hippoctl context put --session s --turn 1 --type message",
            "hippoctl context put --session s --type message --source user",
            "hippoctl context put --session s --turn -1 --type message --source user",
            "hippoctl context put --session s --turn 1 --type thought --source user",
            "hippoctl context put --session s --turn 1 --type message --source :x",
            "hippoctl context put --session s --turn 1 --type message --source user --key-data 7",
            "hippoctl context turn --session s",
            "hippoctl context turn --session s --turn 1 --context-tokens 7",
            "hippoctl context turn --session s --turn 1 --context-tokens 7 --context-limit 0",
            "hippoctl context render --session s --budget 0",
            "hippoctl context render",
            "hippoctl context fetch",
            "hippoctl context touch ctx_1",
            "hippoctl context list --at-turn 3",
            "hippoctl context list --all --session s",
            "hippoctl context list --all --workspace /w",
            "hippoctl context list -n 0",
            "hippoctl context close",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
        let ContextVerb::Put(args) =
            parse("hippoctl context put --session s --turn 1 --type tool_result --source exec --key-data {}")
                .unwrap()
        else {
            panic!("no put")
        };
        assert_eq!(args.key_data, Some(Map::new()));
    }
}
