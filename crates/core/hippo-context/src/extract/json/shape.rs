//! Fields of a JSON value: paths, counts and sample values.

use std::collections::BTreeMap;

use super::tokens::{JsonToken, JsonTokens};

/// Maximum number of paths that are recorded. The values of further fields are counted at the path of their parent.
const PLACES: usize = 4_000;
/// Maximum number of fields that are recorded directly below one path.
const NAMES: usize = 400;
/// Maximum depth of recorded paths. Deeper levels only count toward [`Shape::depth`].
const LEVELS: usize = 32;
/// Maximum number of distinct values that are kept for a path.
const VALUES: usize = 32;
/// Maximum bytes of a kept value; longer values are left out.
const VALUE: usize = 300;

/// Structure of a JSON text: the values at each path. All elements of a list share one path.
#[derive(Debug)]
pub(super) struct Shape<'t> {
    /// One item (a place) for each path. The first item is the top-level value; each item follows its parent.
    pub places: Vec<PathValues<'t>>,
    /// Number of top-level values. More than one value indicates JSON Lines.
    pub values: usize,
    /// Maximum depth of nesting in the text.
    pub depth: usize,
    /// Number of unclosed levels. If it is not 0, the content is truncated.
    pub open: usize,
}

/// The values at one path.
#[derive(Debug, Default)]
pub(super) struct PathValues<'t> {
    /// Name of the field; empty for the elements of a list.
    pub name: &'t str,
    /// Index in [`Shape::places`] of the parent path.
    pub parent: usize,
    /// Indices in [`Shape::places`] of the child paths, in order of first appearance.
    pub kids: Vec<usize>,
    names: BTreeMap<&'t str, usize>,
    /// Number of values below this path whose field is not recorded because of [`PLACES`] or [`NAMES`].
    pub further: usize,
    /// Number of occurrences.
    pub seen: usize,
    /// Number of occurrences as an object.
    pub objects: usize,
    /// Number of occurrences as a list.
    pub lists: usize,
    /// Number of occurrences as a string.
    pub texts: usize,
    /// Number of occurrences as a number.
    pub numbers: usize,
    /// Smallest and largest number, as written.
    pub range: Option<(&'t str, &'t str)>,
    bounds: (f64, f64),
    /// The first distinct strings, numbers and literals, as written.
    pub scalars: Vec<&'t str>,
    /// True if there were more values than `scalars` can hold.
    pub overflow: bool,
}

impl<'t> Shape<'t> {
    pub fn of(text: &'t str) -> Self {
        let mut shape = Self {
            places: vec![PathValues::default()],
            values: 0,
            depth: 0,
            open: 0,
        };
        // For each open object or list: the index of its place, and true for a list.
        let mut stack: Vec<(usize, bool)> = Vec::new();
        let mut deeper = 0_usize;
        let mut key = None;
        for token in JsonTokens::new(text) {
            if deeper > 0 {
                match token {
                    JsonToken::Object | JsonToken::Array => deeper += 1,
                    JsonToken::Close => deeper -= 1,
                    _ => {}
                }
                shape.depth = shape.depth.max(LEVELS + deeper);
                continue;
            }
            match token {
                JsonToken::Key(name) => key = Some(name),
                JsonToken::Close => {
                    stack.pop();
                    key = None;
                }
                JsonToken::Object | JsonToken::Array if stack.len() >= LEVELS => deeper = 1,
                JsonToken::Junk => key = None,
                _ => {
                    if stack.is_empty() {
                        shape.values += 1;
                    }
                    let at = shape.place(stack.last().copied(), key.take());
                    shape.count(at, token);
                    if matches!(token, JsonToken::Object | JsonToken::Array) {
                        stack.push((at, token == JsonToken::Array));
                        shape.depth = shape.depth.max(stack.len());
                    }
                }
            }
        }
        shape.open = stack.len() + deeper;
        shape
    }

    /// Returns the index of the place for the next value. `open` is the innermost open object or list.
    fn place(&mut self, open: Option<(usize, bool)>, key: Option<&'t str>) -> usize {
        let Some((parent, list)) = open else { return 0 };
        let name = if list { "" } else { key.unwrap_or_default() };
        let full = self.places.len() >= PLACES;
        let next = self.places.len();
        let place = &mut self.places[parent];
        if let Some(&known) = place.names.get(name) {
            return known;
        }
        if full || place.names.len() >= NAMES {
            place.further += 1;
            return parent;
        }
        place.names.insert(name, next);
        place.kids.push(next);
        self.places.push(PathValues {
            name,
            parent,
            ..PathValues::default()
        });
        next
    }

    fn count(&mut self, at: usize, token: JsonToken<'t>) {
        let place = &mut self.places[at];
        place.seen += 1;
        match token {
            JsonToken::Object => place.objects += 1,
            JsonToken::Array => place.lists += 1,
            JsonToken::Text(_) => place.texts += 1,
            JsonToken::Number(number) => {
                place.numbers += 1;
                place.bound(number);
            }
            _ => {}
        }
        let written = match token {
            JsonToken::Text(written) | JsonToken::Number(written) | JsonToken::Literal(written) => written,
            _ => return,
        };
        if written.is_empty() || written.len() > VALUE {
            return;
        }
        if place.scalars.len() >= VALUES {
            place.overflow = true;
        } else if !place.scalars.contains(&written) {
            place.scalars.push(written);
        }
    }

    /// Returns the field with this name below a place.
    pub fn kid(&self, place: &PathValues<'t>, name: &str) -> Option<&PathValues<'t>> {
        Some(&self.places[*place.names.get(name)?])
    }

    /// Returns true if the place is a list element or inside one.
    pub fn is_repeated(&self, mut at: usize) -> bool {
        while at != 0 && !self.places[at].name.is_empty() {
            at = self.places[at].parent;
        }
        at != 0 || self.values > 1
    }

    /// Returns the number of objects and lists that enclose the place.
    pub fn level(&self, mut at: usize) -> usize {
        let mut level = 0;
        while at != 0 {
            at = self.places[at].parent;
            level += 1;
        }
        level
    }
}

impl<'t> PathValues<'t> {
    fn bound(&mut self, written: &'t str) {
        let Ok(number) = written.parse::<f64>() else {
            return;
        };
        match &mut self.range {
            None => {
                self.range = Some((written, written));
                self.bounds = (number, number);
            }
            Some((least, most)) => {
                if number < self.bounds.0 {
                    (*least, self.bounds.0) = (written, number);
                }
                if number > self.bounds.1 {
                    (*most, self.bounds.1) = (written, number);
                }
            }
        }
    }

    /// Returns true if most values are distinct.
    pub fn is_distinct(&self) -> bool {
        let scalars = self.texts + self.numbers;
        scalars > 0 && (self.overflow || self.scalars.len() * 10 >= scalars * 6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_all_list_elements_are_counted_together() {
        let shape = Shape::of(r#"[{"id":1,"tags":["a","b"]},{"id":2,"tags":[]},{"id":-3.5}]"#);
        let item = shape.kid(&shape.places[0], "").unwrap();
        assert_eq!((item.seen, item.objects, item.kids.len()), (3, 3, 2));
        let id = shape.kid(item, "id").unwrap();
        assert_eq!((id.numbers, id.range), (3, Some(("-3.5", "2"))));
        assert_eq!(shape.kid(item, "tags").unwrap().lists, 2);
        assert_eq!((shape.values, shape.depth, shape.open), (1, 3, 0));
    }

    #[test]
    fn memory_is_bounded_for_deep_nesting_and_many_names() {
        let deep = "[{\"a\":".repeat(200_000);
        let shape = Shape::of(&deep);
        assert_eq!(shape.depth, 400_000);
        assert!(shape.places.len() <= LEVELS + 1);
        let wide: String = (0..50_000).map(|n| format!("\"k{n}\":{n},")).collect();
        let wide = format!("{{{wide}}}");
        let shape = Shape::of(&wide);
        assert_eq!(shape.places[0].kids.len(), NAMES);
        assert_eq!(shape.places[0].further, 50_000 - NAMES);
    }
}
