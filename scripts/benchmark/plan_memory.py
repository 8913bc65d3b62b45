"""Compares `bertpretrain plan`'s estimate of a rank's memory with the largest resident set of real runs: three models on 1, 2 and 4
ranks of this machine, over Gloo. Called by plan.sh."""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from programs import program
from training_step import WARM_UP, experiment, peak_bytes, sample_rows, write_shard

PROGRAM = program("bertpretrain")
MODELS = {"33M": (6, 512, 8, 8), "44M": (3, 768, 12, 4), "110M": (12, 768, 12, 2)}  # layers, hidden, heads, micro-batch


def ranks_of(process):
    """Returns the ids of the processes that train: the children of the first one."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(child) for child in children]


def measured(config, folder, ranks, steps):
    """Returns the largest resident set of a rank during `steps` steps, in bytes."""
    output = pathlib.Path(tempfile.mkdtemp(dir=folder))
    process = subprocess.Popen([PROGRAM, "train", str(config), "--output", str(output), "--local-ranks", str(ranks)],
                               env=dict(os.environ, OMP_NUM_THREADS="1"), stderr=subprocess.PIPE, text=True)
    lines = 0
    while lines < steps + WARM_UP:
        if process.poll() is not None:
            sys.exit(f"the run failed:\n{process.stderr.read()}")
        time.sleep(0.3)
        metrics = output / "metrics.jsonl"
        lines = len(metrics.read_text().splitlines()) if metrics.exists() else 0
    peak = max(peak_bytes(pid) for pid in ranks_of(process))
    process.send_signal(signal.SIGTERM)
    process.wait()
    return peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--ranks", nargs="*", type=int, default=[1, 2, 4])
    parser.add_argument("--steps", type=int, default=2)
    arguments = parser.parse_args()
    worst = 0
    print("model   ranks   plan MiB   measured MiB   error %")
    for model in arguments.models:
        layers, hidden, heads, micro_batch = MODELS[model]
        for ranks in arguments.ranks:
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                write_shard(folder, sample_rows(64 * ranks, 0.0))
                settings = experiment("small", micro_batch, folder)
                settings["model"].update(num_hidden_layers=layers, hidden_size=hidden, num_attention_heads=heads,
                                         intermediate_size=4 * hidden)
                settings["parallel"] = {"bucket_mib": 16}
                config = folder / "experiment.json"
                config.write_text(json.dumps(settings))
                plan = subprocess.run([PROGRAM, "plan", str(config), "--world-size", str(ranks), "--json"],
                                      capture_output=True, text=True, check=True)
                planned = json.loads(plan.stdout)["plan"][0]["memory_bytes"]
                peak = measured(config, folder, ranks, arguments.steps)
            error = 100 * (planned / peak - 1)
            worst = max(worst, abs(error))
            print(f"{model:6}  {ranks:5}   {planned / 2**20:8.0f}   {peak / 2**20:12.0f}   {error:+7.1f}", flush=True)
    print(f"largest error {worst:.1f} % (goal 10 %)")


if __name__ == "__main__":
    main()
