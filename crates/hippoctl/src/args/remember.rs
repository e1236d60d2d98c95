//! Arguments of `remember`

use clap::Args;
use hippo_proto::MemoryType;
use hippo_types::entry::EntryPriority;

/// Text below the help of `remember`.
pub const EXAMPLES: &str = "Examples:
  hippoctl remember \"Staging runs on port 8443\" --topic \"Acme staging\" \\
    --tags acme,staging
  hippoctl remember --type feedback \"Never deploy on Fridays\"
  hippoctl remember --agent scribe --private \"The draft is in chapter 3\"
  git log -1 --format=%B | hippoctl remember --type project";

/// Options of `remember`.
#[derive(Debug, Args)]
pub struct RememberArgs {
    /// The text to store, as markdown; without a text, or with `-`, the command reads standard input; write `--` before
    /// a text that begins with a hyphen
    #[arg(num_args = 0.., value_name = "TEXT")]
    pub text: Vec<String>,
    /// Topic of the text, on one line [default: extracted from the text]
    #[arg(long)]
    pub topic: Option<String>,
    /// Type of the text
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub type_: Option<MemoryType>,
    /// Tags of the entry, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub tags: Option<Vec<String>>,
    /// Priority of the entry [default: derived from the text]
    #[arg(long = "pri", alias = "priority", value_enum, value_name = "PRIORITY")]
    pub priority: Option<EntryPriority>,
    /// Write to a log that only the agent of --agent may read
    #[arg(long)]
    pub private: bool,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Verb};

    fn parse(line: &str) -> Result<RememberArgs, clap::Error> {
        match Cli::try_parse_from(line.split(' '))?.verb {
            Verb::Remember(args) => Ok(args),
            _ => panic!("no remember: {line}"),
        }
    }

    #[test]
    fn text_and_options_are_accepted_in_any_order() {
        let args =
            parse("hippoctl remember never on --type feedback Fridays --tags a,b --pri high --topic T")
                .unwrap();
        assert_eq!(args.text, ["never", "on", "Fridays"]);
        assert_eq!(
            (args.type_, args.topic.as_deref()),
            (Some(MemoryType::Feedback), Some("T"))
        );
        assert_eq!(args.priority, Some(EntryPriority::High));
        assert_eq!(args.tags, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(parse("hippoctl remember").unwrap().text, [""; 0]);
        assert_eq!(parse("hippoctl remember - --topic T").unwrap().text, ["-"]);
        assert_eq!(parse("hippoctl remember -- - a").unwrap().text, ["-", "a"]);
    }

    #[test]
    fn wrong_usage_exits_with_2() {
        for line in [
            "hippoctl remember x --type rule",
            "hippoctl remember x --pri urgent",
            "hippoctl remember x --topic",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
