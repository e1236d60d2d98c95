//! Rendering of models and their files.

use hippo_proto::{
    ModelFile, ModelListResponse, ModelPullResponse, ModelRemoveResponse, ModelVerifyResponse,
};

use super::{bytes, table, word};
use crate::output::Style;

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
}
