//! `model compare`: answers and costs of several models on a copy of a workspace.

use std::io;
use std::path::Path;
use std::time::Instant;

use hippo_proto::folder::{self, Trust};
use hippo_proto::{
    BackupRequest, ModelInfo, ModelListRequest, ModelState, Paths, RestoreRequest, SearchMode, SearchRequest,
    StatusRequest, WorkspaceAddRequest, WorkspaceSyncRequest,
};

use super::figures::{DEPTH, MeasuredModel, compute};
use super::questions::{self, ComparedQuestion};
use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use crate::verbs::own_daemon::OwnDaemon;
use crate::verbs::watched::{self, workspace_at};
use hippoctl::args::Global;

/// Asks the questions with each model, in a temporary copy of the workspace, and prints the figures. Removes the copies
/// afterwards.
///
/// # Errors
/// Fails if a model is not installed or does not run, if there are no questions, or if the workspace has no text.
pub fn compare(
    session: &mut DaemonSession,
    names: &[String],
    file: Option<&Path>,
    out: &mut Output,
) -> Result<(), Failure> {
    let (models, notes) = find(session, names)?;
    let root = session.root()?;
    let settings = settings(session)?;
    let asked = match file {
        Some(file) => questions::read(file, &root, out)?,
        None => questions::logged(session)?,
    };
    let own = OwnDaemon::create("hippod-compare-")?;
    out.remark("copying the workspace");
    copy(session, &own, &root, models.len())?;
    let mut measured = Vec::new();
    for (number, model) in (1..).zip(&models) {
        let count = render::plural(asked.len() as u64, "question");
        out.remark(&format!("{}: indexing, then asking {count}", model.name));
        measured.push(measure(
            session,
            &own,
            (number, model),
            (&root, &asked),
            &settings,
            out,
        )?);
    }
    own.close()?;
    let comparison = compute(root, &asked, &measured, notes);
    out.answer(&comparison, render::model::comparison)?;
    out.finish()?;
    out.notes(&comparison.notes);
    Ok(())
}

/// Returns the models with these names, and remarks about them.
fn find(session: &mut DaemonSession, names: &[String]) -> Result<(Vec<ModelInfo>, Vec<String>), Failure> {
    let listed = session.call(ModelListRequest {})?;
    let mut models: Vec<ModelInfo> = Vec::new();
    for name in names {
        let Some(model) = listed.models.iter().find(|model| model.name == *name) else {
            let hint = "to list the models: hippoctl model list; to import a model: hippoctl model import DIR --name NAME";
            return Err(Failure::new(Exit::NotFound, format!("no such model: {name}")).hint(hint));
        };
        if models.contains(model) {
            let failure = Failure::new(Exit::Usage, format!("the model is named twice: {name}"));
            return Err(failure.hint("name different models"));
        }
        let needs_runtime = model.source != "built in";
        let runtime = Some(listed.runtime.state).filter(|_| needs_runtime);
        let mut states = [Some(model.state), runtime].into_iter().flatten();
        if let Some(state) = states.find(|state| *state != ModelState::Installed) {
            let what = format!("could not use the model {name}: it is {}", render::word(state));
            let hint = match model.source.as_str() {
                "imported" if model.state != ModelState::Installed => {
                    format!("import the model again: hippoctl model import DIR --name {name}")
                }
                "imported" => "install the runtime library: hippoctl model pull".to_owned(),
                _ => format!("install the model: hippoctl model pull {name}"),
            };
            return Err(Failure::new(Exit::NotFound, what).hint(hint));
        }
        models.push(model.clone());
    }
    // The trees of the second ranking were trained with the default model, which the daemon lists first.
    let default = listed.models.first().map_or("", |model| &model.name);
    let others = names.iter().filter(|name| *name != default).cloned();
    let others = others.collect::<Vec<_>>().join(", ");
    let note = (!others.is_empty()).then(|| {
        format!("only the figures of {default} include a second ranking of results; without it: {others}")
    });
    Ok((models, note.into_iter().collect()))
}

/// Returns the name of a copy of the workspace, below the temporary folder.
fn workspace(number: usize) -> String {
    format!("workspace-{number}")
}

/// Copies the workspace once for each model, by a backup that a daemon without a model restores.
fn copy(session: &mut DaemonSession, own: &OwnDaemon, root: &str, copies: usize) -> Result<(), Failure> {
    let backup = text(&own.folder().join("workspace.tar.zst"))?;
    session.call_patiently(BackupRequest {
        workspace: Some(root.to_owned()),
        to: backup.clone(),
    })?;
    let settings = [("HIPPOD_EMBED_ENABLED", "false")];
    let mut restoring = own.start(&session.paths, "home", &settings, Global::default(), |_| Ok(()))?;
    for number in 1..=copies {
        restoring.call_patiently(RestoreRequest {
            from: backup.clone(),
            workspace: None,
            into: Some(text(&own.folder().join(workspace(number)))?),
            other_files: true,
        })?;
    }
    Ok(())
}

/// Indexes a copy of the workspace with a model, and asks the questions.
fn measure(
    session: &DaemonSession,
    own: &OwnDaemon,
    (number, model): (usize, &ModelInfo),
    (original, questions): (&str, &[ComparedQuestion]),
    configuration: &str,
    out: &Output,
) -> Result<MeasuredModel, Failure> {
    let copy = own.folder().join(workspace(number));
    let root = text(&copy)?;
    // A workspace cannot override an environment variable.
    let environment = [
        ("HIPPOD_EMBED_ENABLED", "true"),
        ("HIPPOD_EMBED_MODEL", &model.name),
    ];
    let global = Global {
        workspace: vec![copy.clone()],
        agent: session.agent.clone(),
        ..Global::default()
    };
    let user = &session.paths;
    let mut daemon = own.start(user, &format!("home-{number}"), &environment, global, |paths| {
        Trust::of(&user.state, Path::new(original)).keep(&paths.state, &copy)?;
        folder::write(&paths.config_file, configuration.as_bytes())
    })?;
    let begun = Instant::now();
    daemon.call(WorkspaceAddRequest {
        workspace: root.clone(),
    })?;
    let request = WorkspaceSyncRequest {
        workspace: root.clone(),
        wait: true,
        ..WorkspaceSyncRequest::default()
    };
    watched::indexed(&mut daemon, request, out)?;
    let index_s = begun.elapsed().as_secs_f64();
    let status = daemon.call(StatusRequest {})?;
    let indexed = workspace_at(&status, &copy);
    let (chunks, embedded) = indexed.map_or((0, 0), |indexed| (indexed.chunks, indexed.embedded));
    if chunks == 0 {
        let failure = Failure::new(Exit::NotFound, format!("no text to search in {original}"));
        return Err(failure.hint("to see which files are memory files: hippoctl doctor"));
    }
    if embedded < chunks {
        let why = indexed.and_then(|indexed| indexed.why.as_ref());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let what = format!("could not index the workspace with the model {}{why}", model.name);
        return Err(Failure::new(Exit::Failed, what));
    }
    let mut ask = |question: &ComparedQuestion| {
        daemon.call(SearchRequest {
            mode: Some(SearchMode::Hybrid),
            limit: Some(DEPTH),
            record: false,
            log: false,
            ..SearchRequest::new(root.as_str(), question.query.as_str())
        })
    };
    // This answer fills the caches, so that no measurement includes this time.
    questions
        .first()
        .map_or(Ok(()), |question| ask(question).map(drop))?;
    let answers = questions.iter().map(ask).collect::<Result<Vec<_>, _>>()?;
    Ok(MeasuredModel {
        name: model.name.clone(),
        bytes: model.bytes,
        index_s,
        took_ms: answers.iter().map(|answer| answer.took_ms).collect(),
        answers: answers.into_iter().map(|answer| answer.results).collect(),
    })
}

/// Returns the settings of the user for the temporary daemons.
fn settings(session: &mut DaemonSession) -> Result<String, Failure> {
    let home = session.call(StatusRequest {})?.home;
    if absolute(Path::new(&home))? != absolute(&session.paths.state)? {
        let what = format!("the daemon at this socket uses another home folder: {home}");
        let hint = "set HIPPOD_HOME in place of --socket";
        return Err(Failure::new(Exit::Usage, what).hint(hint));
    }
    let file = &session.paths.config_file;
    configuration(&session.paths)
        .map_err(|error| Failure::file("read", file, error).hint("correct the settings, and try again"))
}

/// Returns the settings of the user, without those of the team's server.
fn configuration(user: &Paths) -> io::Result<String> {
    let bytes = match folder::read(&user.config_file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        bytes => bytes?,
    };
    let settings: Result<toml::Table, _> = String::from_utf8_lossy(&bytes).parse();
    let mut settings = settings.map_err(io::Error::other)?;
    settings.remove("share");
    Ok(settings.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_the_server_of_a_team_are_left_out() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::below(home.path());
        assert_eq!(configuration(&paths).unwrap(), "");
        let text = "[search]\nlimit = 5\n\n[share.postgres]\nurl = \"postgres://db/team\"\n";
        std::fs::write(&paths.config_file, text).unwrap();
        assert_eq!(configuration(&paths).unwrap(), "[search]\nlimit = 5\n");
    }
}
