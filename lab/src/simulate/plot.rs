//! Line plots as SVG.

use std::fmt::Write;

use hippo_text::text::escape_xml;

/// A panel with lines.
pub struct Panel<'a> {
    /// Text above the panel.
    pub title: String,
    /// Label of the horizontal axis, below the panel.
    pub across: &'a str,
    /// Upper end of the vertical axis; the lower end is 0.
    pub top: f64,
    /// Function that formats the numbers on the vertical axis.
    pub scale: fn(f64) -> String,
    /// Upper end of the horizontal axis; the lower end is 0.
    pub end: f64,
    /// Name and points of each line, in the order of the colours.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

/// Colours that people with any colour vision can distinguish (Okabe and Ito 2008).
const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9", "#e69f00",
];
/// Size of a panel.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 220.0;
/// Margins of a panel.
const LEFT: f64 = 48.0;
const TOP: f64 = 30.0;
const BELOW: f64 = 42.0;
const ROW: f64 = 16.0;

/// Draws the panels in one row, with one legend, as SVG.
pub fn figure(panels: &[Panel<'_>]) -> String {
    grid(panels, panels.len())
}

/// Draws the panels in rows of `columns`, with one legend, as SVG.
pub fn grid(panels: &[Panel<'_>], columns: usize) -> String {
    let columns = columns.clamp(1, panels.len().max(1));
    let step = WIDTH + LEFT + 16.0;
    let down = TOP + HEIGHT + BELOW;
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in panels.iter().flat_map(|panel| &panel.lines) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let legend = down * panels.len().div_ceil(columns) as f64;
    let width = step * columns as f64 + 16.0;
    let height = legend + ROW * names.len() as f64 + 8.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let colour = |name: &str| {
        let at = names.iter().position(|known| *known == name).unwrap_or(0);
        COLOURS[at % COLOURS.len()]
    };
    for (at, panel) in panels.iter().enumerate() {
        let (row, column) = (at / columns, at % columns);
        let place = (LEFT + step * column as f64, down * row as f64);
        draw(&mut svg, panel, place, &colour);
    }
    for (at, name) in names.iter().enumerate() {
        let y = legend + ROW * at as f64;
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT:.0} {y:.0}h22\" stroke=\"{}\" stroke-width=\"2\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            colour(name),
            LEFT + 28.0,
            y + 4.0,
            escape_xml(name)
        );
    }
    svg + "</svg>\n"
}

fn draw(
    svg: &mut String,
    panel: &Panel<'_>,
    (left, above): (f64, f64),
    colour: &dyn Fn(&str) -> &'static str,
) {
    let bottom = above + TOP + HEIGHT;
    let x = |value: f64| left + value / panel.end * WIDTH;
    let y = |value: f64| bottom - (value / panel.top).clamp(0.0, 1.0) * HEIGHT;
    let _ = writeln!(
        svg,
        "<text x=\"{left:.0}\" y=\"{:.0}\" font-weight=\"bold\">{}</text>",
        above + 18.0,
        escape_xml(&panel.title)
    );
    for tick in 0..=4 {
        let value = panel.top * f64::from(tick) / 4.0;
        let _ = writeln!(
            svg,
            "<path d=\"M{left:.0} {0:.1}h{WIDTH:.0}\" stroke=\"#dddddd\"/>\
             <text x=\"{1:.0}\" y=\"{2:.1}\" text-anchor=\"end\">{3}</text>",
            y(value),
            left - 5.0,
            y(value) + 4.0,
            (panel.scale)(value)
        );
        let across = panel.end * f64::from(tick) / 4.0;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{across:.0}</text>",
            x(across),
            bottom + 14.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
        left + WIDTH / 2.0,
        bottom + 28.0,
        escape_xml(panel.across)
    );
    for (name, points) in &panel.lines {
        let mut path = String::new();
        for (at, (across, up)) in points.iter().enumerate() {
            let mark = if at == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{mark}{:.1} {:.1}", x(*across), y(*up));
        }
        let _ = writeln!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>",
            colour(name)
        );
    }
}
