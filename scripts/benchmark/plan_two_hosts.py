"""Compares `bertpretrain plan`'s estimate of a step over a slow link, fitted to runs over two other links, with the run itself. The
hosts are two network namespaces (see overlap.py). Called by plan.sh; needs permission to create network namespaces."""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

from overlap import SHAPES, Link, Run
from programs import program
from training_step import WARM_UP, sample_rows, write_shard

PROGRAM = program("bertpretrain")


def planned(config, network, *options):
    command = [PROGRAM, "plan", str(config), "--network", network, "--world-size", "2", "--ranks-per-node", "1", "--json", *options]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def write_config(folder, bucket_mib):
    layers, hidden, heads, vocabulary, micro_batch = SHAPES["24x256"]
    config = folder / f"bucket_{bucket_mib}.json"
    config.write_text(json.dumps({
        "model": {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
                  "intermediate_size": 4 * hidden, "vocab_size": vocabulary},
        "data": {"training_shards": str(folder), "sequence_length": 128}, "batch": {"micro_batch_size": micro_batch},
        "optimizer": {"name": "adamw", "learning_rate": 1e-4},
        "schedule": {"name": "constant", "warmup_ratio": 0, "total_steps": 1000000},
        "parallel": {"bucket_mib": bucket_mib}, "checkpoint": {"save_every_steps": 0}}))
    return config


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Link() as link:
        folder = pathlib.Path(name)
        layers, hidden, heads, vocabulary, micro_batch = SHAPES["24x256"]
        write_shard(folder, sample_rows(2 * micro_batch, 0.0, ids=range(1, vocabulary)))
        cases = {(100, 0.5): [], (400, 0.5): [], (200, 0.5): [], (200, 4): []}
        rates, shares = [], []
        for _ in range(arguments.rounds):  # in turns: the machine's speed drifts
            for (megabits, bucket_mib), steps in cases.items():
                link.limit(megabits)
                with Run(write_config(folder, bucket_mib), folder) as run:
                    steps += [record["step_seconds"] for record in run.steps(arguments.steps, WARM_UP)]
                if megabits != 200:
                    fit = planned(write_config(folder, bucket_mib), "any:1", "--fit", run.output)["fit"]
                    rates.append(fit["tflops_per_rank"])
                    shares.append(fit["sent_gbps"] / (megabits / 8000))
        rate, share = statistics.mean(rates), statistics.mean(shares)
        print(f"fitted to 100 and 400 Mbit/s: {rate:.4f} TFLOP/s per rank, {100 * share:.1f} % of the link "
              f"({', '.join(f'{100 * s:.1f}' for s in shares)})")
        print("Mbit/s   bucket MiB   plan s   measured s   error %")
        for (megabits, bucket_mib), steps in cases.items():
            plan = planned(write_config(folder, bucket_mib), f"link:{share * megabits / 8000}", "--tflops", str(rate), "--tokens", "128")
            step, median = plan["plan"][0]["step_seconds"], statistics.median(steps)
            print(f"{megabits:6}   {bucket_mib:10}   {step:6.3f}   {median:10.3f}   {100 * (step / median - 1):+7.1f}", flush=True)


if __name__ == "__main__":
    main()
