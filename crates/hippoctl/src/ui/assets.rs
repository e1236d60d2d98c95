//! Files of the page, embedded in the program.

/// Returns the content and the media type of a file of the page.
pub fn find(path: &str) -> Option<(&'static str, &'static str)> {
    macro_rules! files {
        ($($path:literal => $file:literal, $media:literal;)*) => {
            match path {
                $($path => Some((include_str!(concat!("../../page/", $file)), $media)),)*
                _ => None,
            }
        };
    }
    files! {
        "/" => "index.html", "text/html";
        "/style.css" => "style.css", "text/css";
        "/icon.svg" => "icon.svg", "image/svg+xml";
        "/app.js" => "app.js", "text/javascript";
        "/lib.js" => "lib.js", "text/javascript";
        "/search.js" => "search.js", "text/javascript";
        "/graph.js" => "graph.js", "text/javascript";
        "/map.js" => "map.js", "text/javascript";
        "/pages.js" => "pages.js", "text/javascript";
        "/time.js" => "time.js", "text/javascript";
    }
}
