//! Which columns does a table have, how many rows, and between which bounds?

use super::Kind;
use super::draft::Draft;
use super::lines::Text;
use super::words::counted;
use crate::text::clip;

/// Columns that are looked at.
const COLUMNS: usize = 60;
/// Cells of a row that are read; a line of more is hardly a row.
const CELLS: usize = 1_000;
/// Different values of a column that are kept.
const VALUES: usize = 40;
/// Rows that decide whether a text is a table.
const SAMPLE: usize = 12;

#[derive(Default)]
struct Column {
    name: String,
    numbers: usize,
    texts: usize,
    range: Option<(f64, f64)>,
    values: Vec<String>,
    more: bool,
}

/// The mark between the cells of a text whose rows all have as many.
pub(super) fn separator(text: &Text<'_>) -> Option<char> {
    let rows = text.head(SAMPLE);
    if rows.len() < 3 || text.is_numbered() {
        return None;
    }
    ['\t', ',', ';', '|'].into_iter().find(|&mark| {
        let counts: Vec<usize> = rows.iter().map(|row| cells(row, mark).len()).collect();
        let (least, most) = (counts.iter().min().copied(), counts.iter().max().copied());
        let header = rows.first().is_some_and(|row| {
            let names = cells(row, mark);
            // The names of columns are short; prose with commas and code with semicolons are not.
            names
                .iter()
                .all(|name| name.len() < 40 && !name.contains(['{', '(', '=']))
                && !row.trim_start().starts_with('|')
        });
        let wanted = if mark == '\t' { 2 } else { 3 };
        header && least == most && least.is_some_and(|least| least >= wanted)
    })
}

pub(super) fn draft(text: &Text<'_>) -> Option<Draft> {
    let mark = separator(text)?;
    let mut lines = text
        .lines()
        .map(|line| line.text)
        .filter(|line| !line.trim().is_empty());
    let head = cells(lines.next()?, mark);
    let named = !head.iter().any(|cell| cell.trim().parse::<f64>().is_ok());
    let mut columns: Vec<Column> = head
        .iter()
        .take(COLUMNS)
        .enumerate()
        .map(|(at, cell)| Column {
            name: if named {
                clip(cell, 60)
            } else {
                format!("column {}", at + 1)
            },
            ..Column::default()
        })
        .collect();
    let mut rows = 0_usize;
    let mut take = |row: &[String]| {
        rows += 1;
        columns
            .iter_mut()
            .zip(row)
            .for_each(|(column, cell)| column.take(cell));
    };
    if !named {
        take(&head);
    }
    lines.for_each(|line| take(&cells(line, mark)));
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let more = head.len().saturating_sub(columns.len());
    let mut said = format!(
        "{}, {}: {}",
        counted(rows, "row"),
        counted(head.len(), "column"),
        names.join(", ")
    );
    if more > 0 {
        said.push_str(&format!(" and {more} more"));
    }
    let mut draft = Draft::new(Kind::Table, said);
    // The first column of different values is what a row is asked for by.
    if let Some(column) = columns.iter().find(|column| column.is_key(rows)) {
        draft.list(&column.name, column.values.iter().cloned(), 4);
    }
    let ranges = columns
        .iter()
        .filter(|column| column.numbers > column.texts)
        .filter_map(|column| {
            let (least, most) = column.range?;
            Some((column.name.clone(), format!("{least}–{most}")))
        });
    draft.pairs("range", ranges, 3);
    let choices = columns
        .iter()
        .filter(|column| column.texts > 1 && !column.more && (1..=6).contains(&column.values.len()));
    draft.pairs(
        "values",
        choices.map(|column| (column.name.clone(), clip(&column.values.join("|"), 80))),
        2,
    );
    Some(draft)
}

impl Column {
    fn take(&mut self, cell: &str) {
        let cell = cell.trim();
        if cell.is_empty() {
            return;
        }
        match cell.parse::<f64>().ok().filter(|number| number.is_finite()) {
            Some(number) => {
                self.numbers += 1;
                let (least, most) = self.range.unwrap_or((number, number));
                self.range = Some((least.min(number), most.max(number)));
            }
            None => self.texts += 1,
        }
        if self.values.len() >= VALUES {
            self.more = true;
        } else if !self.values.iter().any(|known| known == cell) {
            self.values.push(clip(cell, 80));
        }
    }

    fn is_key(&self, rows: usize) -> bool {
        self.more || self.values.len() * 10 > rows * 9
    }
}

/// The cells of a row; a mark within quotes divides nothing.
fn cells(row: &str, mark: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut chars = row.trim_end_matches('\r').chars().peekable();
    while let Some(c) = chars.next() {
        let Some(cell) = cells.last_mut() else { break };
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => quoted = !quoted,
            c if c == mark && !quoted => {
                if cells.len() == CELLS {
                    break;
                }
                cells.push(String::new());
            }
            c => cell.push(c),
        }
    }
    cells
}
