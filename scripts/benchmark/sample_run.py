"""Small runs for benchmarks: shards of the sample encyclopaedia, and the quickstart's model on this CPU."""
import json
import os
import subprocess
import sys

from programs import PROJECT, program, program_environment


def run(command, environment=None, may_fail=False):
    """Runs a command of ours to its end. Returns its exit code; ends this script with the command's message if it failed."""
    process = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=PROJECT,
                             env=program_environment(**(environment or {})))
    if process.returncode != 0 and not may_fail:
        sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}\n{process.stderr[-2000:]}")
    return process.returncode


def make_shards(folder, shards=4, duplicates=10):
    """Makes shards of 128 tokens of the sample encyclopaedia. Returns their folder."""
    data = program("bertpretrain_data")
    run([data, "extract", "data_tools/sample/encyclopaedia.xml", "--output", folder / "text.txt"])
    run([data, "vocabulary", folder / "text.txt", "--size", 2000, "--output", folder / "vocab.txt"])
    run([data, "shard", folder / "text.txt", "--vocabulary", folder / "vocab.txt", "--output", folder / "shards", "--sequence-length", 128,
         "--max-predictions", 20, "--duplicate-factor", duplicates, "--shards", shards, "--held-out-shards", 1])
    return folder / "shards"


def train(folder, shards, options=(), settings=(), ranks=2, environment=None, may_fail=False):
    """Trains the quickstart's model with a thread per rank. Returns the exit code."""
    sets = [part for setting in (f"data.training_shards={shards}", "training.device=cpu", *settings) for part in ("--set", setting)]
    local = ["--local-ranks", ranks] if ranks > 1 else []
    return run([program("bertpretrain"), "train", "configs/small.json", "--output", folder, *local, *options, *sets],
               {"OMP_NUM_THREADS": "1", **(environment or {})}, may_fail)


def lines_of(file):
    """Returns the objects of a file of JSON lines."""
    return [json.loads(line) for line in open(file)]


def steps_of(folder):
    """Returns the lines of metrics.jsonl that are steps, not evaluations."""
    return [line for line in lines_of(folder / "metrics.jsonl") if "step_seconds" in line]


def load():
    """Returns what else this machine does, for the report."""
    return f"load of the last minute {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores"
