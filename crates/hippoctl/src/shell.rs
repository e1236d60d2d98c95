//! Splitting of shell scripts, for tests of the commands in documents.

/// Splits a script into simple commands, as a shell does. Each command is a list of words, without comments and
/// redirections.
pub fn simple_commands(script: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let (mut word, mut quote) = (None::<String>, None);
    let (mut before, mut redirected, mut comment) = (' ', false, false);
    for letter in script.replace("\\\n", " ").chars().chain(['\n']) {
        let previous = std::mem::replace(&mut before, letter);
        match (quote, letter) {
            _ if comment && letter != '\n' => {}
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => comment = true,
            (None, '&') if matches!(previous, '<' | '>') => {}
            (None, ' ' | '\t' | '\n' | '|' | '&' | ';' | '(' | ')' | '<' | '>') => {
                let into = matches!(letter, '<' | '>');
                if let Some(word) = word.take() {
                    let number = into && word.bytes().all(|byte| byte.is_ascii_digit());
                    if !std::mem::take(&mut redirected) && !number {
                        commands.last_mut().unwrap().push(word);
                    }
                }
                if into {
                    redirected = true;
                } else if !matches!(letter, ' ' | '\t') {
                    commands.push(Vec::new());
                    (redirected, comment) = (false, false);
                }
            }
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    // If a quotation mark is not closed, the quoted text extends to the end of the script.
    commands.last_mut().unwrap().extend(word);
    commands.retain(|words| !words.is_empty());
    commands
}

#[test]
fn a_script_is_split_like_a_shell_does() {
    for (script, expected) in [
        ("a b  # c\nd", "[a b][d]"),
        ("x=$(a --b 'c d') && e | f", "[x=$][a --b c d][e][f]"),
        ("a 2>&1 | b < in > out c", "[a][b c]"),
        ("a \\\n  b \"\" ; c#d", "[a b ][c#d]"),
        ("a \"b c", "[a b c\n]"),
    ] {
        let cut = simple_commands(script);
        let told: String = cut.iter().map(|words| format!("[{}]", words.join(" "))).collect();
        assert_eq!(told, expected, "{script}");
    }
}
