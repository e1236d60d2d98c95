//! Stop words of questions.
//!
//! All lists are in lower case and without accents. The English list is long, because questions consist of these
//! words. For other languages the lists contain only pronouns, articles and question words without another meaning in
//! English.

use std::collections::HashSet;
use std::sync::LazyLock;

/// English; contractions without their apostrophe.
const ENGLISH: &str = "\
    a about above after again against aint all also although always am an and another any anybody anyone \
    anything are arent around as at be became because become been before being below between both but by \
    came can cannot cant could couldnt d did didnt do does doesnt doing done dont down during each either \
    else ever every everyone everything few for from further gave get gets getting give given go goes going \
    gone gonna got had hadnt has hasnt have havent having he her here hers herself him himself his how \
    however i if in into is isnt it its itself just let like ll m made make makes many maybe me might mine \
    more most much must mustnt my myself no nor not now of off often oh ok okay on once one ones only onto \
    or other others our ours ourselves out over own per please quite rather re really s said same say says \
    shall shant she should shouldnt since so some somebody someone something still such t tell than that \
    the their theirs them themselves then there these they thing things this those though through thus to \
    too under until up upon us ve very via was wasnt we well went were werent what whatever when where \
    whether which while who whoever whom whose why will with within without wont would wouldnt ya yes yet \
    you your yours yourself yourselves";

/// German.
const GERMAN: &str = "\
    aber als auch auf aus bei das dein deine dem den der des dich dir du ein eine einem einen einer eines \
    er euch habe haben hatte ich ihm ihn ihr ihre im ist mein meine mich mir mit nach nicht oder sein \
    seine sie sind und uns unser unsere von wann waren warum welche welcher welches wer werden wie wir wird \
    wurde zu zum zur";

/// French.
const FRENCH: &str = "\
    ai au aux avec avez avons ce cet cette de elle elles en et etait il ils je la le les leur leurs ma mais \
    nos notre nous ont ou pas pourquoi quand que quel quelle quelles quels qui quoi se ses sont sur ta te \
    tes tu un une vos votre vous";

/// Spanish, except for words in the French list.
const SPANISH: &str = "\
    al como con cual cuando del donde el ella ellas ellos era esta estan fue han hay las lo los mi mis \
    nosotros para pero por porque quien su sus tus una unas unos y yo";

/// Russian.
const RUSSIAN: &str = "\
    а без бы был была были было быть в вам вас во вот все вы где да даже для до его ее еи ему если есть же \
    за зачем и из или их к как какая какие какое какои когда кто куда ли меня мне мои мы на не него нее ни \
    ним но ну о он она они от по под потом потому с сам себе себя сказал со так там тебя тем то того тут ты \
    у уже чего чем что чтоб чтобы эта эти это этого этом этот я";

static STOP: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lists = [ENGLISH, GERMAN, FRENCH, SPANISH, RUSSIAN];
    lists.into_iter().flat_map(str::split_ascii_whitespace).collect()
});

/// Returns true if a folded word is a stop word.
pub fn is_stop(word: &str) -> bool {
    STOP.contains(word)
}

#[cfg(test)]
mod tests {
    use super::super::fold::fold;
    use super::*;

    #[test]
    fn the_stop_word_lists_are_folded() {
        assert!(STOP.len() > 400);
        for word in STOP.iter() {
            let mut folded = String::new();
            fold(word, &mut folded);
            assert_eq!(*word, folded);
        }
    }

    #[test]
    fn stop_words_are_removed_from_questions() {
        let says = |question: &str| -> Vec<String> {
            let words = question.split(' ').filter(|word| !is_stop(word));
            words.map(str::to_owned).collect()
        };
        assert_eq!(says("when did she go to the dentist"), ["dentist"]);
        assert_eq!(says("what is the name of her dog"), ["name", "dog"]);
        assert_eq!(
            says("wann haben wir den zahnarzt besucht"),
            ["zahnarzt", "besucht"]
        );
    }
}
