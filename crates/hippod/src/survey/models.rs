//! Diagnosis of an embedding model.

use hippo_proto::Severity;

use super::report::SurveyReport;
use crate::embed_worker::ModelPhase;
use crate::models::{Models, unsupported};

/// Reports the state of a model.
pub fn examine_model(models: &Models, name: &str, state: ModelPhase, report: &mut SurveyReport) {
    let place = models.folder().display().to_string();
    match state {
        ModelPhase::Absent(why) if !models.are_enabled() => report.sound("model", why),
        ModelPhase::Absent(why) => match unsupported() {
            Some(why) => report.problem(
                "model-unsupported",
                Severity::Warning,
                why,
                place,
                "keyword search still works; to hide this message, set `embed.enabled = false`",
            ),
            None => {
                let mut fix = models.remedy(name);
                if fix.ends_with("pull") {
                    fix.push_str(" (without a network: hippoctl model import FILE)");
                }
                report.problem("no-model", Severity::Warning, why, place, &fix);
            }
        },
        ModelPhase::Failed(why) => {
            let place = models.folder().join(name).display().to_string();
            let again = models.remedy(name);
            let fix = format!(
                "`hippoctl model verify {name}` lists damaged files; to download them again: {again}"
            );
            report.problem("model-failed", Severity::Error, why, place, fix);
        }
        state => report.sound("model", format!("{state:?}").to_lowercase()),
    }
}
