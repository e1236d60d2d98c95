"""Trains the adapter of the default embedding model for questions about conversations and notes.

Usage: encoder.py --sources DIR --model DIR [--out models/dialogue.safetensors] [--eval DIR] [--steps N] [--seed N]

--sources contains a clone of each repository in SOURCES, in a folder owner+name. --model contains all-MiniLM-L6-v2 as
32-bit floats: config.json, tokenizer.json and model.safetensors. The adapter has two factors for each linear layer of
the encoder (low-rank adaptation, https://arxiv.org/abs/2106.09685). `hippoctl model pull` adds their product to the
weights before it quantizes them.

As in hippod, the model reads the lines of a section together, a line's vector is the mean of its word pieces, and most
questions that name a speaker are in the first person. The wrong answers of a step are the other lines of its passes:
lines of the same sections, and of other sections.

With --eval, prints the recall and the mean reciprocal rank of LoCoMo by meaning alone, without and with the adapter.
"""

import argparse
import json
import math
import pathlib
import random
import re
import subprocess

import torch
from safetensors.torch import save_file
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

# Repository, commit, licence, and number of its passes in each step.
SOURCES = {
    "friends": ("emorynlp/FriendsQA", "9ce6c98a6acf13c87d96b6811e4409b5de43bdfe", "Apache-2.0", 5),
    "molweni": ("HIT-SCIR/Molweni", "2eb681d7e610ee3fda4ab3b4cc364554bd17ee67", "Apache-2.0", 2),
    "qmsum": ("Yale-LILY/QMSum", "83d7768c1f2b4dfeb091385d3dc7e239b8e5bb7e", "MIT", 1),
    "qed": ("google-research-datasets/QED", "2492920337122918bbfc7d12c1268b9af796c6cf", "CC BY-SA 3.0", 3),
}
RANK = 8
LEARNING_RATE = 1e-3
# Weight of the distance between the vectors with and without the adapter, so that other texts keep their vectors.
ANCHOR = 1.0
# Factor of the cosines in the loss.
SCALE = 20.0
# Share of the questions in the first person.
FIRST_PERSON = 0.7
# Maximum word pieces of a pass, of a heading, of a line and of a question.
PASS, HEADING, LINE, QUESTION = 256, 24, 216, 126
# Maximum meetings of QMSum, their turns, and the turns of a question's evidence.
MEETINGS, TURNS, SPAN = 40, 450, 60


class Section:
    """A heading with lines below it, and questions with the positions of the lines that answer them."""

    def __init__(self, heading, lines, questions):
        self.heading, self.lines, self.questions = heading, lines, questions


def clean(text):
    """Removes the spaces of a tokenizer: "do n't" becomes "don't"."""
    text = re.sub(r"\b(gon|wan|got) na\b", r"\1na", text)
    text = re.sub(r" (n't|'s|'m|'re|'ve|'ll|'d)\b", r"\1", text)
    text = re.sub(r" ([.,!?;:%)])", r"\1", text)
    return re.sub(r"\s+", " ", text).strip() or "..."


def turn(speaker, text):
    return f"{speaker}: {clean(text)}" if speaker else clean(text)


def friends(show, _):
    for part in ("dev", "tst"):
        for scene in json.loads(show(f"dat/friendsqa_{part}.json"))["data"]:
            scene = scene["paragraphs"][0]
            names = [", ".join(name.split()[0] for name in row["speakers"] if name) for row in scene["utterances:"]]
            names = ["" if name.startswith("#") else name for name in names]
            lines = [turn(name, row["utterance"]) for name, row in zip(names, scene["utterances:"])]
            questions = [(clean(row["question"]), {answer["utterance_id"] for answer in row["answers"]})
                         for row in scene["qas"]]
            yield Section(" and ".join(sorted(set(filter(None, names)))[:3]), lines, questions), names


def molweni(show, _):
    for chat in json.loads(show("MRC(withDiscourse)/test.json"))["data"]["dialogues"]:
        spans, at = [], 0
        for row in chat["edus"]:
            # A speaker's name before the text belongs to the line.
            start = chat["context"].find(row["text"], at)
            at = start + len(row["text"])
            spans.append((start - len(row["speaker"]) - 2, at))
        questions = []
        for row in chat["qas"]:
            answers = [(answer["answer_start"], answer["answer_start"] + len(answer["text"]))
                       for answer in row["answers"]]
            there = {number for number, (start, end) in enumerate(spans)
                     if any(first < end and start < last for first, last in answers)}
            questions.append((clean(row["question"]), there))
        names = [row["speaker"] for row in chat["edus"]]
        yield Section("Chat", [turn(row["speaker"], row["text"]) for row in chat["edus"]], questions), names


def qmsum(show, chance):
    paths = show("data/ALL/train/").split()[2:]
    chance.shuffle(paths)
    taken = 0
    for path in paths:
        meeting = json.loads(show(f"data/ALL/train/{path}"))
        turns = meeting["meeting_transcripts"]
        if len(turns) > TURNS or taken == MEETINGS:
            continue
        taken += 1
        lines = [turn(row["speaker"], re.sub(r"\{\w+\}", "", row["content"])) for row in turns]
        questions = []
        for row in meeting["specific_query_list"]:
            spans = [range(int(first), int(last) + 1) for first, last in row["relevant_text_span"]]
            questions.append((row["query"], {at for span in spans if len(span) <= SPAN for at in span}))
        yield Section("Meeting", lines, questions), [row["speaker"] for row in turns]


def qed(show, _):
    for row in show("qed-dev.jsonlines").splitlines():
        row = json.loads(row)
        selected = row["annotation"].get("selected_sentence")
        if not selected:
            continue
        starts = row["sentence_starts"]
        ends = [*starts[1:], len(row["paragraph_text"])]
        lines = [clean(row["paragraph_text"][start:end]) for start, end in zip(starts, ends)]
        answer = max(at for at, start in enumerate(starts) if start <= selected["start"])
        yield Section(row["title_text"], lines, [(row["question_text"], {answer})]), []


def sections_of(name, sources, chance):
    """Returns the sections of a source, and the names of its speakers."""
    repository, commit, _, _ = SOURCES[name]

    def show(path):
        command = ["git", "-C", str(sources / repository.replace("/", "+")), "show", f"{commit}:{path}"]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout

    sections, names = [], set()
    for section, speakers in {"friends": friends, "molweni": molweni, "qmsum": qmsum, "qed": qed}[name](show, chance):
        sections.append(section)
        names.update(name for line in speakers for name in line.split(", ") if name)
    return sections, names


def in_first_person(question, names):
    """Returns a question as the speaker that it names would say it, as `in_first_person` of hippo-text does."""

    def replaced(match):
        owner = re.sub("['’]s$", "", match[0])
        if owner not in names:
            return match[0]
        return "I" if owner == match[0] else "my"

    return re.sub(r"[A-Z]\w+(?:['’]s)?", replaced, question)


class Encoder:
    """The model with an adapter, which has no effect before the training."""

    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder, attn_implementation="sdpa")
        self.model.requires_grad_(False)
        self.layers = {}
        for name, layer in self.model.encoder.named_modules():
            if isinstance(layer, torch.nn.Linear):
                down = torch.randn(RANK, layer.in_features) / math.sqrt(layer.in_features)
                up = torch.zeros(layer.out_features, RANK)
                pair = [torch.nn.Parameter(down), torch.nn.Parameter(up)]
                self.layers[f"encoder.{name}.weight"] = pair
                layer.register_forward_hook(self.hook(pair))
        self.adapted = True

    def hook(self, pair):
        def add(_, inputs, output):
            down, up = pair
            return output + inputs[0] @ down.T @ up.T if self.adapted else output

        return add

    def pieces(self, text, most):
        return self.tokenizer(text, add_special_tokens=False)["input_ids"][:most]

    def states(self, passes):
        """Returns the state of each word piece, and a mask of the pieces. Each pass begins with [CLS]."""
        longest = max(map(len, passes)) + 2
        ids = torch.zeros(len(passes), longest, dtype=torch.long)
        mask = torch.zeros(len(passes), longest, dtype=torch.long)
        for row, pieces in enumerate(passes):
            whole = [self.tokenizer.cls_token_id, *pieces, self.tokenizer.sep_token_id]
            ids[row, : len(whole)] = torch.tensor(whole)
            mask[row, : len(whole)] = 1
        return self.model(input_ids=ids, attention_mask=mask).last_hidden_state, mask

    def questions(self, texts):
        states, mask = self.states([self.pieces(text, QUESTION) for text in texts])
        mask = mask.unsqueeze(-1).float()
        return functional.normalize((states * mask).sum(1) / mask.sum(1), dim=-1)

    def lines(self, passes):
        """Returns the vectors of all lines of the passes."""
        states, _ = self.states([one.pieces for one in passes])
        means = [states[row, start:end].mean(0) for row, one in enumerate(passes) for start, end in one.spans]
        return functional.normalize(torch.stack(means), dim=-1)


class Pass:
    """Lines of a section that the model reads together: their word pieces after those of the heading, and for each line
    its key and its range."""

    def __init__(self, heading):
        self.pieces, self.keys, self.spans, self.questions = list(heading), [], [], []

    def add(self, key, pieces):
        self.keys.append(key)
        self.spans.append((len(self.pieces) + 1, len(self.pieces) + 1 + len(pieces)))
        self.pieces += pieces


def passes_of(encoder, number, section):
    heading = encoder.pieces(section.heading, HEADING)
    lines = [encoder.pieces(line, LINE) or [encoder.tokenizer.unk_token_id] for line in section.lines]
    room = PASS - 2 - len(heading)
    even = min(room, math.ceil(sum(map(len, lines)) / max(1, math.ceil(sum(map(len, lines)) / room))) + 20)
    passes = []
    for at, pieces in enumerate(lines):
        if not passes or len(passes[-1].pieces) - len(heading) + len(pieces) > even:
            passes.append(Pass(heading))
        passes[-1].add((number, at), pieces)
    return passes


def train(encoder, sources, steps, chance):
    data = {}
    for name in SOURCES:
        sections, names = sections_of(name, sources, chance)
        data[name] = []
        for number, section in enumerate(sections):
            for one in passes_of(encoder, (name, number), section):
                for question, answers in section.questions:
                    keys = {((name, number), at) for at in answers}
                    if keys & set(one.keys):
                        one.questions.append((question, in_first_person(question, names), keys))
                if one.questions:
                    data[name].append(one)
        count = sum(len(one.questions) for one in data[name])
        print(f"{name}: {len(data[name])} passes with {count} questions", flush=True)
    parameters = [factor for pair in encoder.layers.values() for factor in pair]
    optimizer = torch.optim.AdamW(parameters, lr=LEARNING_RATE, weight_decay=0.01)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (0.1 * steps)) * max(0.0, 1.0 - step / steps)
    )
    left, total = {name: [] for name in data}, 0.0
    for step in range(steps):
        part = []
        for name, (_, _, _, count) in SOURCES.items():
            for _ in range(count):
                if not left[name]:
                    left[name] = chance.sample(data[name], len(data[name]))
                part.append(left[name].pop())
        asked = [row for one in part for row in chance.sample(one.questions, min(3, len(one.questions)))]
        texts = [own if chance.random() < FIRST_PERSON else question for question, own, _ in asked]
        encoder.model.train()
        lines, questions = encoder.lines(part), encoder.questions(texts)
        relevant = torch.tensor([[key in keys for one in part for key in one.keys] for _, _, keys in asked])
        shares = (SCALE * questions @ lines.T).log_softmax(-1)
        loss = -shares.masked_fill(~relevant, -math.inf).logsumexp(-1).mean()
        # Three passes and four questions are compared with their former vectors.
        encoder.adapted = False
        encoder.model.eval()
        chosen = sorted(chance.sample(range(len(part)), 3))
        with torch.no_grad():
            former, former_questions = encoder.lines([part[at] for at in chosen]), encoder.questions(texts[-4:])
        encoder.adapted = True
        ends = [0]
        for one in part:
            ends.append(ends[-1] + len(one.spans))
        same = torch.cat([lines[ends[at] : ends[at + 1]] for at in chosen])
        moved = 1 - (same * former).sum(-1).mean() + 0.3 * (1 - (questions[-4:] * former_questions).sum(-1).mean())
        (loss + ANCHOR * moved).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        rate.step()
        optimizer.zero_grad()
        total += loss.item()
        if (step + 1) % 20 == 0:
            print(f"step {step + 1}: loss {total / 20:.3f}, moved {moved.item():.3f}", flush=True)
            total = 0.0


def conversation(folder):
    """Returns the sections of a LoCoMo workspace and its questions: text, and places of the lines of each evidence."""
    sections, names, places = [], set(), {}
    for path in sorted((folder / "workspace" / "memory").glob("*.md")):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            text = re.sub(r"<!--.*?-->|\*\*", "", line).removeprefix("- ").strip()
            if line.startswith("## "):
                sections.append(Section(f"{path.stem} {text[3:]}", [], []))
            elif sections and text:
                places[(f"memory/{path.name}", number)] = (len(sections) - 1, len(sections[-1].lines))
                sections[-1].lines.append(text)
                names.add(text.partition(":")[0])
    questions = []
    for row in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(row)
        evidence = [{places[(span["path"], number)] for number in range(span["start_line"], span["end_line"] + 1)
                     if (span["path"], number) in places} for span in row["evidence"]]
        questions.append((in_first_person(row["query"], names), evidence))
    return sections, questions


@torch.no_grad()
def evaluate(encoder, folder):
    """Prints recall among the first ten lines and mean reciprocal rank by meaning alone."""
    encoder.model.eval()
    found, reciprocal = [], []
    for workspace in sorted((folder / "retrieval" / "locomo").iterdir()):
        sections, questions = conversation(workspace)
        passes = [one for number, section in enumerate(sections) for one in passes_of(encoder, number, section)]
        passes.sort(key=lambda one: len(one.pieces))
        keys = [key for one in passes for key in one.keys]
        lines = torch.cat([encoder.lines(passes[at : at + 16]) for at in range(0, len(passes), 16)])
        for question, evidence in questions:
            order = [keys[at] for at in (lines @ encoder.questions([question])[0]).argsort(descending=True).tolist()]
            top = set(order[:10])
            found.append(sum(1 for span in evidence if span & top) / len(evidence))
            relevant = set().union(*evidence)
            reciprocal.append(next((1 / at for at, key in enumerate(order, 1) if key in relevant), 0))
    count = len(found)
    print(f"LoCoMo, {count} questions: R@10 {100 * sum(found) / count:.1f}, MRR {sum(reciprocal) / count:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=pathlib.Path, required=True)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--eval", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=450)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(2)
    encoder = Encoder(options.model)
    if options.eval:
        evaluate(encoder, options.eval)
    train(encoder, options.sources, options.steps, random.Random(options.seed))
    if options.eval:
        evaluate(encoder, options.eval)
    if options.out:
        tensors = {}
        for name, (down, up) in encoder.layers.items():
            tensors[f"{name}.down"] = down.detach().to(torch.bfloat16).contiguous()
            tensors[f"{name}.up"] = up.detach().to(torch.bfloat16).contiguous()
        save_file(tensors, options.out)


if __name__ == "__main__":
    main()
