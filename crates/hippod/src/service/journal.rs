//! Log format for the systemd journal, without time and level.

use std::fmt;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Prefix of an error line, as defined in sd-daemon(3).
const ERROR: &str = "<3>";

/// Returns whether standard error is connected to the journal. The variable contains the device and inode of the
/// stream.
#[cfg(unix)]
pub fn reads_stderr() -> bool {
    let Ok(told) = std::env::var("JOURNAL_STREAM") else {
        return false;
    };
    rustix::fs::fstat(std::io::stderr()).is_ok_and(|stat| told == format!("{}:{}", stat.st_dev, stat.st_ino))
}

/// Returns `false`, because this operating system has no such journal.
#[cfg(not(unix))]
pub fn reads_stderr() -> bool {
    false
}

/// Log format with the journal's priority as prefix and without time and level.
pub struct JournalFormat(Format<Full, ()>);

impl JournalFormat {
    /// Prefix of an error line that is written without the logger.
    pub const ERROR: &str = ERROR;
}

impl Default for JournalFormat {
    fn default() -> Self {
        let format = tracing_subscriber::fmt::format();
        Self(
            format
                .without_time()
                .with_target(false)
                .with_level(false)
                .with_ansi(false),
        )
    }
}

impl<S, N> FormatEvent<S, N> for JournalFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        writer.write_str(match *event.metadata().level() {
            Level::ERROR => ERROR,
            Level::WARN => "<4>",
            Level::INFO => "<6>",
            Level::DEBUG | Level::TRACE => "<7>",
        })?;
        self.0.format_event(context, writer, event)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_journal_line_has_a_priority_and_no_timestamp() {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_writer(move || writer.clone())
            .event_format(JournalFormat::default())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!("lost");
            tracing::warn!(files = 3, "odd");
            tracing::info!("well");
            tracing::trace!("small");
        });
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text, "<3>lost\n<4>odd files=3\n<6>well\n<7>small\n");
    }
}
