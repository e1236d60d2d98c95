//! Boosted decision trees: parser and evaluation.
//!
//! The text form begins with the line `features NAME…`. Then each line is a tree, which lists the nodes in preorder:
//! `number<threshold` for a split, whose first subtree is for values up to the threshold, and `=value` for a leaf. The
//! number is the position of the feature in the first line. Lines that start with `#` are comments. The line
//! `calibration SLOPE INTERCEPT` converts the sum of the trees to the logit of the score.

/// Number of candidates that descend a tree together. It divides the number of candidates of a query.
const LANES: usize = 25;

/// A model of boosted trees over named features.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoostedTrees {
    nodes: Vec<TreeNode>,
    /// Index of the first node of each tree, and the largest number of splits on a path.
    roots: Vec<(u32, u32)>,
    slope: f32,
    intercept: f32,
}

/// A split, or a leaf. Both nodes that follow a leaf are the leaf itself.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TreeNode {
    feature: u32,
    /// The threshold of a split, or the value of a leaf.
    value: f32,
    /// Indices of the nodes for values up to the threshold, and for others.
    next: [u32; 2],
}

impl BoostedTrees {
    /// Parses the text form. `names` are the names of the features, in the order of the values to evaluate.
    ///
    /// # Errors
    /// Returns the number of the first invalid line, with the reason.
    pub fn parse(text: &str, names: &[&str]) -> Result<Self, String> {
        let mut trees = Self {
            slope: 1.0,
            ..Self::default()
        };
        let mut features: Vec<u32> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let failed = |why: String| format!("line {number}: {why}");
            let mut words = line.split_ascii_whitespace().peekable();
            match words.peek() {
                None => {}
                Some(word) if word.starts_with('#') => {}
                Some(&"features") => {
                    let place = |name: &str| {
                        let place = (0..).zip(names).find(|(_, known)| **known == name);
                        place
                            .map(|(place, _)| place)
                            .ok_or_else(|| failed(format!("no such feature: {name}")))
                    };
                    features = words.skip(1).map(place).collect::<Result<_, _>>()?;
                }
                Some(&"calibration") => {
                    let numbers: Result<Vec<f32>, String> = words.skip(1).map(finite).collect();
                    let [slope, intercept] = numbers.map_err(failed)?[..] else {
                        return Err(failed("expected two numbers".to_owned()));
                    };
                    (trees.slope, trees.intercept) = (slope, intercept);
                }
                Some(_) => {
                    let root =
                        u32::try_from(trees.nodes.len()).map_err(|_| failed("too many nodes".to_owned()))?;
                    let depth = trees.push_tree(&mut words, &features).map_err(failed)?;
                    trees.roots.push((root, depth));
                    if let Some(word) = words.next() {
                        return Err(failed(format!("unexpected node after the tree: {word}")));
                    }
                }
            }
        }
        Ok(trees)
    }

    /// Returns the score, from 0 to 1, of each candidate. A candidate has one value per feature.
    #[must_use]
    pub fn scores<Values: AsRef<[f32]>>(&self, candidates: &[Values]) -> Vec<f32> {
        let mut sums = vec![0.0; candidates.len()];
        // The nodes of one tree stay in the processor's cache while all candidates are evaluated.
        for (root, depth) in &self.roots {
            for (sums, candidates) in sums.chunks_mut(LANES).zip(candidates.chunks(LANES)) {
                self.add_leaves(*root, *depth, candidates, sums);
            }
        }
        let logistic = |sum: f32| 1.0 / (1.0 + (-(self.slope * sum + self.intercept)).exp());
        sums.into_iter().map(logistic).collect()
    }

    /// Adds the values of the leaves that up to [`LANES`] candidates reach. The candidates descend together, without
    /// branches that the processor would have to predict.
    fn add_leaves<Values: AsRef<[f32]>>(
        &self,
        root: u32,
        depth: u32,
        candidates: &[Values],
        sums: &mut [f32],
    ) {
        let mut at = [root; LANES];
        for _ in 0..depth {
            for (at, values) in at.iter_mut().zip(candidates) {
                let node = &self.nodes[*at as usize];
                let is_above = values.as_ref()[node.feature as usize] > node.value;
                *at = node.next[usize::from(is_above)];
            }
        }
        for (sum, at) in sums.iter_mut().zip(at) {
            *sum += self.nodes[at as usize].value;
        }
    }

    /// Appends the nodes of a tree, and returns its depth. A stack holds the splits whose second subtree is still
    /// missing, so that nesting in the text does not cause recursion.
    fn push_tree<'t>(
        &mut self,
        words: &mut impl Iterator<Item = &'t str>,
        features: &[u32],
    ) -> Result<u32, String> {
        // Each split with its depth.
        let mut open: Vec<(usize, u32)> = Vec::new();
        let (mut depth, mut deepest) = (0, 0);
        loop {
            let word = words.next().ok_or("the tree has too few nodes")?;
            let at = self.nodes.len();
            let own = u32::try_from(at).map_err(|_| "too many nodes")?;
            if let Some((place, threshold)) = word.split_once('<') {
                let feature = place.parse().ok().and_then(|place: usize| features.get(place));
                self.nodes.push(TreeNode {
                    feature: *feature.ok_or_else(|| format!("no such feature: {place}"))?,
                    value: finite(threshold)?,
                    next: [own + 1; 2],
                });
                open.push((at, depth));
                depth += 1;
                continue;
            }
            let value = word
                .strip_prefix('=')
                .ok_or_else(|| format!("not a node: {word}"))?;
            self.nodes.push(TreeNode {
                feature: 0,
                value: finite(value)?,
                next: [own; 2],
            });
            deepest = deepest.max(depth);
            let Some((split, above)) = open.pop() else {
                return Ok(deepest);
            };
            self.nodes[split].next[1] = own + 1;
            depth = above + 1;
        }
    }
}

fn finite(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number: &f32| number.is_finite());
    number.ok_or_else(|| format!("not a number: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["words", "meaning"];

    #[test]
    fn each_value_reaches_the_leaf_of_its_range() {
        let text = "# a comment\nfeatures meaning words\n\n1<0.5 0<0.2 =1 =2 0<0.8 =3 =4\n=10\n";
        let trees = BoostedTrees::parse(text, &NAMES).unwrap();
        for (values, sum) in [
            ([0.5, 0.2], 11.0),
            ([0.5, 0.3], 12.0),
            ([0.6, 0.8], 13.0),
            ([9.0, 9.0], 14.0),
        ] {
            let expected = 1.0 / (1.0 + f32::exp(-sum));
            assert!((trees.scores(&[values])[0] - expected).abs() < 1e-6, "{values:?}");
        }
    }

    #[test]
    fn the_calibration_scales_the_sum() {
        let trees = BoostedTrees::parse("calibration 2 -6\n=3", &NAMES).unwrap();
        assert!((trees.scores(&[[0.0, 0.0]])[0] - 0.5).abs() < 1e-6);
    }

    #[test]
    fn candidates_that_descend_together_get_the_same_scores_as_alone() {
        let text = "features meaning words\n1<0.5 0<0.2 =1 0<0.4 =2 0<0.6 =3 =4 =5\n=-3\n0<0.7 =-1 =1\n";
        let trees = BoostedTrees::parse(text, &NAMES).unwrap();
        let candidates: Vec<[f32; 2]> = (0..=LANES)
            .map(|at| [at as f32 / 7.0 % 1.0, at as f32 / 11.0 % 1.0])
            .collect();
        let together = trees.scores(&candidates);
        let alone: Vec<f32> = (candidates.iter()).map(|one| trees.scores(&[one])[0]).collect();
        assert_eq!(together, alone);
        assert!(together.iter().any(|score| *score != together[0]));
    }

    #[test]
    fn an_invalid_line_is_named() {
        for (text, reason) in [
            ("features words\n0<0.5 =1", "line 2: the tree has too few nodes"),
            (
                "features words\n\n0<0.5 =1 =2 =3",
                "line 3: unexpected node after the tree: =3",
            ),
            ("features other", "line 1: no such feature: other"),
            ("features words\n1<0.5 =1 =2", "line 2: no such feature: 1"),
            ("0<0.5 =1 =2", "line 1: no such feature: 0"),
            ("features words\n0<x =1 =2", "line 2: not a number: x"),
            ("features words\n0<NaN =1 =2", "line 2: not a number: NaN"),
            ("1", "line 1: not a node: 1"),
            ("calibration 1", "line 1: expected two numbers"),
            ("calibration 1 inf", "line 1: not a number: inf"),
        ] {
            assert_eq!(BoostedTrees::parse(text, &NAMES), Err(reason.to_owned()));
        }
    }

    #[test]
    fn deep_nesting_needs_no_recursion() {
        let deep = 100_000;
        let text = format!(
            "features words\n{}{}",
            "0<0 ".repeat(deep),
            "=1 ".repeat(deep + 1)
        );
        let trees = BoostedTrees::parse(&text, &NAMES).unwrap();
        assert!(trees.scores(&[[1.0, 0.0]])[0] > 0.7);
    }
}
