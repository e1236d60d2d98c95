//! Which words deny, oppose, limit, say the same as another one, or say nothing?
//!
//! Two texts are compared word by word in the forms that these tables give. A word that no table has stands for itself.
//! The tables are wide where a doubt keeps two entries apart (what limits, what is a state), and narrow where it would
//! let them become one (what means the same).

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use crate::retrieval::terms::is_stop;

/// Words that deny; contractions without their apostrophe.
const NEGATIONS: &str = "\
    not no never none nobody nothing neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent wont \
    wouldnt shouldnt couldnt hasnt havent hadnt mustnt aint \
    nicht kein keine keinen keinem keiner nie niemals ohne weder \
    не ни нет без никогда нельзя pas jamais sans aucun nunca sin ninguno";

/// Words of which only one can be so. What no table knows differs anyway: these are words that are passed over elsewhere.
const OPPOSITES: &str = "\
    on/off in/out up/down over/under above/below before/after with/without into/out inside/outside more/less more/few \
    most/least most/few all/some all/none every/some each/some both/neither always/sometimes often/seldom since/until \
    from/until must/may must/can yes/no true/false enable/disable start/stop begin/end increase/decrease raise/lower \
    allow/deny allow/forbid accept/reject approve/reject open/close add/remove active/inactive public/private \
    pass/fail succeed/fail left/right first/last min/max same/other same/different he/she his/her him/her my/your my/his my/her our/their i/you we/they \
    still/formerly is/was are/were is/were are/was has/had have/had like/dislike buy/sell keep/drop keep/remove upload/download \
    import/export encrypt/decrypt send/receive read/write source/target old/new early/late mehr/weniger ein/aus \
    vor/nach mit/ohne alle/einige";

/// Words that take something back, limit it, or tell how far it is. One text alone with such a word says something else.
const LIMITS: &str = "\
    reversed reverted cancelled canceled dropped instead longer former formerly previous previously obsolete \
    deprecated replaced superseded withdrawn abandoned revoked retired removed deleted stopped disabled skipped \
    only except unless once otherwise few some half part partly partially sometimes seldom rarely occasionally mostly almost \
    nearly barely maybe perhaps probably possibly temporarily exactly least \
    pending done finished completed complete open opened closed blocked draft drafted planned proposed suggested \
    considered considering started ongoing merged shipped released launched signed approved rejected accepted \
    declined denied resolved fixed broken failed failing passed passing succeeded active inactive archived paused \
    postponed delayed submitted confirmed unconfirmed verified unverified expired outdated stale overdue optional \
    mandatory required experimental final preliminary unknown unclear wrong incorrect false true \
    nur außer bisher früher erledigt offen geplant abgesagt только кроме";

/// Values that are words: when, where, how large, which colour, how severe. They differ when one text alone has them.
const VALUES: &str = "\
    second minute hour day night week weekend weekday month quarter year morning noon afternoon evening midnight \
    today tomorrow yesterday tonight spring summer autumn winter \
    staging production development canary sandbox local remote upstream downstream \
    debug trace warn critical fatal \
    small medium large tiny huge big short long high low light dark hot cold soft hard full empty \
    red green blue yellow black white brown grey gray orange purple pink \
    north south east west left right top bottom front back upper lower inner outer \
    north-east north-west south-east south-west \
    manual automatic synchronous asynchronous public private internal external primary secondary \
    mother father parent brother sister sibling wife husband partner son daughter child aunt uncle cousin friend \
    early late last next previous new old current \
    male female single married divorced vegan vegetarian";

/// Words that stand for another one: the first of each group. Only words that may change places in the notes of a
/// project or a person without a change of what is stated.
const SAME: &str = "\
    day-daily night-nightly week-weekly month-monthly quarter-quarterly year-yearly-annual-annually \
    hour-hourly weekday-workday automatic-automatically-auto manual-manually production-prod development-dev \
    grey-gray big-large small-little twice-two remove-delete-erase-purge create-produce-generate \
    fix-repair-solve-resolve-correct choose-select-pick allow-permit forbid-prohibit-ban leave-depart \
    begin-start end-finish arrive-come get-receive-obtain need-require-necessary want-wish \
    prefer-favour-favor show-display check-validate-verify change-modify-alter buy-purchase allergy-allergic \
    log-journal rotate-rotation save-persist remain-stay refuse-reject send-dispatch improve-enhance \
    speed-accelerate mean-imply begin-commence happen-occur answer-respond-reply ask-request teach-instruct \
    assist-help-support bug-defect problem-issue error-failure crash-crashed startup-boot-launch \
    documentation-doc-document configuration-config-configure-conf database-db repository-repo \
    application-app environment-env information-info folder-directory-dir kubernetes-k8s \
    postgres-postgresql-pg javascript-js typescript-ts python-py administrator-admin maximum-max-maximal \
    minimum-min-minimal average-avg specification-spec parameter-param message-msg mail-email \
    phone-telephone photo-picture-photograph vehicle-car doctor-physician colleague-coworker \
    machine-host-box brief-short-concise fast-quick-rapid frequent-often reach-reachable-accessible-access \
    backup-backups";

/// Verbs whose stem changes: the first form of each stands for the others.
const IRREGULAR: &str = "\
    build-built rebuild-rebuilt send-sent keep-kept hold-held find-found tell-told write-wrote-written run-ran \
    rewrite-rewrote-rewritten take-took-taken lose-lost sell-sold buy-bought pay-paid meet-met leave-left \
    begin-began-begun choose-chose-chosen break-broke-broken show-shown draw-drew-drawn drive-drove-driven \
    hide-hid-hidden know-knew-known speak-spoke-spoken throw-threw-thrown wear-wore-worn lead-led say-said make-made \
    bring-brought catch-caught teach-taught think-thought deal-dealt feed-fed grow-grew-grown fall-fell-fallen \
    freeze-froze-frozen drink-drank-drunk eat-ate-eaten sleep-slept spend-spent lend-lent bind-bound stick-stuck \
    swap-swapped rise-rose-risen sit-sat stand-stood win-won wake-woke-woken withdraw-withdrew-withdrawn \
    overwrite-overwrote-overwritten understand-understood see-saw-seen learn-learnt burn-burnt";

/// Words that state nothing of their own beside others: how an entry speaks of its matter.
const SILENT: &str = "\
    note notes overview summary detail details info general regarding concerning currently current now already simply \
    just also always please via using according matter thing topic entry fact item remember reminder schedule scheduled \
    policy rule step user way kind sort lots time able wird werden wurde";

/// Verbs that state little of their own, in the place of which another one may state much; those of a group state the
/// same.
const LIGHT: &str = "\
    use-utilise-utilize-run store-keep-live-lie-reside-locate-find-place-stand-belong-hang describe-explain \
    contain-include-consist see become remain-stay get make-do-does-did come-go-goes have-has-had be-is-are-was-were-been \
    befindet-steht-liegt gibt";

/// Words that begin a condition.
const CONDITIONS: &str = "\
    if when whenever once unless until while after before during except provided where wenn falls sobald bis если когда";

/// Words that give what follows them a part to play: the first of each group.
const DIRECTED: &str = "\
    to-into-onto-toward-towards from than before after over until-till since above below-under by for against versus-vs";

/// Marks that tell how far something is.
const MARKS: &str = "✅✔✓☑❌✖✗✘☐⚠🚫⛔🟢🔴🟡🟠👍👎";

/// Verbs that are one word with the particle behind them.
const PARTICLES: &str = "\
    back-up set-up log-in log-out sign-in sign-up roll-back roll-out shut-down start-up clean-up hand-over take-over \
    look-up check-out spin-up fall-back time-out opt-in opt-out cut-off write-down";

/// Particles and endings of Japanese that state nothing.
const KANA: &str = "\
    は が を に の で と も へ や です ます でした ました する した して している しています され されます された \
    されている います いる あります ある である だ には では にて おり り し て い う く";

/// The same of Chinese, character by character.
const HAN: &str = "的了是在把被于为用使有和与及会将个";

/// Characters and endings that deny in Chinese and Japanese.
const HAN_NEGATIONS: &str = "不没無无未非别否勿";
const KANA_NEGATIONS: [&str; 5] = ["ない", "ません", "なし", "なく", "ぬ"];

/// The tables in the forms in which words are compared.
struct Tables {
    negations: HashSet<&'static str>,
    opposites: Vec<(String, String)>,
    limits: HashSet<&'static str>,
    values: HashSet<String>,
    same: HashMap<String, String>,
    silent: HashSet<String>,
    light: HashMap<String, String>,
    conditions: HashSet<&'static str>,
    directed: HashMap<&'static str, &'static str>,
    particles: HashMap<String, HashSet<&'static str>>,
    kana: HashSet<&'static str>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

impl Tables {
    fn new() -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        let mut same = HashMap::new();
        let groups = IRREGULAR
            .split_ascii_whitespace()
            .chain(SAME.split_ascii_whitespace());
        for group in groups {
            let mut words = group.split('-').map(|word| stem(word, &stemmer));
            let Some(first) = words.next() else { continue };
            for word in words {
                same.insert(word, first.clone());
            }
        }
        // A group's first word may stand in another group.
        let chained: Vec<(String, String)> = same
            .iter()
            .filter_map(|(word, first)| Some((word.clone(), same.get(first)?.clone())))
            .collect();
        same.extend(chained);
        let form = |word: &str| {
            let stem = stem(word, &stemmer);
            same.get(&stem).cloned().unwrap_or(stem)
        };
        let set = |list: &'static str| list.split_ascii_whitespace().map(form).collect();
        let opposites = OPPOSITES.split_ascii_whitespace();
        let opposites = opposites.filter_map(|pair| pair.split_once('/'));
        let mut particles: HashMap<String, HashSet<&'static str>> = HashMap::new();
        for (verb, particle) in PARTICLES
            .split_ascii_whitespace()
            .filter_map(|pair| pair.split_once('-'))
        {
            particles
                .entry(stem(verb, &stemmer))
                .or_default()
                .insert(particle);
        }
        Self {
            negations: NEGATIONS.split_ascii_whitespace().collect(),
            opposites: opposites.map(|(a, b)| (form(a), form(b))).collect(),
            limits: LIMITS.split_whitespace().collect(),
            values: set(VALUES),
            silent: set(SILENT),
            light: LIGHT
                .split_ascii_whitespace()
                .flat_map(|group| {
                    let mut words = group.split('-');
                    let first = words.clone().next().map(form).unwrap_or_default();
                    words
                        .by_ref()
                        .map(|word| (form(word), first.clone()))
                        .collect::<Vec<_>>()
                })
                .collect(),
            conditions: CONDITIONS.split_whitespace().collect(),
            directed: DIRECTED
                .split_ascii_whitespace()
                .flat_map(|group| {
                    group
                        .split('-')
                        .map(|word| (word, group.split('-').next().unwrap_or(word)))
                })
                .collect(),
            particles,
            kana: KANA.split_whitespace().collect(),
            same,
        }
    }
}

/// The stem of an English word; any other word as it is.
fn stem(lower: &str, stemmer: &Stemmer) -> String {
    if lower.len() > 2 && lower.bytes().all(|byte| byte.is_ascii_lowercase()) {
        stemmer.stem(lower).into_owned()
    } else {
        lower.to_owned()
    }
}

/// Gives words the form in which they are compared.
pub(super) struct Forms(Stemmer);

impl Forms {
    pub fn new() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }

    /// The stem, or that of the word that a group stands for.
    pub fn of(&self, lower: &str) -> String {
        let stem = stem(lower, &self.0);
        TABLES.same.get(&stem).cloned().unwrap_or(stem)
    }

    /// A verb and the particle behind it as one word: "backed up" is "backup".
    pub fn joined(&self, verb: &str, particle: &str) -> Option<String> {
        let verb = stem(verb, &self.0);
        let known = TABLES.particles.get(&verb)?.contains(particle);
        known.then(|| self.of(&format!("{verb}{particle}")))
    }
}

/// Whether a word denies.
pub(super) fn denies(lower: &str) -> bool {
    TABLES.negations.contains(lower)
}

/// Pairs of forms of which only one can be so.
pub(super) fn opposites() -> &'static [(String, String)] {
    &TABLES.opposites
}

/// Whether a word takes back or limits what is said.
pub(super) fn limits(lower: &str) -> bool {
    TABLES.limits.contains(lower)
}

/// Whether a form is a value.
pub(super) fn is_value(form: &str) -> bool {
    TABLES.values.contains(form)
}

/// Whether a word may be passed over.
pub(super) fn is_silent(lower: &str, form: &str) -> bool {
    is_stop(lower) || TABLES.silent.contains(form) || TABLES.light.contains_key(form)
}

/// What a verb that states little of its own states: the first of its group.
pub(super) fn light(form: &str) -> Option<&'static String> {
    TABLES.light.get(form)
}

/// The part that a word gives to what follows it.
pub(super) fn part(lower: &str) -> Option<&'static str> {
    TABLES.directed.get(lower).copied()
}

/// Whether a character tells how far something is.
pub(super) fn is_mark(mark: char) -> bool {
    MARKS.contains(mark)
}

/// Whether a word begins a condition.
pub(super) fn is_condition(lower: &str) -> bool {
    TABLES.conditions.contains(lower)
}

/// Whether a run of hiragana states nothing; whether it denies.
pub(super) fn kana(run: &str) -> (bool, bool) {
    let denies = KANA_NEGATIONS.iter().any(|end| run.contains(end));
    (TABLES.kana.contains(run), denies)
}

/// The same of a Chinese character.
pub(super) fn han(mark: char) -> (bool, bool) {
    (HAN.contains(mark), HAN_NEGATIONS.contains(mark))
}
