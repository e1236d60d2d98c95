//! Arguments of `ui`

use clap::Args;

/// Text below the help of `ui`.
pub const EXAMPLES: &str = "\
Examples:
  hippoctl ui
  hippoctl ui --write
  hippoctl ui --background --no-open
  hippoctl ui --stop";

/// Options of `ui`.
#[derive(Debug, Clone, Args)]
pub struct UiArgs {
    /// Port on 127.0.0.1 [default: a free port]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Print the address, and open no browser
    #[arg(long)]
    pub no_open: bool,
    /// Allow the page to pin, edit, forget and restore entries, and to run and undo cycles
    #[arg(long)]
    pub write: bool,
    /// Serve the page in the background until `hippoctl ui --stop`
    #[arg(long)]
    pub background: bool,
    /// Stop the page that runs in the background
    #[arg(long, conflicts_with_all = ["port", "no_open", "write", "background"])]
    pub stop: bool,
    /// This process is in the background.
    #[arg(long, hide = true)]
    pub in_background: bool,
}
