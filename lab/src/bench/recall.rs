//! Passages that prompts get without a search.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hippo_proto::{Client, RecallRequest, RecallResponse};

use super::BenchEnvironment;
use super::ask::{self, AnswerSpan};
use super::table::{Figure, percentile};

/// Time limit of one answer. It is long, so that a busy machine does not change the figures.
const PATIENCE: Duration = Duration::from_secs(60);
/// Prompts that concern nothing in any memory, with their kinds.
const WITHOUT_EVIDENCE: &str = "tests/data/recall/without_evidence.tsv";
/// Everyday words before a question. `{}` stands for the question.
const LEADS: [&str; 4] = [
    "Quick question before we go on: {}",
    "Hey, I was just wondering, {}",
    "Can you help me with this? {}",
    "I am writing a message to a friend. {}",
];
/// Set of questions: name, workspaces, file of the questions, and whether the questions are also asked with a lead.
type QuestionSet = (&'static str, &'static [&'static str], &'static str, bool);
/// Questions about small workspaces.
pub const CONVERSATIONS: &[QuestionSet] = &[
    (
        "LoCoMo",
        &[
            "locomo/conv-26",
            "locomo/conv-41",
            "locomo/conv-43",
            "locomo/conv-47",
            "locomo/conv-49",
        ],
        "questions.jsonl",
        true,
    ),
    (
        "BEAM 100K",
        &["beam/100K-1", "beam/100K-3", "beam/100K-5"],
        "questions.jsonl",
        true,
    ),
];
/// Questions about a large workspace.
pub const MEMAWARE: &[QuestionSet] = &[
    (
        "MemAware explicit",
        &["memaware"],
        "questions_explicit.jsonl",
        true,
    ),
    (
        "MemAware implicit",
        &["memaware"],
        "questions_implicit.jsonl",
        false,
    ),
];

/// Outcomes of prompts.
#[derive(Default)]
struct Tally {
    prompts: u32,
    /// Prompts that got passages.
    given: u32,
    /// Prompts that got a passage with evidence.
    right: u32,
    /// Durations in milliseconds.
    took: Vec<f64>,
}

impl Tally {
    fn ask(
        &mut self,
        client: &mut Client,
        root: &str,
        prompt: String,
        evidence: &[AnswerSpan],
    ) -> Result<()> {
        let request = RecallRequest {
            client: None,
            workspace: root.to_owned(),
            prompt,
            session: None,
            wait_ms: Some(60_000),
        };
        let begun = Instant::now();
        let answer: RecallResponse = client.call(&request.into())?;
        self.took.push(begun.elapsed().as_secs_f64() * 1e3);
        ensure!(answer.tokens <= 300, "an answer has {} tokens", answer.tokens);
        let found = answer.passages.into_iter().map(|passage| AnswerSpan {
            path: passage.path,
            start_line: passage.start_line,
            end_line: passage.end_line,
        });
        let found: Vec<AnswerSpan> = found.collect();
        self.prompts += 1;
        self.given += u32::from(!found.is_empty());
        self.right += u32::from(ask::recall(&found, evidence) > 0.0);
        Ok(())
    }
}

/// Measures how often prompts get passages, and how often these contain the evidence.
///
/// # Errors
/// Fails if the data is missing, or if the daemon returns an error.
pub fn run(
    ground: &mut BenchEnvironment<'_>,
    part: &'static str,
    sets: &[QuestionSet],
) -> Result<Vec<Figure>> {
    let path = ground.house.root.join(WITHOUT_EVIDENCE);
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
    let others: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.split_once('\t')?.1))
        .collect();
    let mut client = ground.scratch.connect(PATIENCE)?;
    let (mut figures, mut took) = (Vec::new(), Vec::new());
    for (set, workspaces, file, has_leads) in sets {
        let (mut asked, mut none) = (Tally::default(), Tally::default());
        for name in *workspaces {
            let questions = ask::questions(&ground.workspaces.data(name).join(file))?;
            let root = ground.workspaces.get(name)?.root;
            for (at, question) in questions.iter().enumerate() {
                let lead = LEADS[at % LEADS.len()].replace("{}", &question.query);
                let prompts = [Some(question.query.clone()), (*has_leads).then_some(lead)];
                for prompt in prompts.into_iter().flatten() {
                    asked.ask(&mut client, &root, prompt, &question.evidence)?;
                }
            }
            for prompt in &others {
                none.ask(&mut client, &root, (*prompt).to_owned(), &[])?;
            }
        }
        let share = |part: u32, of: u32| f64::from(part) / f64::from(of.max(1));
        let rate = share(asked.given, asked.prompts);
        let precision = share(asked.right, asked.given);
        let wrong = share(none.given, none.prompts);
        let figure = |what: &str, value: f64| {
            Figure::new(part, format!("{set}, {what}"), format!("{:.1} %", 100.0 * value))
        };
        let count = asked.prompts;
        figures.push(
            figure(&format!("{count} prompts with evidence: got passages"), rate)
                .reach("≥ 50 %", rate >= 0.5),
        );
        figures.push(
            figure("of these, a passage contains the evidence", precision).reach("≥ 70 %", precision >= 0.7),
        );
        let count = none.prompts;
        figures.push(
            figure(&format!("{count} prompts without evidence: got passages"), wrong)
                .reach("≤ 10 %", wrong <= 0.1),
        );
        took.extend(asked.took);
        took.extend(none.took);
    }
    let p95 = percentile(&took, 0.95);
    figures.push(Figure::new(
        part,
        "time of an answer, 95th percentile",
        format!("{p95:.1} ms"),
    ));
    Ok(figures)
}
