"""Compares the output of `bertpretrain neighbours --json` with NumPy.

Usage: numpy_neighbours.py VECTORS QUERIES BY OUTPUT [LEAST]. BY is cosine or dot; a query that is a row of VECTORS itself does not count.
Prints the largest difference between scores, of those found and of NumPy's best. With LEAST, checks that those found are all rows with at
least this score, and that there are some. Exits with 77 if a package is missing.
"""

import json
import sys
from pathlib import Path

try:
    import h5py
    import numpy
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


def read(file):
    if file.endswith(".npy"):
        return numpy.load(file).astype(numpy.float64)
    with h5py.File(file) as h5:
        return h5[next(name for name in h5 if name != "ids")][:].astype(numpy.float64)


def check_all_found(scores, found, least):
    """Rows whose score is this close to the bound may be missing, because sums are in fp32."""
    rows = {near["row"] for near in found}
    assert rows <= set(numpy.flatnonzero(scores >= least - 1e-5).tolist())
    assert rows >= set(numpy.flatnonzero(scores >= least + 1e-5).tolist())


def main(vectors, queries, by, output, least=None):
    rows, asked, largest = read(vectors), read(queries), 0.0
    lines = [json.loads(line) for line in Path(output).read_text().splitlines()]
    assert len(lines) == len(asked), (len(lines), len(asked))
    for query, line in zip(asked, lines):
        scores = rows @ query
        if by == "cosine":
            scores /= numpy.linalg.norm(rows, axis=1) * numpy.linalg.norm(query)
        found = line["neighbours"]
        if least:
            check_all_found(scores, found, float(least))
        best = numpy.sort(scores)[::-1][:len(found)]
        largest = max([largest, *numpy.abs([near["score"] - scores[near["row"]] for near in found]),
                       *numpy.abs(best - [near["score"] for near in found])])
    assert any(line["neighbours"] for line in lines)
    print(float(largest))


if __name__ == "__main__":
    main(*sys.argv[1:])
