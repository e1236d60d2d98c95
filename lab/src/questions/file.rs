//! Questions in a file, and the places of their answers.

use serde::Deserialize;

use super::metrics::EvidenceSpan;

/// One question.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct EvidenceQuestion {
    /// Name of the question, for messages.
    pub id: String,
    /// Text of the question.
    pub query: String,
    /// Places that contain the answer.
    #[serde(default)]
    pub evidence: Vec<EvidenceSpan>,
    /// Group of the question in the report.
    #[serde(default = "no_group")]
    pub group: String,
}

fn no_group() -> String {
    "none".to_owned()
}

/// Questions in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionFile {
    /// Questions that can be judged, because they have evidence.
    pub questions: Vec<EvidenceQuestion>,
    /// Number of skipped questions without evidence.
    pub without_evidence: usize,
}

/// Parses a file with one JSON object on each line. Blank lines are skipped, and unknown members are ignored.
///
/// # Errors
/// Returns the number of the first invalid line.
pub fn parse(text: &str) -> Result<QuestionFile, String> {
    let mut questions: Vec<EvidenceQuestion> = Vec::new();
    for (at, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        questions.push(serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?);
    }
    let all = questions.len();
    questions.retain(|question| !question.evidence.is_empty());
    Ok(QuestionFile {
        without_evidence: all - questions.len(),
        questions,
    })
}

/// Returns at most `limit` questions in file order, spread evenly over the file.
pub fn spread(questions: Vec<EvidenceQuestion>, limit: Option<u32>) -> Vec<EvidenceQuestion> {
    let all = questions.len();
    let wanted = limit.map_or(all, |limit| all.min(limit as usize));
    let mut kept = 0;
    let evenly = |(at, question)| {
        // Keeps the question at position i * all / wanted for each i.
        let keep = kept < wanted && at == kept * all / wanted;
        kept += usize::from(keep);
        keep.then_some(question)
    };
    questions.into_iter().enumerate().filter_map(evenly).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_and_those_without_evidence_counted() {
        let text = concat!(
            r#"{"id":"q1","query":"who","evidence":[{"path":"a.md","start_line":1,"end_line":2}],"group":"g","answer":"x"}"#,
            "\n\n",
            r#"{"id":"q2","query":"what","evidence":[]}"#,
            "\n",
            r#"{"id":"q3","query":"when","evidence":[{"path":"a.md","start_line":1,"end_line":1}]}"#,
            "\n",
        );
        let QuestionFile {
            questions,
            without_evidence,
        } = parse(text).unwrap();
        assert_eq!(without_evidence, 1);
        let seen: Vec<(&str, &str)> = questions
            .iter()
            .map(|q| (q.id.as_str(), q.group.as_str()))
            .collect();
        assert_eq!(seen, [("q1", "g"), ("q3", "none")]);
        assert_eq!(
            questions[0].evidence,
            [EvidenceSpan {
                path: "a.md".into(),
                start_line: 1,
                end_line: 2
            }]
        );
    }

    #[test]
    fn an_invalid_question_is_reported_with_its_line() {
        let error = parse("\n{\"id\":\"q\"}\n").unwrap_err();
        assert!(error.starts_with("line 2: missing field `query`"), "{error}");
    }

    #[test]
    fn a_limit_selects_questions_across_the_file() {
        let question = |at: usize| EvidenceQuestion {
            id: at.to_string(),
            query: String::new(),
            evidence: vec![],
            group: no_group(),
        };
        let ids = |limit| {
            let kept = spread((0..10).map(question).collect(), limit);
            kept.into_iter()
                .map(|question| question.id)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(ids(Some(3)), "0 3 6");
        assert_eq!(ids(Some(20)), "0 1 2 3 4 5 6 7 8 9");
        assert_eq!(ids(None), "0 1 2 3 4 5 6 7 8 9");
    }
}
