"""Compares steps with a cross check in each of them with steps without, in turns, and prints what a check costs every 100 steps: by
wall time, and by CPU time, which depends less on what else the machine does."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import programs


WARM_UP = 2  # steps not counted by wall time


def train(folder, arguments, every, count):
    """Trains `count` steps. Returns the wall seconds of each after the first WARM_UP, and the CPU seconds of all ranks, start included."""
    run = folder / f"every_{every}_{len(list(folder.iterdir()))}"
    experiment = {
        "model": {"hidden_size": 768, "num_hidden_layers": arguments.layers, "num_attention_heads": 12, "intermediate_size": 3072},
        "data": {"training_shards": arguments.shards, "sequence_length": 128},
        "batch": {"micro_batch_size": arguments.sequences,
                  "global_batch_size": arguments.sequences * arguments.micro_batches * arguments.ranks},
        "schedule": {"total_steps": count},
        "training": {"cross_check_every_steps": every, "device": "cpu"},
    }
    config = folder / f"{run.name}.json"
    config.write_text(json.dumps(experiment))
    before = os.times()
    subprocess.run([programs.program("bertpretrain"), "train", str(config), "--output", str(run), "--local-ranks", str(arguments.ranks)],
                   check=True, env=programs.program_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    steps = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    seconds = [step["step_seconds"] for step in steps if "step_seconds" in step][WARM_UP:]
    return seconds, after.children_user + after.children_system - before.children_user - before.children_system


def print_cost(what, without, checked):
    print(f"by {what}: a step without a check {without:.3f} s, with one {checked:.3f} s; a check takes "
          f"{100 * (checked / without - 1):.0f} % of a step; every 100 steps that is {checked / without - 1:.2f} %", flush=True)


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
    wall, cpu, steps = {0: [], 1: []}, {0: [], 1: []}, arguments.steps + WARM_UP
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for _ in range(arguments.rounds):
            _, start = train(folder, arguments, 0, 1)  # one step, and all that is not a step
            used = {}
            for every in wall:
                seconds, used[every] = train(folder, arguments, every, steps)
                wall[every] += seconds
            cpu[0].append((used[0] - start) / (steps - 1))
            cpu[1].append(cpu[0][-1] + (used[1] - used[0]) / steps)
    print(f"{arguments.ranks} ranks, {arguments.micro_batches} micro-batches of {arguments.sequences} each, {arguments.layers} layers of 768")
    print_cost(f"wall time (medians of {len(wall[0])} steps)", *map(statistics.median, wall.values()))
    print_cost(f"CPU time of all ranks (medians of {len(cpu[0])} rounds)", *map(statistics.median, cpu.values()))


if __name__ == "__main__":
    main()
