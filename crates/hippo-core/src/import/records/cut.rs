//! Where does each record of a JSON document stand, without reading what it says?

/// Names of a document that are kept to be told.
const NAMES: usize = 5;

/// Where a record stands in the text.
pub(super) struct Piece<'g> {
    /// The name of its list.
    pub group: &'g str,
    pub start: usize,
    pub end: usize,
}

/// Finds the records: brackets are counted, texts are skipped.
pub(super) struct Cutter<'t, 'g> {
    text: &'t str,
    groups: &'t [&'g str],
    at: usize,
    depth: usize,
    in_text: bool,
    /// Depth of the list whose members are records now, and its name.
    list: Option<(usize, &'g str)>,
    /// Where the record begins that is being passed.
    begun: Option<usize>,
    /// The last text at the first depth: the name of what follows.
    name: Option<&'g str>,
    /// The first names at the first depth.
    pub names: Vec<&'t str>,
    /// Lists of records so far.
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

    /// The next record, which may be anything that stands in a list of them.
    pub fn next_piece(&mut self) -> Option<Piece<'g>> {
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
                    return Some(Piece { group, start, end });
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

    /// Where what is not closed begins, once the end is reached.
    pub fn cut_off_at(&self) -> Option<usize> {
        let cut_off = self.depth > 0 || self.in_text;
        cut_off.then(|| self.begun.unwrap_or(self.text.len()))
    }

    /// A list begins: of records, where it stands at the top or under a known name.
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

    /// Something is closed: a record, the list of them, or what is within or around them.
    fn close(&mut self) -> Option<Piece<'g>> {
        self.depth = self.depth.saturating_sub(1);
        let (depth, group) = self.list?;
        if self.depth < depth {
            self.list = None;
        }
        if self.depth != depth {
            return None;
        }
        let (start, end) = (self.begun.take()?, self.at);
        Some(Piece { group, start, end })
    }

    /// Goes behind the text that begins at `start`.
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
