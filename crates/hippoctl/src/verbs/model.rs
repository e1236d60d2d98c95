//! `model list|pull|verify|import|remove`: embedding models.

use std::collections::HashMap;

use hippo_proto::{
    ModelImportRequest, ModelListRequest, ModelListResponse, ModelPullRequest, ModelPullResponse,
    ModelRemoveRequest, ModelRemoveResponse, ModelVerifyRequest, ModelVerifyResponse, Progress,
};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::ModelVerb;

/// Runs a verb of `model`.
///
/// # Errors
/// Fails if the daemon refuses, or if the model could not be obtained or is damaged.
pub fn model(session: &mut DaemonSession, verb: ModelVerb, out: &mut Output) -> Result<(), Failure> {
    match verb {
        ModelVerb::List => {
            let answer: ModelListResponse = session.call(ModelListRequest {})?;
            out.answer(&answer, render::model::list)
        }
        ModelVerb::Pull { model } => obtain(session, ModelPullRequest { model }, out),
        ModelVerb::Import {
            from,
            model,
            name,
            query_prefix,
            passage_prefix,
        } => {
            let request = ModelImportRequest {
                from: text(&absolute(&from)?)?,
                model,
                name,
                query_prefix,
                passage_prefix,
            };
            obtain(session, request, out)
        }
        ModelVerb::Remove { model } => {
            let answer: ModelRemoveResponse = session.call_patiently(ModelRemoveRequest { model }, |_| {})?;
            out.answer(&answer, render::model::removed)
        }
        ModelVerb::Verify { model } => {
            let answer: ModelVerifyResponse = session.call_patiently(ModelVerifyRequest { model }, |_| {})?;
            out.answer(&answer, render::model::verify)?;
            match answer.ok {
                true => Ok(()),
                false => Err(
                    Failure::new(Exit::Failed, format!("the model is damaged: {}", answer.model))
                        .hint("import the model again, or download it again: hippoctl model pull"),
                ),
            }
        }
    }
}

fn obtain(
    session: &mut DaemonSession,
    request: impl Into<hippo_proto::Request>,
    out: &mut Output,
) -> Result<(), Failure> {
    let mut bars = out.progress.then(Bars::default);
    let answer: ModelPullResponse = session.call_patiently(request, |notification| {
        if let (Some(bars), Some(progress)) = (&mut bars, notification.progress()) {
            bars.show(&progress);
        }
    })?;
    drop(bars);
    out.answer(&answer, render::model::pulled)
}

/// Progress bars on a terminal, one for each item.
#[derive(Default)]
struct Bars {
    all: MultiProgress,
    by_item: HashMap<String, (ProgressBar, String)>,
}

/// Returns the template of a progress bar. Only downloads show a speed, because local steps are immediate.
fn template(stage: &str) -> &'static str {
    match stage {
        "download" => "{msg:32!} {bar:30} {bytes:>10} {bytes_per_sec}",
        _ => "{msg:32!} {bar:30} {bytes:>10}",
    }
}

impl Bars {
    fn show(&mut self, progress: &Progress) {
        let (bar, stage) = self
            .by_item
            .entry(progress.item.clone())
            .or_insert_with(|| (self.all.add(ProgressBar::new(0)), String::new()));
        if *stage != progress.stage {
            // The duration of one step does not predict that of the next step.
            stage.clone_from(&progress.stage);
            bar.reset();
            let style = ProgressStyle::with_template(template(stage));
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        }
        bar.set_message(format!("{} {}", progress.stage, progress.item));
        bar.set_length(progress.total.unwrap_or(progress.done).max(progress.done));
        bar.set_position(progress.done);
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        // The bars are cleared, so that only the result or the failure remains.
        let _ = self.all.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_download_shows_a_speed() {
        assert!(template("download").contains("per_sec"));
        for stage in ["check", "extract", "done"] {
            assert!(!template(stage).contains("per_sec"), "{stage}");
            ProgressStyle::with_template(template(stage)).unwrap();
        }
    }
}
