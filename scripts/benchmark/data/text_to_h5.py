"""Times the way from text to a complete shard on one core, 128 tokens, 20 predictions, five duplicates: our whole program (every
file flushed to the disk, checksums, manifest) against a straightforward Python implementation of the same semantics
(python_text_to_h5.py, whose rows equal those of NVIDIA's script, value by value). Then two of our threads against one, on the text
ten times over, because start-up would be a large part of a run of half a second."""
import pathlib
import resource
import shutil
import statistics
import sys
import tempfile

from interleaved import DATA_PROGRAM, PROJECT, benchmark_text, compare, run_program, vocabulary_file

TEXT, VOCABULARY = benchmark_text(), vocabulary_file()
TIMES = 10
MEGABYTES = TEXT.stat().st_size / 1e6
PEER = PROJECT / "scripts/benchmark/python_text_to_h5.py"


def main():
    processor_seconds = {"ours": [], "Python": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        repeated = folder / "repeated.txt"
        repeated.write_bytes(TEXT.read_bytes() * TIMES)

        def ours(threads, shards, text=TEXT):
            shutil.rmtree(folder / "shards", ignore_errors=True)
            return run_program([DATA_PROGRAM, "shard", text, "--vocabulary", VOCABULARY, "--output", folder / "shards", "--shards",
                                shards, "--held-out-fraction", 0, "--threads", threads], cores=threads)

        def on_one_core(side, run):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = run()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            processor_seconds[side].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            return seconds

        def peer():
            return run_program([sys.executable, PEER, TEXT, VOCABULARY, folder / "peer.hdf5"], cores=1)

        compare(f"text to h5, one core, {MEGABYTES:.1f} MB of text",
                {"ours": lambda: on_one_core("ours", lambda: ours(1, 1)), "Python": lambda: on_one_core("Python", peer)},
                MEGABYTES, "MB", rounds=3, goal=20)
        ours_busy, python_busy = (statistics.median(values) for values in processor_seconds.values())
        print(f"  processor time, which a busy machine changes less: {ours_busy:.3f} and {python_busy:.3f} s, "
              f"{python_busy / ours_busy:.2f}x", flush=True)
        for shards in (1, 8):
            compare(f"text to h5, two threads, {TIMES * MEGABYTES:.0f} MB of text, {shards} shard{'s' * (shards > 1)}",
                    {"two threads": lambda: ours(2, shards, repeated), "one thread": lambda: ours(1, shards, repeated)},
                    TIMES * MEGABYTES, "MB", goal=1.8)


if __name__ == "__main__":
    main()
