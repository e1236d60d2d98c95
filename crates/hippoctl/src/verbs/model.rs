//! `model list|pull|verify|import|remove`: embedding models.

use hippo_proto::{
    ModelImportRequest, ModelListRequest, ModelListResponse, ModelPullRequest, ModelPullResponse,
    ModelRemoveRequest, ModelRemoveResponse, ModelVerifyRequest, ModelVerifyResponse,
};

use super::watched::watched;
use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::ModelVerb;

/// Runs a verb of `model`.
///
/// # Errors
/// Fails if the daemon refuses, or if the model cannot be obtained or is damaged.
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
    let answer: ModelPullResponse = watched(session, request, out)?;
    out.answer(&answer, render::model::pulled)
}
