//! Diagnosis and repair of the daemon and its workspaces: `doctor`.

mod disk;
mod survey;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hippo_map::layout::INDEX_FILE;
use hippo_proto::{
    Cycle, CycleRunRequest, DoctorRequest, DoctorResponse, ErrorKind, Fixed, Paths, Problem, RpcError,
    Severity,
};

use crate::contexts::Contexts;
use crate::cycles::CycleRunner;
use crate::embed_worker::EmbedWorker;
use crate::instance;
use crate::message::{EngineHandle, EngineMessage, SyncGoal, WorkspaceMessage};
use crate::models::{self, Models};
use crate::registry;
use crate::scan;
use crate::survey::Survey;
use crate::tasks::run_blocking;
use crate::tree::Trees;
use crate::views::{Slot, Views, no_workspace};
use survey::{survey_model, survey_rebuild, survey_unopened};

/// Examiner of the daemon and its workspaces.
pub struct Doctor {
    /// Paths of the daemon's files.
    pub paths: Paths,
    /// Registered workspaces.
    pub views: Arc<Views>,
    /// Handle of the engine.
    pub engine: EngineHandle,
    /// Handle to the embed worker.
    pub embed: EmbedWorker,
    /// The installed models.
    pub models: Arc<Models>,
    /// Sessions of context entries.
    pub contexts: Arc<Contexts>,
    /// Trees of the workspaces.
    pub trees: Arc<Trees>,
    /// Runner of the cycles; a cycle writes a missing index file.
    pub cycles: Arc<CycleRunner>,
}

/// Handles `doctor`. A separate thread scans the disk, and the engine contributes its own state.
///
/// # Errors
/// Returns `no-workspace`.
pub async fn examine(doctor: &Arc<Doctor>, request: DoctorRequest) -> Result<DoctorResponse, RpcError> {
    let (answer, behind) = examined(doctor, &request).await?;
    if !request.fix {
        return Ok(answer);
    }
    let (fixed, lost) = fix(doctor, &answer.problems, &behind, request.dry_run).await;
    if request.dry_run || fixed.is_empty() {
        return Ok(DoctorResponse { fixed, ..answer });
    }
    // Examine again, to report only the problems that remain.
    let again = DoctorRequest {
        rebuild: false,
        ..request
    };
    let (mut answer, _) = examined(doctor, &again).await?;
    answer.problems.extend(lost);
    Ok(DoctorResponse { fixed, ..answer })
}

/// Returns the problems, and the workspaces whose index is behind.
async fn examined(
    doctor: &Arc<Doctor>,
    request: &DoctorRequest,
) -> Result<(DoctorResponse, Vec<PathBuf>), RpcError> {
    doctor.views.opened().await;
    models::check_copied(&doctor.models).await?;
    let roots: Vec<PathBuf> = match request.workspace.as_deref().map(Path::new) {
        Some(folder) => {
            let root = doctor.views.root_of(folder);
            vec![root.ok_or_else(|| no_workspace(folder))?]
        }
        None => doctor.views.all().into_iter().map(|(root, _)| root).collect(),
    };
    doctor.engine.send(EngineMessage::LookForModel);
    let mut survey = Survey::default();
    // Workspaces are surveyed one after the other, so that a busy workspace delays only its own survey.
    for root in roots {
        if request.rebuild {
            let made = doctor.engine.ask(&root, WorkspaceMessage::Rebuild);
            survey.add(survey_rebuild(&root, made.await));
        }
        match survey_of(doctor, &root).await {
            Ok(found) => survey.add(found),
            // A workspace that was removed in the meantime is skipped, unless the request names it.
            Err(error) if request.workspace.is_none() && error.data.kind == ErrorKind::NoWorkspace => {}
            Err(error) => return Err(error),
        }
    }
    survey.add(survey_model(doctor));
    let behind = survey.busy_workspaces().map(Path::to_path_buf).collect();
    let of = Arc::clone(doctor);
    let answer = run_blocking(move || Ok(disk::complete(&of, survey))).await?;
    Ok((answer, behind))
}

/// Surveys a workspace, or reports why it could not be opened.
async fn survey_of(doctor: &Arc<Doctor>, root: &Path) -> Result<Survey, RpcError> {
    let slot = doctor.views.slot(root);
    let scan = match slot {
        Some(Slot::Open(view)) => {
            let scan = move || Ok(scan::scan(&view.root, &view.rules, &view.config, &|| ()));
            Some(run_blocking(scan).await?)
        }
        _ => None,
    };
    let survey = match doctor.views.slot(root) {
        Some(Slot::Broken(error)) => Err(error),
        _ => {
            doctor
                .engine
                .ask(root, |reply| WorkspaceMessage::Survey(scan, reply))
                .await
        }
    };
    match (survey, doctor.views.slot(root)) {
        (Err(_), Some(Slot::Broken(error))) => {
            let (state, root) = (doctor.paths.state.clone(), root.to_path_buf());
            run_blocking(move || Ok(survey_unopened(&state, &root, error))).await
        }
        (survey, _) => survey,
    }
}

/// Applies the safe fixes: they do not change files written by people, and they rebuild only derived data. Also returns
/// problems for data that was lost with a damaged database.
async fn fix(
    doctor: &Arc<Doctor>,
    problems: &[Problem],
    behind: &[PathBuf],
    dry_run: bool,
) -> (Vec<Fixed>, Vec<Problem>) {
    let (mut fixed, mut lost) = (Vec::new(), Vec::new());
    let mut rebuilt = BTreeSet::new();
    let mut todo = Vec::new();
    for problem in problems.iter().filter(|problem| problem.fixable) {
        let remedy = Remedy::of(doctor, problem);
        if let Remedy::Rebuild(root) = &remedy
            && !rebuilt.insert(root.clone())
        {
            continue;
        }
        todo.push((problem.id.clone(), problem.where_.clone(), remedy));
    }
    for root in behind {
        let place = root.display().to_string();
        todo.push(("behind".to_owned(), place, Remedy::Sync(root.clone())));
    }
    for (id, where_, remedy) in todo {
        let failed = match dry_run {
            true => None,
            false => match remedy.apply(doctor).await {
                Ok(found) => {
                    lost.extend(found);
                    None
                }
                Err(why) => Some(why),
            },
        };
        let what = remedy.what().to_owned();
        fixed.push(Fixed {
            id,
            where_,
            what,
            failed,
        });
    }
    (fixed, lost)
}

/// A fix that hippod can apply.
enum Remedy {
    Rebuild(PathBuf),
    Index(PathBuf),
    Close(PathBuf),
    Remove(PathBuf),
    Model(String),
    Sync(PathBuf),
}

impl Remedy {
    fn of(doctor: &Doctor, problem: &Problem) -> Self {
        let place = PathBuf::from(&problem.where_);
        match problem.id.as_str() {
            "index-missing" => Self::Index(place.parent().map(Path::to_path_buf).unwrap_or(place)),
            "permissions" => Self::Close(place),
            "leftover" => Self::Remove(place),
            "model-failed" => {
                let name = place.file_name().unwrap_or_default();
                Self::Model(name.to_string_lossy().into_owned())
            }
            _ => Self::Rebuild(root_of(doctor, &place)),
        }
    }

    fn what(&self) -> &'static str {
        match self {
            Self::Rebuild(_) => {
                "rebuild the index from the files; the damaged database is kept in the same folder under \
                 another name"
            }
            Self::Index(_) => "run a light cycle, which writes the index file",
            Self::Close(_) => "remove the permissions of other users",
            Self::Remove(_) => "remove the file",
            Self::Model(_) => "check the files of the model, and reload the model if they are intact",
            Self::Sync(_) => "index the pending changes; the model computes their vectors afterwards",
        }
    }

    /// Applies the fix. Returns a problem for lost data, or the reason why the fix failed.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    async fn apply(&self, doctor: &Arc<Doctor>) -> Result<Option<Problem>, String> {
        match self {
            Self::Rebuild(root) => return rebuild(doctor, root).await,
            Self::Index(root) => write_index(doctor, root).await,
            Self::Close(folder) => instance::close_to_others(folder).map_err(|error| error.to_string()),
            Self::Remove(file) => {
                // The file may have been replaced since the examination.
                if disk::leftovers(&doctor.paths.state).contains(file) {
                    std::fs::remove_file(file).map_err(|error| error.to_string())
                } else {
                    Ok(())
                }
            }
            Self::Model(name) => model(doctor, name).await,
            Self::Sync(root) => sync(doctor, root).await,
        }
        .map(|()| None)
    }
}

/// Returns the root of the workspace that a path belongs to. The path is the root or lies in the state folder.
fn root_of(doctor: &Doctor, place: &Path) -> PathBuf {
    let roots = doctor.views.all();
    let of_state = |root: &Path| registry::state_folder(&doctor.paths.state, root);
    let found = roots
        .into_iter()
        .map(|(root, _)| root)
        .find(|root| root == place || place.starts_with(of_state(root)));
    found.unwrap_or_else(|| place.to_path_buf())
}

/// Indexes pending files without waiting for the model, which may have hours of work left.
async fn sync(doctor: &Arc<Doctor>, root: &Path) -> Result<(), String> {
    let synced = doctor.engine.ask(root, |reply| WorkspaceMessage::Sync {
        until: SyncGoal::Read,
        accept_deletions: false,
        reply,
    });
    synced.await.map(|_| ()).map_err(describe_error)
}

async fn write_index(doctor: &Arc<Doctor>, root: &Path) -> Result<(), String> {
    // The sync detects the missing index file, so that the cycle writes it again.
    sync(doctor, root).await?;
    let request = CycleRunRequest {
        workspace: root.display().to_string(),
        cycle: Cycle::Light,
        dry_run: false,
        at: None,
    };
    let report = doctor.cycles.run(request).await.map_err(describe_error)?;
    if hippo_fs::exists(root, INDEX_FILE) {
        return Ok(());
    }
    Err(format!(
        "the cycle did not write the index file: {}",
        report.notes.join("; ")
    ))
}

async fn rebuild(doctor: &Arc<Doctor>, root: &Path) -> Result<Option<Problem>, String> {
    let request = DoctorRequest {
        workspace: Some(root.display().to_string()),
        rebuild: true,
        ..DoctorRequest::default()
    };
    let (answer, _) = examined(doctor, &request).await.map_err(describe_error)?;
    let failed = |problem: &&Problem| problem.id == "rebuild" && problem.severity == Severity::Error;
    match answer.problems.iter().find(failed) {
        Some(problem) => Err(problem.what.clone()),
        None => Ok(answer
            .problems
            .into_iter()
            .find(|problem| problem.id == "rebuild-lost")),
    }
}

async fn model(doctor: &Arc<Doctor>, name: &str) -> Result<(), String> {
    let (models, asked) = (Arc::clone(&doctor.models), name.to_owned());
    let verified = run_blocking(move || models.verify(Some(&asked)))
        .await
        .map_err(describe_error)?;
    if !verified.ok {
        let damaged = verified.files.iter().filter(|file| !file.ok);
        let names: Vec<&str> = damaged.map(|file| file.path.as_str()).collect();
        let fix = doctor.models.remedy(name);
        return Err(format!(
            "damaged: {}; `{fix}` downloads intact copies; if there is no network: hippoctl model import \
             FILE",
            names.join(", ")
        ));
    }
    doctor.engine.send(EngineMessage::ModelChanged);
    Ok(())
}

fn describe_error(error: RpcError) -> String {
    if error.data.hint.is_empty() {
        return error.message;
    }
    format!("{}; {}", error.message, error.data.hint)
}
