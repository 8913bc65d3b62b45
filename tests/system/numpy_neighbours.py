"""Compares the output of `bertpretrain neighbours --json` with NumPy.

Usage: numpy_neighbours.py VECTORS QUERIES BY OUTPUT. BY is cosine or dot; a query that is a row of VECTORS itself does not count. Prints
the largest difference between scores, of those found and of NumPy's best. Exits with 77 if a package is missing.
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


def main(vectors, queries, by, output):
    rows, asked, largest = read(vectors), read(queries), 0.0
    lines = [json.loads(line) for line in Path(output).read_text().splitlines()]
    assert len(lines) == len(asked), (len(lines), len(asked))
    for query, line in zip(asked, lines):
        scores = rows @ query
        if by == "cosine":
            scores /= numpy.linalg.norm(rows, axis=1) * numpy.linalg.norm(query)
        found = line["neighbours"]
        best = numpy.sort(scores)[::-1][:len(found)]
        largest = max([largest, *numpy.abs([near["score"] - scores[near["row"]] for near in found]),
                       *numpy.abs(best - [near["score"] for near in found])])
    print(float(largest))


if __name__ == "__main__":
    main(*sys.argv[1:])
