//! Path and date filters of a search.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use hippo_proto::{RpcError, SearchRequest};
use hippo_types::scope::Viewer;
use hippo_types::time::Date;

use crate::files;
use crate::view::SearchSnapshot;

/// The filters of one request, and its reader. They are applied to candidates before the ranking, so that excluded chunks do not
/// displace others.
#[derive(Debug, Default)]
pub struct Filter {
    /// The reader, who gets only texts that it may see.
    pub viewer: Viewer,
    path: Option<GlobMatcher>,
    since: Option<Date>,
    until: Option<Date>,
}

impl Filter {
    /// Parses the filters of a request.
    ///
    /// # Errors
    /// Returns `bad-request` for an invalid glob, date or date range.
    pub fn new(viewer: Viewer, request: &SearchRequest, root: &Path) -> Result<Self, RpcError> {
        let path = match &request.path {
            Some(glob) => {
                let matcher = GlobBuilder::new(&relative(glob, root))
                    .literal_separator(true)
                    .build();
                let matcher = matcher.map_err(|error| {
                    RpcError::bad_request(format!("not a valid path filter: {error}"))
                        .hint("give a glob such as memory/**/*.md, relative to the workspace")
                })?;
                Some(matcher.compile_matcher())
            }
            None => None,
        };
        let filter = Self {
            viewer,
            path,
            since: date(request.since.as_deref())?,
            until: date(request.until.as_deref())?,
        };
        if filter
            .since
            .zip(filter.until)
            .is_some_and(|(since, until)| since > until)
        {
            return Err(RpcError::bad_request("\"since\" is later than \"until\"").hint("swap the two dates"));
        }
        Ok(filter)
    }

    /// Returns whether the snapshot contains documents that the reader may not see.
    pub fn hides_some(&self, snapshot: &SearchSnapshot) -> bool {
        snapshot.scopes.values().any(|scope| !self.viewer.sees(scope))
    }

    /// Returns whether any filter is set. The reader does not count.
    pub fn is_set(&self) -> bool {
        self.path.is_some() || self.has_dates()
    }

    fn has_dates(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// Returns whether the reader may see a chunk, and the chunk passes the filters. A chunk without a date passes no date filter.
    pub fn passes(&self, snapshot: &SearchSnapshot, chunk: u32) -> bool {
        let Some(place) = snapshot.corpus.place(chunk) else {
            return false;
        };
        if !snapshot.scopes.is_empty() && !self.viewer.sees(snapshot.scope(place.document)) {
            return false;
        }
        if let Some(glob) = &self.path {
            let document = snapshot.corpus.document(place.document);
            if !document.is_some_and(|document| glob.is_match(&*document.path)) {
                return false;
            }
        }
        !self.has_dates() || self.admits(snapshot.corpus.date(place))
    }

    /// Returns whether the path of a text from outside the workspace passes the path filter.
    pub fn admits_path(&self, path: &str) -> bool {
        self.path.as_ref().is_none_or(|glob| glob.is_match(path))
    }

    /// Returns the filter for another workspace, which has other paths and agents: only the dates stay.
    pub fn of_another_workspace(&self) -> Self {
        Self {
            since: self.since,
            until: self.until,
            ..Self::default()
        }
    }

    /// Returns whether a text with this date passes the date filters.
    pub fn admits(&self, date: Option<Date>) -> bool {
        if !self.has_dates() {
            return true;
        }
        date.is_some_and(|date| {
            self.since.is_none_or(|since| date >= since) && self.until.is_none_or(|until| date <= until)
        })
    }
}

/// Converts a path filter to a glob relative to the root. The filter can be an absolute glob, or a folder.
fn relative(glob: &str, root: &Path) -> String {
    let below = files::below(root, Path::new(glob));
    let mut glob = below.as_deref().unwrap_or(glob);
    while let Some(rest) = glob.strip_prefix("./") {
        glob = rest;
    }
    let folder = glob.trim_end_matches('/');
    if folder.is_empty() || folder == "." {
        "**".to_owned()
    } else if hippo_fs::is_folder(root, folder) {
        format!("{}/**", globset::escape(folder))
    } else {
        folder.to_owned()
    }
}

fn date(text: Option<&str>) -> Result<Option<Date>, RpcError> {
    text.map(|text| {
        text.parse()
            .map_err(|_| RpcError::bad_request(format!("not a date: {text}")).hint("write it as YYYY-MM-DD"))
    })
    .transpose()
}
