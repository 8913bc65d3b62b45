"""Times training steps of several programs on this CPU, in turns, with AdamW: BERT with dropout 0.1 and 15 %, ModernBERT without dropout and with 30 % of the
positions masked. Prints each side's
rate, and how many times as fast the first side is, with the standard error over the rounds.

A side is ours, before (another build: --before), hf (Hugging Face's model in PyTorch) or hf-compile (under torch.compile), and may have
options after colons: fp32 or bf16, real-lengths (padding, see --padding), or NAME=VALUE, an environment variable. Examples:
  step.py --size large --sides ours hf hf-compile                         our step and Hugging Face's
  step.py --size large --sides ours:real-lengths ours                     what padding costs
  step.py --size small --accumulation 2 --ranks 1 2 --threads 1           several ranks; PyTorch's: DDP and ZeroRedundancyOptimizer
  step.py --size small --cores                                            on 1, 2, 4, ... and all cores, in several layouts
  step.py --size quick --loads 0 1 2 --steps 30                           beside busy processes
  step.py --size quick --before BUILD --windows --rounds 20 --loads 0 1   two builds in short windows of a few steps, in which the other
                                                                          one is stopped: shows differences of a few percent
"""
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
from typing import NamedTuple

from programs import PROJECT, can_import, program, program_environment
from training_runs import LENGTH, MODERN_SIZES, PREDICTIONS, SIZES, WARM_UP, experiment, masked_positions, run_ours, sample_rows, write_shard

AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "BERTPRETRAIN_CPU_CAPABILITY": "avx2"}


class Side(NamedTuple):
    whose: str  # "ours", "before", "hf" or "hf-compile"
    precision: str
    padded: bool
    environment: dict


class Trial(NamedTuple):
    """What is timed in each round."""
    side: str
    ranks: int = 1
    threads: int = 1
    cores: tuple = ()  # the hardware threads to use; all when empty
    load: int = 0  # busy processes beside it


def side_of(text, arguments):
    """Reads a side, such as hf:fp32."""
    whose, *options = text.split(":")
    if whose not in ("ours", "before", "hf", "hf-compile"):
        raise ValueError(f"--sides {text}: expected ours, before, hf or hf-compile")
    if whose == "before" and not arguments.before:
        raise ValueError(f"--sides {text}: needs --before PROGRAM")
    side = Side(whose, arguments.precision, False, dict(AVX2) if arguments.avx2 else {})
    for option in options:
        name, equals, value = option.partition("=")
        if equals:
            side.environment[name] = value
        elif option in ("fp32", "bf16"):
            side = side._replace(precision=option)
        elif option == "real-lengths":
            side = side._replace(padded=True)
        else:
            raise ValueError(f"--sides {text}: expected fp32, bf16, real-lengths or NAME=VALUE after a colon, found {option!r}")
    return side


def node_of_cores():
    """Returns {a hardware thread of each physical core that this process may use: its NUMA node}, node by node."""
    listed = subprocess.run(["lscpu", "--parse=node,socket,core,cpu"], capture_output=True, text=True, check=True).stdout
    lines = sorted([int(field or 0) for field in line.split(",")] for line in listed.splitlines() if not line.startswith("#"))
    first = {}
    for node, socket, core, cpu in lines:
        if cpu in os.sched_getaffinity(0):
            first.setdefault((node, socket, core), cpu)
    return {cpu: node for (node, _, _), cpu in first.items()}


def layouts(arguments):
    """Returns (ranks, threads of a rank, cores) of each layout to time. With --cores, one process for each number of cores, and where a
    rank has at least four cores, a rank for each NUMA node in use, and twice and four times as many."""
    if arguments.cores is None:
        return [(ranks, arguments.threads, ()) for ranks in arguments.ranks]
    nodes = node_of_cores()
    most = len(nodes)
    counts = arguments.cores or sorted({2**i for i in range(most.bit_length()) if 2**i < most} | {most})
    if max(counts) > most:
        raise ValueError(f"--cores {max(counts)}: this process may use {most} cores")
    found = []
    for count in counts:
        cores = tuple(nodes)[:count]
        in_use = len({nodes[core] for core in cores})
        for ranks in sorted({1, *(in_use * factor for factor in (1, 2, 4))}):
            if count % ranks == 0 and (ranks == 1 or count // ranks >= 4):
                found.append((ranks, count // ranks * arguments.oversubscribe, cores))
    return found


@contextlib.contextmanager
def busy(count):
    """Keeps as many processes computing without a pause."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextlib.contextmanager
def only_on(cores):
    """Keeps this process, and those that it starts, on these hardware threads."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or allowed)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


class Window:
    """A training run that is stopped, except while its rate is measured."""

    def __init__(self, trainer, config, folder, environment):
        self.metrics, self.log = folder / "metrics.jsonl", folder.with_suffix(".stderr")
        with open(self.log, "w") as errors:
            self.process = subprocess.Popen([trainer, "train", str(config), "--output", str(folder)], stderr=errors,
                                            stdout=subprocess.DEVNULL, env=environment)
        self.wait_for(WARM_UP + 1)
        self.process.send_signal(signal.SIGSTOP)

    def count(self):
        return self.metrics.read_bytes().count(b"\n") if self.metrics.exists() else 0

    def wait_for(self, steps):
        while self.count() < steps:
            if self.process.poll() is not None:
                sys.exit(f"a run ended with exit status {self.process.returncode}:\n{self.log.read_text()}")
            time.sleep(0.002)

    def seconds(self, steps):
        """Returns the seconds of a step. The step in which the run was stopped does not count."""
        self.process.send_signal(signal.SIGCONT)
        first = self.count() + 1
        self.wait_for(first)
        begin = time.monotonic()
        self.wait_for(first + steps)
        seconds = time.monotonic() - begin
        self.process.send_signal(signal.SIGSTOP)
        return seconds / steps

    def end(self):
        self.process.kill()
        self.process.wait()


class Contest:
    """The input data, the sides, and for each trial its sequences per second in each round and its peak memory."""

    def __init__(self, arguments, sides, folder):
        self.arguments, self.sides, self.folder = arguments, sides, folder
        self.rates, self.peaks, self.windows = {}, {}, {}
        for name, padding in (("full", 0.0), ("real", arguments.padding)):
            (folder / name).mkdir()
            most_ranks = max(ranks for ranks, _, _ in layouts(arguments))
            write_shard(folder / name, sample_rows(arguments.micro_batch * arguments.accumulation * most_ranks, padding, arguments.length,
                                                            predictions=masked_positions(arguments.size, arguments.length)))

    def trainer(self, side):
        if side.whose == "ours":
            return program("bertpretrain")
        return str(self.arguments.before / "bertpretrain" if self.arguments.before.is_dir() else self.arguments.before)

    def config(self, side):
        settings = experiment(self.arguments.size, self.arguments.micro_batch, self.folder / ("real" if side.padded else "full"),
                              self.arguments.length)
        settings["training"]["precision"] = side.precision
        settings["batch"]["gradient_accumulation_steps"] = self.arguments.accumulation
        file = self.folder / f"{side.precision}_{side.padded}.json"
        file.write_text(json.dumps(settings))
        return file

    def peer(self, side, trial):
        """Returns seconds and peak memory of PyTorch's steps."""
        arguments = self.arguments
        start = [sys.executable]
        if trial.ranks > 1:
            start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(trial.ranks)]
        words = [arguments.size, arguments.micro_batch, arguments.accumulation, arguments.steps, trial.threads, arguments.length,
                 arguments.padding * side.padded, side.precision, "compile" if side.whose == "hf-compile" else "eager"]
        environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(self.folder / "inductor"), OMP_NUM_THREADS=str(trial.threads), **side.environment)
        done = subprocess.run([*start, str(PROJECT / "scripts/benchmark/hf_step.py"), *map(str, words)], capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            sys.exit(f"{trial.side} failed:\n{done.stderr[-3000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def window(self, trial):
        """Returns the seconds of a step in a window of the side's run, which is started at its first one."""
        if trial.side not in self.windows:
            side = self.sides[trial.side]
            environment = program_environment(OMP_NUM_THREADS=str(trial.threads), **side.environment)
            self.windows[trial.side] = Window(self.trainer(side), self.config(side), self.folder / f"run_{len(self.windows)}", environment)
        return self.windows[trial.side].seconds(self.arguments.steps)

    def run(self, trial):
        """Runs a trial once."""
        side, arguments = self.sides[trial.side], self.arguments
        with only_on(trial.cores), busy(trial.load):
            if arguments.windows:
                seconds, result = self.window(trial), {}
            else:
                if side.whose.startswith("hf"):
                    result = self.peer(side, trial)
                else:
                    result = run_ours(self.config(side), self.folder, arguments.steps, trial.threads,
                                      ["--local-ranks", str(trial.ranks)] if trial.ranks > 1 else [], side.environment,
                                      trainer=self.trainer(side))
                seconds = statistics.median(result["seconds"])
        rate = trial.ranks * arguments.micro_batch * arguments.accumulation / seconds
        self.rates.setdefault(trial, []).append(rate)
        self.peaks[trial] = max(self.peaks.get(trial, 0), result.get("peak_bytes", 0))
        if not arguments.windows:
            print(f"  {described(trial)}: {rate:.3f} seq/s", flush=True)

    def end(self):
        for window in self.windows.values():
            window.end()


def described(trial):
    ranks = f", {trial.ranks} ranks" if trial.ranks > 1 else ""
    cores = f", {len(trial.cores)} cores" if trial.cores else ""
    load = f", beside {trial.load} busy" if trial.load else ""
    return f"{trial.side:18}{cores}{ranks}, {trial.threads} threads{load}"


def mean_ratio(ours, theirs):
    """Returns the geometric mean of the rounds' ratios, and its relative standard error, as text."""
    logs = [math.log(a / b) for a, b in zip(ours, theirs)]
    error = f" +- {statistics.stdev(logs) / math.sqrt(len(logs)):.3f}" if len(logs) > 1 else ""
    return f"{math.exp(statistics.mean(logs)):.3f}{error}"


def report(contest, arguments):
    rates, first = contest.rates, arguments.sides[0]
    for trial, values in rates.items():
        memory = f", peak memory {contest.peaks[trial] / 2**30:.2f} GiB" if contest.peaks[trial] else ""
        text = f"{described(trial)}: median {statistics.median(values):.3f} seq/s ({min(values):.3f} to {max(values):.3f}){memory}"
        against = trial._replace(side=first)
        if trial != against:
            text += f"; {first} is {mean_ratio(rates[against], values)} times as fast"
            if memory:
                text += f", with {contest.peaks[against] / contest.peaks[trial]:.2f} of the memory"
        quiet = trial._replace(load=0)
        if trial.load and quiet in rates:
            cores = len(trial.cores) or len(os.sched_getaffinity(0))
            share = min(trial.threads, cores * trial.threads / (trial.threads + trial.load)) / min(cores, trial.threads)
            text += f"; {mean_ratio(values, [share * rate for rate in rates[quiet]])} of the speed that a fair share of the cores allows"
        print(text)
    for side in arguments.sides if arguments.cores is not None or len(arguments.ranks) > 1 else []:
        # The fastest layout of each number of cores or ranks, and its speed per core or rank, beside that of the smallest number.
        size = (lambda trial: len(trial.cores)) if arguments.cores is not None else (lambda trial: trial.ranks)
        best = {}
        for trial, values in rates.items():
            if trial.side == side and trial.load == 0 and statistics.median(values) > best.get(size(trial), (0,))[0]:
                best[size(trial)] = statistics.median(values), trial
        least = min(best)
        for count, (rate, trial) in sorted(best.items()):
            print(f"{side}, {count} {'cores' if trial.cores else 'ranks'}: {trial.ranks} x {trial.threads} threads is the fastest, "
                  f"{rate:.3f} seq/s, efficiency {rate / (count / least * best[least][0]):.2f}")


def print_roof(when, arguments):
    """Prints the processor's peak rate, so that a slow phase of the machine is visible."""
    if not pathlib.Path(program("time_parts")).exists():
        return
    roofs = json.loads(subprocess.run([program("time_parts"), "roof"], check=True, stdout=subprocess.PIPE, text=True,
                                      env=program_environment(OMP_NUM_THREADS=str(arguments.threads))).stdout)
    print(f"peak rate {when}: " + ", ".join(f"{name} {rate / 1e12:.3f} TFLOP/s" for name, rate in roofs.items() if rate), flush=True)


def parsed_arguments():
    parser = argparse.ArgumentParser(prog="step.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=[*SIZES, *MODERN_SIZES], default="large")
    parser.add_argument("--length", type=int, default=LENGTH, help="tokens per sequence; with a BERT 128 or 512")
    parser.add_argument("--sides", nargs="+", metavar="SIDE", help="by default ours and hf, with --before ours and before")
    parser.add_argument("--before", type=pathlib.Path, metavar="BUILD", help="a folder with the program bertpretrain of another build, or the program")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="bf16")
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--accumulation", type=int, default=1, help="micro-batches of a step")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3, help="timed steps of a run or window")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of each rank; --cores chooses its own")
    parser.add_argument("--padding", type=float, default=0.1, help="mean share of padding with real-lengths; Hugging Face's computes the padding")
    parser.add_argument("--avx2", action="store_true", help="all sides use no more than AVX2")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1], help="numbers of ranks")
    parser.add_argument("--cores", type=int, nargs="*", help="numbers of cores; without a number 1, 2, 4, ... and all")
    parser.add_argument("--oversubscribe", type=int, default=1, help="threads per core, with --cores")
    parser.add_argument("--loads", type=int, nargs="+", default=[0], help="numbers of busy processes")
    parser.add_argument("--windows", action="store_true", help="time ours and before in short windows")
    arguments = parser.parse_args()
    arguments.sides = arguments.sides or ["ours", "before" if arguments.before else "hf"]
    if not can_import("torch", "transformers") and any(side.startswith("hf") for side in arguments.sides):
        print("Hugging Face's sides are left out: this Python does not find torch and transformers")
        arguments.sides = [side for side in arguments.sides if not side.startswith("hf")]
    if arguments.size in SIZES and arguments.length not in PREDICTIONS:
        parser.error(f"--length {arguments.length}: expected 128 or 512 with --size {arguments.size}")
    try:
        sides = {side: side_of(side, arguments) for side in arguments.sides}
        layouts(arguments)
    except ValueError as error:
        parser.error(str(error))
    if arguments.windows and (arguments.ranks != [1] or arguments.cores is not None or any(side.startswith("hf") for side in sides)):
        parser.error("--windows is for ours and before, one rank, without --cores")
    return arguments, sides


def main():
    arguments, sides = parsed_arguments()
    print_roof("before", arguments)
    with tempfile.TemporaryDirectory() as name:
        contest = Contest(arguments, sides, pathlib.Path(name))
        trials = [Trial(side, *layout, load) for layout in layouts(arguments) for load in arguments.loads for side in arguments.sides]
        try:
            for turn in range(arguments.rounds):
                for trial in trials if turn % 2 == 0 else trials[::-1]:  # no side is always the first
                    contest.run(trial)
        finally:
            contest.end()
    print_roof("after", arguments)
    print(f"{arguments.size}, {arguments.precision}, {'no dropout' if arguments.size in MODERN_SIZES else 'dropout 0.1'}, {arguments.micro_batch} x {arguments.accumulation} x {arguments.length} per rank, "
          f"{arguments.rounds} rounds of {arguments.steps} steps" + (", AVX2 only" if arguments.avx2 else ""))
    report(contest, arguments)


if __name__ == "__main__":
    main()
