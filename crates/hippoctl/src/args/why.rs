//! Arguments of `why`

use clap::Args;

/// Text below the help of `why`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl why --last
  hippoctl why --last --json";

/// Options of `why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// Explain which passages the last prompts got without a search, and why
    #[arg(long, required = true)]
    pub last: bool,
}
