"""Times the loader on the same shards as 1, 4 and 10 sources of equal weight, interleaved. Goal: at most 5 % slower than one source.

Counts the CPU time of the process, because wall time also depends on what else the machine does. MIXTURE_ROUNDS is the number of
rounds (15), MIXTURE_EPOCHS the epochs of each turn (3)."""
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

from interleaved import DATA_PROGRAM, PROJECT, benchmark_text, interleave, run_program, vocabulary_file

SOURCES, SHARDS, SEQUENCES, GOAL = (1, 4, 10), 20, 64, 1.05
ROUNDS, EPOCHS = int(os.environ.get("MIXTURE_ROUNDS", "15")), float(os.environ.get("MIXTURE_EPOCHS", "3"))
PROGRAM = PROJECT / "build/release/time_loader"


def make_shards(folder):
    """Returns the training shards and the number of their rows."""
    run_program([DATA_PROGRAM, "shard", benchmark_text(), "--vocabulary", vocabulary_file(), "--output", folder, "--shards", SHARDS,
                 "--duplicate-factor", 2, "--held-out-fraction", 0, "--held-out-shards", 0])
    manifest = json.loads((folder / "manifest.json").read_text())
    return sorted(folder.glob("*training*.h5")), sum(shard["rows"] for shard in manifest["shards"])


def main():
    subprocess.run(["cmake", "--build", PROJECT / "build/release", "--target", "time_loader"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as name:
        files, rows = make_shards(pathlib.Path(name) / "shards")
        steps = int(EPOCHS * rows / SEQUENCES)

        def turn(sources):
            command = [PROGRAM, sources, steps, SEQUENCES, *files]
            out = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True).stdout
            return float(out.split()[2])

        seconds = interleave({sources: lambda sources=sources: turn(sources) for sources in SOURCES}, ROUNDS)
    samples = steps * SEQUENCES
    print(f"loader, {samples:,} samples of {rows:,} rows in {SHARDS} shards ({ROUNDS} rounds, interleaved, CPU time)")
    for sources, spent in seconds.items():
        rates = [samples / value for value in spent]
        ratio = statistics.median(spent) / statistics.median(seconds[1])
        by_round = sorted(value / one for value, one in zip(spent, seconds[1]))
        print(f"  {sources:2} sources: {statistics.median(rates):9,.0f} samples per CPU second ({min(rates):,.0f} to {max(rates):,.0f}); "
              f"time {ratio:.3f} of one source's (ratio of medians; by round {by_round[0]:.3f} to {by_round[-1]:.3f}, median "
              f"{statistics.median(by_round):.3f}; goal: at most {GOAL})")


if __name__ == "__main__":
    main()
