"""Compares `bertpretrain_data deduplicate` with brute force, datasketch and text-dedup; deduplicate.sh installs them and runs this.

BENCHMARK_TEXT names a file of real text, one sentence per line (interleaved.py). Each twenty lines become a document."""
import itertools
import json
import os
import pathlib
import pickle
import random
import re
import subprocess
import sys
import tempfile
import time

from interleaved import DATA_PROGRAM, PROJECT, benchmark_text, compare, run_program

WORDS, THRESHOLD = 5, 0.8
SPEED_BYTES, MEMORY_BYTES = 20_000_000, (50_000_000, 500_000_000)
word = re.compile(r"[^\W_]+")


def real_documents():
    lines = [line.strip() for line in benchmark_text().open(encoding="utf-8") if line.strip()]
    return [lines[i:i + 20] for i in range(0, len(lines), 20)]


def changed(numbers, document, share, vocabulary):
    """Replaces each word with a probability of `share`."""
    return [" ".join(numbers.choice(vocabulary) if numbers.random() < share else each for each in line.split())
            for line in document]


def corpus(documents, copies, shares, shuffled=True):
    """Returns the documents with `copies` copies of each, in which the given shares of words are replaced."""
    numbers = random.Random(1)
    vocabulary = sorted({each for document in documents[:500] for line in document for each in line.split()})
    made = list(documents)
    for document in documents:
        made += [changed(numbers, document, numbers.choice(shares), vocabulary) for _ in range(copies)]
    if shuffled:
        numbers.shuffle(made)
    return made


def write(documents, folder):
    (folder / "a.txt").write_text("".join("\n".join(document) + "\n\n" for document in documents), encoding="utf-8")
    with (folder / "a.jsonl").open("w", encoding="utf-8") as out:
        for document in documents:
            out.write(json.dumps({"text": "\n".join(document)}) + "\n")
    return folder / "a.txt", folder / "a.jsonl"


def ours(folder, *options):
    return [DATA_PROGRAM, "deduplicate", folder / "a.txt", "--output", folder / "ours", *options]


def datasketch(folder):
    return [sys.executable, PROJECT / "scripts/benchmark/deduplicate_datasketch.py", folder / "a.jsonl", folder / "sketch.txt",
            folder / "sketch_pairs.txt"]


def text_dedup(folder, cores):
    return [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", folder / "a.jsonl", "--split", "train",
            "--cache_dir", folder / "cache", "--output", folder / "text_dedup", "--column", "text", "--threshold", THRESHOLD,
            "--num_perm", 176, "--b", 22, "--r", 8, "--ngram", WORDS, "--min_length", 1, "--num_proc", cores, "--debug"]


def offline(folder):
    return {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}


# Accuracy

def shingles(document):
    words = word.findall("\n".join(document).lower())
    return {tuple(words[i:i + WORDS]) for i in range(max(1, len(words) - WORDS + 1))}


class Clusters:
    """Of documents that are similar, directly or through others."""

    def __init__(self, documents):
        self.earlier = list(range(documents))

    def first(self, document):
        while self.earlier[document] != document:
            document = self.earlier[document]
        return document

    def unite(self, a, b):
        first, second = sorted((self.first(a), self.first(b)))
        self.earlier[second] = first

    def removed(self):
        """All documents but the first of each cluster."""
        return {document for document, earlier in enumerate(self.earlier) if earlier != document}


def brute_force(documents):
    """Compares all pairs. Returns the similar pairs with their Jaccard values, and the clusters."""
    sets = [shingles(document) for document in documents]
    pairs, clusters = {}, Clusters(len(documents))
    for (i, a), (j, b) in itertools.combinations(enumerate(sets), 2):
        common = len(a & b)
        if common / (len(a) + len(b) - common) >= THRESHOLD:
            pairs[i, j] = common / (len(a) + len(b) - common)
            clusters.unite(i, j)
    return pairs, clusters


def print_accuracy(name, removed, expected):
    both = len(removed & expected)
    print(f"  {name:12} removed {len(removed)}: recall {both / max(1, len(expected)):.4f}, precision "
          f"{both / max(1, len(removed)):.4f}", flush=True)


def measure_accuracy(title, documents, folder):
    write(documents, folder)
    pairs, clusters = brute_force(documents)
    expected = clusters.removed()
    print(f"{title}: {len(documents)} documents; brute force over all pairs: {len(pairs)} pairs with J >= {THRESHOLD}, "
          f"{sum(value < 0.85 for value in pairs.values())} of them below 0.85; {len(expected)} documents to remove")
    run_program(ours(folder))
    rows = [line.split("\t") for line in (folder / "ours/duplicates.tsv").read_text().splitlines()[1:]]
    if not expected:
        print(f"  ours removed {len(rows)} documents", flush=True)
        return
    print_accuracy("ours", {int(row[0]) for row in rows}, expected)
    together = {int(row[0]): int(row[1]) for row in rows}
    found = sum(together.get(i, i) == together.get(j, j) for i, j in pairs)
    print(f"  {'':12} similar pairs in one cluster: {found / len(pairs):.4f}")
    run_program(datasketch(folder))
    sketched = Clusters(len(documents))
    for line in (folder / "sketch_pairs.txt").read_text().splitlines():
        sketched.unite(*map(int, line.split()))
    print_accuracy("datasketch", sketched.removed(), expected)
    run_program(text_dedup(folder, 1), environment=offline(folder))
    table, united = pickle.loads((folder / "text_dedup/uf.pkl").read_bytes()), Clusters(len(documents))
    for document, other in (table.parent if hasattr(table, "parent") else table).items():
        united.unite(document, other)
    print_accuracy("text-dedup", united.removed(), expected)


def accuracy(folder):
    documents = real_documents()
    shares = [0.002, 0.005, 0.01, 0.015, 0.02, 0.0225, 0.025, 0.03, 0.05]
    measure_accuracy("copies of real text with J around the threshold", corpus(documents[:400], 4, shares), folder)
    short = [document[i:i + 2] for document in documents[400:900] for i in (0, 10)]
    measure_accuracy("the same with documents of two sentences", corpus(short[:400], 4, shares), folder)
    measure_accuracy("real text as it is", documents[:2000], folder)


# Speed and memory

def repeated(documents, size):
    """Documents of about `size` bytes, of which some are copies and most are new mixtures of the same words."""
    per_copy = sum(len(line) + 1 for document in documents for line in document)
    shares = [0, 0.005, 0.01, 0.02, 0.05, 0.5, 1, 1, 1, 1]
    return corpus(documents, max(0, round(size / per_copy) - 1), shares, shuffled=False)


def speed(folder):
    documents = repeated(real_documents(), SPEED_BYTES)
    megabytes = write(documents, folder)[0].stat().st_size / 1e6
    for cores in (1, 2):
        sides = {"ours": lambda: run_program(ours(folder, "--threads", cores), cores=cores),
                 "text-dedup": lambda: run_program(text_dedup(folder, cores), cores=cores, environment=offline(folder))}
        if cores == 1:  # datasketch has no parallel mode
            sides["datasketch"] = lambda: run_program(datasketch(folder), cores=1)
        compare(f"deduplicate, {cores} cores, {megabytes:.1f} MB, {len(documents)} documents", sides, megabytes, "MB", rounds=3,
                warm_up=0, goal=1)


def peak_mib(command):
    """Runs the command and returns the largest resident memory in MiB, and its seconds. Polls, because what the system reports at the
    end includes this process's own memory at the fork."""
    began, peak = time.perf_counter(), 0
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        if found := re.search(r"VmHWM:\s+(\d+)", status):
            peak = int(found[1]) / 1024
        time.sleep(0.01)
    if process.returncode != 0:
        sys.exit(f"{command}: exit {process.returncode}")
    return peak, time.perf_counter() - began


def memory(folder):
    """With documents of two sentences, which take the most records per byte of text."""
    documents = [document[i:i + 2] for document in repeated(real_documents(), MEMORY_BYTES[0]) for i in range(0, len(document), 2)]
    for size, settings in zip(MEMORY_BYTES, (("64MiB", "2GiB"), ("128MiB", "2GiB"))):
        count = 0
        with (folder / "a.txt").open("w", encoding="utf-8") as out:
            for part in range(round(size / MEMORY_BYTES[0])):
                for document in documents:
                    count += 1  # each part has other words: part 3 spells "moon" as "3moon"
                    out.writelines(" ".join(f"{part}{each}" for each in line.split()) + "\n" for line in document)
                    out.write("\n")
        for setting in settings:
            peak, seconds = peak_mib([*ours(folder, "--memory", setting), "--sentence-limit", 10])
            print(f"{(folder / 'a.txt').stat().st_size / 1e6:.0f} MB of text, {count} documents, --memory {setting}: peak {peak:.0f} "
                  f"MiB, {seconds:.1f} s", flush=True)


def main():
    parts = {"accuracy": accuracy, "speed": speed, "memory": memory}
    for name in sys.argv[1:] or parts:
        if name not in parts:
            sys.exit(f"deduplicate.py: {name}: no such part; expected {', '.join(parts)}")
        with tempfile.TemporaryDirectory() as folder:
            parts[name](pathlib.Path(folder))


if __name__ == "__main__":
    main()
