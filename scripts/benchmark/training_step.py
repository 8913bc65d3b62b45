"""Times our training step and Hugging Face's, A B A B in one run: bf16, dropout 0.1, 16 x 128, 20 masked positions,
AdamW, one optimizer step per 16 sequences on both sides. Called by training_step.sh."""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

from interleaved import interleave

SIZES = {"tiny": (2, 128, 2), "small": (4, 512, 8), "base": (12, 768, 12), "large": (24, 1024, 16)}
LENGTH, PREDICTIONS = 128, 20
WARM_UP = 2  # on both sides; the second step still meets memory for the first time


def sample_rows(count, padding):
    """Rows as shards hold them: random ids, lengths that leave `padding` of the places empty on average."""
    draw = numpy.random.default_rng(0)
    rows = {"input_ids": numpy.zeros((count, LENGTH), "i4"), "input_mask": numpy.zeros((count, LENGTH), "i1"),
            "segment_ids": numpy.zeros((count, LENGTH), "i1"), "masked_lm_positions": numpy.zeros((count, PREDICTIONS), "i4"),
            "masked_lm_ids": numpy.zeros((count, PREDICTIONS), "i4"),
            "next_sentence_labels": draw.integers(0, 2, count).astype("i1")}
    for row in range(count):
        length = max(32, int(LENGTH * (1 - 2 * padding * draw.random())))
        rows["input_ids"][row, :length] = draw.integers(1000, 30000, length)
        rows["input_mask"][row, :length] = 1
        rows["segment_ids"][row, length // 2:length] = 1
        rows["masked_lm_positions"][row] = numpy.sort(draw.permutation(numpy.arange(1, length))[:PREDICTIONS])
        rows["masked_lm_ids"][row] = draw.integers(1000, 30000, PREDICTIONS)
    return rows


def write_shard(folder, rows):
    import h5py
    with h5py.File(folder / "benchmark_training_0000.h5", "w") as file:
        for name, values in rows.items():
            file.create_dataset(name, data=values, compression="gzip", compression_opts=4)


def experiment(size, micro_batch, folder):
    layers, hidden, heads = SIZES[size]
    return {"model": {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
                      "intermediate_size": 4 * hidden, "vocab_size": 30528},
            "data": {"training_shards": str(folder), "sequence_length": LENGTH},
            "batch": {"micro_batch_size": micro_batch}, "optimizer": {"name": "adamw", "learning_rate": 1e-4},
            "schedule": {"name": "constant", "warmup_ratio": 0, "total_steps": 1000000},
            "training": {"precision": "bf16"}, "checkpoint": {"save_every_steps": 0}}


def peak_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def run_ours(config, folder, steps, threads, options=()):
    output = tempfile.mkdtemp(dir=folder)
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    process = subprocess.Popen(["build/release/bertpretrain", "train", str(config), "--output", output, *options], env=environment,
                               stderr=subprocess.PIPE, text=True)
    metrics, lines, peak = pathlib.Path(output) / "metrics.jsonl", [], 0
    while len(lines) < steps + WARM_UP:
        if process.poll() is not None:
            sys.exit(f"our side failed:\n{process.stderr.read()}")
        time.sleep(0.2)
        peak = max(peak, peak_bytes(process.pid)) if process.poll() is None else peak
        lines = metrics.read_text().splitlines() if metrics.exists() else []
    process.send_signal(signal.SIGKILL)
    process.wait()
    return {"seconds": [json.loads(line)["step_seconds"] for line in lines[WARM_UP:steps + WARM_UP]], "peak_bytes": peak}


def run_peer(arguments):
    result = subprocess.run([sys.executable, "scripts/benchmark/hf_training_step.py", arguments.size, str(arguments.micro_batch),
                             str(arguments.steps), str(arguments.threads), str(arguments.padding)],
                            capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="large")
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--padding", type=float, default=0.0, help="mean share of padding; theirs computes it, ours does not")
    arguments = parser.parse_args()
    peaks = {"ours": 0, "hugging face": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_shard(folder, sample_rows(arguments.micro_batch, arguments.padding))
        config = folder / "experiment.json"
        config.write_text(json.dumps(experiment(arguments.size, arguments.micro_batch, folder)))
        def timed(side, run):
            result = run()
            peaks[side] = max(peaks[side], result["peak_bytes"])
            print(f"{side:13} {arguments.micro_batch / statistics.median(result['seconds']):8.3f} seq/s", flush=True)
            return result["seconds"]

        sides = interleave({"ours": lambda: timed("ours", lambda: run_ours(config, folder, arguments.steps, arguments.threads)),
                            "hugging face": lambda: timed("hugging face", lambda: run_peer(arguments))},
                           arguments.rounds, warm_up=0)
    rates = {side: arguments.micro_batch / statistics.median(seconds) for side, seconds in sides.items()}
    for side, rate in rates.items():
        print(f"median   {side:13} {rate:8.3f} seq/s, peak memory {peaks[side] / 2**30:.2f} GiB")
    print(f"ratio    {rates['ours'] / rates['hugging face']:.2f}x at {arguments.size}, bf16, dropout 0.1, "
          f"{arguments.micro_batch} x {LENGTH}, {arguments.threads} threads")


if __name__ == "__main__":
    main()
