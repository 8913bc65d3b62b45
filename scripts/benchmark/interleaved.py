"""Times sides in turns, A B A B ..., so that a change in the machine's speed affects all of them."""
import os
import pathlib
import statistics
import subprocess
import sys
import time

from programs import PROJECT, program

DATA_PROGRAM = program("bertpretrain_data")


def interleave(sides, rounds, warm_up=1):
    """Returns the seconds of each side in each round: {name: [seconds, ...]}.

    `sides` is {name: call}. A call does the work once. It returns None if its whole wall time counts; otherwise the seconds that
    count, or a list of them. `warm_up` rounds come first and are not counted."""
    seconds = {name: [] for name in sides}
    for round_number in range(-warm_up, rounds):
        for name, call in sides.items():
            began = time.perf_counter()
            result = call()
            if result is None:
                result = time.perf_counter() - began
            if round_number >= 0:
                seconds[name] += result if isinstance(result, list) else [result]
    return seconds


def compare(title, sides, work, unit, rounds=5, goal=None, warm_up=1):
    """Interleaves the sides. Prints every side's median, lowest and highest rate (`work` per second, in `unit`), and how many times
    as fast the first side is as each of the others. `goal` is the ratio that the first side should reach. Returns {name: ratio}."""
    seconds = interleave(sides, rounds, warm_up)
    width = max(map(len, sides))
    print(f"{title} ({rounds} rounds, interleaved)")
    for name, values in seconds.items():
        print(f"  {name:{width}}  {work / statistics.median(values):10.3f} {unit}/s median, "
              f"{work / max(values):.3f} to {work / min(values):.3f}; {statistics.median(values):.3f} s")
    first, *others = (statistics.median(values) for values in seconds.values())
    ratios = {name: other / first for name, other in zip(list(sides)[1:], others)}
    for name, ratio in ratios.items():
        print(f"  ratio to {name}: {ratio:.2f}x" + (f" (goal {goal}x)" if goal else ""), flush=True)
    return ratios


def by_cpu_time(call):
    """Returns a side that counts the CPU time of a call, that of child processes included, because wall time also depends on what else
    the machine does."""
    def side():
        before = os.times()
        call()
        return sum(os.times()[:4]) - sum(before[:4])
    return side


def run_program(command, cores=None, environment=None, output=subprocess.DEVNULL):
    """Runs a command to its end and returns its wall seconds. With `cores`, the command may use only the first `cores` cores."""
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    began = time.perf_counter()
    process = subprocess.run([str(part) for part in command], stdout=output, stderr=subprocess.PIPE, text=True, cwd=PROJECT,
                             env={**os.environ, **(environment or {})}, preexec_fn=lambda: os.sched_setaffinity(0, allowed))
    seconds = time.perf_counter() - began
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}\n{process.stderr}")
    return seconds


def benchmark_text():
    """Returns a file of real text, one sentence per line: BENCHMARK_TEXT, or else the shared corpus."""
    path = pathlib.Path(os.environ.get("BENCHMARK_TEXT", PROJECT.parent / "shared/data/plain/wiki_2021_sentences.txt"))
    if not path.is_file():
        sys.exit(f"{path}: no such file; set BENCHMARK_TEXT to a file with about 10 MB of text, one sentence per line")
    return path.resolve()


def vocabulary_file():
    """Returns the vocab.txt of bert-base-uncased: BENCHMARK_VOCABULARY, or else the shared one."""
    path = pathlib.Path(os.environ.get("BENCHMARK_VOCABULARY", PROJECT.parent / "shared/data/vocab/bert-uncased-vocab.txt"))
    if not path.is_file():
        sys.exit(f"{path}: no such file; set BENCHMARK_VOCABULARY to the vocab.txt of bert-base-uncased")
    return path.resolve()
