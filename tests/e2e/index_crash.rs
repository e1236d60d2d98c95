//! Repeated `kill -9` during index edits, remembered texts and searches.
//! Every acknowledged effect is present afterwards, exactly once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use hippo_proto::{
    Cycle, CycleOutcome, CycleReport, CycleRunRequest, IndexEditRequest, IndexEditResponse, IndexShowRequest,
    IndexShowResponse, RememberRequest, RememberResponse, SearchRequest, SearchResponse,
};
use hippod_tests::{Caller, Daemon, Dice, QUIET, Scratch};

use crate::index_writers::{assert_file_says, settled};

const KILLS: usize = 60;
/// Number of initial entries.
const MACHINES: usize = 24;
/// Maximum number of completed operations before a kill, and maximum delay in microseconds between the last one and
/// the kill.
const MOST_WORK: usize = 8;
const LONGEST_WAIT: usize = 40_000;

/// Operations that were requested, and their acknowledgements.
#[derive(Default)]
struct Asked {
    /// For each entry, the lists of tags that it may have. The last acknowledged list is first.
    tags: BTreeMap<String, Vec<Vec<String>>>,
    /// Topics of the remembered texts. The value is `true` if the daemon acknowledged the text.
    remembered: BTreeMap<String, bool>,
    /// Topics of entries that a person wrote into the file.
    notes: Vec<String>,
    /// For each entry, two numbers of accesses: the number that answers have reported, and the number that the entry
    /// had when it was last read.
    hits: BTreeMap<String, (u32, u32)>,
    /// Number of questions that got no answer. The daemon may still have counted their accesses.
    unanswered: u32,
    number: usize,
}

fn start(scratch: &Scratch) -> Daemon {
    let mut settings = QUIET.to_vec();
    settings.extend([
        ("HIPPOD_INDEX_MAX_TOKENS", "1000000"),
        ("HIPPOD_INDEX_MAX_ENTRIES", "100000"),
    ]);
    Daemon::start(&scratch.home(), &settings)
}

/// Sends requests until the daemon stops answering.
fn work(
    client: &mut Caller,
    scratch: &Scratch,
    ids: &[String],
    asked: &Mutex<Asked>,
    dice: &mut Dice,
) -> Option<()> {
    let workspace = scratch.workspace().display().to_string();
    loop {
        let number = {
            let mut asked = asked.lock().unwrap();
            asked.number += 1;
            asked.number
        };
        let id = dice.one_of(ids).clone();
        match dice.below(12) {
            0..=3 => {
                let tags = vec![format!("tag{number}"), "oil".to_owned()];
                asked
                    .lock()
                    .unwrap()
                    .tags
                    .entry(id.clone())
                    .or_default()
                    .push(tags.clone());
                let request = IndexEditRequest {
                    workspace: workspace.clone(),
                    id: id.clone(),
                    tags: Some(tags.clone()),
                    ..IndexEditRequest::default()
                };
                client.raw().call::<IndexEditResponse>(&request.into()).ok()?;
                asked.lock().unwrap().tags.insert(id, vec![tags]);
            }
            4..=5 => {
                let topic = format!("Fact {number}");
                asked.lock().unwrap().remembered.insert(topic.clone(), false);
                let request = RememberRequest {
                    workspace: workspace.clone(),
                    text: format!("The anchor number{number} was painted blue."),
                    topic: Some(topic.clone()),
                    ..RememberRequest::default()
                };
                client.raw().call::<RememberResponse>(&request.into()).ok()?;
                asked.lock().unwrap().remembered.insert(topic, true);
            }
            6..=7 => {
                let topic = format!("Note {number}");
                let item = format!("\n## Heap {number}\n\n- {topic} → knowledge/note.md\n");
                scratch.edit_index("\n## By Time\n", &format!("{item}\n## By Time\n"));
                asked.lock().unwrap().notes.push(topic);
            }
            8..=9 => {
                let question = format!("where does the Machine thing{} stand", dice.below(MACHINES));
                let mut request = SearchRequest::new(workspace.clone(), question);
                request.explain = true;
                asked.lock().unwrap().unanswered += 1;
                let answer: SearchResponse = client.raw().call(&request.into()).ok()?;
                asked.lock().unwrap().unanswered -= 1;
                for id in answer.trace.into_iter().flat_map(|trace| trace.refreshed) {
                    asked.lock().unwrap().hits.entry(id).or_default().0 += 1;
                }
                let request = IndexShowRequest {
                    workspace: workspace.clone(),
                    id: id.clone(),
                    at: None,
                };
                let shown: IndexShowResponse = client.raw().call(&request.into()).ok()?;
                let mut asked = asked.lock().unwrap();
                asked.hits.entry(id).or_default().1 = shown.entry.hits;
            }
            cycle => {
                let request = CycleRunRequest {
                    workspace: workspace.clone(),
                    cycle: *dice.one_of(&Cycle::ALL),
                    // At this date, the entries have decayed. The next cycle that runs as of today restores them.
                    at: (cycle == 11).then(|| "2027-06-01".to_owned()),
                    dry_run: false,
                };
                client.raw().call::<CycleReport>(&request.into()).ok()?;
            }
        }
    }
}

/// Returns the headings of the logs.
fn headings(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join("memory")).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        found.extend(
            text.lines()
                .filter_map(|line| line.strip_prefix("## ").map(str::to_owned)),
        );
    }
    found
}

fn assert_nothing_is_lost(when: &str, client: &mut Caller, root: &Path, asked: &Asked) {
    let entries = client.listed(root, true, None).entries;
    let by_id: BTreeMap<&str, _> = entries.iter().map(|entry| (entry.id.as_str(), entry)).collect();
    let mut topics: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &entries {
        *topics.entry(entry.topic.as_str()).or_default() += 1;
    }
    for (id, tags) in &asked.tags {
        let is = &by_id[id.as_str()].tags;
        assert!(tags.contains(is), "{when}: {id} has {is:?}, not one of {tags:?}");
    }
    let headings = headings(root);
    for (topic, acknowledged) in &asked.remembered {
        let (in_log, in_list) = (
            headings.iter().filter(|heading| *heading == topic).count(),
            topics.get(topic.as_str()).copied().unwrap_or(0),
        );
        assert!(in_log <= 1 && in_list <= 1, "{when}: {topic} is there twice");
        assert!(
            !acknowledged || (in_log, in_list) == (1, 1),
            "{when}: {topic}: {in_log} {in_list}"
        );
    }
    for topic in &asked.notes {
        assert_eq!(topics.get(topic.as_str()), Some(&1), "{when}: {topic}");
    }
    let (mut all, mut all_told) = (0, 0);
    for (id, (told, seen)) in &asked.hits {
        let is = by_id.get(id.as_str()).map_or(0, |entry| entry.hits);
        assert!(
            (*seen..=told + asked.unanswered).contains(&is),
            "{when}: {id} has {is} accesses, of {told}, and had {seen}"
        );
        (all, all_told) = (all + is, all_told + told);
    }
    // A question counts as an access to at most four entries.
    assert!(
        all <= all_told + 4 * asked.unanswered,
        "{when}: {all} of {all_told} and {} times",
        asked.unanswered
    );
    let ids: BTreeSet<&str> = by_id.keys().copied().collect();
    assert_eq!(ids.len(), entries.len());
}

#[test]
fn sixty_kills_lose_and_repeat_nothing() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    for number in 0..MACHINES {
        let text = format!(
            "# Machine {number}\n\nThe Machine called thing{number} stands at place {number}, hums, and leaks a little oil.\n"
        );
        scratch.write(&format!("knowledge/machines/{number}.md"), text);
    }
    let daemon = start(&scratch);
    let mut client = daemon.client();
    client.index(&root);
    let entries = client.entries(&root);
    assert_eq!(entries.len(), MACHINES);
    daemon.kill();
    let ids: Vec<String> = entries.iter().map(|entry| entry.id.clone()).collect();
    let asked = Mutex::new(Asked {
        tags: entries
            .into_iter()
            .map(|entry| (entry.id, vec![entry.tags]))
            .collect(),
        ..Asked::default()
    });
    let mut dice = Dice::new();
    for kill in 0..KILLS {
        let daemon = start(&scratch);
        std::thread::scope(|scope| {
            let mut client = daemon.client();
            let (scratch, ids, asked) = (&scratch, &ids, &asked);
            if kill % 4 == 0 {
                client.sync(&root);
                assert_nothing_is_lost(
                    &format!("after {kill} kills"),
                    &mut client,
                    &root,
                    &asked.lock().unwrap(),
                );
            }
            let mut fate = Dice::new();
            let worker = scope.spawn(move || work(&mut client, scratch, ids, asked, &mut fate));
            // A kill follows a random number of operations. It can thus interrupt any operation, however fast the
            // machine is.
            let begun = asked.lock().unwrap().number;
            let pieces = dice.below(MOST_WORK);
            while asked.lock().unwrap().number < begun + pieces {
                assert!(
                    !worker.is_finished(),
                    "the daemon ended by itself: {}",
                    daemon.log()
                );
                std::thread::yield_now();
            }
            let moment = u64::try_from(dice.below(LONGEST_WAIT)).unwrap();
            // No message is ever sent, so this waits for the timeout.
            let (_silent, never) = std::sync::mpsc::channel::<()>();
            let _ = never.recv_timeout(Duration::from_micros(moment));
            daemon.kill();
        });
        if kill % 7 == 3 {
            // Recreate the state after a kill in the middle of a write.
            std::fs::write(root.join(".HIPPOCAMPUS.md.draft"), "# HIPPOCAMPUS.md\n\n## Qui").unwrap();
        }
    }

    let daemon = start(&scratch);
    let mut client = daemon.client();
    client.sync(&root);
    settled(&mut client, &scratch);
    for cycle in [Cycle::Light, Cycle::Deep, Cycle::Light] {
        let report = client.run(&root, cycle);
        assert_eq!(report.outcome, CycleOutcome::Done, "{report:#?}");
    }
    settled(&mut client, &scratch);
    let asked = asked.into_inner().unwrap();
    assert!(
        asked
            .remembered
            .values()
            .filter(|acknowledged| **acknowledged)
            .count()
            > 10,
        "much was done"
    );
    assert_nothing_is_lost("in the end", &mut client, &root, &asked);
    let mut entries = client.entries(&root);
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    assert_file_says(&root, &entries);
    assert_eq!(scratch.remains(), [""; 0]);
    let problems = client.doctor(false).problems;
    assert!(problems.is_empty(), "{problems:?}");
    let running: Vec<_> = client
        .history(&root, None)
        .runs
        .into_iter()
        .filter(|run| run.outcome == CycleOutcome::Running)
        .collect();
    assert!(running.is_empty(), "{running:?}");
}
