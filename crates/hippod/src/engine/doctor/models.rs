//! Which models are chosen, and can each of them be used?

use std::collections::BTreeMap;

use hippo_proto::Severity;

use super::Engine;
use super::report::{Report, problem};
use crate::embed_worker::ModelState;
use crate::engine::turn::model_state;

impl Engine {
    /// The daemon's own model, and those that workspaces chose instead.
    pub(super) fn examine_models(&self, report: &mut Report) {
        let own = self.shared.config.embed.model.as_str();
        self.examine_model(own, self.shared.embed.state().0, report);
        let mut others = BTreeMap::new();
        for workspace in self.here() {
            let name = workspace.view.config.model.as_str();
            let state = match model_state(&self.shared, workspace) {
                // Nobody needed it yet: its files say how it is.
                ModelState::Unloaded => self.shared.models.state_of(name),
                state => state,
            };
            others.insert(name, state);
        }
        others.remove(own);
        for (name, state) in others {
            self.examine_model(name, state, report);
        }
    }

    fn examine_model(&self, name: &str, state: ModelState, report: &mut Report) {
        let place = self.shared.paths.models.display().to_string();
        match state {
            ModelState::Absent(why) if !self.shared.config.embed.enabled => report.sound("model", why),
            ModelState::Absent(why) => match crate::models::unsupported() {
                Some(why) => report.problem(
                    "model-unsupported",
                    Severity::Warning,
                    why,
                    place,
                    "search by words works; set [embed] enabled = false to silence this",
                ),
                None => {
                    let mut fix = self.shared.models.remedy(name);
                    if fix.ends_with("pull") {
                        fix.push_str(" (or hippoctl model import FILE without a network)");
                    }
                    report.problem("no-model", Severity::Warning, why, place, &fix);
                }
            },
            ModelState::Failed(why) => {
                let place = self.shared.paths.models.join(name).display().to_string();
                let again = self.shared.models.remedy(name);
                let fix =
                    format!("hippoctl model verify {name} names damaged files, {again} writes them again");
                let mut found = problem("model-failed", Severity::Error, why, place, fix);
                found.fixable = true;
                report.problems.push(found);
            }
            state => report.sound("model", format!("{state:?}").to_lowercase()),
        }
    }
}
