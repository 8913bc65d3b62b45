"""Writes the ids that transformers' AutoTokenizer gives each line of a text, with the special tokens around them.

Usage: hf_tokenizer_ids.py MODEL TEXT OUTPUT. MODEL is a folder for from_pretrained, whose weights are loaded too. Prints
{"class", "pad_token_id", "mask_token_id", "config_pad_token_id", "largest_length"}. Exits with 77 if a package is missing.
"""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

try:
    import torch  # noqa: F401: the model needs it
    from transformers import AutoModelForMaskedLM, AutoTokenizer
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


def main(model, text, output):
    tokenizer = AutoTokenizer.from_pretrained(model)
    weights, report = AutoModelForMaskedLM.from_pretrained(model, output_loading_info=True)
    assert not report["missing_keys"], report
    lines = Path(text).read_text().removesuffix("\n").split("\n")
    ids = tokenizer(lines)["input_ids"]
    Path(output).write_text("".join(" ".join(map(str, line)) + "\n" for line in ids))
    print(json.dumps({"class": type(weights).__name__, "pad_token_id": tokenizer.pad_token_id,
                      "mask_token_id": tokenizer.mask_token_id, "config_pad_token_id": weights.config.pad_token_id,
                      "largest_length": tokenizer.model_max_length}))


main(*sys.argv[1:])
