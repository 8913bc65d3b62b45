"""Reads the same prose in every format and compression: the shards must be equal byte for byte. Prints the text that `extract` reads per
CPU second, and its peak memory.

    scripts/benchmark/data/inputs.py [TEXT]    TEXT: prose, one sentence per line (BENCHMARK_TEXT)

INPUT_MEGABYTES is the size of the prose (50). INPUT_LARGE_MEGABYTES is that of a second one, of which only the memory is measured (none):
that of `extract` for the files in INPUT_LARGE_FILES ("prose.csv.gz prose_zstd.parquet"; all), and for prose.txt also that of `shard`.
Both repeat TEXT. Each copy of an article begins with another line, so no two articles are equal."""
import csv
import hashlib
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import pyarrow
import pyarrow.parquet

from interleaved import DATA_PROGRAM, benchmark_text, vocabulary_file

MEGABYTES = float(os.environ.get("INPUT_MEGABYTES", "50"))
LARGE_MEGABYTES = float(os.environ.get("INPUT_LARGE_MEGABYTES", "0"))
LARGE_FILES = os.environ.get("INPUT_LARGE_FILES", "").split()
ROUNDS = int(os.environ.get("INPUT_ROUNDS", "3"))
SENTENCES_OF_PARAGRAPH, PARAGRAPHS_OF_ARTICLE = 4, 5
COMPRESSORS = {"": None, ".gz": ["gzip", "-c"], ".zst": ["zstd", "-q", "-c"], ".bz2": ["bzip2", "-c"]}
COLUMN_CODECS = ("none", "snappy", "zstd", "gzip")  # a Parquet file compresses its own pages
# A process of its own, because the peak that the system reports of a child includes the parent's memory at the fork.
MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
sys.exit(status)
"""


def in_runs(values, length):
    return [values[i:i + length] for i in range(0, len(values), length)]


def articles(text, megabytes):
    """Yields articles of about `megabytes` in all. An article is some paragraphs, one per line."""
    lines = [line.strip() for line in text.open(encoding="utf-8") if line.strip()]
    paragraphs = [" ".join(run) for run in in_runs(lines, SENTENCES_OF_PARAGRAPH)]
    originals = in_runs(paragraphs, PARAGRAPHS_OF_ARTICLE)
    left = megabytes * 1e6
    for copy in itertools.count(1):
        for number, original in enumerate(originals, 1):
            article = "\n".join([f"This is copy {copy} of article {number}.", *original])
            left -= len(article.encode())
            if left < 0:
                return
            yield article


def write_text(texts, out):
    out.writelines(text + "\n\n" for text in texts)


def write_jsonl(texts, out):
    out.writelines(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n" for number, text in enumerate(texts))


def write_csv(texts, out):
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["id", "text"])
    writer.writerows(enumerate(texts))


FORMATS = {"txt": write_text, "jsonl": write_jsonl, "csv": write_csv}


def write_packed(file, write, texts, compressor):
    if compressor is None:
        with file.open("w", encoding="utf-8", newline="") as out:
            return write(texts, out)
    with file.open("wb") as packed, subprocess.Popen(compressor, stdin=subprocess.PIPE, stdout=packed, text=True,
                                                     encoding="utf-8") as process:
        write(texts, process.stdin)
    if process.returncode != 0:
        sys.exit(f"{compressor[0]}: exit {process.returncode}")


def write_parquet(file, texts, codec):
    schema = pyarrow.schema([("id", pyarrow.int64()), ("text", pyarrow.string())])
    numbered = enumerate(texts)
    with pyarrow.parquet.ParquetWriter(file, schema, compression=codec) as writer:
        while rows := list(itertools.islice(numbered, 5000)):
            writer.write_table(pyarrow.table(list(map(list, zip(*rows))), schema=schema))


def writers(folder):
    """Returns {file: call}. A call writes the texts that it is given."""
    made = {}
    for (name, write), (ending, compressor) in itertools.product(FORMATS.items(), COMPRESSORS.items()):
        file = folder / f"prose.{name}{ending}"
        made[file] = lambda texts, file=file, write=write, compressor=compressor: write_packed(file, write, texts, compressor)
    for codec in COLUMN_CODECS:
        file = folder / f"prose_{codec}.parquet"
        made[file] = lambda texts, file=file, codec=codec: write_parquet(file, texts, codec)
    return made


def measure(command):
    """Runs the command. Returns its CPU seconds and its peak memory in MiB."""
    process = subprocess.run([sys.executable, "-S", "-c", MEASURE, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}\n{process.stderr}")
    return map(float, process.stdout.split())


def extract(source):
    return measure([DATA_PROGRAM, "extract", source, "--output", source.parent / "extracted.txt"])


def make_shards(source, shards):
    """Makes shards of the source. Returns the CPU seconds and the peak memory in MiB."""
    shutil.rmtree(shards, ignore_errors=True)
    return measure([DATA_PROGRAM, "shard", source, "--vocabulary", vocabulary_file(), "--output", shards, "--objective", "mlm", "--shards", 4])


def digest_of_shards(source):
    """Makes shards of the source. Returns a digest of the names and bytes of all h5 files."""
    shards = source.parent / "shards"
    make_shards(source, shards)
    files = sorted(shards.glob("*.h5"))
    if not files:
        sys.exit(f"{source}: no shards were made")
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def compare_formats(text, folder):
    """Returns the names of the files whose shards differ from those of the plain text."""
    files = writers(folder)
    for write in files.values():
        write(articles(text, MEGABYTES))
    digests = {file: digest_of_shards(file) for file in files}
    expected = digests[folder / "prose.txt"]
    megabytes = sum(len(article.encode()) for article in articles(text, MEGABYTES)) / 1e6
    seconds, peaks = {file: [] for file in files}, {file: [] for file in files}
    for _, file in itertools.product(range(ROUNDS), files):
        spent, peak = extract(file)
        seconds[file].append(spent)
        peaks[file].append(peak)
    print(f"extract, {megabytes:.1f} MB of text ({ROUNDS} rounds, interleaved, medians)")
    for file in files:
        rates = [megabytes / spent for spent in seconds[file]]
        print(f"  {file.name:22} {file.stat().st_size / 1e6:6.1f} MB  {statistics.median(rates):6.1f} MB per CPU second "
              f"({min(rates):.1f} to {max(rates):.1f})  peak {max(peaks[file]):4.0f} MiB  "
              f"{'same shards' if digests[file] == expected else 'OTHER SHARDS'}", flush=True)
    return [file.name for file in files if digests[file] != expected]


def print_large(file, measured):
    spent, peak = measured
    print(f"  {file.name:22} {file.stat().st_size / 1e6:6.1f} MB  {LARGE_MEGABYTES / spent:6.1f} MB per CPU second  peak {peak:4.0f} MiB",
          flush=True)


def measure_large(text, folder):
    print(f"extract, {LARGE_MEGABYTES:.0f} MB of text")
    calls = writers(folder)
    for file in [folder / name for name in LARGE_FILES] or list(calls):
        calls[file](articles(text, LARGE_MEGABYTES))
        print_large(file, extract(file))
        if file.name == "prose.txt":
            print("shard")
            print_large(file, make_shards(file, folder / "shards"))
        file.unlink()


def main():
    text = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else benchmark_text()
    with tempfile.TemporaryDirectory() as folder:
        different = compare_formats(text, pathlib.Path(folder))
    if LARGE_MEGABYTES > 0:
        with tempfile.TemporaryDirectory() as folder:
            measure_large(text, pathlib.Path(folder))
    if different:
        sys.exit("different shards: " + ", ".join(different))


if __name__ == "__main__":
    main()
