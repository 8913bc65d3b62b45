"""Times training steps on 1, 2, 4, ... cores of this host, ours and PyTorch's in turns, each count as one process and as several ranks,
and prints how the speed grows and which layout is the fastest. Called by cores.sh."""
import argparse
import json
import os
import pathlib
import statistics
import tempfile

from host_cores import numa_nodes, physical_cores
from interleaved import interleave
from programs import can_import
from scaling import run_distributed_peer
from training_step import SIZES, experiment, run_ours, run_peer, sample_rows, write_shard


def counts_up_to(most):
    """Returns 1, 2, 4, ... and `most`."""
    counts = [1]
    while counts[-1] * 2 < most:
        counts.append(counts[-1] * 2)
    return counts if most == 1 else [*counts, most]


def layouts_of(cores, nodes, least_threads):
    """Returns the (ranks, threads of a rank) to try on so many cores: one process, a rank per NUMA node in use, and twice and four times
    as many, as long as a rank has `least_threads` threads. All ranks have equally many."""
    ranks = sorted({1, *(nodes * factor for factor in (1, 2, 4))})
    return [(count, cores // count) for count in ranks if cores % count == 0 and (count == 1 or cores // count >= least_threads)]


class Host:
    """Runs sides on a part of the host's cores."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        write_shard(folder, sample_rows(64, 0.0))

    def rate(self, side, cores, ranks, threads):
        """Returns sequences/s, every rank with a micro-batch of its own."""
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores)  # child processes inherit it
        try:
            seconds = self.seconds(side, ranks, threads)
        finally:
            os.sched_setaffinity(0, allowed)
        rate = ranks * self.arguments.micro_batch / statistics.median(seconds)
        print(f"  {side:8} {len(cores):4} cores, {ranks:3} x {threads:3} threads: {rate:9.3f} seq/s", flush=True)
        return rate

    def seconds(self, side, ranks, threads):
        arguments = self.arguments
        if side == "ours":
            settings = experiment(arguments.size, arguments.micro_batch, self.folder)
            config = self.folder / "experiment.json"
            config.write_text(json.dumps(settings))
            return run_ours(config, self.folder, arguments.steps, threads, ["--local-ranks", str(ranks)] if ranks > 1 else [])["seconds"]
        if ranks > 1:
            return run_distributed_peer(arguments, ranks, threads)
        arguments.threads = threads
        return run_peer(arguments, "eager", 0.0, self.folder / "inductor")["seconds"]


def print_table(rates, counts):
    """Prints a line per number of cores: the fastest layout of each side, and its speed per core beside that of one core."""
    sides = sorted({side for side, *_ in rates}, key=["ours", "pytorch"].index)
    best = {(side, cores): max((rate, ranks, threads) for (s, c, ranks, threads), rate in rates.items() if (s, c) == (side, cores))
            for side in sides for cores in counts}
    print(f"{'cores':>6}" + "".join(f"{side + ' seq/s':>16}{'ranks x threads':>17}{'efficiency':>12}" for side in sides) +
          ("   ratio" if len(sides) == 2 else ""))
    for cores in counts:
        cells = ""
        for side in sides:
            rate, ranks, threads = best[side, cores]
            cells += f"{rate:16.3f}{f'{ranks} x {threads}':>17}{rate / (cores / counts[0] * best[side, counts[0]][0]):12.2f}"
        if len(sides) == 2:
            cells += f"{best['ours', cores][0] / best['pytorch', cores][0]:7.2f}x"
        print(f"{cores:6}{cells}")
    _, ranks, threads = best["ours", counts[-1]]
    options = f"--local-ranks {ranks}" if ranks > 1 else "one process"
    print(f"fastest for this model on {counts[-1]} cores: {options}, {threads} threads each")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="base")
    parser.add_argument("--micro-batch", type=int, default=16, help="sequences of each rank in a step")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, nargs="+", help="numbers of cores, ascending (1, 2, 4, ... all)")
    parser.add_argument("--least-threads", type=int, default=4, help="of a rank, where there are several")
    parser.add_argument("--oversubscribe", type=int, default=1, help="threads per core")
    parser.add_argument("--sides", nargs="+", choices=["ours", "pytorch"], default=["ours", "pytorch"])
    arguments = parser.parse_args()
    arguments.accumulation, arguments.avx2 = 1, False
    if "pytorch" in arguments.sides and not can_import("torch", "transformers"):
        print("PyTorch's side is left out: this Python does not find torch and transformers")
        arguments.sides.remove("pytorch")
    order, nodes = physical_cores(), numa_nodes()
    counts = arguments.cores or counts_up_to(len(order))
    if counts[-1] > len(order):
        parser.error(f"--cores {counts[-1]}: this process may use {len(order)} cores")
    print(f"{len(order)} cores in {len(nodes)} NUMA node(s), one thread of each core; BERT {arguments.size}, bf16, "
          f"{arguments.micro_batch} x 128 per rank, {arguments.oversubscribe} thread(s) per core", flush=True)
    with tempfile.TemporaryDirectory() as name:
        host = Host(arguments, pathlib.Path(name))
        trials = {}
        for count in counts:
            cores = order[:count]
            in_use = max(1, sum(1 for node in nodes if node & set(cores)))
            for ranks, threads in layouts_of(count, in_use, arguments.least_threads):
                for side in arguments.sides:
                    trial = side, count, ranks, threads * arguments.oversubscribe
                    trials[trial] = lambda trial=trial, cores=cores: 1 / host.rate(trial[0], cores, *trial[2:])
        rates = {trial: 1 / statistics.median(values) for trial, values in interleave(trials, arguments.rounds, warm_up=0).items()}
    print_table(rates, counts)


if __name__ == "__main__":
    main()
