"""Computes how long a step waits for its small messages between ranks: hops on the critical path x (latency of a hop + time of a message).
The time of a message of each size is measured between two ranks of this host, over loopback: what the fastest tenth of many take. Called by
messages.sh.

Gloo sends nothing before the receiver has announced that it is ready, so a message between two ranks takes two hops. Before, every
all-gather was a ring, in which each of n - 1 steps takes two hops. Now it takes ceil(log2 n) rounds of one hop and, once, the first
announcement; the other announcements arrive during earlier rounds. The numbers of a rank's message are those of ZeRO stage 1."""
import argparse
import math
import subprocess

from programs import program, program_environment

NUMBER = 8  # bytes
BLOCK = 4096  # parameters whose squares are one sum (optimizer_block_elements)
COLUMNS = {"adamw": 0, "lamb": 2, "lans": 3, "stable_adamw": 1}  # sums per block for tensors' norms


def messages(optimizer, parameters, ranks):
    """Returns the bytes of each all-gather's message from a rank, in a step before and now."""
    sums = math.ceil(parameters / BLOCK / ranks)
    flag, summary, opening, norms = 1, 6, 9, [COLUMNS[optimizer] * sums] if COLUMNS[optimizer] else []
    before = [flag, sums, *norms, summary, opening]
    now = [flag + sums + summary + opening, *norms]
    return [[NUMBER * count for count in counts] for counts in (before, now)]


def ring(size, ranks):
    """Returns the bytes of each hop: halves of a message, in two interleaved rings; an announcement comes before each."""
    return [size / 2, 0] * (ranks - 1)


def rounds(size, ranks):
    """Returns the bytes of each hop: the messages that a rank has, which double in each round; the first announcement has none."""
    has = [2 ** i for i in range(math.ceil(math.log2(ranks)))]
    return [0] + [size * min(count, ranks - count) for count in has]


def rounded(size):
    """Returns the next power of two from 64 up: the sizes that are measured."""
    return 2 ** max(6, math.ceil(math.log2(max(1, size))))


def measured(sizes):
    """Returns the seconds of one of the two hops of a message between two ranks, by its bytes."""
    printed = subprocess.run([program("time_messages"), *map(str, sorted(sizes))], check=True, stdout=subprocess.PIPE, text=True,
                             env=program_environment(OMP_NUM_THREADS="1")).stdout
    return {int(size): float(seconds) / 2 for size, seconds in map(str.split, printed.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--optimizer", choices=COLUMNS, default="lans")
    parser.add_argument("--parameters", type=float, default=336e6, help="of the model; BERT-Large's by default")
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 16, 64, 128])
    parser.add_argument("--hops", type=float, nargs="+", default=[25, 100], help="latencies, in microseconds")
    arguments = parser.parse_args()
    hops = {}
    for ranks in arguments.ranks:
        before, now = messages(arguments.optimizer, arguments.parameters, ranks)
        hops[ranks] = [[bytes_ for size in before for bytes_ in ring(size, ranks)], [bytes_ for size in now for bytes_ in rounds(size, ranks)]]
        print(f"{ranks} ranks: messages of {', '.join(map(str, before))} bytes per rank before, of {', '.join(map(str, now))} now")
    seconds = measured({rounded(size) for pair in hops.values() for path in pair for size in path})
    print("measured per hop:", ", ".join(f"{size} bytes {1e6 * time:.1f} us" for size, time in seconds.items()))
    print("\n| ranks | hops before | hops now |" + "".join(f" {hop:g} us: before, ms | now, ms |" for hop in arguments.hops))
    print("|---|---|---|" + "---|---|" * len(arguments.hops))
    for ranks, pair in hops.items():
        cells = [ranks, *map(len, pair)]
        for hop in arguments.hops:
            cells += [f"{1e3 * sum(hop * 1e-6 + seconds[rounded(size)] for size in path):.2f}" for path in pair]
        print("| " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    main()
