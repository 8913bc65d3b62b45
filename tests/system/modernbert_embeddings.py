"""Compares the vectors of a ModernBERT with those of transformers and sentence-transformers, of its exported folder.

Usage: modernbert_embeddings.py FOLDER TEXT VECTORS. VECTORS is our .npy of means. Prints the largest difference to each. Fails if
transformers misses a tensor of the folder or does not know one. Exits with 77 if a package is missing.
"""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

try:
    import numpy
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import AutoModelForMaskedLM, AutoTokenizer
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


@torch.inference_mode()
def main(folder, text, vectors):
    torch.set_num_threads(1)
    lines, ours = text.read_text().splitlines(), numpy.load(vectors)
    model, loading = AutoModelForMaskedLM.from_pretrained(folder, output_loading_info=True)
    assert not any(loading.values()), loading
    tokenizer, theirs = AutoTokenizer.from_pretrained(folder), []
    for line in lines:
        ids = tokenizer(line, return_tensors="pt")
        theirs.append(model.eval().model(ids["input_ids"], ids["attention_mask"]).last_hidden_state[0].mean(0).numpy())
    sentences = SentenceTransformer(str(folder), device="cpu").encode(lines)
    print(json.dumps({"transformers": float(numpy.abs(ours - numpy.stack(theirs)).max()),
                      "sentence_transformers": float(numpy.abs(ours - sentences).max())}))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
