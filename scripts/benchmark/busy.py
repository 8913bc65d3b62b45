"""Times training steps on a quiet machine and beside busy processes, in turns, and compares the loss of speed with the loss of cores.
Then times two runs side by side. Called by busy.sh."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from programs import program
from training_step import LENGTH, experiment, run_ours, sample_rows, write_shard


def fair_share(cores, threads, load):
    """Returns how many cores the threads get if the scheduler gives each busy thread of the machine the same time."""
    return min(threads, cores * threads / (threads + load))


class Busy:
    """Processes that compute without a pause."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(self.count)]

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


class Sides:
    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.runs = arguments, folder, 0
        write_shard(folder, sample_rows(arguments.micro_batch, 0.0))
        settings = experiment(arguments.size, arguments.micro_batch, folder)
        settings["training"]["precision"] = arguments.precision
        self.config = folder / "experiment.json"
        self.config.write_text(json.dumps(settings))

    def seconds(self, side):
        """Returns the seconds of the counted steps of one run."""
        arguments = self.arguments
        name, *settings = side.split(":")
        if name == "hf":
            result = subprocess.run([sys.executable, "scripts/benchmark/hf_training_step.py", arguments.size, str(arguments.micro_batch),
                                     str(arguments.steps), str(arguments.threads), "0",
                                     "fp32" if arguments.precision == "fp32" else "eager"],
                                    capture_output=True, text=True, check=True, env={**os.environ, **dict(s.split("=") for s in settings)})
            return json.loads(result.stdout)["seconds"]
        self.runs += 1
        folder = self.folder / f"run{self.runs}"
        folder.mkdir()
        return run_ours(self.config, folder, arguments.steps, arguments.threads, environment=dict(s.split("=") for s in settings),
                        trainer=arguments.before if name == "before" else program("bertpretrain"))["seconds"]

    def rate(self, side, load):
        with Busy(load):
            seconds = self.seconds(side)
        return self.arguments.micro_batch * len(seconds) / sum(seconds)

    def both(self, side):
        """Returns how many times as long two runs at once take as one run."""
        alone = sum(self.seconds(side))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            pair = [sum(seconds) for seconds in pool.map(self.seconds, [side, side])]
        return max(pair) / alone


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="quick", help="as of training_step.py")
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--loads", type=int, nargs="+", default=[1, 2, 4], help="numbers of busy processes")
    parser.add_argument("--sides", nargs="+", default=["ours", "hf"],
                        help="ours, before (--before), hf; with :NAME=VALUE for an environment variable, such as ours:GOMP_SPINCOUNT=0")
    parser.add_argument("--before", help="the program `bertpretrain` of another build")
    parser.add_argument("--no-pair", action="store_true", help="do not time two runs side by side")
    arguments = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores, {arguments.threads} threads, size {arguments.size}, {arguments.micro_batch} x {LENGTH}, {arguments.precision}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        sides = Sides(arguments, pathlib.Path(name))
        rates = {(side, load): [] for side in arguments.sides for load in [0, *arguments.loads]}
        for _ in range(arguments.rounds):
            for side, load in rates:
                rates[side, load].append(sides.rate(side, load))
                print(f"  {side} beside {load}: {rates[side, load][-1]:.2f} seq/s", flush=True)
        for (side, load), values in rates.items():
            rate, quiet = statistics.median(values), statistics.median(rates[side, 0])
            share = fair_share(cores, arguments.threads, load)
            print(f"{side:30} {load} busy: {rate:8.2f} seq/s ({min(values):.2f} to {max(values):.2f}), "
                  f"{rate / quiet:.2f} of quiet; fair share {share:.2f} cores; "
                  f"{rate / (quiet * share / min(cores, arguments.threads)):.2f} of the fair speed", flush=True)
        if not arguments.no_pair:
            for side in arguments.sides:
                ratios = [sides.both(side) for _ in range(arguments.rounds)]
                print(f"{side:30} two runs at once take {statistics.median(ratios):.2f} times as long as one", flush=True)


if __name__ == "__main__":
    main()
