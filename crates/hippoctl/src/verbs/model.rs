//! `model list|pull|verify|import|compare|remove`: embedding models.

mod compare;
mod figures;
mod questions;

pub use figures::{AnswerDifference, FirstAnswer, ModelComparison, ModelFigures};

use std::path::Path;

use hippo_proto::{
    Method, ModelImportRequest, ModelListRequest, ModelPullRequest, ModelPullResponse, ModelRemoveRequest,
    ModelVerifyRequest,
};

use super::watched::watched;
use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::model as render;
use hippoctl::args::ModelVerb;

/// Runs a verb of `model`.
///
/// # Errors
/// Fails if the daemon refuses the request, or if the model cannot be obtained or is damaged.
pub fn model(session: &mut DaemonSession, verb: ModelVerb, out: &mut Output) -> Result<(), Failure> {
    match verb {
        ModelVerb::List => session.show(ModelListRequest {}, out, render::list),
        ModelVerb::Pull { model, from } => {
            let from = match from {
                Some(folder) if !folder.contains("://") => Some(text(&absolute(Path::new(&folder))?)?),
                address => address,
            };
            obtain(session, ModelPullRequest { model, from }, out)
        }
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
        ModelVerb::Compare { models, questions } => {
            compare::compare(session, &models, questions.as_deref(), out)
        }
        ModelVerb::Remove { model } => {
            let answer = session.call_patiently(ModelRemoveRequest { model })?;
            out.answer(&answer, render::removed)
        }
        ModelVerb::Verify { model } => {
            let answer = session.call_patiently(ModelVerifyRequest { model })?;
            out.answer(&answer, render::verify)?;
            match answer.ok {
                true => Ok(()),
                false => {
                    let failure =
                        Failure::new(Exit::Failed, format!("the model is damaged: {}", answer.model));
                    Err(failure.hint("import the model again, or download it again: hippoctl model pull"))
                }
            }
        }
    }
}

fn obtain(
    session: &mut DaemonSession,
    request: impl Method<Answer = ModelPullResponse>,
    out: &mut Output,
) -> Result<(), Failure> {
    out.answer(&watched(session, request, out)?, render::pulled)
}
