"""Prints the nearest other sentence, by cosine, of five sentences of a text.

VECTORS is the .npy file that `bertpretrain embed TEXT --output VECTORS` wrote: row i is the vector of line i. The sentences are spread evenly over the text. The text's mean vector is subtracted first: the vectors of a young model
have a large part in common, which would hide their differences.
"""

import argparse
import sys
from pathlib import Path

import numpy as np


def nearest(vectors, row):
    """Returns the row with the largest cosine to `row`, other than itself, and the cosine."""
    cosines = vectors @ vectors[row]
    cosines[row] = -np.inf
    return int(cosines.argmax()), float(cosines.max())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", metavar="TEXT", help="a file with a sentence in each line")
    parser.add_argument("vectors", metavar="VECTORS", help="the sentences' vectors")
    parser.add_argument("count", metavar="COUNT", nargs="?", type=int, default=5, help="how many sentences are shown (5)")
    given = parser.parse_args()
    text, vectors, count = given.text, given.vectors, given.count
    # Not splitlines(), which also splits at other characters than the newline that `embed` splits at.
    sentences = Path(text).read_bytes().decode().removesuffix("\n").split("\n")
    rows = np.load(vectors).astype(np.float64)
    if len(rows) != len(sentences) or len(rows) < 2:
        sys.exit(f"nearest_sentences: {vectors} has {len(rows)} rows, {text} has {len(sentences)} lines; expected as many, and at least 2")
    rows -= rows.mean(0)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    for number in range(min(count, len(rows))):
        row = number * len(rows) // count
        other, cosine = nearest(rows, row)
        print(f"{sentences[row]}\n  {cosine:.3f}  {sentences[other]}")


if __name__ == "__main__":
    main()
