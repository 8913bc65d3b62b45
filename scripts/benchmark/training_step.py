"""Times our training step and Hugging Face's, A B A B in one run: bf16, dropout 0.1, 16 x 128, 20 masked positions,
AdamW, one optimizer step per 16 sequences on both sides. Called by training_step.sh."""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from h5_file import write_h5
from interleaved import interleave
from programs import program, program_environment

SIZES = {"tiny": (2, 128, 2), "quick": (4, 256, 4), "small": (4, 512, 8), "base": (12, 768, 12), "large": (24, 1024, 16), "1.5b": (48, 1600, 25)}
LENGTH, PREDICTIONS = 128, {128: 20, 512: 80}  # masked positions of a sequence, by its length
TYPES = {"input_ids": "i", "input_mask": "b", "segment_ids": "b", "masked_lm_positions": "i", "masked_lm_ids": "i",
         "next_sentence_labels": "b"}  # types of a shard's datasets: 32 or 8 bits
WARM_UP = 2  # steps not counted, on both sides; the second still allocates memory


def sample_rows(count, padding, places=LENGTH, ids=range(1000, 30000)):
    """Returns rows as in shards, {name: a list or a number per row}, with random ids and lengths. On average a share of `padding` of
    the positions is padding."""
    draw, predictions = random.Random(0), PREDICTIONS[places]
    rows = {name: [] for name in TYPES}
    for _ in range(count):
        length = max(places // 4, int(places * (1 - 2 * padding * draw.random())))
        empty = [0] * (places - length)
        rows["input_ids"].append(draw.choices(ids, k=length) + empty)
        rows["input_mask"].append([1] * length + empty)
        rows["segment_ids"].append([0] * (length // 2) + [1] * (length - length // 2) + empty)
        rows["masked_lm_positions"].append(sorted(draw.sample(range(1, length), predictions)))
        rows["masked_lm_ids"].append(draw.choices(ids, k=predictions))
        rows["next_sentence_labels"].append(draw.randrange(2))
    return rows


def write_shard(folder, rows):
    write_h5(folder / "benchmark_training_0000.h5", {name: (TYPES[name], values) for name, values in rows.items()})


def experiment(size, micro_batch, folder, places=LENGTH):
    layers, hidden, heads = SIZES[size]
    return {"model": {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
                      "intermediate_size": 4 * hidden, "vocab_size": 30528},
            "data": {"training_shards": str(folder), "sequence_length": places},
            "batch": {"micro_batch_size": micro_batch}, "optimizer": {"name": "adamw", "learning_rate": 1e-4},
            "schedule": {"name": "constant", "warmup_ratio": 0, "total_steps": 1000000},
            "training": {"precision": "bf16"}, "checkpoint": {"save_every_steps": 0}}


def peak_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


class SideFailed(SystemExit):
    """A side could not be timed. Ends the benchmark with this message unless it is caught."""


def run_ours(config, folder, steps, threads, options=(), environment=None, limit=float("inf"), trainer=None):
    """Trains until `steps` steps after the first WARM_UP are logged, then kills the run. Returns their seconds and records, and the
    peak resident memory. Runs `trainer` instead of this build's program if it is given. Raises SideFailed if the run ends by itself,
    or takes longer than `limit` seconds."""
    output, begin = pathlib.Path(tempfile.mkdtemp(dir=folder)), time.monotonic()
    environment = program_environment(OMP_NUM_THREADS=str(threads), **(environment or {}))
    log, metrics, lines, peak = output.with_suffix(".stderr"), output / "metrics.jsonl", [], 0
    with open(log, "w") as errors:
        process = subprocess.Popen([trainer or program("bertpretrain"), "train", str(config), "--output", str(output), *options],
                                   env=environment, stderr=errors)
    try:
        while len(lines) < steps + WARM_UP:
            if process.poll() is not None:
                raise SideFailed(f"our side ended with exit status {process.returncode}:\n{log.read_text()}")
            if time.monotonic() - begin > limit:
                raise SideFailed(f"our side did not finish within {limit:.0f} s:\n{log.read_text()[-2000:]}")
            time.sleep(0.2)
            peak = max(peak, peak_bytes(process.pid)) if process.poll() is None else peak
            lines = metrics.read_text().splitlines() if metrics.exists() else []
    finally:
        process.kill()
        process.wait()
    records = [json.loads(line) for line in lines[WARM_UP:steps + WARM_UP]]
    return {"seconds": [record["step_seconds"] for record in records], "peak_bytes": peak, "records": records}


def run_peer(arguments, kind, padding, cache):
    result = subprocess.run(
        [sys.executable, "scripts/benchmark/hf_training_step.py", arguments.size, str(arguments.micro_batch), str(arguments.steps),
         str(arguments.threads), str(padding), kind],
        capture_output=True, text=True, check=True, env=dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(cache), **limits(arguments)))
    return json.loads(result.stdout)


def limits(arguments):
    """Returns the environment in which ATen, oneDNN, MKL and our kernels use no more than AVX2; {} without --avx2."""
    if not arguments.avx2:
        return {}
    return {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
            "BERTPRETRAIN_CPU_CAPABILITY": "avx2"}


SIDES = {  # name: (implementation, precision or mode, with padding); the ratios are to the first side given
    "ours": ("ours", "bf16", False), "ours-before": ("before", "bf16", False), "ours-fp32": ("ours", "fp32", False),
    "ours-real-lengths": ("ours", "bf16", True), "hf": ("hf", "eager", False), "hf-compile": ("hf", "compile", False), "hf-fp32": ("hf", "fp32", False),
    "hf-real-lengths": ("hf", "eager", True)}


class Contest:
    """The input data, and each side's peak memory."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.peaks = arguments, folder, {}
        for name, padding in (("full", 0.0), ("real", arguments.padding)):
            shards = folder / name
            shards.mkdir()
            write_shard(shards, sample_rows(arguments.micro_batch, padding))

    def config(self, precision, padded):
        settings = experiment(self.arguments.size, self.arguments.micro_batch, self.folder / ("real" if padded else "full"))
        settings["training"]["precision"] = precision
        file = self.folder / f"{precision}_{padded}.json"
        file.write_text(json.dumps(settings))
        return file

    def run(self, side):
        whose, way, padded = SIDES[side]
        arguments = self.arguments
        if whose != "hf":
            result = run_ours(self.config(way, padded), self.folder, arguments.steps, arguments.threads, environment=limits(arguments),
                              trainer=arguments.before if whose == "before" else None)
        else:
            result = run_peer(arguments, way, arguments.padding if padded else 0.0, self.folder / "inductor")
        self.peaks[side] = max(self.peaks.get(side, 0), result["peak_bytes"])
        print(f"{side:18} {arguments.micro_batch / statistics.median(result['seconds']):8.3f} seq/s", flush=True)
        return result["seconds"]


def print_roof(when, arguments):
    """Prints the processor's peak rate, so that a slow phase of the machine is visible."""
    roofs = json.loads(subprocess.run([program("time_parts"), "roof"], check=True, stdout=subprocess.PIPE, text=True,
                                      env=program_environment(OMP_NUM_THREADS=str(arguments.threads))).stdout)
    print(f"roof {when}: " + ", ".join(f"{name} {rate / 1e12:.3f} TFLOP/s" for name, rate in roofs.items() if rate), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="large")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=["ours", "hf"])
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--padding", type=float, default=0.1,
                        help="mean share of padding on the sides with real lengths; Hugging Face's computes the padding")
    parser.add_argument("--avx2", action="store_true", help="both sides use no more than AVX2")
    parser.add_argument("--before", help="the program `bertpretrain` of another build, which the side ours-before runs")
    arguments = parser.parse_args()
    if "ours-before" in arguments.sides and not arguments.before:
        parser.error("the side ours-before needs --before PROGRAM")
    print_roof("before", arguments)
    with tempfile.TemporaryDirectory() as name:
        contest = Contest(arguments, pathlib.Path(name))
        seconds = interleave({side: lambda side=side: contest.run(side) for side in arguments.sides}, arguments.rounds, warm_up=0)
    print_roof("after", arguments)
    rates = {side: arguments.micro_batch / statistics.median(values) for side, values in seconds.items()}
    first = arguments.sides[0]
    for side, rate in rates.items():
        print(f"median   {side:18} {rate:8.3f} seq/s, peak memory {contest.peaks[side] / 2**30:6.2f} GiB   "
              f"{first} / it: speed {rates[first] / rate:.2f}x, memory {contest.peaks[first] / contest.peaks[side]:.2f}x")
    print(f"at {arguments.size}, dropout 0.1, {arguments.micro_batch} x {LENGTH}, {arguments.threads} threads, medians of "
          f"{arguments.rounds} rounds of {arguments.steps} steps" + (", AVX2 only" if arguments.avx2 else ""))


if __name__ == "__main__":
    main()
