//! Which symbol does a line of code declare?

use super::Language;
use super::words::{BEFORE, STATEMENTS, WORDS};
use Language as L;

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    Type,
    Function,
    Method,
    Constant,
}

/// How a symbol is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Declared {
    pub sort: Sort,
    pub public: bool,
}

/// The symbol that a line of code declares.
pub(super) fn declared(line: &str, language: Language) -> Option<(&str, Declared)> {
    if language == L::Config {
        return setting(line);
    }
    let indented = line.starts_with([' ', '\t']);
    let (text, public) = without_modifiers(line.trim_start(), language);
    let found = WORDS
        .iter()
        .filter(|(_, _, languages)| languages.contains(&language))
        .filter_map(|(word, sort, _)| {
            let rest = text.strip_prefix(word)?;
            rest.starts_with([' ', '\t'])
                .then_some((word.len(), rest.trim_start(), *sort))
        });
    if let Some((_, rest, sort)) = found.max_by_key(|(length, ..)| *length) {
        return by_word(rest, sort, indented, public, language);
    }
    match language {
        L::Rust => implemented(text).map(|name| {
            (
                name,
                Declared {
                    sort: Sort::Type,
                    public: false,
                },
            )
        }),
        L::Python if !indented => {
            let (name, rest) = name_at(text)?;
            let constant = name.len() > 2 && !name.bytes().any(|byte| byte.is_ascii_lowercase());
            let set = rest.trim_start().starts_with('=') || rest.starts_with(": ");
            (constant && set).then_some((
                name,
                Declared {
                    sort: Sort::Constant,
                    public: !name.starts_with('_'),
                },
            ))
        }
        L::Shell => {
            let (name, rest) = name_at(text)?;
            rest.trim_start().starts_with("()").then_some((
                name,
                Declared {
                    sort: Sort::Function,
                    public: true,
                },
            ))
        }
        L::JavaScript | L::TypeScript => method(text, indented).map(|name| {
            (
                name,
                Declared {
                    sort: Sort::Method,
                    public,
                },
            )
        }),
        L::C | L::Cpp => typed(text, indented, !line.starts_with("static "), language),
        L::Java | L::CSharp | L::Kotlin | L::Php => typed(text, indented, public, language),
        _ => None,
    }
}

fn by_word(
    rest: &str,
    sort: Sort,
    indented: bool,
    public: bool,
    language: Language,
) -> Option<(&str, Declared)> {
    // Go's methods: `func (r *T) Name(`
    let (rest, receiver) = match rest.strip_prefix('(') {
        Some(after) if language == L::Go => (after.split_once(") ")?.1, true),
        _ => (rest, false),
    };
    let rest = rest
        .trim_start_matches("self.")
        .trim_start_matches(['&', '*', '`', '"', '[']);
    // Rust's `static mut`, Pony's capabilities
    let rest = ["mut ", "ref ", "box ", "val ", "tag ", "iso "]
        .iter()
        .find_map(|word| rest.strip_prefix(word))
        .unwrap_or(rest);
    let (name, after) = name_at(rest)?;
    // A local value is nothing to ask for; a forward declaration or a use of a type declares nothing.
    if sort == Sort::Constant && indented && language != L::C {
        return None;
    }
    let after = after.trim_start();
    if matches!(language, L::C | L::Cpp)
        && sort == Sort::Type
        && !(after.is_empty() || after.starts_with(['{', ':']))
    {
        return None;
    }
    if language == L::Unknown
        && !(after.is_empty() || after.starts_with(['(', '[', '{', '<', ':', '=', 'i', '\'']))
    {
        return None;
    }
    let arrow = sort == Sort::Constant
        && (after.contains("=>") || after.contains("= function") || after.contains("= async"));
    let sort = match sort {
        Sort::Function if indented || receiver => Sort::Method,
        Sort::Constant if arrow => Sort::Function,
        sort => sort,
    };
    let exported = match language {
        L::Go => name.starts_with(|c: char| c.is_uppercase()),
        L::Python | L::Ruby | L::Unknown => !name.starts_with('_'),
        _ => public,
    };
    Some((
        name,
        Declared {
            sort,
            public: exported,
        },
    ))
}

/// A line without the words before the one that declares; whether one of them makes it public.
fn without_modifiers(mut text: &str, language: Language) -> (&str, bool) {
    let mut public = false;
    loop {
        if let Some(rest) = text.strip_prefix("pub(") {
            public = true;
            text = rest.split_once(')').map_or("", |(_, rest)| rest.trim_start());
            continue;
        }
        if let Some(rest) = text.strip_prefix("extern \"C\" ") {
            text = rest;
            continue;
        }
        let Some((word, rest)) = text.split_once([' ', '\t']) else {
            return (text, public);
        };
        // In Rust these declare.
        let declares = language == L::Rust && word == "static";
        if !BEFORE.contains(&word) || declares {
            return (text, public);
        }
        public |= matches!(word, "pub" | "export" | "public" | "open");
        text = rest.trim_start();
    }
}

/// The name at the start of a text, and what follows it.
fn name_at(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '?' | '!')))
        .unwrap_or(text.len());
    let name = text[..end].trim_end_matches(['?', '!']);
    let sound = name.len() < 100
        && name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
        && name != "_";
    sound.then(|| (name, &text[end..]))
}

/// `impl Trait for Type`: the type.
fn implemented(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("impl")?;
    if !rest.starts_with([' ', '<']) {
        return None;
    }
    let rest = rest
        .split_once(" for ")
        .map_or(rest.trim_start(), |(_, rest)| rest);
    let rest = if rest.starts_with('<') {
        rest.split_once("> ")?.1
    } else {
        rest
    };
    Some(name_at(rest.trim_start_matches(['&', '\'']))?.0)
}

/// `name(arguments) {` in a class.
fn method(text: &str, indented: bool) -> Option<&str> {
    let text = ["get ", "set ", "*", "#"]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .unwrap_or(text);
    let (name, rest) = name_at(text)?;
    let opens = rest.starts_with(['(', '<']) && text.trim_end().ends_with('{') && !text.contains(" => ");
    (indented && opens && !STATEMENTS.contains(&name)).then_some(name)
}

/// `Type name(arguments)` of the languages of C's kind.
fn typed(text: &str, indented: bool, public: bool, language: Language) -> Option<(&str, Declared)> {
    let c = matches!(language, L::C | L::Cpp);
    if c && indented {
        return None;
    }
    let (head, after) = text.split_once('(')?;
    let first = name_at(text)?.0;
    let ended = text.trim_end();
    // A call ends in `;`; so does a declaration without body, which says less than the one with it.
    let opens = !ended.ends_with(';') || (c && !after.contains('"') && head.contains(' '));
    if STATEMENTS.contains(&first)
        || !opens
        || head.contains(['=', '.', '"', '+', '?'])
        || head.ends_with(' ') && !c
    {
        return None;
    }
    let head = head.trim_end();
    let start = head
        .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '~')))
        .map_or(0, |at| at + 1);
    let name = head.get(start..)?;
    let (name, _) = name_at(name)?;
    // Something of a type must stand before it, unless it is a constructor.
    let constructor = start == 0 && !c && public && name.starts_with(|c: char| c.is_uppercase());
    if (start == 0 && !constructor) || STATEMENTS.contains(&name) {
        return None;
    }
    let sort = if indented || head.contains("::") {
        Sort::Method
    } else {
        Sort::Function
    };
    Some((name, Declared { sort, public }))
}

/// A section or a name of settings.
fn setting(line: &str) -> Option<(&str, Declared)> {
    let constant = |name| {
        (
            name,
            Declared {
                sort: Sort::Constant,
                public: true,
            },
        )
    };
    if let Some(section) = line.strip_prefix('[') {
        let name = section.trim_start_matches('[').split(']').next()?.trim();
        return (!name.is_empty()).then_some((
            name,
            Declared {
                sort: Sort::Type,
                public: true,
            },
        ));
    }
    let (name, _) = line.split_once([':', '='])?;
    let name = name.trim_end();
    let sound = !line.starts_with([' ', '\t', '-'])
        && !name.is_empty()
        && name.len() < 60
        && !name.contains([' ', '"', '{']);
    sound.then(|| constant(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_declare_what_they_name() {
        for (language, line, expected) in [
            (
                L::Rust,
                "pub(crate) async fn open(path: &Path) {",
                Some(("open", Sort::Function, true)),
            ),
            (
                L::Rust,
                "    const fn len(&self) -> usize {",
                Some(("len", Sort::Method, false)),
            ),
            (
                L::Rust,
                "impl<'a> Display for Name<'a> {",
                Some(("Name", Sort::Type, false)),
            ),
            (
                L::Rust,
                "static mut X: u8 = 0;",
                Some(("X", Sort::Constant, false)),
            ),
            (L::Rust, "    let x = f(1);", None),
            (
                L::Python,
                "    async def fetch(self):",
                Some(("fetch", Sort::Method, true)),
            ),
            (
                L::Python,
                "class _Cache(Base):",
                Some(("_Cache", Sort::Type, false)),
            ),
            (L::Python, "LIMIT = 3", Some(("LIMIT", Sort::Constant, true))),
            (L::Python, "x = 3", None),
            (
                L::TypeScript,
                "export interface Theme {",
                Some(("Theme", Sort::Type, true)),
            ),
            (
                L::TypeScript,
                "export const load = async () => {",
                Some(("load", Sort::Function, true)),
            ),
            (
                L::TypeScript,
                "  private render(width: number): string[] {",
                Some(("render", Sort::Method, false)),
            ),
            (L::TypeScript, "  if (a) {", None),
            (
                L::Go,
                "func (s *Server) Listen(port int) error {",
                Some(("Listen", Sort::Method, true)),
            ),
            (
                L::Java,
                "    public List<String> names(int max) throws X {",
                Some(("names", Sort::Method, true)),
            ),
            (L::Java, "        return find(x);", None),
            (
                L::C,
                "static int parse_it(const char *s)",
                Some(("parse_it", Sort::Function, false)),
            ),
            (L::C, "struct node {", Some(("node", Sort::Type, false))),
            (
                L::C,
                "#define MAX_LEN 10",
                Some(("MAX_LEN", Sort::Constant, false)),
            ),
            (L::Cpp, "void Engine::run() {", Some(("run", Sort::Method, true))),
            (
                L::Ruby,
                "  def self.build(x)",
                Some(("build", Sort::Method, true)),
            ),
            (L::Shell, "deploy() {", Some(("deploy", Sort::Function, true))),
            (
                L::Sql,
                "CREATE TABLE IF NOT EXISTS users (",
                Some(("users", Sort::Type, false)),
            ),
            (
                L::Config,
                "[dependencies]",
                Some(("dependencies", Sort::Type, true)),
            ),
            (
                L::Unknown,
                "  fun ref apply(x: U8): Bool =>",
                Some(("apply", Sort::Method, true)),
            ),
            (
                L::Unknown,
                "  fun apply(x: U8): Bool =>",
                Some(("apply", Sort::Method, true)),
            ),
        ] {
            let found = declared(line, language).map(|(name, found)| (name, found.sort, found.public));
            assert_eq!(found, expected, "{line}");
        }
    }
}
