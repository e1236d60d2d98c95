//! Which programming language is a text written in?

use crate::extract::words::extension;

/// A language, or several that declare alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::extract) enum Language {
    Rust,
    Python,
    JavaScript,
    TypeScript,
    Go,
    Java,
    Kotlin,
    CSharp,
    C,
    Cpp,
    Ruby,
    Php,
    Swift,
    Shell,
    Sql,
    /// Settings: TOML, YAML, INI.
    Config,
    /// Code of another language, or of one that is not known.
    Unknown,
}

use Language as L;

/// Endings of files.
const ENDINGS: [(&str, Language); 44] = [
    ("rs", L::Rust),
    ("py", L::Python),
    ("pyi", L::Python),
    ("js", L::JavaScript),
    ("jsx", L::JavaScript),
    ("mjs", L::JavaScript),
    ("cjs", L::JavaScript),
    ("ts", L::TypeScript),
    ("tsx", L::TypeScript),
    ("mts", L::TypeScript),
    ("vue", L::TypeScript),
    ("svelte", L::TypeScript),
    ("go", L::Go),
    ("java", L::Java),
    ("kt", L::Kotlin),
    ("kts", L::Kotlin),
    ("scala", L::Kotlin),
    ("cs", L::CSharp),
    ("c", L::C),
    ("h", L::C),
    ("cc", L::Cpp),
    ("cpp", L::Cpp),
    ("cxx", L::Cpp),
    ("hpp", L::Cpp),
    ("hh", L::Cpp),
    ("rb", L::Ruby),
    ("php", L::Php),
    ("swift", L::Swift),
    ("sh", L::Shell),
    ("bash", L::Shell),
    ("zsh", L::Shell),
    ("sql", L::Sql),
    ("toml", L::Config),
    ("yaml", L::Config),
    ("yml", L::Config),
    ("ini", L::Config),
    ("cfg", L::Config),
    ("pony", L::Unknown),
    ("lua", L::Unknown),
    ("ex", L::Unknown),
    ("exs", L::Unknown),
    ("zig", L::Unknown),
    ("dart", L::Unknown),
    ("proto", L::Unknown),
];

impl Language {
    /// The language of a file by its name.
    pub fn of_path(path: &str) -> Option<Self> {
        let ending = extension(path);
        ENDINGS
            .iter()
            .find(|(known, _)| *known == ending)
            .map(|(_, language)| *language)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            L::Rust => "Rust",
            L::Python => "Python",
            L::JavaScript => "JavaScript",
            L::TypeScript => "TypeScript",
            L::Go => "Go",
            L::Java => "Java",
            L::Kotlin => "Kotlin",
            L::CSharp => "C#",
            L::C => "C",
            L::Cpp => "C++",
            L::Ruby => "Ruby",
            L::Php => "PHP",
            L::Swift => "Swift",
            L::Shell => "shell",
            L::Sql => "SQL",
            L::Config => "settings",
            L::Unknown => "code",
        }
    }

    /// The language that the lines of a text speak, if enough of them do.
    pub fn of_lines<'t>(lines: impl Iterator<Item = &'t str>) -> Option<Self> {
        let mut scores = [(0_usize, 0_usize); MARKS.len()];
        let (mut count, mut ends) = (0_usize, 0_usize);
        for line in lines {
            let text = line.trim();
            if text.is_empty() {
                continue;
            }
            count += 1;
            ends += usize::from(text.ends_with([';', '{', '}', ')', ':', ',']));
            for (score, (_, starts, parts)) in scores.iter_mut().zip(MARKS) {
                let start = starts.iter().any(|mark| text.starts_with(mark));
                let part = parts.iter().any(|mark| text.contains(mark));
                score.0 += usize::from(start) * 2 + usize::from(part);
                score.1 += usize::from(start);
            }
        }
        let (at, score) = scores
            .iter()
            .enumerate()
            .max_by_key(|(at, (score, _))| (*score, std::cmp::Reverse(*at)))?;
        // Prose has few lines that end as those of code do, and hardly any that begin so.
        let (score, starts) = *score;
        let enough = score >= 4 && starts * 20 >= count && score * 12 >= count && ends * 3 >= count;
        enough.then(|| MARKS[at].0)
    }
}

/// How lines of a language begin, and what stands in them.
const MARKS: [(Language, &[&str], &[&str]); 10] = [
    (
        L::Rust,
        &[
            "fn ",
            "pub fn ",
            "pub struct ",
            "impl ",
            "impl<",
            "use ",
            "pub(crate)",
            "#[",
            "let mut ",
            "pub enum ",
            "mod ",
        ],
        &["::", " -> ", "&self", "&mut "],
    ),
    (
        L::Python,
        &[
            "def ",
            "class ",
            "from ",
            "import ",
            "elif ",
            "@",
            "self.",
            "async def ",
            "raise ",
            "except",
        ],
        &["self.", "__", "None"],
    ),
    (
        L::TypeScript,
        &[
            "export ",
            "interface ",
            "import type ",
            "type ",
            "private ",
            "public ",
            "readonly ",
            "import {",
            "import * as ",
        ],
        &[": string", ": number", ": boolean", "=> ", "| null", "this."],
    ),
    (
        L::JavaScript,
        &[
            "const ",
            "let ",
            "function ",
            "var ",
            "import ",
            "module.exports",
            "require(",
        ],
        &["=> ", "===", "this.", "require("],
    ),
    (
        L::Go,
        &["func ", "package ", "import (", "type ", "defer ", "if err "],
        &[":= ", "err != nil"],
    ),
    (
        L::Java,
        &[
            "public ",
            "private ",
            "protected ",
            "package ",
            "@Override",
            "import java",
            "import org.",
            "import com.",
        ],
        &["public static", "new ", "@Override", "final "],
    ),
    (
        L::Cpp,
        &[
            "#include <",
            "namespace ",
            "template<",
            "template <",
            "class ",
            "public:",
            "private:",
            "using ",
        ],
        &["std::", "::", "nullptr", "const &"],
    ),
    (
        L::C,
        &[
            "#include", "#define ", "#ifdef", "#endif", "static ", "typedef ", "struct ", "int ", "void ",
        ],
        &["->", "NULL", "(void)", "sizeof(", "char *"],
    ),
    (
        L::Ruby,
        &["def ", "end", "require ", "module ", "attr_", "class "],
        &[" do |", "@", ".each"],
    ),
    (
        L::Shell,
        &["#!/", "echo ", "fi", "done", "then", "export ", "set -e", "if ["],
        &["$(", "${", "\"$"],
    ),
];
