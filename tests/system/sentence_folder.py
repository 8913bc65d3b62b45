"""Loads a folder with sentence-transformers, and compares its vectors with ours.

Usage: sentence_folder.py FOLDER TEXT VECTORS. VECTORS is our .npy. Prints {"difference", "max_seq_length", "modules", "said"}: the
largest difference, the length of texts, the number of modules, and all that was warned or logged meanwhile. Exits with 77 if a package
is missing.
"""

import io
import json
import logging
import os
import sys
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

try:
    import numpy
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


def main(folder, text, vectors):
    torch.set_num_threads(1)
    lines = text.read_text().splitlines()
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)
    transformers_logging.add_handler(handler)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = SentenceTransformer(str(folder), device="cpu")
        theirs = model.encode(lines)
    said = [str(one.message) for one in warned if "sentence_transformers" in one.filename or "transformers" in str(one.message)]
    print(json.dumps({"difference": float(numpy.abs(numpy.load(vectors) - theirs).max()), "max_seq_length": model.max_seq_length,
                      "modules": len(model), "said": said + log.getvalue().splitlines()}))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
