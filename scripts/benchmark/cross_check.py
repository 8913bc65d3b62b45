"""Compares steps with a cross check in each of them with steps without, in turns, and prints what a check costs every 100 steps."""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import programs


def train(folder, arguments, every):
    """Trains a few steps and returns the seconds of each, without the first two."""
    run = folder / f"every_{every}_{len(list(folder.iterdir()))}"
    experiment = {
        "model": {"hidden_size": 768, "num_hidden_layers": arguments.layers, "num_attention_heads": 12, "intermediate_size": 3072},
        "data": {"training_shards": arguments.shards, "sequence_length": 128},
        "batch": {"micro_batch_size": arguments.sequences,
                  "global_batch_size": arguments.sequences * arguments.micro_batches * arguments.ranks},
        "schedule": {"total_steps": arguments.steps + 2},
        "training": {"cross_check_every_steps": every, "device": "cpu"},
    }
    config = folder / f"{run.name}.json"
    config.write_text(json.dumps(experiment))
    subprocess.run([programs.program("bertpretrain"), "train", str(config), "--output", str(run), "--local-ranks", str(arguments.ranks)],
                   check=True, env=programs.program_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    steps = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [step["step_seconds"] for step in steps if "step_seconds" in step][2:]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards", help="folder of shards of 128 tokens")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--layers", type=int, default=4, help="of BERT-Base's width")
    parser.add_argument("--sequences", type=int, default=4, help="of a micro-batch")
    parser.add_argument("--micro-batches", type=int, default=4, help="of a rank in a step")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=4)
    arguments = parser.parse_args()
    seconds = {0: [], 1: []}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(arguments.rounds):
            for every, found in seconds.items():
                found += train(pathlib.Path(name), arguments, every)
    without, checked = statistics.median(seconds[0]), statistics.median(seconds[1])
    print(f"{arguments.ranks} ranks, {arguments.micro_batches} micro-batches each, {arguments.layers} layers of 768")
    print(f"a step without a check: {without:.3f} s; with one: {checked:.3f} s; medians of {len(seconds[0])} steps each")
    print(f"a check takes {100 * (checked / without - 1):.0f} % of a step; every 100 steps that is {checked / without - 1:.2f} %")


if __name__ == "__main__":
    main()
