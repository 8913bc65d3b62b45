"""Times our training step on a GPU beside PyTorch's, A B A B in one run: bf16, dropout 0.1, AdamW, 16 x 24 sequences a step on
all sides. Prints rates, ratios, TFLOP/s of model FLOPs and their share of the device's own product. Called by device_step.sh."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from interleaved import interleave
from strongest_bert import agrees_with_hf
from training_step import PREDICTIONS, SIZES, experiment, run_ours, sample_rows, write_shard

SIDES = {  # name: (whose, with padding); ours-unmerged computes micro-batch by micro-batch
    "ours": ("ours", False), "ours-real-lengths": ("ours", True), "ours-unmerged": ("ours", False),
    "hf": ("hf", False), "hf-compile": ("hf-compile", False), "hf-real-lengths": ("hf", True),
    "strongest": ("strongest", False), "strongest-real-lengths": ("strongest", True)}


class Contest:
    """The sides' data, and what is learnt of them."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.sequences = arguments.micro_batch * arguments.accumulation
        self.bytes, self.records, self.micro_batches = {}, {}, {}
        for padded in (False, True):
            shards = folder / str(padded)
            shards.mkdir()
            write_shard(shards, sample_rows(self.sequences, arguments.padding * padded, arguments.length))

    def ours(self, side, padded):
        settings = experiment(self.arguments.size, self.arguments.micro_batch, self.folder / str(padded), self.arguments.length)
        settings["batch"]["gradient_accumulation_steps"] = self.arguments.accumulation
        if side == "ours-unmerged":
            settings["batch"]["device_micro_batch"] = self.arguments.micro_batch
        settings["training"]["device"] = self.arguments.device
        file = self.folder / f"{side}.json"
        file.write_text(json.dumps(settings))
        result = run_ours(file, self.folder, self.arguments.steps, self.arguments.threads)
        self.records[side] = result["records"]
        self.bytes[side] = max(record["memory_bytes"] for record in result["records"])
        return result["seconds"]

    def theirs(self, side, way, padded):
        result = run_torch({"way": way, "size": self.arguments.size, "device": self.arguments.device,
                            "places": self.arguments.length, "micro_batch": self.arguments.micro_batch,
                            "accumulation": self.arguments.accumulation, "steps": self.arguments.steps,
                            "padding": self.arguments.padding * padded, "choice": str(self.folder / f"{side}_micro_batch.json")})
        self.bytes[side], self.micro_batches[side] = result["device_bytes"], result["micro_batch"]
        return result["seconds"]

    def run(self, side):
        whose, padded = SIDES[side]
        seconds = self.ours(side, padded) if whose == "ours" else self.theirs(side, whose, padded)
        print(f"{side:24} {self.sequences / statistics.median(seconds):9.2f} seq/s", flush=True)
        return seconds


def run_torch(task):
    result = subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("torch_step.py")), json.dumps(task)],
                            stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit(f"{task['way']}: torch_step.py failed with exit {result.returncode}")
    return json.loads(result.stdout)


def per_sequence(records, name):
    """The median of what a step has of something, for each sequence."""
    return statistics.median(record[f"{name}_per_second"] / record["sequences_per_second"] for record in records)


def report(contest, arguments, rates, roof):
    first = arguments.sides[0]
    for side, rate in rates.items():
        own = next((contest.records[name] for name in contest.records if SIDES[name][1] == SIDES[side][1]), None)
        flops = 1e12 * per_sequence(own, "model_tflops") * rate if own else float("nan")
        merged = f", {contest.micro_batches[side]} at once" if side in contest.micro_batches else ""
        print(f"median   {side:24} {rate:9.2f} seq/s  {flops / 1e12:7.1f} TFLOP/s of the model ({flops / roof:.2f} of the roof), "
              f"{contest.bytes[side] / 2**30:6.1f} GiB{merged}   {first} / it: {rates[first] / rate:.2f}x")
    if {"ours", "ours-real-lengths"} <= rates.keys():
        padding = 1 - per_sequence(contest.records["ours-real-lengths"], "tokens") / arguments.length
        print(f"unpadding is worth {rates['ours-real-lengths'] / rates['ours']:.3f}x at {padding:.1%} of padding "
              f"(goal: {1 + 0.7 * padding / (1 - padding):.3f}x)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="large")
    parser.add_argument("--length", type=int, choices=PREDICTIONS, default=128)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: to see that the sides run")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=["ours", "ours-real-lengths", "hf", "hf-compile", "strongest"])
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--accumulation", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--padding", type=float, default=0.1, help="mean share of padding where lengths are real")
    arguments = parser.parse_args()
    difference = agrees_with_hf()
    print(f"strongest against Hugging Face's, loss and gradient in fp32: {difference:.1e} apart")
    if difference > 1e-5:
        sys.exit("the strongest PyTorch step does not compute what Hugging Face's does")
    roof = run_torch({"way": "roof", "device": arguments.device})["flops_per_second"]
    print(f"roof: {roof / 1e12:.1f} TFLOP/s, torch's own product of two bf16 matrices", flush=True)
    with tempfile.TemporaryDirectory() as name:
        contest = Contest(arguments, pathlib.Path(name))
        seconds = interleave({side: lambda side=side: contest.run(side) for side in arguments.sides}, arguments.rounds, warm_up=0)
    rates = {side: contest.sequences / statistics.median(values) for side, values in seconds.items()}
    report(contest, arguments, rates, roof)
    print(f"at {arguments.size}, dropout 0.1, {arguments.micro_batch} x {arguments.accumulation} x {arguments.length}, medians of "
          f"{arguments.rounds} rounds of {arguments.steps} steps on {arguments.device}")


if __name__ == "__main__":
    main()
