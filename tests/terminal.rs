//! A program in a pseudo-terminal, and the screen that it draws.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use vt100::{Callbacks, Parser, Screen};

use crate::PATIENCE;

/// A program in a pseudo-terminal. Dropping it kills the program.
pub struct Terminal {
    child: Child,
    master: File,
    parser: Parser<Clipboard>,
    written: Vec<u8>,
}

/// The texts that the program copied, in base64.
#[derive(Default)]
struct Clipboard(Vec<String>);

impl Callbacks for Clipboard {
    fn copy_to_clipboard(&mut self, _: &mut Screen, _: &[u8], data: &[u8]) {
        self.0.push(String::from_utf8_lossy(data).into_owned());
    }
}

impl Terminal {
    /// Starts a program in a terminal of this size.
    pub fn start(mut command: Command, columns: u16, rows: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("access to the terminal");
        unlockpt(&master).expect("an unlocked terminal");
        tcsetwinsize(&master, size(columns, rows)).expect("a size");
        let name = ptsname(&master, Vec::new()).expect("the name of the terminal");
        let path = OsStr::from_bytes(name.to_bytes());
        let slave = OpenOptions::new().read(true).write(true).open(path);
        let slave = OwnedFd::from(slave.expect("the other end"));
        let copy = || slave.try_clone().expect("another handle");
        command.stdin(copy()).stdout(copy()).stderr(copy());
        command.env("TERM", "xterm-256color");
        let child = command.spawn().expect("a program");
        Self {
            child,
            master: master.into(),
            parser: Parser::new_with_callbacks(
                NonZeroU16::new(rows).expect("a row"),
                NonZeroU16::new(columns).expect("a column"),
                0,
                Clipboard::default(),
            ),
            written: Vec::new(),
        }
    }

    /// Types a text or the bytes of keys.
    pub fn keys(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("keys");
    }

    /// Waits until the screen satisfies a condition, and returns its text.
    ///
    /// # Panics
    /// If the program ends before, or if the condition is never satisfied.
    pub fn until(&mut self, condition: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            if condition(&text) {
                return text;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let is_late = left.is_zero() || !self.read(left);
            assert!(!is_late, "the screen never shows it:\n{text}");
        }
    }

    /// Waits until the screen contains a text, and returns the text of the screen.
    pub fn shows(&mut self, text: &str) -> String {
        self.until(|screen| screen.contains(text))
    }

    /// Changes the size of the terminal.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let (height, width) = (NonZeroU16::new(rows), NonZeroU16::new(columns));
        self.parser
            .set_size(height.expect("a row"), width.expect("a column"));
        tcsetwinsize(&self.master, size(columns, rows)).expect("a size");
        // The kernel sends this signal only to the group of a controlling terminal.
        self.signal(Signal::WINCH);
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a running program");
    }

    /// Waits until the program ends, and returns its status.
    ///
    /// # Panics
    /// If the program does not end.
    pub fn end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        while self.read(deadline.saturating_duration_since(Instant::now())) {}
        let has_time = Instant::now() < deadline;
        assert!(has_time, "the program does not end:\n{}", self.text());
        self.child.wait().expect("its status")
    }

    /// Returns whether the terminal is in its usual mode, with the usual screen and a cursor.
    pub fn is_restored(&self) -> bool {
        let modes = tcgetattr(&self.master).expect("its mode").local_modes;
        let screen = self.parser.screen();
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
            && !screen.alternate_screen()
            && !screen.hide_cursor()
            && !screen.bracketed_paste()
    }

    /// Returns the text of the screen.
    pub fn text(&self) -> String {
        self.parser.screen().contents()
    }

    /// Returns the screen.
    pub fn screen(&self) -> &Screen {
        self.parser.screen()
    }

    /// Returns the number of coloured cells on the screen.
    pub fn colours(&self) -> usize {
        let (rows, columns) = self.parser.screen().size();
        let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
        let cell = |(row, column)| self.parser.screen().cell(row, column);
        let is_coloured = |cell: &&vt100::Cell| cell.fgcolor() != vt100::Color::Default;
        cells.filter_map(cell).filter(is_coloured).count()
    }

    /// Returns all bytes that the program wrote.
    pub fn written(&self) -> &[u8] {
        &self.written
    }

    /// Returns the texts that the program copied to the clipboard, in base64.
    pub fn copied(&self) -> &[String] {
        &self.parser.callbacks().0
    }

    /// Reads output. Returns `false` if there is none within this time, or if the program has closed the terminal.
    fn read(&mut self, wait: Duration) -> bool {
        let wait = Timespec::try_from(wait).expect("a duration");
        let mut watched = [PollFd::new(&self.master, PollFlags::IN)];
        if poll(&mut watched, Some(&wait)).expect("output") == 0 {
            return false;
        }
        let mut bytes = [0; 16 * 1024];
        // Linux reports an error after the last handle of the other end is closed.
        let count = self.master.read(&mut bytes).unwrap_or(0);
        self.written.extend(&bytes[..count]);
        self.parser.process(&bytes[..count]);
        count > 0
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The program may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}
