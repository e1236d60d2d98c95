//! Positions of the records in a JSON document.

/// Maximum number of top-level names kept for messages.
const NAMES: usize = 5;

/// Position of a record in the text.
pub(super) struct RecordPosition<'g> {
    /// Name of the enclosing list.
    pub group: &'g str,
    pub start: usize,
    pub end: usize,
}

/// Scanner for records; it counts brackets and skips strings.
pub(super) struct Cutter<'t, 'g> {
    text: &'t str,
    groups: &'t [&'g str],
    at: usize,
    depth: usize,
    in_text: bool,
    /// Depth and name of the current list of records.
    list: Option<(usize, &'g str)>,
    /// Start of the current record.
    begun: Option<usize>,
    /// Last string at the first depth: the key of the following value.
    name: Option<&'g str>,
    /// First names at the first depth.
    pub names: Vec<&'t str>,
    /// Number of lists of records so far.
    pub lists: usize,
}

impl<'t, 'g> Cutter<'t, 'g> {
    pub fn new(text: &'t str, groups: &'t [&'g str]) -> Self {
        Self {
            text,
            groups,
            at: 0,
            depth: 0,
            in_text: false,
            list: None,
            begun: None,
            name: None,
            names: Vec::new(),
            lists: 0,
        }
    }

    /// Returns the next element of a list of records, of any type.
    pub fn next_piece(&mut self) -> Option<RecordPosition<'g>> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            let here = self.at;
            if let Some((depth, group)) = self.list
                && depth == self.depth
            {
                if !matches!(byte, b',' | b']' | b'}') {
                    if !byte.is_ascii_whitespace() {
                        self.begun.get_or_insert(here);
                    }
                } else if let Some(start) = self.begun.take() {
                    let end = here;
                    return Some(RecordPosition { group, start, end });
                }
            }
            self.at += 1;
            match byte {
                b'"' => self.pass_text(here),
                b'[' => {
                    self.depth += 1;
                    self.begin_list();
                }
                b'{' => self.depth += 1,
                b'}' | b']' => {
                    if let Some(piece) = self.close() {
                        return Some(piece);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Returns the start of an unclosed record after the end of the text is reached.
    pub fn cut_off_at(&self) -> Option<usize> {
        let cut_off = self.depth > 0 || self.in_text;
        cut_off.then(|| self.begun.unwrap_or(self.text.len()))
    }

    /// Handles the start of a list, which contains records at the top level or under a known name.
    fn begin_list(&mut self) {
        if self.list.is_some() {
            return;
        }
        let group = match self.depth {
            1 => Some(""),
            2 => self.name,
            _ => None,
        };
        if let Some(group) = group {
            self.lists += 1;
            self.list = Some((self.depth, group));
        }
    }

    /// Handles a closing bracket of a record, the list, or an inner or outer value.
    fn close(&mut self) -> Option<RecordPosition<'g>> {
        self.depth = self.depth.saturating_sub(1);
        let (depth, group) = self.list?;
        if self.depth < depth {
            self.list = None;
        }
        if self.depth != depth {
            return None;
        }
        let (start, end) = (self.begun.take()?, self.at);
        Some(RecordPosition { group, start, end })
    }

    /// Moves past the string that begins at `start`.
    fn pass_text(&mut self, start: usize) {
        let bytes = self.text.as_bytes();
        self.in_text = true;
        while let Some(rest) = bytes.get(self.at..)
            && let Some(next) = memchr::memchr2(b'"', b'\\', rest)
        {
            self.at += next + 1;
            if bytes[self.at - 1] == b'"' {
                self.in_text = false;
                break;
            }
            self.at += 1;
        }
        if self.in_text {
            self.at = bytes.len();
        } else if self.depth == 1 && self.list.is_none() {
            self.note_name(start);
        }
    }

    fn note_name(&mut self, start: usize) {
        let said = self.text.get(start + 1..self.at - 1);
        self.name = self.groups.iter().find(|name| Some(**name) == said).copied();
        let is_name = self.text[self.at..].trim_start().starts_with(':');
        if let Some(said) = said.filter(|_| is_name && self.names.len() < NAMES) {
            self.names.push(said);
        }
    }
}
