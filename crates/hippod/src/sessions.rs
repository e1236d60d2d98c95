//! Pages of the sessions that ran in a workspace, for search.
//!
//! Agents leave the transcripts of their sessions in the user's home folder. For workspaces with the setting
//! `sessions.search`, hippod writes a page for each transcript whose session ran in the workspace. The time of the page
//! is the time of the transcript, so that unchanged transcripts are not read again. Transcripts are only read.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::watch;

use hippo_fs::{FileKind, Folder, WorkspaceDir};
use hippo_session::page::PageWriter;
use hippo_text::chunk::ContentHash;
use hippo_text::source::SESSION_PAGES;
use hippo_types::time::Timestamp;

use crate::clock::{Clock, local_time};
use crate::message::{EngineHandle, WorkspaceMessage};
use crate::tasks::{run_blocking, wait_until_set};
use crate::view::WorkspaceView;
use crate::views::Views;

/// Folder in which a harness leaves transcripts.
struct TranscriptFolder {
    /// Name of the harness in page names.
    name: &'static str,
    /// Name of the harness in titles.
    title: &'static str,
    /// Path below the home folder.
    path: &'static str,
}

const FOLDERS: [TranscriptFolder; 4] = [
    TranscriptFolder {
        name: "claude-code",
        title: "Claude Code",
        path: ".claude/projects",
    },
    TranscriptFolder {
        name: "codex",
        title: "Codex",
        path: ".codex/sessions",
    },
    TranscriptFolder {
        name: "pi",
        title: "Pi",
        path: ".pi/agent/sessions",
    },
    TranscriptFolder {
        name: "openclaw",
        title: "OpenClaw",
        path: ".openclaw/agents",
    },
];
/// Maximum depth of transcripts below the folder of a harness.
const DEPTH: usize = 4;
/// Prefix of the transcripts of subagents, whose results are in the transcript of the session.
const SUBAGENT: &str = "agent-";
/// Time after the last change of a transcript after which its page is written. Thus an agent does not find its own
/// question.
const QUIET: Duration = Duration::from_secs(600);
/// Interval between two looks at the transcripts of a workspace.
const INTERVAL: Duration = Duration::from_secs(300);
/// Interval between two looks at the settings of the workspaces.
const TICK: Duration = Duration::from_secs(5);
/// Number of bytes of a transcript in which its working folder is searched.
const HEAD: u64 = 256 << 10;
/// Length of the date at the start of a page's name.
const DAY: usize = "2026-01-10-".len();
/// Maximum difference between the time of a page and that of its transcript. File systems store times in units of up to
/// 2 s. A later version of a transcript has a later time, because hippod waits for [`QUIET`].
const CLOSE_NS: u64 = 2_000_000_000;
/// Maximum size of a transcript in bytes.
const LARGEST: u64 = 256 << 20;

/// Writer of pages. It remembers the transcripts that need no page.
struct PageKeeper {
    views: Arc<Views>,
    clock: Arc<dyn Clock>,
    engine: EngineHandle,
    /// Home folder of the user.
    home: PathBuf,
    /// Times of the transcripts that belong to another workspace or have no prompt, by workspace and path.
    without_page: HashMap<(PathBuf, PathBuf), i64>,
}

/// A transcript on disk.
struct Transcript<'a> {
    harness: &'a TranscriptFolder,
    folder: &'a Folder,
    name: &'a str,
    path: PathBuf,
    modified_ns: i64,
}

/// Keeps the pages of all workspaces up to date, until the daemon stops.
pub async fn keep(
    views: Arc<Views>,
    clock: Arc<dyn Clock>,
    engine: EngineHandle,
    mut stop: watch::Receiver<bool>,
) {
    let Some(home) = std::env::home_dir().filter(|home| home.is_absolute()) else {
        return;
    };
    let mut keeper = PageKeeper {
        views: Arc::clone(&views),
        clock,
        engine,
        home,
        without_page: HashMap::new(),
    };
    let mut last: HashMap<PathBuf, Instant> = HashMap::new();
    loop {
        let searched = views
            .open()
            .into_iter()
            .filter(|view| view.config.sessions.search);
        for view in searched {
            if last.get(&view.root).is_some_and(|last| last.elapsed() < INTERVAL) {
                continue;
            }
            last.insert(view.root.clone(), Instant::now());
            let root = view.root.clone();
            let work = run_blocking(move || {
                if let Err(error) = keeper.update(&view) {
                    tracing::warn!(root = %view.root.display(), %error, "could not write the pages of sessions; retrying later");
                }
                Ok(keeper)
            });
            match work.await {
                Ok(same) => keeper = same,
                Err(error) => {
                    tracing::error!(root = %root.display(), error = error.message, "sessions are no longer read; restart hippod");
                    return;
                }
            }
        }
        tokio::select! {
            () = wait_until_set(&mut stop) => return,
            () = tokio::time::sleep(TICK) => {}
        }
    }
}

/// Times of the pages of a workspace, by the name without the date.
type PageTimes = HashMap<String, i64>;

fn pages(root: &Path) -> io::Result<PageTimes> {
    let folder = match WorkspaceDir::open(root)?.folder(SESSION_PAGES) {
        Ok(folder) => folder,
        Err(error) if hippo_fs::is_absence(&error) => return Ok(PageTimes::new()),
        Err(error) => return Err(error),
    };
    let mut pages = PageTimes::new();
    for page in folder.entries()? {
        let suffix = page.name.to_str().and_then(|name| name.get(DAY..));
        if let (Some(suffix), Some(stat)) = (suffix, folder.stat(&page.name)?) {
            pages.insert(suffix.to_owned(), stat.modified_ns);
        }
    }
    Ok(pages)
}

impl PageKeeper {
    /// Writes the missing and outdated pages of a workspace.
    fn update(&mut self, view: &WorkspaceView) -> io::Result<()> {
        let pages = pages(&view.root)?;
        for harness in &FOLDERS {
            // The folder is missing if the user does not use the harness.
            let Ok(folder) = WorkspaceDir::open(&self.home.join(harness.path)).and_then(|dir| dir.folder(""))
            else {
                continue;
            };
            self.look_into((view, &pages), harness, &folder, 0)?;
        }
        Ok(())
    }

    fn look_into(
        &mut self,
        at: (&WorkspaceView, &PageTimes),
        harness: &TranscriptFolder,
        folder: &Folder,
        depth: usize,
    ) -> io::Result<()> {
        // Unreadable folders and transcripts are left out.
        let Ok(mut entries) = folder.entries() else {
            return Ok(());
        };
        entries.sort_by(|one, other| other.name.cmp(&one.name));
        for entry in entries {
            let Some(name) = entry.name.to_str() else { continue };
            match entry.kind {
                FileKind::Folder if depth < DEPTH => {
                    // The folder may disappear in the meantime.
                    if let Ok(inner) = folder.folder(name) {
                        self.look_into(at, harness, &inner, depth + 1)?;
                    }
                }
                FileKind::File if name.ends_with(".jsonl") && !name.starts_with(SUBAGENT) => {
                    self.look_at(at, harness, folder, name)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes the page of a transcript, if it is missing or outdated.
    fn look_at(
        &mut self,
        (view, pages): (&WorkspaceView, &PageTimes),
        harness: &TranscriptFolder,
        folder: &Folder,
        name: &str,
    ) -> io::Result<()> {
        let Some(stat) = folder.stat(name)?.filter(|stat| stat.size <= LARGEST) else {
            return Ok(());
        };
        let age = self.clock.now().0.saturating_sub(stat.modified_ns / 1_000_000);
        if age < i64::try_from(QUIET.as_millis()).unwrap_or(i64::MAX) {
            return Ok(());
        }
        let transcript = Transcript {
            harness,
            folder,
            name,
            path: self.home.join(harness.path).join(folder.path_of(name)),
            modified_ns: stat.modified_ns,
        };
        let key = (view.root.clone(), transcript.path.clone());
        let is_known = self.without_page.get(&key) == Some(&stat.modified_ns);
        let page = pages.get(&transcript.suffix());
        if is_known || page.is_some_and(|page| page.abs_diff(stat.modified_ns) < CLOSE_NS) {
            return Ok(());
        }
        let cwd = transcript.working_folder();
        let is_own = cwd.is_some_and(|cwd| self.views.root_of(&cwd).as_ref() == Some(&view.root));
        let page = match is_own {
            true => transcript.write_page(view, self.clock.as_ref())?,
            false => None,
        };
        if let Some(page) = page {
            let read = WorkspaceMessage::Stale(vec![page]);
            self.engine.send_to(&view.root, read);
        } else {
            self.without_page.insert(key, stat.modified_ns);
        }
        Ok(())
    }
}

impl Transcript<'_> {
    /// Returns the end of the page's name, which identifies the transcript.
    fn suffix(&self) -> String {
        let hash = ContentHash::of(self.path.as_os_str().as_encoded_bytes()).0;
        let id: String = hash[..4].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{id}.md", self.harness.name)
    }

    /// Returns the folder in which the session began, if the first records state it.
    fn working_folder(&self) -> Option<PathBuf> {
        let (file, _) = self.folder.open(self.name).ok()?;
        let mut head = Vec::new();
        file.take(HEAD).read_to_end(&mut head).ok()?;
        head.split(|byte| *byte == b'\n').find_map(|line| {
            let record: serde_json::Value = serde_json::from_slice(line).ok()?;
            let cwd = record.get("cwd").or_else(|| record.get("payload")?.get("cwd"))?;
            Some(PathBuf::from(cwd.as_str()?))
        })
    }

    /// Writes the page, and returns its path in the workspace. Returns `None` if the transcript contains no prompt, or
    /// cannot be read.
    fn write_page(&self, view: &WorkspaceView, clock: &dyn Clock) -> io::Result<Option<String>> {
        let zone = view.zone(clock);
        let local = |at: Timestamp| local_time(at, &zone);
        let stem = Path::new(self.name)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        let title = format!("{} session {stem}", self.harness.title);
        let mut writer = PageWriter::new(&title, &self.path.to_string_lossy(), local);
        let Ok((mut file, _)) = self.folder.open(self.name) else {
            return Ok(None);
        };
        let mut piece = vec![0; 64 << 10];
        loop {
            match file.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => writer.feed(&piece[..count]),
                Err(_) => return Ok(None),
            }
        }
        let Some(page) = writer.finish() else {
            return Ok(None);
        };
        let day = page
            .day
            .unwrap_or_else(|| local(Timestamp(self.modified_ns / 1_000_000)).date());
        let dir = WorkspaceDir::open(&view.root)?;
        let pages = dir.make_folder(SESSION_PAGES)?;
        if pages.stat(".gitignore")?.is_none() {
            dir.write_whole(format!("{SESSION_PAGES}/.gitignore"), b"*\n")?;
        }
        let name = format!("{day}-{}", self.suffix());
        let path = format!("{SESSION_PAGES}/{name}");
        dir.write_whole(&path, page.text.as_bytes())?;
        let modified = Duration::from_nanos(u64::try_from(self.modified_ns).unwrap_or(0));
        pages
            .open_to_write(&name)?
            .set_modified(SystemTime::UNIX_EPOCH + modified)?;
        Ok(Some(path))
    }
}
