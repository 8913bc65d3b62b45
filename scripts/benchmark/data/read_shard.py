"""Times reading a whole gzip shard of 100,000 rows (128 tokens, 20 predictions) into memory: our reader against h5py, in NVIDIA's
layout (chunks of two columns) and in ours (bands of rows). Both open the file and read all six datasets from the page cache."""
import pathlib
import subprocess
import tempfile
import time

import h5py
import numpy

from interleaved import PROJECT, benchmark_text, compare, run_program, vocabulary_file

ROWS, SEQUENCE, PREDICTIONS = 100_000, 128, 20
PROGRAM = PROJECT / "build/release/time_shard_reader"
DATASETS = ("input_ids", "input_mask", "segment_ids", "masked_lm_positions", "masked_lm_ids", "next_sentence_labels")


def make_shards(folder):
    """Builds real rows with our tool, repeats them to ROWS, and writes both layouts with h5py."""
    run_program([PROJECT / "build/release/bertpretrain_data", "shard", short_text(folder), "--vocabulary", vocabulary_file(),
                 "--output", folder / "made", "--sequence-length", SEQUENCE, "--max-predictions", PREDICTIONS, "--shards", 1,
                 "--duplicate-factor", 5, "--held-out-fraction", 0, "--held-out-shards", 0, "--name", "made"])
    with h5py.File(next((folder / "made").glob("*training*.h5"))) as made:
        rows = {name: made[name][:] for name in DATASETS}
    order = numpy.random.default_rng(1).permutation(numpy.arange(ROWS) % len(rows["input_ids"]))
    chunks = {"columns": lambda v: None if v.ndim == 1 else (10_604 if v.dtype == "i4" else 21_207, 2),
              "bands": lambda v: (1024, *v.shape[1:])}
    for layout, chunk in chunks.items():
        with h5py.File(folder / f"{layout}.h5", "w") as shard:
            for name, values in rows.items():
                values = values[order]
                shard.create_dataset(name, data=values, compression="gzip", compression_opts=4, chunks=chunk(values) or True)


def short_text(folder):
    text = folder / "text.txt"
    with benchmark_text().open(encoding="utf-8") as source:
        lines = [line for line, _ in zip(source, range(60_000))]
    text.write_text("".join(line + ("\n" if number % 20 == 19 and line.strip() else "") for number, line in enumerate(lines)),
                    encoding="utf-8")
    return text


def ours(file, threads):
    def read():
        return float(subprocess.run([PROGRAM, file, str(threads)], stdout=subprocess.PIPE, check=True, text=True).stdout)
    return read


def theirs(file):
    def read():
        began = time.perf_counter()
        with h5py.File(file) as shard:
            rows = [shard[name][:] for name in DATASETS]
        return time.perf_counter() - began if rows else None
    return read


def main():
    subprocess.run(["cmake", "--build", PROJECT / "build/release", "--target", "time_shard_reader"], check=True,
                   stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_shards(folder)
        for layout in ("columns", "bands"):
            file = folder / f"{layout}.h5"
            compare(f"whole shard, chunks in {layout}",
                    {"ours, two threads": ours(file, 2), "h5py": theirs(file), "ours, one thread": ours(file, 1)},
                    ROWS, "rows", goal=1.8)


if __name__ == "__main__":
    main()
