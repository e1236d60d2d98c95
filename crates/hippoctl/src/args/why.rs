//! Arguments of `why`

use clap::Args;

/// Text below the help of `why`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl why
  hippoctl why --last
  hippoctl why which port does staging use
  hippoctl why which port does staging use --missed memory/2026-03-02.md:5
  hippoctl why memory/2026-03-02.md:5";

/// Options of `why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// A question, or a pointer (PATH:LINE or PATH#Section) to a text that may be corrected. Without an argument, lists
    /// the last questions
    #[arg(value_name = "QUESTION")]
    pub question: Vec<String>,
    /// Explain the last question in the recall log
    #[arg(long, conflicts_with = "question")]
    pub last: bool,
    /// Explain why the answer to the question does not contain the text at this line; with --last, the last question
    #[arg(long, value_name = "PATH:LINE")]
    pub missed: Option<String>,
    /// Number of results of the answer, or number of listed questions
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub limit: Option<u32>,
}
