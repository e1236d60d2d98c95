//! Diagnosis of the configured embedding models.

use hippo_proto::Severity;

use super::Survey;
use super::report::{Report, problem};
use crate::embed_worker::ModelState;
use crate::engine::embedding::model_state;
use crate::engine::turn::Hand;
use crate::engine::workspace::Workspace;
use crate::shared::Shared;

/// Reports the state of the daemon's model.
pub fn survey_models(shared: &Shared) -> Survey {
    let mut survey = Survey::default();
    let own = shared.config.embed.model.as_str();
    examine_model(shared, own, shared.embed.state().0, &mut survey.report);
    survey
}

impl Hand {
    /// Reports the state of a model that a workspace uses instead of the daemon's.
    pub(super) fn examine_model_of(&self, workspace: &Workspace, report: &mut Report) {
        let name = workspace.view.config.model.as_str();
        if name == self.shared.config.embed.model {
            return;
        }
        let state = match model_state(&self.shared, workspace) {
            // The model has not been used yet, so its files show the state.
            ModelState::Unloaded => self.shared.models.state_of(name),
            state => state,
        };
        examine_model(&self.shared, name, state, report);
    }
}

fn examine_model(shared: &Shared, name: &str, state: ModelState, report: &mut Report) {
    let place = shared.paths.models.display().to_string();
    match state {
        ModelState::Absent(why) if !shared.config.embed.enabled => report.sound("model", why),
        ModelState::Absent(why) => match crate::models::unsupported() {
            Some(why) => report.problem(
                "model-unsupported",
                Severity::Warning,
                why,
                place,
                "search by words works; set [embed] enabled = false to silence this",
            ),
            None => {
                let mut fix = shared.models.remedy(name);
                if fix.ends_with("pull") {
                    fix.push_str(" (or hippoctl model import FILE without a network)");
                }
                report.problem("no-model", Severity::Warning, why, place, &fix);
            }
        },
        ModelState::Failed(why) => {
            let place = shared.paths.models.join(name).display().to_string();
            let again = shared.models.remedy(name);
            let fix = format!("hippoctl model verify {name} lists damaged files; {again} writes them again");
            let mut found = problem("model-failed", Severity::Error, why, place, fix);
            found.fixable = true;
            report.problems.push(found);
        }
        state => report.sound("model", format!("{state:?}").to_lowercase()),
    }
}
