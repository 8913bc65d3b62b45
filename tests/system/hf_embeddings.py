"""Compares our vectors with those of transformers.

Usage: hf_embeddings.py MODEL TEXT VECTORS... MODEL is a folder for from_pretrained with a vocab.txt; VECTORS are files named mean.npy,
cls.h5 and the like. Prints {file's name: largest difference}. Exits with 77 if a package is missing.
"""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch

try:
    import h5py
    import numpy
    from transformers import AutoModel, BertTokenizer
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

BATCH = 7


def theirs(folder, lines):
    """Returns {name: vectors}, computed in batches of unequal lengths."""
    config = json.loads((folder / "tokenizer_config.json").read_text()) if (folder / "tokenizer_config.json").exists() else {}
    tokenizer = BertTokenizer(vocab=str(folder / "vocab.txt"), do_lower_case=config.get("do_lower_case", True))
    model = AutoModel.from_pretrained(folder).eval()
    vectors = {"mean": [], "cls": [], "pooled": []}
    for first in range(0, len(lines), BATCH):
        batch = tokenizer(lines[first:first + BATCH], padding=True, truncation=True, return_tensors="pt",
                          max_length=model.config.max_position_embeddings)
        with torch.inference_mode():
            out = model(**batch)
        own = batch["attention_mask"].unsqueeze(2)
        vectors["mean"].append((out.last_hidden_state * own).sum(1) / own.sum(1))
        vectors["cls"].append(out.last_hidden_state[:, 0])
        vectors["pooled"].append(out.pooler_output)
    return {name: torch.cat(parts).numpy() for name, parts in vectors.items()}


def main(folder, text, files):
    torch.set_num_threads(1)
    lines = text.read_text().split("\n")
    if lines[-1] == "":
        lines.pop()
    right = theirs(folder, lines)
    differences = {}
    for file in files:
        ours = numpy.load(file) if file.suffix == ".npy" else h5py.File(file)[file.stem][:]
        assert ours.shape == right[file.stem].shape, (file, ours.shape, right[file.stem].shape)
        differences[file.name] = float(numpy.abs(ours - right[file.stem]).max())
    print(json.dumps(differences))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(file) for file in sys.argv[3:]])
