"""Compares the vectors of records with those of sentence-transformers, and their ids with the records'.

Usage: record_vectors.py FOLDER RECORDS VECTORS... RECORDS is JSONL with the fields "text" and "id". FOLDER is an export for
sentence-transformers. Prints {file's name: largest difference}. Exits with 77 if a package is missing.
"""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

try:
    import h5py
    import numpy
    import pyarrow.parquet
    import torch
    from sentence_transformers import SentenceTransformer
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


def read(file):
    """Returns the ids, or None, and the matrix of a file."""
    if file.suffix == ".npy":
        beside = file.with_suffix(".ids.txt")
        return beside.read_text().splitlines() if beside.exists() else None, numpy.load(file)
    if file.suffix == ".h5":
        with h5py.File(file) as h5:
            return list(h5["ids"].asstr()) if "ids" in h5 else None, h5["mean"][:]
    table = pyarrow.parquet.read_table(file)
    ids = table["id"].to_pylist() if "id" in table.column_names else None
    return ids, numpy.stack(table["vector"].to_numpy())


def main(folder, records, files):
    torch.set_num_threads(1)
    rows = [json.loads(line) for line in records.read_text().split("\n") if line]
    right = SentenceTransformer(str(folder), device="cpu").encode([row["text"] for row in rows])
    differences = {}
    for file in files:
        ids, ours = read(file)
        assert ids is None or ids == [str(row["id"]) for row in rows], (file, ids)
        assert ours.shape == right.shape and ours.dtype == numpy.float32, (file, ours.shape, right.shape)
        differences[file.name] = [float(numpy.abs(ours - right).max()), ids is not None]
    print(json.dumps(differences))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(file) for file in sys.argv[3:]])
