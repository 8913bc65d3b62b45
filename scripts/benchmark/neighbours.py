"""Times `bertpretrain neighbours`, NumPy, and copies of the same memory, interleaved in one run: the neighbours of 1 and of 32 vectors
among many. Both searches read all vectors from memory. Counted is the search alone, without starting the program and reading the
queries; NumPy's vectors are in its memory before, ours in the page cache. A copy's GB/s count each byte once, although it is
read and written."""
import argparse
import pathlib
import re
import subprocess
import tempfile

import numpy
import torch

from interleaved import compare
from programs import program


def ours(vectors, queries, by):
    """Returns a side that runs the command and counts the seconds that it prints for the search."""
    def side():
        done = subprocess.run([program("bertpretrain"), "neighbours", vectors, "--queries", queries, "--by", by, "--json"],
                              capture_output=True, text=True, check=True)
        return float(re.search(r"vectors: ([0-9.]+) s", done.stderr).group(1))
    return side


def theirs(rows, queries, by):
    def side():
        scores = rows @ queries.T
        if by == "cosine":
            scores /= numpy.linalg.norm(rows, axis=1, keepdims=True)
        best = numpy.argpartition(-scores, 10, axis=0)[:10]
        return numpy.take_along_axis(scores, best, axis=0).sum() and None
    return side


def copy(to, rows):
    to.copy_(rows)  # by all threads


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    rows = numpy.empty((given.rows, given.columns), dtype="f4")
    random = numpy.random.default_rng(1)
    for first in range(0, given.rows, 65_536):
        rows[first:first + 65_536] = random.standard_normal((min(65_536, given.rows - first), given.columns), dtype="f4")
    gigabytes = rows.nbytes / 1e9
    half = torch.from_numpy(rows[:given.rows // 2])
    place = torch.empty_like(half)
    with tempfile.TemporaryDirectory() as folder:
        vectors = pathlib.Path(folder) / "vectors.npy"
        numpy.save(vectors, rows)
        for count in (1, 32):
            queries = random.standard_normal((count, given.columns), dtype="f4")
            numpy.save(pathlib.Path(folder) / "queries.npy", queries)
            for by in ("dot", "cosine"):
                compare(f"{count} queries by {by}, {given.rows:,} x {given.columns}, {torch.get_num_threads()} threads",
                        {"bertpretrain": ours(vectors, pathlib.Path(folder) / "queries.npy", by), "NumPy": theirs(rows, queries, by),
                         "memory copy": lambda: copy(place, half)},
                        gigabytes, "GB", given.rounds)


if __name__ == "__main__":
    main()
