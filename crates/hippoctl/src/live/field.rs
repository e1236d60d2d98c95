//! Text field of one line.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A text with a cursor.
#[derive(Debug, Default)]
pub struct TextField {
    text: String,
    /// Position of the cursor in bytes.
    at: usize,
}

impl TextField {
    /// Creates a field with the cursor behind the text.
    pub fn new(text: String) -> Self {
        let at = text.len();
        Self { text, at }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before the cursor.
    pub fn before(&self) -> &str {
        &self.text[..self.at]
    }

    /// Inserts a text at the cursor. Control characters, such as line feeds, become spaces.
    pub fn insert(&mut self, text: &str) {
        let text = text.replace(char::is_control, " ");
        self.text.insert_str(self.at, &text);
        self.at += text.len();
    }

    /// Handles a key. Other keys are ignored.
    pub fn press(&mut self, key: KeyEvent) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let left = self.before().chars().next_back().map_or(0, char::len_utf8);
        let right = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        match (key.code, is_control) {
            (KeyCode::Char('a'), true) | (KeyCode::Home, _) => self.at = 0,
            (KeyCode::Char('e'), true) | (KeyCode::End, _) => self.at = self.text.len(),
            (KeyCode::Char('b'), true) | (KeyCode::Left, _) => self.at -= left,
            (KeyCode::Char('f'), true) | (KeyCode::Right, _) => self.at += right,
            (KeyCode::Char('u'), true) => self.remove_from(0),
            (KeyCode::Char('w'), true) => {
                let word = self.before().trim_end();
                let from = word.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.remove_from(self.text.floor_char_boundary(from));
            }
            (KeyCode::Char('h'), true) | (KeyCode::Backspace, _) => self.remove_from(self.at - left),
            (KeyCode::Char('d'), true) | (KeyCode::Delete, _) => {
                self.text.drain(self.at..self.at + right);
            }
            (KeyCode::Char(typed), false) => self.insert(typed.encode_utf8(&mut [0; 4])),
            _ => {}
        }
    }

    /// Removes the text from a position up to the cursor.
    fn remove_from(&mut self, from: usize) {
        self.text.drain(from..self.at);
        self.at = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(field: &mut TextField, code: KeyCode, modifiers: KeyModifiers) {
        field.press(KeyEvent::new(code, modifiers));
    }

    #[test]
    fn a_text_is_edited_at_the_cursor() {
        let mut field = TextField::new("où est".to_owned());
        field.insert(" le\nport");
        assert_eq!(field.text(), "où est le port");
        press(&mut field, KeyCode::Char('w'), KeyModifiers::CONTROL);
        assert_eq!(field.text(), "où est le ");
        press(&mut field, KeyCode::Home, KeyModifiers::NONE);
        press(&mut field, KeyCode::Right, KeyModifiers::NONE);
        press(&mut field, KeyCode::Delete, KeyModifiers::NONE);
        press(&mut field, KeyCode::Char('Ù'), KeyModifiers::SHIFT);
        assert_eq!((field.text(), field.before()), ("oÙ est le ", "oÙ"));
        press(&mut field, KeyCode::Backspace, KeyModifiers::NONE);
        press(&mut field, KeyCode::Backspace, KeyModifiers::NONE);
        press(&mut field, KeyCode::Backspace, KeyModifiers::NONE);
        assert_eq!(field.text(), " est le ");
        press(&mut field, KeyCode::End, KeyModifiers::NONE);
        press(&mut field, KeyCode::Char('u'), KeyModifiers::CONTROL);
        press(&mut field, KeyCode::Char('w'), KeyModifiers::CONTROL);
        press(&mut field, KeyCode::Left, KeyModifiers::NONE);
        assert_eq!(field.text(), "");
    }
}
