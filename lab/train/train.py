"""Trains the trees of the second ranking, and prints figures of sets that the trees have not seen.

Usage: train.py DUMP... [--out models/ranker.txt] [--drop FEATURE,...]

DUMP is a file of dump.py. Every part of the data is left out once: each conversation of LoCoMo, thirds of the other
sets. The printed figures are from the parts that were left out, and from sets that are never used for training. Then
the trees are trained on all parts, and calibrated with the scores of the parts that were left out. The trees are the
mean of models with different seeds, because the figures of one model depend much on chance.
"""

import argparse
import collections
import json
import math
import zlib

import lightgbm
import numpy

# Weight of each kind of question. Questions about another workspace have no relevant candidate.
KINDS = {"locomo": 1.0, "beam": 1.0, "beam-500k": 0.5, "scifact": 0.5, "memaware-explicit": 0.5,
         "memaware-implicit": 0.4, "locomo-other": 0.5, "beam-other": 0.5}
# Features in which the score never falls, or never rises.
RISING = {"lexical_unit", "lexical_window", "lexical_passage", "vector_unit", "vector_window", "first", "coverage",
          "coverage_both", "coverage_around", "similar", "similar_around", "bigrams", "close", "names", "numbers",
          "neighbour", "vector_around", "similar_least", "lead", "lexical_lead", "vector_lead"}
FALLING = {"rank", "lexical_rank", "vector_rank"}
PARAMETERS = {
    "objective": "binary", "num_leaves": 24, "learning_rate": 0.1, "min_data_in_leaf": 100, "lambda_l2": 5.0,
    "feature_fraction": 0.6, "bagging_fraction": 0.8, "bagging_freq": 1, "deterministic": True, "force_row_wise": True,
    "num_threads": 1, "verbose": -1,
}
# The model is the mean of one model per seed, each with this number of trees.
SEEDS = [1, 2, 3]
TREES = 166
# Minimum best score with which the daemon uses the order of the second ranking.
CONFIDENT = 0.1
# Limits on the tokens of an answer.
BUDGETS = [500, 1000, 2000, 3500]


class Question:
    def __init__(self, row, names):
        self.set, self.part, self.group = row["set"], row["part"], row["group"]
        self.evidence = row["evidence"]
        self.relevant, self.units, self.tokens = row["relevant"], row["units"], row["tokens"]
        order = [row["names"].index(name) for name in names]
        self.features = numpy.array(row["features"], dtype=numpy.float32).reshape(len(self.units), -1)[:, order]
        # One candidate per unit: the first.
        seen = set()
        self.first = [at for at, unit in enumerate(self.units) if not (unit in seen or seen.add(unit))]
        self.labels = numpy.array([1.0 if spans else 0.0 for spans in self.relevant])
        # Questions with the same evidence are in the same fold.
        found = [unit for unit, spans in zip(self.units, self.relevant) if spans]
        key = self.part if self.set.startswith("beam") else min(found, default=row["question"])
        self.fold = self.part if self.set.startswith("locomo") else str(zlib.crc32(key.encode()) % 3)


def is_kept(row):
    """Returns true for a quarter of the questions about another workspace."""
    return zlib.crc32((row["part"] + row["question"]).encode()) % 4 == 0


def rows_of(questions):
    """Returns features, labels and weights of the training candidates."""
    counts = collections.Counter(question.set for question in questions)
    features, labels, weights = [], [], []
    for question in questions:
        if not question.first:
            continue
        own = question.labels[question.first]
        kind = KINDS[question.set] * 1000.0 / counts[question.set]
        features.append(question.features[question.first])
        labels.append(own)
        weights.append(numpy.full(len(own), kind / max(1.0, own.sum())))
    return numpy.concatenate(features), numpy.concatenate(labels), numpy.concatenate(weights)


def fit(questions, names):
    """Returns one model for each seed."""
    features, labels, weights = rows_of(questions)
    constraints = [1 if name in RISING else -1 if name in FALLING else 0 for name in names]
    data = lightgbm.Dataset(features, labels, weight=weights, feature_name=names)
    parameters = {**PARAMETERS, "monotone_constraints": constraints}
    return [lightgbm.train({**parameters, "seed": seed}, data, TREES) for seed in SEEDS]


def predict(models, features):
    """Returns the mean of the raw scores."""
    return numpy.mean([model.predict(features, raw_score=True) for model in models], axis=0)


def judge(question, scores):
    """Returns recall among the first ten units, reciprocal rank and nDCG at 10."""
    order = sorted(range(len(question.units)), key=lambda at: -scores[at])
    seen, found, reciprocal, rank, gain = set(), set(), 0.0, 0, 0.0
    for at in order:
        if question.units[at] in seen:
            continue
        seen.add(question.units[at])
        rank += 1
        new = [span for span in question.relevant[at] if span not in found]
        if question.relevant[at] and reciprocal == 0.0:
            reciprocal = 1.0 / rank
        if rank <= 10:
            found.update(new)
            gain += 1.0 / math.log2(rank + 1) if new else 0.0
    ideal = sum(1.0 / math.log2(rank + 2) for rank in range(min(10, question.evidence)))
    return len(found) / question.evidence, reciprocal, gain / ideal


def within_budget(question, scores, budget):
    """Returns recall among the results that fit into a budget of tokens. A result that does not fit is left out."""
    found, left = set(), budget
    for at in sorted(range(len(question.units)), key=lambda at: -scores[at]):
        if question.tokens[at] <= left:
            left -= question.tokens[at]
            found.update(question.relevant[at])
    return len(found) / question.evidence


def report(title, questions, scores):
    table = collections.defaultdict(list)
    for question, score in zip(questions, scores):
        if question.evidence:
            figures = judge(question, score)
            table[question.set].append(figures)
            if question.set == "locomo":
                table["  " + str(question.group)].append(figures)
    print(title)
    for name, rows in sorted(table.items()):
        recall, reciprocal, gain = numpy.mean(rows, axis=0)
        print(f"  {name:20} R@10 {100 * recall:5.1f}  MRR {reciprocal:.3f}  nDCG@10 {gain:.3f}  ({len(rows)})")
    for budget in BUDGETS:
        shares = [within_budget(question, score, budget) for question, score in zip(questions, scores)
                  if question.set == "locomo" and question.evidence]
        if shares:
            print(f"  locomo, {budget} tokens: {100 * numpy.mean(shares):.1f} %")


def left_out(questions, names):
    """Returns for each question the raw scores of a model that has not seen its part."""
    scores = [None] * len(questions)
    for fold in sorted({question.fold for question in questions}):
        train = [question for question in questions if question.fold != fold]
        models = fit(train, names)
        for at, question in enumerate(questions):
            if question.fold == fold:
                scores[at] = predict(models, question.features)
    return scores


def calibrate(questions, scores):
    """Fits slope and intercept of a logistic function, by Newton steps. Each kind of question has its weight."""
    x = numpy.concatenate([numpy.asarray(score)[question.first] for question, score in zip(questions, scores)])
    y = numpy.concatenate([question.labels[question.first] for question in questions])
    counts = collections.Counter(question.set for question in questions)
    w = numpy.concatenate([
        numpy.full(len(question.first), KINDS[question.set] * 1000.0 / counts[question.set]) for question in questions
    ])
    design = numpy.stack([x, numpy.ones_like(x)], axis=1)
    pair = numpy.array([1.0, 0.0])
    for _ in range(30):
        p = 1.0 / (1.0 + numpy.exp(-design @ pair))
        gradient = design.T @ (w * (y - p))
        curvature = (design * (w * p * (1 - p))[:, None]).T @ design
        pair = pair + numpy.linalg.solve(curvature, gradient)
    return pair


def probabilities(scores, pair):
    return 1.0 / (1.0 + numpy.exp(-(pair[0] * numpy.asarray(scores) + pair[1])))


def in_order(question, scores, pair, first):
    """Returns the values by which the daemon orders the candidates: the scores of the second ranking, or those of the
    first if none reaches CONFIDENT."""
    return scores if probabilities(scores, pair).max() >= CONFIDENT else question.features[:, first]


def reliability(questions, scores, pair):
    """Prints for ranges of the score the mean score and the share of relevant candidates."""
    for kind in ["locomo", "beam", "memaware-explicit", "scifact"]:
        p, y = [], []
        for question, score in zip(questions, scores):
            if question.set in (kind, kind + "-other"):
                p.append(probabilities(score, pair)[question.first])
                y.append(question.labels[question.first])
        if not p:
            continue
        p, y = numpy.concatenate(p), numpy.concatenate(y)
        line = []
        for low, high in [(0, 0.02), (0.02, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01)]:
            within = (p >= low) & (p < high)
            if within.any():
                line.append(f"{p[within].mean():.2f}: {y[within].mean():.2f} ({within.sum()})")
        print(f"  {kind:20}", "  ".join(line))


def top_scores(questions, scores, pair):
    for kind in sorted({question.set for question in questions}):
        top = [probabilities(score, pair).max() for question, score in zip(questions, scores) if question.set == kind]
        print(f"  {kind:20} best score:",
              " ".join(f"{share}%: {numpy.percentile(top, share):.3f}" for share in (5, 10, 25, 50, 75, 90, 95)))


def write_node(node, out):
    if "leaf_value" in node:
        out.append(f"={node['leaf_value'] / len(SEEDS):.4f}".replace("=0.", "=.").replace("=-0.", "=-."))
        return
    out.append(f"{node['split_feature']}<{node['threshold']:.5g}".replace("<0.", "<.").replace("<-0.", "<-."))
    write_node(node["left_child"], out)
    write_node(node["right_child"], out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="+")
    parser.add_argument("--out")
    parser.add_argument("--drop", default="")
    options = parser.parse_args()
    rows = [json.loads(line) for path in options.dumps for line in open(path, encoding="utf-8")]
    names = [name for name in next(row["names"] for row in rows if row["names"]) if name not in options.drop.split(",")]
    rows = [row for row in rows if row["units"] and (row["evidence"] or is_kept(row))]
    asked = [Question(row, names) for row in rows]
    questions = [question for question in asked if question.set in KINDS]
    unseen = [question for question in asked if question.set not in KINDS]
    cosine, first = names.index("vector_unit"), names.index("first")
    report("order of the candidates by cosine", asked, [question.features[:, cosine] for question in asked])
    report("first ranking", asked, [question.features[:, first] for question in asked])
    scores = left_out(questions, names)
    pair = calibrate(questions, scores)
    models = fit(questions, names)
    known = zip(questions + unseen, scores + [predict(models, one.features) for one in unseen])
    report("second ranking, parts left out", questions + unseen,
           [in_order(question, score, pair, first) for question, score in known])
    print(f"calibration {pair[0]:.4g} {pair[1]:.4g}; mean score and share of relevant candidates (count):")
    reliability(questions, scores, pair)
    top_scores(questions, scores, pair)
    if options.out:
        gains = numpy.sum([model.feature_importance("gain") for model in models], axis=0)
        gains = sorted(zip(gains, names), reverse=True)
        print("gain:", " ".join(f"{name} {gain:.0f}" for gain, name in gains))
        lines = ["# Trees of the second ranking, written by lab/train/train.py.",
                 "features " + " ".join(names), f"calibration {pair[0]:.5g} {pair[1]:.5g}"]
        for tree in [tree for model in models for tree in model.dump_model()["tree_info"]]:
            nodes = []
            write_node(tree["tree_structure"], nodes)
            lines.append(" ".join(nodes))
        with open(options.out, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
