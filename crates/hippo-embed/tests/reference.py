"""Writes reference.json: the vectors of a few texts, computed in plain numpy.

Needs numpy and tokenizers. MODEL_FOLDER contains the weights as 32-bit floats, without the adapter.
Usage: python reference.py MODEL_FOLDER models/dialogue.safetensors > reference.json
"""

import json
import math
import struct
import sys

import numpy as np
from tokenizers import Tokenizer

TEXTS = [
    "Which port does the staging database use?",
    "- The staging database listens on 5433, because 5432 is taken by the old cluster.",
    "Ana prefers short answers and hates being asked twice for the same thing.",
    "ok",
    "# 2026-03-14\nDeployed v2.3.1 at 17:40; rolled back at 18:05 (migration 0042 locked `orders`).",
    "Die Rechnung für März wurde am 3. April bezahlt — zwei Tage zu spät.",
    "東京の会議は来週の火曜日です。",
    "fn main() { let x: Vec<u8> = std::fs::read(\"/tmp/a.bin\")?; }",
    "User: can you remind me what we decided about the caching layer?\n"
    "Assistant: We decided to drop Redis and keep an in-process cache with a limit of 64 MB.",
    "The sourdough needs feeding every twelve hours; the kitchen is about 21 °C in winter. " * 6,
    "",
]


def read(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        kind = {"F32": np.float32, "I64": np.int64, "BF16": np.uint16}[entry["dtype"]]
        start, end = entry["data_offsets"]
        values = np.frombuffer(data[start:end], kind)
        if kind == np.uint16:
            # A bfloat16 number is the first half of a 32-bit float.
            values = (values.astype(np.uint32) << 16).view(np.float32)
        tensors[name] = values.reshape(entry["shape"]).astype(np.float64)
    return tensors


def norm(x, weights, name, epsilon):
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    return x * weights[name + ".weight"] + weights[name + ".bias"]


def linear(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


erf = np.vectorize(math.erf)


def forward(ids, weights, config):
    heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = norm(x, weights, "embeddings.LayerNorm", epsilon)
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        q, k, v = (
            linear(x, weights, layer + "attention.self." + part).reshape(len(ids), heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ v
        mixed = mixed.transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(linear(mixed, weights, layer + "attention.output.dense") + x, weights,
                 layer + "attention.output.LayerNorm", epsilon)
        wide = linear(x, weights, layer + "intermediate.dense")
        wide = 0.5 * wide * (1 + erf(wide / math.sqrt(2)))
        x = norm(linear(wide, weights, layer + "output.dense") + x, weights, layer + "output.LayerNorm", epsilon)
    return x


def main(folder, adapter):
    weights = read(folder + "/model.safetensors")
    factors = read(adapter)
    for name in [name.removesuffix(".down") for name in factors if name.endswith(".down")]:
        weights[name] = weights[name] + factors[name + ".up"] @ factors[name + ".down"]
    config = json.load(open(folder + "/config.json"))
    tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    rows = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        mean = forward(ids, weights, config).mean(0)
        unit = mean / np.linalg.norm(mean)
        rows.append({
            "text": text,
            "pieces": len(ids),
            "vector": [round(float(x), 4) for x in unit],
        })
    print("[" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "]")


main(sys.argv[1], sys.argv[2])
