//! Diagnosis and repair of the daemon and its workspaces: `doctor`.

mod disk;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hippo_proto::{DoctorRequest, DoctorResponse, ErrorKind, Fixed, Paths, Problem, RpcError, Severity};
use hippo_store::db::StoreReader;

use crate::contexts::Contexts;
use crate::embed_worker::EmbedWorker;
use crate::instance;
use crate::message::{EngineHandle, EngineMessage, LostData, WorkspaceMessage};
use crate::models::Models;
use crate::registry;
use crate::scan;
use crate::survey::{Survey, examine_model, problem};
use crate::tasks::{run_blocking, run_blocking_on};
use crate::tree::Trees;
use crate::views::{Slot, Views, no_workspace};

/// Id of the problem that `doctor` reports if other users can read one of hippod's folders.
const PERMISSIONS: &str = "permissions";
/// Maximum number of lost records that a problem lists.
const MOST_LOST: usize = 5;

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
}

/// Handles `doctor`. The disk is scanned on a separate thread; the engine reports its own state.
///
/// # Errors
/// Returns `no-workspace`.
pub async fn examine(doctor: &Arc<Doctor>, request: DoctorRequest) -> Result<DoctorResponse, RpcError> {
    let answer = examined(doctor, &request).await?;
    if !request.fix {
        return Ok(answer);
    }
    let (fixed, lost) = fix(doctor, &answer.problems, request.dry_run).await;
    if request.dry_run || fixed.is_empty() {
        return Ok(DoctorResponse { fixed, ..answer });
    }
    // Examine again, to report only the problems that remain.
    let again = DoctorRequest {
        rebuild: false,
        ..request
    };
    let mut answer = examined(doctor, &again).await?;
    answer.problems.extend(lost);
    Ok(DoctorResponse { fixed, ..answer })
}

async fn examined(doctor: &Arc<Doctor>, request: &DoctorRequest) -> Result<DoctorResponse, RpcError> {
    doctor.views.opened().await;
    run_blocking_on(&doctor.models, |models| {
        models.check_copied();
        Ok(())
    })
    .await?;
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
            survey.add(survey_rebuild(&root, rebuild(doctor, &root).await));
        }
        match survey_of(doctor, &root).await {
            Ok(found) => survey.add(found),
            // A workspace that was removed in the meantime is skipped, unless the request names it.
            Err(error) if request.workspace.is_none() && error.data.kind == ErrorKind::NoWorkspace => {}
            Err(error) => return Err(error),
        }
    }
    let (state, _) = doctor.embed.state();
    let name = doctor.models.configured_name();
    examine_model(&doctor.models, name, state, &mut survey);
    let of = Arc::clone(doctor);
    run_blocking(move || Ok(disk::complete(&of, survey))).await
}

async fn rebuild(doctor: &Doctor, root: &Path) -> Result<Option<LostData>, RpcError> {
    doctor.engine.ask(root, WorkspaceMessage::Rebuild).await
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

/// Applies the safe fixes, which never change files written by people and rebuild only derived data. Also returns a
/// problem for each damaged database from which data was lost.
async fn fix(doctor: &Doctor, problems: &[Problem], dry_run: bool) -> (Vec<Fixed>, Vec<Problem>) {
    let (mut fixed, mut lost) = (Vec::new(), Vec::new());
    let mut rebuilt = BTreeSet::new();
    for problem in problems.iter().filter(|problem| problem.fixable) {
        let place = PathBuf::from(&problem.where_);
        let mut failed = None;
        let what = if problem.id == PERMISSIONS {
            if !dry_run {
                failed = instance::own_folder(&place).err().map(|error| error.to_string());
            }
            "remove the permissions of other users"
        } else {
            let root = root_of(doctor, &place);
            if !rebuilt.insert(root.clone()) {
                continue;
            }
            if !dry_run {
                match rebuild(doctor, &root).await {
                    Ok(found) => lost.extend(found.map(|found| was_not_all_read(&root, &found))),
                    Err(error) => failed = Some(error.message),
                }
            }
            "rebuild the index from the files; the damaged database is kept in the same folder under another name"
        };
        fixed.push(Fixed {
            id: problem.id.clone(),
            where_: problem.where_.clone(),
            what: what.to_owned(),
            failed,
        });
    }
    (fixed, lost)
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

/// Creates the problem for data that could not be read from a damaged database.
fn was_not_all_read(root: &Path, lost: &LostData) -> Problem {
    let most = lost.what.len().min(MOST_LOST);
    let more = match lost.what.len() - most {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let what = format!(
        "some of the accesses, removals and history in the damaged database could not be read, and no file \
         contains them: {}{more}",
        lost.what[..most].join("; ")
    );
    let fix = format!(
        "the damaged database is kept as {}; to restore these records from a backup: hippoctl restore",
        lost.aside.display()
    );
    problem(
        "rebuild-lost",
        Severity::Warning,
        what,
        root.display().to_string(),
        fix,
    )
}

/// Reports a workspace that could not be opened.
fn survey_unopened(state: &Path, root: &Path, error: RpcError) -> Survey {
    // A database that a newer hippod wrote is undamaged and is kept.
    let database = registry::database_file(state, root);
    let checked = StoreReader::open(&database).and_then(|reader| reader.check());
    let (place, fix) = (root.display().to_string(), error.data.hint);
    let mut found = problem("workspace", Severity::Error, error.message, place, fix);
    found.fixable = checked.is_err_and(|error| error.is_damage());
    let mut survey = Survey::default();
    survey.problems.push(found);
    survey
}

/// Reports the result of a rebuild.
fn survey_rebuild(root: &Path, made: Result<Option<LostData>, RpcError>) -> Survey {
    let place = root.display().to_string();
    let mut survey = Survey::default();
    match made {
        Ok(lost) => {
            survey.sound("rebuild", format!("{place}: rebuilt from its files"));
            survey
                .problems
                .extend(lost.map(|lost| was_not_all_read(root, &lost)));
        }
        Err(error) => {
            let fix = "free space on the disk of the state folder, or repair that disk; then run again: \
                       hippoctl doctor --rebuild";
            let what = format!("could not rebuild the index: {}", error.message);
            let found = problem("rebuild", Severity::Error, what, place.as_str(), fix);
            survey.check("rebuild", place, vec![found]);
        }
    }
    survey
}
