//! Arguments of `index`

use clap::{Args, Subcommand};
use hippo_proto::{EntryPriority, MAX_ENTRIES};

/// Verbs of `index`.
#[derive(Debug, Subcommand)]
pub enum IndexVerb {
    /// List the entries of the index file, the strongest first
    List(IndexListArgs),
    /// Show an entry, and the reasons for its strength
    Show {
        /// Id of the entry
        id: String,
        /// Show the strength of the entry at this time (RFC 3339 or YYYY-MM-DD)
        #[arg(long, value_name = "TIME")]
        at: Option<String>,
    },
    /// Change the topic, summary, tags or priority of an entry
    Edit(IndexEditArgs),
    /// Pin an entry, so that it never fades (priority amygdala)
    Pin {
        /// Id of the entry
        id: String,
    },
    /// Unpin an entry, so that it fades again, with its earlier priority
    Unpin {
        /// Id of the entry
        id: String,
    },
    /// Remove an entry from the index file; the text to which the entry points stays
    Forget {
        /// Id of the entry
        id: String,
    },
    /// Add a forgotten or archived entry to the index file again
    Restore {
        /// Id of the entry
        id: String,
    },
    /// Print all entries, including archived entries, as JSON
    ///
    /// The output does not contain the text to which the entries point.
    Export,
}

/// Options of `index list`.
#[derive(Debug, Args)]
pub struct IndexListArgs {
    /// Show the strengths at this time, and omit entries that were created later; RFC 3339 or YYYY-MM-DD
    #[arg(long, visible_alias = "as-of", value_name = "TIME")]
    pub at: Option<String>,
    /// Maximum number of entries
    #[arg(short = 'n', long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_ENTRIES)))]
    pub limit: Option<u32>,
    /// Include archived and forgotten entries
    #[arg(long)]
    pub archived: bool,
}

/// Options of `index edit`.
#[derive(Debug, Args)]
pub struct IndexEditArgs {
    /// Id of the entry
    pub id: String,
    /// The fields to change.
    #[command(flatten)]
    pub changes: IndexChanges,
}

/// The fields that `index edit` changes.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub struct IndexChanges {
    /// New topic, which is the heading of the entry
    #[arg(long)]
    pub topic: Option<String>,
    /// New summary in one line; "" removes the summary
    #[arg(long)]
    pub summary: Option<String>,
    /// New tags, separated by commas; "" removes all tags
    #[arg(long, value_delimiter = ',')]
    pub tags: Option<Vec<String>>,
    /// New priority
    #[arg(long, value_enum)]
    pub priority: Option<EntryPriority>,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Verb};

    fn parse(line: &str) -> Result<IndexVerb, clap::Error> {
        match Cli::try_parse_from(line.split(' '))?.verb {
            Verb::Index { verb } => Ok(verb),
            _ => panic!("no verb of index: {line}"),
        }
    }

    #[test]
    fn list_show_and_edit_accept_their_options() {
        let IndexVerb::List(args) = parse("hippoctl index list -n 3 --at 2026-03-01 --archived").unwrap()
        else {
            panic!("no list")
        };
        assert_eq!(
            (args.limit, args.at.as_deref(), args.archived),
            (Some(3), Some("2026-03-01"), true)
        );
        let IndexVerb::Show { id, at } = parse("hippoctl index show a-b --at 2026-03-01T00:00:00Z").unwrap()
        else {
            panic!("no show")
        };
        assert_eq!(
            (id.as_str(), at.as_deref()),
            ("a-b", Some("2026-03-01T00:00:00Z"))
        );
        let IndexVerb::Edit(args) =
            parse("hippoctl index edit a --tags x,y --priority high --topic T").unwrap()
        else {
            panic!("no edit")
        };
        assert_eq!(args.id, "a");
        let changes = args.changes;
        assert_eq!(changes.tags, Some(vec!["x".to_owned(), "y".to_owned()]));
        assert_eq!(changes.priority, Some(EntryPriority::High));
        assert_eq!((changes.topic.as_deref(), changes.summary), (Some("T"), None));
    }

    #[test]
    fn wrong_usage_exits_with_2() {
        for line in [
            "hippoctl index",
            "hippoctl index show",
            "hippoctl index pin",
            "hippoctl index forget a b",
            "hippoctl index edit a",
            "hippoctl index edit a --priority urgent",
            "hippoctl index list -n 0",
            "hippoctl index list -n 10001",
            "hippoctl index restore a --at 2026-03-01",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
