//! Drawing of the interactive search.

use hippo_proto::SearchHit;
use ratatui::Frame;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Finder;
use crate::live::{Theme, put, rule, safe_line, span};
use crate::render::{lines, plural};

/// The mark before the question.
const PROMPT: &str = "❯ ";
/// Width below which the scores are left out.
const NARROW: u16 = 60;

/// Draws the question, the results, and the passage of the selected result.
pub fn draw(frame: &mut Frame<'_>, finder: &Finder, theme: Theme) {
    let area = frame.area();
    let (width, height) = (area.width, area.height);
    let room = width.saturating_sub(3) as usize;
    let before = safe_line(finder.field.before());
    let hidden = before.width().saturating_sub(room);
    let typed: String = skip(&safe_line(finder.field.text()), hidden).to_owned();
    let prompt = Line::from(vec![
        Span::styled(PROMPT, theme.path().patch(theme.strong())),
        Span::raw(typed),
    ]);
    put(frame, 0, &prompt);
    let column = PROMPT.width() + before.width() - hidden;
    frame.set_cursor_position((u16::try_from(column).unwrap_or(0), 0));
    put(frame, 1, &state(finder, theme));
    let hits = finder.found.as_ref().map_or(&[][..], |found| &found.results);
    let most = (height.saturating_sub(4) * 2 / 5).clamp(1, 12) as usize;
    let first = finder.selected.saturating_sub(most - 1);
    let mut y = 2;
    for (at, hit) in hits.iter().enumerate().skip(first).take(most) {
        put(frame, y, &row(hit, finder, at == finder.selected, width, theme));
        y += 1;
    }
    if let Some(hit) = finder.hit() {
        put(frame, y, &title(hit, width, theme));
        for line in preview(finder, hit, width, theme) {
            y += 1;
            if y + 1 >= height {
                break;
            }
            put(frame, y, &line);
        }
    }
    let keys = match width {
        ..NARROW => "Enter open  ^Y copy  ↑↓  Esc leave",
        _ => "Enter open in the editor   Ctrl-Y copy the pointer   ↑ ↓ move   Esc leave",
    };
    if height > 4 {
        put(frame, height - 1, &Line::styled(keys, theme.quiet()));
    }
}

/// Returns the pointer to a result, as `hippoctl get` accepts it.
pub fn pointer(hit: &SearchHit) -> String {
    format!("{}:{}", hit.path, lines(hit.start_line, hit.end_line))
}

/// Returns the line below the question: a message, or the number of results.
fn state(finder: &Finder, theme: Theme) -> Line<'static> {
    if finder.is_lost {
        return Line::styled("the daemon does not answer: reconnecting …", theme.bad());
    }
    if !finder.note.is_empty() {
        return Line::from(span(&finder.note, theme.strong()));
    }
    let Some(found) = &finder.found else {
        return match finder.field.text().trim().is_empty() {
            true => Line::from(span(
                &format!("type a question about {}", finder.request.workspace),
                theme.quiet(),
            )),
            false => Line::styled("searching …", theme.quiet()),
        };
    };
    let mut text = match found.results.len() {
        0 => "nothing found".to_owned(),
        count => plural(count as u64, "result"),
    };
    if found.nothing_relevant {
        text += ", all weak";
    }
    if let Some(degraded) = &found.index.degraded {
        text += &format!(" · degraded: {degraded}");
    }
    let took = format!(" · {:.0} ms", found.took_ms.ceil());
    Line::from(span(&(text + &took), theme.quiet()))
}

/// Returns the line of a result: its place and its best line.
fn row(hit: &SearchHit, finder: &Finder, is_selected: bool, width: u16, theme: Theme) -> Line<'static> {
    let place = safe_line(&format!("{}:{}", finder.view.path(&hit.path), hit.start_line));
    let most = (width / 2) as usize;
    let place = match place.width().saturating_sub(most) {
        0 => place,
        over => format!("…{}", skip(&place, over + 1)),
    };
    let mut spans = vec![Span::styled(
        if is_selected { "▌" } else { " " },
        theme.path().patch(theme.strong()),
    )];
    if width >= NARROW {
        spans.push(Span::styled(format!("{:.2} ", hit.score), theme.quiet()));
    }
    spans.extend([Span::styled(place, theme.path()), Span::raw("  ")]);
    let text = hit.text.replace("\r\n", "\n");
    let (all, best) = finder.view.best_line(&text);
    let best = safe_line(all.get(best).unwrap_or(&"").trim());
    spans.extend(marked(&best, finder, Style::new(), theme));
    let style = match is_selected {
        true => Style::new().add_modifier(Modifier::BOLD),
        false => Style::new(),
    };
    Line::from(spans).style(style)
}

/// Returns the line above the preview: the pointer and the headings of the passage.
fn title(hit: &SearchHit, width: u16, theme: Theme) -> Line<'static> {
    let mut title = vec![span(&pointer(hit), theme.path())];
    if let Some(newer) = &hit.superseded_by {
        title.push(span(&format!(" superseded by {newer}"), theme.bad()));
    } else if !hit.heading.is_empty() {
        title.push(span(&format!(" {}", hit.heading.join(" › ")), theme.quiet()));
    }
    rule(title, width, theme)
}

/// Returns the lines of the file around a passage, with their numbers.
fn preview(finder: &Finder, hit: &SearchHit, width: u16, theme: Theme) -> Vec<Line<'static>> {
    let Some(preview) = finder.preview.as_ref().filter(|it| it.path == hit.path) else {
        return Vec::new();
    };
    let digits = preview.end_line.to_string().len().max(3);
    let room = (width as usize).saturating_sub(digits + 2).max(8);
    let mut shown = Vec::new();
    for (number, text) in (preview.start_line..).zip(preview.text.lines()) {
        let is_inside = (hit.start_line..=hit.end_line).contains(&number);
        let style = if is_inside { Style::new() } else { theme.quiet() };
        let text = safe_line(text.trim_end());
        for (at, part) in wrap(&text, room).into_iter().enumerate() {
            let gutter = match at {
                0 => format!("{number:>digits$}  "),
                _ => " ".repeat(digits + 2),
            };
            let mut spans = vec![Span::styled(gutter, theme.quiet())];
            match is_inside {
                true => spans.extend(marked(part, finder, style, theme)),
                false => spans.push(Span::styled(part.to_owned(), style)),
            }
            shown.push(Line::from(spans));
        }
    }
    shown
}

/// Returns the pieces of a text, with the words of the question marked.
fn marked<'a>(
    text: &'a str,
    finder: &'a Finder,
    style: Style,
    theme: Theme,
) -> impl Iterator<Item = Span<'static>> + 'a {
    let pieces = finder.view.pieces(text).into_iter();
    pieces.map(move |(piece, is_match)| {
        let style = match is_match {
            true => theme.good().patch(theme.strong()),
            false => style,
        };
        Span::styled(piece.to_owned(), style)
    })
}

/// Returns the rest of a text after a number of columns.
fn skip(text: &str, columns: usize) -> &str {
    let mut seen = 0;
    let rest = text.char_indices().find(|(_, letter)| {
        let is_after = seen >= columns;
        seen += letter.width().unwrap_or(0);
        is_after
    });
    rest.map_or("", |(at, _)| &text[at..])
}

/// Breaks a text into lines of at most `room` columns, at spaces if possible.
fn wrap(text: &str, room: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while rest.width() > room {
        let end = rest.len() - skip(rest, room).len();
        // A wide character may begin in the last column.
        let fits = rest[..end].width() <= room;
        let end = match fits {
            true => end,
            false => rest[..end].char_indices().next_back().map_or(end, |(at, _)| at),
        };
        let is_between = rest[end..].starts_with(' ') || rest[..end].ends_with(' ');
        let space = rest[..end].rfind(' ').filter(|at| *at > 0 && !is_between);
        let (line, after) = rest.split_at(space.unwrap_or(end));
        lines.push(line.trim_end());
        rest = after.trim_start();
    }
    lines.push(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_spaces() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("日本語のテキスト", 5), ["日本", "語の", "テキ", "スト"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(skip("日本語", 2), "本語");
    }
}
