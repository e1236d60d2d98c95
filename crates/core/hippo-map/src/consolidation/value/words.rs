//! Word tables for the comparison of values.
//!
//! Texts are compared word by word. If the tables give a form for a word, that form is compared, otherwise the word as
//! written. Tables whose words keep two entries apart (limits, states) are broad. Tables whose words let entries merge
//! (synonyms) are narrow.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use hippo_text::terms::is_stop;

/// Negations; contractions without apostrophe.
const NEGATIONS: &str = "\
    not no never none nobody nothing neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent wont \
    wouldnt shouldnt couldnt hasnt havent hadnt mustnt aint \
    nicht kein keine keinen keinem keiner nie niemals ohne weder \
    не ни нет без никогда нельзя pas jamais sans aucun nunca sin ninguno";

/// Pairs of opposites. Mostly words that other rules would skip. Words in no table count as different even without this
/// list.
const OPPOSITES: &str = "\
    on/off in/out up/down over/under above/below before/after with/without into/out inside/outside more/less more/few \
    most/least most/few all/some all/none every/some each/some both/neither always/sometimes often/seldom since/until \
    from/until must/may must/can yes/no true/false enable/disable start/stop begin/end increase/decrease raise/lower \
    allow/deny allow/forbid accept/reject approve/reject open/close add/remove active/inactive public/private \
    pass/fail succeed/fail left/right first/last min/max same/other same/different he/she his/her him/her my/your my/his my/her our/their i/you we/they \
    still/formerly is/was are/were is/were are/was has/had have/had like/dislike buy/sell keep/drop keep/remove upload/download \
    import/export encrypt/decrypt send/receive read/write source/target old/new early/late mehr/weniger ein/aus \
    vor/nach mit/ohne alle/einige";

/// Words that withdraw, limit or state progress. A text with such a word differs from one without it.
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

/// Words that are values: times, places, sizes, colours, severities. A text with such a word differs from
/// one without it.
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

/// Synonyms. The first word of each group represents the group. The words of a group are interchangeable in notes about
/// a project or a person.
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
    phone-telephone photo-snapshot-photograph vehicle-car doctor-physician colleague-coworker \
    machine-host-box brief-short-concise fast-quick-rapid frequent-often reach-reachable-accessible-access \
    backup-backups";

/// Irregular verbs; the first form represents the others.
const IRREGULAR: &str = "\
    build-built rebuild-rebuilt send-sent keep-kept hold-held find-found tell-told write-wrote-written run-ran \
    rewrite-rewrote-rewritten take-took-taken lose-lost sell-sold buy-bought pay-paid meet-met leave-left \
    begin-began-begun choose-chose-chosen break-broke-broken show-shown draw-drew-drawn drive-drove-driven \
    hide-hid-hidden know-knew-known speak-spoke-spoken throw-threw-thrown wear-wore-worn lead-led say-said make-made \
    bring-brought catch-caught teach-taught think-thought deal-dealt feed-fed grow-grew-grown fall-fell-fallen \
    freeze-froze-frozen drink-drank-drunk eat-ate-eaten sleep-slept spend-spent lend-lent bind-bound stick-stuck \
    swap-swapped rise-rose-risen sit-sat stand-stood win-won wake-woke-woken withdraw-withdrew-withdrawn \
    overwrite-overwrote-overwritten understand-understood see-saw-seen learn-learnt burn-burnt";

/// Words that have no content of their own and are used to talk about the subject of an entry.
const SILENT: &str = "\
    note notes overview summary detail details info general regarding concerning currently current now already simply \
    just also always please via using according matter thing topic entry fact item remember reminder schedule scheduled \
    policy rule step user way kind sort lots time able wird werden wurde";

/// Light verbs, which have little meaning. A more specific verb may replace them. The verbs of a group are synonyms.
const LIGHT: &str = "\
    use-utilise-utilize-run store-keep-live-lie-reside-locate-find-place-stand-belong-hang describe-explain \
    contain-include-consist see become remain-stay get make-do-does-did come-go-goes have-has-had be-is-are-was-were-been \
    befindet-steht-liegt gibt";

/// Words that start a condition.
const CONDITIONS: &str = "\
    if when whenever once unless until while after before during except provided where wenn falls sobald bis если когда";

/// Words that assign a role to the words after them. The first word of a group represents the group.
const DIRECTED: &str = "\
    to-into-onto-toward-towards from than before after over until-till since above below-under by for against versus-vs";

/// Marks of progress or state, such as ticks.
pub(super) const MARKS: &str = "✅✔✓☑❌✖✗✘☐⚠🚫⛔🟢🔴🟡🟠👍👎";

/// Verbs that form one word with the following particle.
const PARTICLES: &str = "\
    back-up set-up log-in log-out sign-in sign-up roll-back roll-out shut-down start-up clean-up hand-over take-over \
    look-up check-out spin-up fall-back time-out opt-in opt-out cut-off write-down";

/// Japanese particles and endings without content.
const KANA: &str = "\
    は が を に の で と も へ や です ます でした ました する した して している しています され されます された \
    されている います いる あります ある である だ には では にて おり り し て い う く";

/// Chinese characters without content.
const HAN: &str = "的了是在把被于为用使有和与及会将个";

/// Chinese characters and Japanese endings that negate.
const HAN_NEGATIONS: &str = "不没無无未非别否勿";
const KANA_NEGATIONS: [&str; 5] = ["ない", "ません", "なし", "なく", "ぬ"];

/// Tables with words in compared form.
pub(super) struct WordTables {
    /// Negations.
    pub negations: HashSet<&'static str>,
    /// Pairs of opposite forms.
    pub opposites: Vec<(String, String)>,
    /// Words that withdraw or limit a statement.
    pub limits: HashSet<&'static str>,
    /// Forms that are values.
    pub values: HashSet<String>,
    /// Forms of light verbs, with the form that represents their group.
    pub light: HashMap<String, String>,
    /// Words that start a condition.
    pub conditions: HashSet<&'static str>,
    /// Words that assign a role, with the word that represents their group.
    pub directed: HashMap<&'static str, &'static str>,
    same: HashMap<String, String>,
    silent: HashSet<String>,
    particles: HashSet<(String, &'static str)>,
    kana: HashSet<&'static str>,
}

pub(super) static TABLES: LazyLock<WordTables> = LazyLock::new(WordTables::new);

impl WordTables {
    fn new() -> Self {
        let groups = IRREGULAR.split_whitespace().chain(SAME.split_whitespace());
        let pairs = groups
            .flat_map(members)
            .map(|(word, first)| (stem(word), stem(first)));
        let mut same: HashMap<String, String> = pairs.filter(|(word, first)| word != first).collect();
        // The first word of a group may also be in another group, whose first word then represents both groups.
        let chained: Vec<(String, String)> = same
            .iter()
            .filter_map(|(word, first)| Some((word.clone(), same.get(first)?.clone())))
            .collect();
        same.extend(chained);
        let form = |word: &str| {
            let stem = stem(word);
            same.get(&stem).cloned().unwrap_or(stem)
        };
        let set = |list: &'static str| list.split_whitespace().map(form).collect();
        let opposites = OPPOSITES.split_whitespace();
        let opposites = opposites.filter_map(|pair| pair.split_once('/'));
        let particles = PARTICLES.split_whitespace();
        let particles = particles.filter_map(|pair| pair.split_once('-'));
        let light = LIGHT.split_whitespace().flat_map(members);
        Self {
            negations: NEGATIONS.split_whitespace().collect(),
            opposites: opposites.map(|(a, b)| (form(a), form(b))).collect(),
            limits: LIMITS.split_whitespace().collect(),
            values: set(VALUES),
            silent: set(SILENT),
            light: light.map(|(word, first)| (form(word), form(first))).collect(),
            conditions: CONDITIONS.split_whitespace().collect(),
            directed: DIRECTED.split_whitespace().flat_map(members).collect(),
            particles: particles.map(|(verb, particle)| (stem(verb), particle)).collect(),
            kana: KANA.split_whitespace().collect(),
            same,
        }
    }
}

/// Returns each word of a group with the group's first word, which represents the group.
fn members(group: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let first = group.split('-').next().unwrap_or(group);
    group.split('-').map(move |word| (word, first))
}

/// Returns the stem of an English word, and any other word unchanged.
fn stem(lower: &str) -> String {
    if lower.len() > 2 && lower.bytes().all(|byte| byte.is_ascii_lowercase()) {
        Stemmer::create(Algorithm::English).stem(lower).into_owned()
    } else {
        lower.to_owned()
    }
}

/// Returns the stem of a word or, for a synonym, the stem of the word that represents its group.
pub(super) fn normalize(lower: &str) -> String {
    let stem = stem(lower);
    TABLES.same.get(&stem).cloned().unwrap_or(stem)
}

/// Joins a verb and its particle into one word: "backed up" becomes "backup".
pub(super) fn join_particle(verb: &str, particle: &str) -> Option<String> {
    let pair = (stem(verb), particle);
    let joined = || normalize(&format!("{}{particle}", pair.0));
    TABLES.particles.contains(&pair).then(joined)
}

/// Returns `true` if a word has no content.
pub(super) fn is_silent(lower: &str, form: &str) -> bool {
    is_stop(lower) || TABLES.silent.contains(form) || TABLES.light.contains_key(form)
}

/// Returns two flags for a run of hiragana: it has no content, and it negates.
pub(super) fn kana(run: &str) -> (bool, bool) {
    let denies = KANA_NEGATIONS.iter().any(|end| run.contains(end));
    (TABLES.kana.contains(run), denies)
}

/// Returns two flags for a Chinese character: it has no content, and it negates.
pub(super) fn han(mark: char) -> (bool, bool) {
    (HAN.contains(mark), HAN_NEGATIONS.contains(mark))
}
