"""Compares the guesses of `predict` with those of transformers' fill-mask pipeline.

Usage: hf_fill_mask.py MODEL PREDICTED. MODEL is a folder for from_pretrained; PREDICTED is what `predict --json` printed. Prints
{"masks", "same_ids": masks whose guesses have the same ids in the same order, "largest_difference": of a probability,
"largest_missed": by how much a token that is not among the guesses is more probable than the last guess}.
Exits with 77 if a package is missing.
"""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

try:
    import torch  # noqa: F401: the pipeline needs it
    from transformers import AutoModelForMaskedLM, AutoTokenizer, pipeline
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


def main(model, predicted):
    tokenizer = AutoTokenizer.from_pretrained(model)
    fill = pipeline("fill-mask", model=AutoModelForMaskedLM.from_pretrained(model), tokenizer=tokenizer, device="cpu")
    found = {"masks": 0, "same_ids": 0, "largest_difference": 0.0, "largest_missed": 0.0}
    for line in Path(predicted).read_text().splitlines():
        ours = json.loads(line)
        theirs = fill(ours["text"], top_k=fill.model.config.vocab_size)
        if len(ours["masks"]) == 1:
            theirs = [theirs]
        assert len(theirs) == len(ours["masks"]), ours["text"]
        for mask, guesses in zip(ours["masks"], theirs):
            probability = {guess["token"]: guess["score"] for guess in guesses}
            shown = {guess["token"]: guess["token_str"] for guess in guesses}
            ids = [guess["id"] for guess in mask["guesses"]]
            found["masks"] += 1
            found["same_ids"] += ids == [guess["token"] for guess in guesses[:len(ids)]]
            for guess in mask["guesses"]:
                assert tokenizer.convert_ids_to_tokens(guess["id"]) == guess["token"]
                assert guess["token_str"] == shown[guess["id"]], (guess, shown[guess["id"]])
                difference = abs(guess["probability"] - probability[guess["id"]])
                found["largest_difference"] = max(found["largest_difference"], difference)
            least = probability[ids[-1]]
            missed = max((p - least for token, p in probability.items() if token not in ids), default=0.0)
            found["largest_missed"] = max(found["largest_missed"], missed)
    print(json.dumps(found))


main(*sys.argv[1:])
