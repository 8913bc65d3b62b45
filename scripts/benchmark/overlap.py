"""Measures how much communication overlaps with computing: two ranks in two network namespaces, joined by a link of limited bandwidth.
For every bandwidth it prints compute (the step minus its waits for communication, on an unlimited link), communication (bytes sent /
bandwidth), and the step. Called by overlap.sh; needs permission to create network namespaces."""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from programs import program
from training_step import WARM_UP, sample_rows, write_shard

SHAPES = {  # layers, hidden, heads, vocabulary, micro-batch
    "24x256": (24, 256, 4, 2048, 16), "quickstart": (4, 256, 4, 8192, 16), "large": (24, 1024, 16, 30528, 16)}


def sh(command):
    subprocess.run(command, shell=True, check=True, capture_output=True, text=True)


class Link:
    """A link between two namespaces, host a (10.78.0.1) and host b (10.78.0.2)."""

    def __enter__(self):
        self.__exit__()
        sh("ip netns add bpa && ip netns add bpb && ip link add bpla netns bpa type veth peer name bplb netns bpb")
        for host, number in (("a", 1), ("b", 2)):
            sh(f"ip -n bp{host} addr add 10.78.0.{number}/24 dev bpl{host} && ip -n bp{host} link set bpl{host} up "
               f"&& ip -n bp{host} link set lo up")
        return self

    def limit(self, megabits):
        for host in "ab":
            subprocess.run(f"tc -n bp{host} qdisc del dev bpl{host} root", shell=True, capture_output=True)
            if megabits:
                sh(f"tc -n bp{host} qdisc add dev bpl{host} root tbf rate {megabits}mbit burst 1mbit latency 100ms")

    def __exit__(self, *_):
        subprocess.run("ip netns del bpa; ip netns del bpb", shell=True, capture_output=True)


class Run:
    """Two ranks that train until the end of the block."""

    def __init__(self, config, folder):
        self.config, self.output, self.ranks, self.seen = config, tempfile.mkdtemp(dir=folder), [], 0

    def __enter__(self):
        cores = sorted(os.sched_getaffinity(0))  # one core per host
        for rank, host in enumerate("ab"):
            environment = dict(os.environ, OMP_NUM_THREADS="1", RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="10.78.0.1",
                               MASTER_PORT="29555")
            self.ranks.append(subprocess.Popen(["ip", "netns", "exec", f"bp{host}", "taskset", "-c", str(cores[rank]),
                                                program("bertpretrain"), "train", str(self.config), "--output", self.output],
                                               env=environment, stderr=subprocess.PIPE, text=True))
        return self

    def steps(self, count, skip):
        """Returns rank 0's records of the next `count` steps after the first `skip`, which the previous link speed still affects."""
        metrics, end = pathlib.Path(self.output) / "metrics.jsonl", self.seen + skip + count
        lines = []
        while len(lines) < end:
            for process in self.ranks:
                if process.poll() is not None:
                    sys.exit(f"a rank failed:\n{process.stderr.read()}")
            time.sleep(0.02)
            lines = metrics.read_text().splitlines() if metrics.exists() else []
        self.seen = len(lines)
        return [json.loads(line) for line in lines[end - count:end]]

    def __exit__(self, *_):
        for process in self.ranks:
            process.send_signal(signal.SIGKILL)
        for process in self.ranks:
            process.wait()


def median(records, value):
    return statistics.median(value(record) for record in records)


def measure(link, config, folder, share, steps, rounds):
    """Measures one run, in which the link is unlimited and limited in turns. The compared steps are then only seconds apart, because
    the machine's speed drifts. The limit makes communication take `share` of the compute time of the first steps."""
    link.limit(None)
    rows, megabits = [], None
    with Run(config, folder) as run:
        run.steps(1, WARM_UP)
        for _ in range(rounds):
            link.limit(None)
            free = run.steps(steps, 1)
            compute = median(free, lambda r: r["step_seconds"] - r["exposed_communication_seconds"])
            sent = median(free, lambda r: r["bytes_sent"])
            megabits = megabits or max(1, round(sent * 8 / 1e6 / (share * compute)))
            link.limit(megabits)
            limited = run.steps(steps, 1)
            communication, step = sent * 8 / 1e6 / megabits, median(limited, lambda r: r["step_seconds"])
            rows.append({"megabits": megabits, "compute": compute, "free_step": median(free, lambda r: r["step_seconds"]),
                         "communication": communication, "share": communication / compute, "step": step,
                         "ratio": step / max(compute, communication),
                         "waited": median(limited, lambda r: r["exposed_communication_seconds"])})
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


def picture(rows, title):
    """Returns a chart of step, compute and communication over bandwidth, as SVG."""
    width, height, left, bottom = 640, 360, 60, 40
    top = max(max(row["step"], row["communication"]) for row in rows) * 1.1
    x = lambda i: left + 20 + i * (width - left - 60) / max(1, len(rows) - 1)
    y = lambda seconds: height - bottom - seconds / top * (height - bottom - 40)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/><text x="{left}" y="20">{title}</text>']
    for name, color in (("step", "#d62728"), ("compute", "#1f77b4"), ("communication", "#2ca02c")):
        points = " ".join(f"{x(i):.1f},{y(row[name]):.1f}" for i, row in enumerate(rows))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>'
                     f'<text x="{x(len(rows) - 1) - 90:.1f}" y="{y(rows[-1][name]) - 6:.1f}" fill="{color}">{name}</text>')
    for i, row in enumerate(rows):
        parts.append(f'<text x="{x(i) - 20:.1f}" y="{height - 18}">{row["megabits"]:.0f}</text>')
    for tick in range(5):
        seconds = top * tick / 4
        parts.append(f'<text x="8" y="{y(seconds) + 4:.1f}">{seconds:.2f} s</text>')
    return "\n".join(parts + [f'<text x="{width // 2 - 60}" y="{height - 3}">link, Mbit/s</text></svg>'])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", choices=SHAPES, default="24x256")
    parser.add_argument("--share", type=float, nargs="*", default=[0.3, 0.5, 0.6, 0.7, 1.0, 1.5],
                        help="communication as a share of compute, from which the bandwidths are chosen")
    parser.add_argument("--bucket-mib", type=float, default=0.5)
    parser.add_argument("--steps", type=int, default=5, help="measured steps on each side of a round, after one that is skipped")
    parser.add_argument("--rounds", type=int, default=5, help="rounds per bandwidth, each with an unlimited and a limited link")
    parser.add_argument("--picture", type=pathlib.Path, help="writes the chart (SVG) to this file")
    arguments = parser.parse_args()
    layers, hidden, heads, vocabulary, micro_batch = SHAPES[arguments.shape]
    with tempfile.TemporaryDirectory() as name, Link() as link:
        folder = pathlib.Path(name)
        write_shard(folder, sample_rows(2 * micro_batch, 0.0, ids=range(1, vocabulary)))
        config = folder / "experiment.json"
        config.write_text(json.dumps({
            "model": {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
                      "intermediate_size": 4 * hidden, "vocab_size": vocabulary},
            "data": {"training_shards": str(folder), "sequence_length": 128}, "batch": {"micro_batch_size": micro_batch},
            "optimizer": {"name": "adamw", "learning_rate": 1e-4, "max_grad_norm": 1.0},
            "schedule": {"name": "constant", "warmup_ratio": 0, "total_steps": 1000000},
            "training": {"precision": "bf16"}, "parallel": {"bucket_mib": arguments.bucket_mib}, "checkpoint": {"save_every_steps": 0}}))
        table = []
        print(f"{arguments.shape}, 2 ranks, one thread each, accumulation 1; medians of {arguments.rounds} round(s) of {arguments.steps} steps on each side")
        print("Mbit/s   compute s  communication s   share    step s   step / max(compute, communication)   waited s   step s, free link")
        for share in arguments.share:
            row = measure(link, config, folder, share, arguments.steps, arguments.rounds)
            table.append(row)
            print(f"{row['megabits']:6.0f}   {row['compute']:9.3f}  {row['communication']:15.3f}   {row['share']:5.2f}   "
                  f"{row['step']:7.3f}   {row['ratio']:34.3f}   {row['waited']:8.3f}   {row['free_step']:17.3f}", flush=True)
        if arguments.picture:
            arguments.picture.write_text(picture(sorted(table, key=lambda row: row["megabits"]),
                                                 f"{arguments.shape}: seconds of a step over a limited link"))


if __name__ == "__main__":
    main()
