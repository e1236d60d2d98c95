//! Rows of tables as statements.

use super::line::unmarked;

/// Maximum number of columns of a table that contains statements. A table with more columns is data.
const MOST_COLUMNS: usize = 6;

/// Returns the rows of a table as `name: value`, each with its line number from 0. In a row with more than two columns,
/// each value follows the title of its column. Omits the header, and rows without a name or a value.
pub fn read_rows(table: &str) -> Vec<(u32, String)> {
    let lines: Vec<&str> = table.lines().collect();
    let has_header = lines.get(1).is_some_and(|line| is_rule(line));
    let header = if has_header { cells(lines[0]) } else { Vec::new() };
    let rows = (0..).zip(&lines).skip(if has_header { 2 } else { 0 });
    rows.filter_map(|(number, row)| Some((number, statement(&header, &cells(row))?)))
        .collect()
}

fn statement(header: &[String], row: &[String]) -> Option<String> {
    let (name, values) = row.split_first()?;
    if row.len() > MOST_COLUMNS || !name.contains(char::is_alphabetic) {
        return None;
    }
    let told = |(column, value): (usize, &String)| {
        if !value.contains(char::is_alphanumeric) {
            return None;
        }
        let title = header
            .get(column + 1)
            .filter(|title| values.len() > 1 && !value.contains(*title));
        Some(title.map_or_else(|| value.clone(), |title| format!("{title} {value}")))
    };
    let told: Vec<String> = values.iter().enumerate().filter_map(told).collect();
    (!told.is_empty()).then(|| format!("{name}: {}", told.join(", ")))
}

/// Returns `true` for the delimiter line between the header and the rows of a table.
pub fn is_rule(line: &str) -> bool {
    line.contains('-') && line.trim().bytes().all(|byte| b"|-: ".contains(&byte))
}

/// Splits a row at the bars that are not escaped.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row).replace("\\|", "\u{0}");
    row.split('|')
        .map(|cell| unmarked(&cell.replace('\u{0}', "/")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_name_with_its_values() {
        let rows = |text| -> Vec<String> { read_rows(text).into_iter().map(|(_, row)| row).collect() };
        let jobs =
            "| Job | Schedule | State |\n|---|:-:|---|\n| `post` | 0 9,13 | **on** |\n| poll | - | off |\n";
        assert_eq!(rows(jobs), ["post: Schedule 0 9,13, State on", "poll: State off"]);
        assert_eq!(
            rows("| Disk | 4 % |\n| | 3 |\n| 7 | 3 |\n| RAM | |\n"),
            ["Disk: 4 %"]
        );
        assert_eq!(rows("a \\| b | c\n"), ["a / b: c"]);
        let data = format!("| {} |\n", ["a"; 7].join(" | "));
        assert!(rows(&data).is_empty() && rows("").is_empty());
        assert_eq!(read_rows(jobs)[0].0, 2);
    }
}
