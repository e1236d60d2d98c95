//! Installation of the runtime library and the model into the cache.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use hippo_embed::acquire::{self, AcquireError, Layout, Model, ModelManifest};
use hippo_proto::Paths;

use crate::house::ProjectDirs;
use crate::terminal::{self, Meter, say};

/// Installs the missing files into the cache, and returns the folder that contains `models/` and `runtime/`.
///
/// # Errors
/// Fails if a file cannot be downloaded or installed.
pub fn run(house: &ProjectDirs) -> Result<PathBuf> {
    let cache = cache(&house.target, |name| std::env::var_os(name))?;
    let home = cache.join("home");
    let manifest = ModelManifest::built_in().map_err(explain)?;
    let layout = Layout::in_home(&home, cache.join("wheels"));
    let mut models: Vec<&Model> = manifest.models.iter().collect();
    // The default model is computed from the weights of the last one.
    models.reverse();
    let complete = models
        .iter()
        .all(|model| model.locate(&layout, &manifest).is_ok());
    if complete {
        say(format_args!(
            "the models and the runtime library are in the cache: {}",
            cache.display()
        ));
        return Ok(home);
    }
    say(format_args!(
        "downloading the models and the runtime library into the cache: {}",
        cache.display()
    ));
    let begun = Instant::now();
    let mut meter = Meter::new();
    let cancel = AtomicBool::new(false);
    let pulled = models.iter().try_for_each(|model| {
        let options = acquire::PullOptions {
            model: Some(&model.name),
            ..acquire::PullOptions::default()
        };
        let show = &mut |progress: acquire::PullProgress<'_>| meter.show(progress);
        acquire::pull(&layout, &manifest, options, show, &cancel).map(drop)
    });
    drop(meter);
    pulled.map_err(explain)?;
    say(format_args!(
        "downloaded the models and the runtime library in {}",
        terminal::duration(begun.elapsed())
    ));
    Ok(home)
}

/// Returns the cache folder of this user. If the user has no known home, returns a folder below the build folder.
fn cache(target: &Path, variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Result<PathBuf> {
    let home = Paths::resolve(|name| variable(name).filter(|_| name != "HIPPOD_HOME"));
    let folder = home.map_or_else(|_| target.join("hippod-cache"), |paths| paths.cache);
    std::path::absolute(&folder).with_context(|| format!("could not find the cache: {}", folder.display()))
}

fn explain(error: AcquireError) -> anyhow::Error {
    match error.hint() {
        Some(hint) => anyhow!("{error}\nhint: {hint}"),
        None => anyhow!("{error}"),
    }
}
