//! Which words does `remember` understand?

use clap::{Args, ValueEnum};
use hippo_proto::MemoryType;

use super::index::PriorityArg;

/// Below the help.
pub const EXAMPLES: &str = "Examples:
  hippoctl remember \"Staging runs on port 8443\" --topic \"Acme staging\" \\
    --tags acme,staging
  hippoctl remember --type feedback \"Never deploy on Fridays\"
  hippoctl remember --topic \"Auth middleware\" \\
    --request \"review token storage\" --decision \"httpOnly cookies\" \\
    --references src/auth.rs
  git log -1 --format=%B | hippoctl remember --type project";

/// What kind of memory a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TypeArg {
    /// What happens in a project
    Project,
    /// What should be done differently from now on; never fades
    Feedback,
    /// Who the user is and what they like; never fades
    User,
    /// Where something is to be found; doubtful after a month
    Reference,
}

impl From<TypeArg> for MemoryType {
    fn from(type_: TypeArg) -> Self {
        match type_ {
            TypeArg::Project => MemoryType::Project,
            TypeArg::Feedback => MemoryType::Feedback,
            TypeArg::User => MemoryType::User,
            TypeArg::Reference => MemoryType::Reference,
        }
    }
}

/// Options of `remember`.
#[derive(Debug, Args)]
pub struct RememberArgs {
    /// What is to be remembered, markdown; `-` or nothing: standard input
    #[arg(num_args = 0.., value_name = "TEXT")]
    pub text: Vec<String>,
    /// What it is about, one line [default: taken from the text]
    #[arg(long)]
    pub topic: Option<String>,
    /// What kind of memory it is
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub type_: Option<TypeArg>,
    /// Words that it is to be known by, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub tags: Option<Vec<String>>,
    /// How its entry resists decay [default: told from the text]
    #[arg(long = "pri", alias = "priority", value_enum, value_name = "PRIORITY")]
    pub priority: Option<PriorityArg>,
    /// What the parts of a structured entry say.
    #[command(flatten)]
    pub fields: EntryFields,
}

/// Parts of a structured entry of the daily log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Structured entry")]
pub struct EntryFields {
    /// What was asked for
    #[arg(long, value_name = "TEXT")]
    pub request: Option<String>,
    /// What was found out
    #[arg(long, value_name = "TEXT")]
    pub analysis: Option<String>,
    /// What was chosen, and why
    #[arg(long, value_name = "TEXT")]
    pub decision: Option<String>,
    /// What was done, and what is left
    #[arg(long, value_name = "TEXT")]
    pub outcome: Option<String>,
    /// What the user said of it
    #[arg(long, value_name = "TEXT")]
    pub feedback: Option<String>,
    /// Files and addresses
    #[arg(long, value_name = "TEXT")]
    pub references: Option<String>,
}

impl EntryFields {
    /// Whether there is one.
    pub fn are_given(&self) -> bool {
        *self != Self::default()
    }
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
    fn text_and_options_come_in_any_order() {
        let args =
            parse("hippoctl remember never on --type feedback Fridays --tags a,b --pri high --topic T")
                .unwrap();
        assert_eq!(args.text, ["never", "on", "Fridays"]);
        assert_eq!(
            (args.type_, args.topic.as_deref()),
            (Some(TypeArg::Feedback), Some("T"))
        );
        assert_eq!(args.priority, Some(PriorityArg::High));
        assert_eq!(args.tags, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(parse("hippoctl remember").unwrap().text, [""; 0]);
        assert_eq!(parse("hippoctl remember - --topic T").unwrap().text, ["-"]);
        assert_eq!(parse("hippoctl remember -- - a").unwrap().text, ["-", "a"]);
    }

    #[test]
    fn wrong_usage_is_exit_2() {
        for line in [
            "hippoctl remember x --type rule",
            "hippoctl remember x --pri urgent",
            "hippoctl remember x --topic",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
