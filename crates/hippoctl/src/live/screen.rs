//! The terminal while a view fills it.

use std::io::{self, IsTerminal, Stdout};
use std::panic;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::Show;
use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};
use rustix::event::{PollFd, PollFlags, poll};

use super::Theme;
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Exit code after a signal.
const INTERRUPTED: i32 = 130;

/// True while another program uses the terminal. That program handles the signals then.
static IS_LENT: AtomicBool = AtomicBool::new(false);

/// The terminal in raw mode, with the alternate screen. Dropping it restores the terminal.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// The styles of the view.
    pub theme: Theme,
}

impl Screen {
    /// Takes over the terminal. It is restored when the value is dropped, after a panic, and after a signal.
    ///
    /// # Errors
    /// Fails with `--json`, or if standard input or standard output is not a terminal.
    pub fn open(what: &str, instead: &'static str, out: &Output) -> Result<Self, Failure> {
        if out.json {
            let what = format!("{what} prints no JSON");
            return Err(Failure::new(Exit::Usage, what).hint(instead));
        }
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(Failure::new(Exit::Usage, format!("{what} needs a terminal")).hint(instead));
        }
        ctrlc::set_handler(|| {
            if !IS_LENT.load(Ordering::SeqCst) {
                exit_restored();
            }
        })
        .map_err(|error| failed(&error))?;
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore(&mut io::stdout());
            report(panic);
        }));
        // crossterm does not notice that the terminal was closed.
        thread::spawn(|| {
            let input = io::stdin();
            let mut watched = [PollFd::new(&input, PollFlags::empty())];
            if poll(&mut watched, None).is_ok() && watched[0].revents().contains(PollFlags::HUP) {
                exit_restored();
            }
        });
        let terminal = enter().map_err(|error| failed(&error))?;
        let theme = Theme {
            colour: out.style.colour,
        };
        Ok(Self { terminal, theme })
    }

    /// Draws the view.
    ///
    /// # Errors
    /// Fails if the terminal cannot be written.
    pub fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> Result<(), Failure> {
        self.terminal.draw(view).map(drop).map_err(|error| failed(&error))
    }

    /// Returns the next event of the terminal, or `None` if there is none within `wait`.
    ///
    /// # Errors
    /// Fails if the terminal cannot be read.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Event>, Failure> {
        let is_there = event::poll(wait).map_err(|error| failed(&error))?;
        is_there
            .then(event::read)
            .transpose()
            .map_err(|error| failed(&error))
    }

    /// Copies a text to the clipboard of the terminal.
    ///
    /// # Errors
    /// Fails if the terminal cannot be written.
    pub fn copy(&mut self, text: &str) -> Result<(), Failure> {
        execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text)).map_err(|error| failed(&error))
    }

    /// Restores the terminal while another program uses it.
    ///
    /// # Errors
    /// Fails if the terminal was closed in the meantime.
    pub fn lend<T>(&mut self, run: impl FnOnce() -> T) -> Result<T, Failure> {
        IS_LENT.store(true, Ordering::SeqCst);
        restore(&mut io::stdout());
        let result = run();
        IS_LENT.store(false, Ordering::SeqCst);
        self.terminal = enter().map_err(|error| failed(&error))?;
        Ok(result)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore(&mut io::stdout());
    }
}

/// Switches to raw mode and to the alternate screen, which is empty then.
fn enter() -> io::Result<Terminal<CrosstermBackend<Stdout>>> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
    Terminal::new(CrosstermBackend::new(io::stdout()))
}

/// Restores the terminal. If the terminal was closed, there is nothing to restore.
fn restore(out: &mut impl io::Write) {
    let _ = disable_raw_mode();
    let _ = execute!(out, DisableBracketedPaste, LeaveAlternateScreen, Show);
}

/// Restores the terminal and exits. The lock keeps the main thread from drawing meanwhile.
fn exit_restored() -> ! {
    let mut out = io::stdout().lock();
    restore(&mut out);
    process::exit(INTERRUPTED)
}

fn failed(error: &impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Failed, format!("could not use the terminal: {error}"))
}
