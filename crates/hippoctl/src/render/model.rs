//! Rendering of models and their files.

use hippo_proto::{
    ModelFile, ModelListResponse, ModelPullResponse, ModelRemoveResponse, ModelVerifyResponse,
};

use super::{bytes, lines, one_line, plural, short, table, word};
use crate::output::Style;
use crate::verbs::model::{AnswerDifference, FirstAnswer, ModelComparison, ModelFigures};

/// Maximum number of characters of a result in a comparison.
const SHOWN: usize = 72;

/// Renders the models, one per line, and the runtime library below.
pub fn list(answer: &ModelListResponse, _: Style) -> String {
    let models = answer.models.iter().map(|model| {
        let sum = model.sha256.as_deref().unwrap_or_default();
        let size = (model.bytes > 0).then(|| bytes(model.bytes));
        let selected = if model.selected { "*" } else { " " };
        vec![
            format!("{selected} {}", model.name),
            word(model.state),
            format!("{} dimensions", model.dimension),
            size.unwrap_or_default(),
            sum.chars().take(12).collect(),
            model.licence.clone().unwrap_or_default(),
            model.source.clone(),
        ]
    });
    let runtime = &answer.runtime;
    let why = runtime.reason.as_deref().or(runtime.path.as_deref());
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let table = table(&models.collect::<Vec<_>>(), 7);
    format!("{table}runtime: {}, {}{why}\n", runtime.name, word(runtime.state))
}

/// Renders an installed model and its files.
pub fn pulled(answer: &ModelPullResponse, style: Style) -> String {
    let (model, seconds) = (style.strong(&answer.model), answer.took_ms / 1000.0);
    format!("{model} is installed ({seconds:.1} s)\n") + &files(&answer.files, style)
}

/// Renders the removal of a model.
pub fn removed(answer: &ModelRemoveResponse, style: Style) -> String {
    let model = style.strong(&answer.model);
    format!("{model} is removed ({})\n", bytes(answer.bytes))
}

/// Renders the result of the verification of a model.
pub fn verify(answer: &ModelVerifyResponse, style: Style) -> String {
    let ok = match answer.ok {
        true => style.good("ok"),
        false if answer.files.iter().all(|file| file.sha256.is_empty()) => style.bad("not installed"),
        false => style.bad("damaged"),
    };
    format!("{}: {ok}\n{}", answer.model, files(&answer.files, style))
}

/// Renders the comparison of models: a table, and the questions whose answers differ most.
pub fn comparison(answer: &ModelComparison, style: Style) -> String {
    let is_judged = answer.with_evidence > 0;
    let is_compared = answer.with_evidence < answer.questions;
    let columns = [
        (true, "model"),
        (is_judged, "R@10"),
        (is_judged, "MRR"),
        (is_compared, "same first"),
        (is_compared, "same in ten"),
        (true, "index"),
        (true, "size"),
        (true, "p50"),
    ];
    let row = |model: &ModelFigures| {
        let percent = |share: Option<f64>| format!("{:.1} %", share.unwrap_or_default() * 100.0);
        let size = (model.bytes > 0).then(|| bytes(model.bytes));
        [
            model.model.clone(),
            percent(model.recall_at_10),
            format!("{:.3}", model.mrr.unwrap_or_default()),
            format!("{} of {}", model.same_first, answer.questions),
            percent(Some(model.shared)),
            format!("{:.1} s", model.index_s),
            size.unwrap_or_else(|| "none".to_owned()),
            format!("{:.1} ms", model.p50_ms),
        ]
    };
    let head = columns.map(|(_, name)| name.to_owned());
    let rows = std::iter::once(head).chain(answer.models.iter().map(row));
    let rows = rows.map(|cells| {
        let shown = cells
            .into_iter()
            .zip(columns)
            .filter(|(_, (is_shown, _))| *is_shown);
        shown.map(|(cell, _)| cell).collect()
    });
    let mut text = plural(answer.questions as u64, "question");
    match answer.with_evidence {
        0 => {}
        _ if !is_compared => text += " with evidence",
        count => text += &format!(", {count} with evidence"),
    }
    text += &format!("\n\n{}\n", table(&rows.collect::<Vec<_>>(), 1));
    if is_judged {
        text += "R@10: share of the evidence in the first ten results; higher is better\n";
        text += "MRR: mean of 1 / rank of the first result with evidence; higher is better\n";
    }
    if is_compared {
        text += "same first: questions with the same first result as the first model\n";
        text += "same in ten: share of the first ten results that the first model returns as well\n";
    }
    text += "index: time to index the workspace, including the start of the model\n";
    text += "p50: median time of a question\n";
    if !answer.differences.is_empty() {
        text += "\nthe questions whose answers differ most, with the first result of each model:\n";
    }
    let differences = answer.differences.iter();
    text + &differences.map(|one| difference(one, style)).collect::<String>()
}

fn difference(difference: &AnswerDifference, style: Style) -> String {
    let width = difference
        .first
        .iter()
        .map(|first| first.model.chars().count())
        .max();
    let width = width.unwrap_or_default();
    let first = |first: &FirstAnswer| {
        let evidence = match first.evidence_rank {
            _ if !difference.has_evidence => String::new(),
            Some(rank) => format!(" (evidence at {rank})"),
            None => " (no evidence in the first ten)".to_owned(),
        };
        let shown = first.result.as_ref().map(|hit| {
            let place = format!("{}:{}", hit.path, lines(hit.start_line, hit.end_line));
            let line = hit.text.lines().find(|line| !line.trim().is_empty());
            let line = short(one_line(line.unwrap_or_default()).trim(), SHOWN);
            format!("{}{evidence}\n  {:width$}  {line}", style.path(place), "")
        });
        let shown = shown.unwrap_or_else(|| "no result".to_owned());
        format!("  {:<width$}  {shown}\n", first.model)
    };
    let query = style.strong(short(&one_line(&difference.query), SHOWN));
    format!(
        "\n{query}\n{}",
        difference.first.iter().map(first).collect::<String>()
    )
}

fn files(files: &[ModelFile], style: Style) -> String {
    let rows = files.iter().map(|file| {
        let state = match (file.ok, file.sha256.is_empty()) {
            (true, _) => style.good("ok"),
            (false, true) => style.bad("missing"),
            (false, false) => style.bad("wrong checksum"),
        };
        let (size, source) = (bytes(file.bytes), file.source.clone());
        vec![format!("  {state}"), size, source, style.path(&file.path)]
    });
    table(&rows.collect::<Vec<_>>(), 4)
}

#[cfg(test)]
mod tests {
    use hippo_proto::{ModelInfo, ModelState, RuntimeInfo};

    use super::*;

    #[test]
    fn models_and_files_are_listed() {
        let model = ModelInfo {
            name: "minilm-l6-dialogue-int8".into(),
            id: "minilm-l6-dialogue-int8:384".into(),
            sha256: Some("53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db".into()),
            dimension: 384,
            state: ModelState::Installed,
            selected: true,
            bytes: 90_900_000,
            licence: Some("Apache-2.0".into()),
            source: "pip".into(),
        };
        let other = ModelInfo {
            name: "bge-small-en".into(),
            sha256: None,
            state: ModelState::Absent,
            selected: false,
            bytes: 0,
            licence: None,
            source: "hub".into(),
            ..model.clone()
        };
        let runtime = RuntimeInfo {
            name: "onnxruntime 1.24.4".into(),
            state: ModelState::Unsupported,
            path: None,
            reason: Some("this processor has no AVX".into()),
        };
        let answer = ModelListResponse {
            models: vec![model, other],
            runtime,
        };
        insta::assert_snapshot!(list(&answer, Style::default()));

        let good = ModelFile {
            path: "/m/model.safetensors".into(),
            bytes: 90_000_000,
            sha256: "ab".into(),
            ok: true,
            source: "cache".into(),
        };
        let missing = ModelFile {
            path: "/m/tokenizer.json".into(),
            bytes: 0,
            sha256: String::new(),
            ok: false,
            ..good.clone()
        };
        let answer = ModelVerifyResponse {
            model: "m".into(),
            ok: false,
            files: vec![good, missing],
        };
        insta::assert_snapshot!(verify(&answer, Style::default()));
    }

    #[test]
    fn a_comparison_shows_figures_and_the_first_results() {
        let figures = |model: &str, mrr, same_first, bytes| ModelFigures {
            model: model.into(),
            recall_at_10: Some(0.875),
            mrr: Some(mrr),
            same_first,
            shared: 0.4,
            index_s: 12.34,
            bytes,
            p50_ms: 7.5,
        };
        let hit = serde_json::json!({
            "id": "c1", "path": "a.md", "start_line": 1, "end_line": 2, "heading": [], "score": 0.5, "tokens": 1,
            "text": "\nThe ferry leaves at seven.",
        });
        let first = |model: &str, result: bool, evidence_rank| FirstAnswer {
            model: model.into(),
            result: serde_json::from_value(hit.clone()).ok().filter(|_| result),
            evidence_rank,
        };
        let difference = |has_evidence, ranks: [Option<usize>; 2]| AnswerDifference {
            query: "when does the boat sail".into(),
            has_evidence,
            first: vec![
                first("small", true, ranks[0]),
                first("hash", has_evidence, ranks[1]),
            ],
        };
        let answer = ModelComparison {
            workspace: "/w".into(),
            questions: 4,
            with_evidence: 3,
            models: vec![figures("small", 1.0, 4, 23_900_000), figures("hash", 0.5, 2, 0)],
            differences: vec![difference(true, [Some(1), None]), difference(false, [None, None])],
            notes: Vec::new(),
        };
        insta::assert_snapshot!(comparison(&answer, Style::default()));
    }
}
