"""Times the steps of two builds in alternating windows, while the other one is stopped. Called by windows.sh."""
import argparse
import contextlib
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from busy import Busy, fair_share
from programs import program, program_environment
from training_step import experiment, sample_rows, write_shard


class Run:
    """A training run that is stopped outside of its windows."""

    def __init__(self, trainer, config, folder, threads):
        self.metrics, self.log = folder / "metrics.jsonl", folder.with_suffix(".stderr")
        with open(self.log, "w") as errors:
            self.process = subprocess.Popen([trainer, "train", str(config), "--output", str(folder)], stderr=errors,
                                            stdout=subprocess.DEVNULL, env=program_environment(OMP_NUM_THREADS=str(threads)))
        self.wait_for(3)
        self.process.send_signal(signal.SIGSTOP)

    def count(self):
        return self.metrics.read_bytes().count(b"\n") if self.metrics.exists() else 0

    def wait_for(self, steps):
        while self.count() < steps:
            if self.process.poll() is not None:
                sys.exit(f"a run ended with exit status {self.process.returncode}:\n{self.log.read_text()}")
            time.sleep(0.002)

    def rate(self, steps):
        """Returns the steps per second of a window. The step in which the run was stopped does not count."""
        self.process.send_signal(signal.SIGCONT)
        first = self.count() + 1
        self.wait_for(first)
        begin = time.monotonic()
        self.wait_for(first + steps)
        seconds = time.monotonic() - begin
        self.process.send_signal(signal.SIGSTOP)
        return steps / seconds


def geometric_mean(ratios):
    """Returns the mean of ratios and its relative standard error."""
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(statistics.mean(logs)), statistics.stdev(logs) / math.sqrt(len(logs))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", required=True, help="the program `bertpretrain` of another build")
    parser.add_argument("--size", default="quick", help="as of training_step.py")
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="bf16")
    parser.add_argument("--rounds", type=int, default=20, help="at least 2")
    parser.add_argument("--steps", type=int, default=3, help="per window")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--loads", type=int, nargs="*", default=[1], help="numbers of busy processes")
    arguments = parser.parse_args()
    cores, loads = len(os.sched_getaffinity(0)), [0, *arguments.loads]
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as ending:
        folder = pathlib.Path(name)
        write_shard(folder, sample_rows(arguments.micro_batch, 0.0))
        settings = experiment(arguments.size, arguments.micro_batch, folder)
        settings["training"]["precision"] = arguments.precision
        config = folder / "experiment.json"
        config.write_text(json.dumps(settings))
        runs = {}
        for side, trainer in [("now", program("bertpretrain")), ("before", arguments.before)]:
            runs[side] = Run(trainer, config, folder / side, arguments.threads)
            ending.callback(runs[side].process.wait)
            ending.callback(runs[side].process.kill)
        rates = {(side, load): [] for load in loads for side in runs}
        for turn in range(arguments.rounds):
            for load in loads:
                with Busy(load):
                    for side in list(runs)[::1 if turn % 2 == 0 else -1]:
                        rates[side, load].append(runs[side].rate(arguments.steps))
    print(f"{cores} cores, {arguments.threads} threads, size {arguments.size}, {arguments.precision}, {arguments.rounds} rounds")
    for (side, load), values in rates.items():
        mean, error = geometric_mean([a / b for a, b in zip(values, rates["before", load])])
        share = fair_share(cores, arguments.threads, load) / min(cores, arguments.threads)
        fair, fair_error = geometric_mean([a / b / share for a, b in zip(values, rates[side, 0])])
        print(f"{side:6} beside {load} busy: {statistics.median(values):.3f} steps/s, {mean:.3f} +- {error:.3f} times before's; "
              f"{fair:.3f} +- {fair_error:.3f} of the fair speed")


if __name__ == "__main__":
    main()
