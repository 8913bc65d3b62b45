"""Compares `plan` with measured steps of nodes that are network namespaces, with a delay (delay_relay) and a limited bandwidth (tbf) between
them. Delay and bandwidth are so far from those of real networks that two cores are not what is measured. Each layout trains twice, without
and with the limits: the first gives the seconds of computing, from which `plan` predicts the second. Called by delayed_network.sh."""
import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

from programs import program, program_environment
from training_runs import experiment, sample_rows, write_shard

LAYOUTS = ["2x1", "4x1", "8x1", "16x1", "2x2", "4x2", "8x2", "2x4", "4x4", "2x8", "4x8"]
LENGTH, MICRO_BATCH, WARM_UP = 32, 2, 2
PORT = 29700
MTU = 9000
# (name, settings): what is compared in every layout
RUNS = [("fp32", {}), ("bf16 on the wire", {"parallel.reduce_dtype": "bf16"})]


def sh(command):
    return subprocess.run(command, shell=True, check=True, stdout=subprocess.PIPE, text=True).stdout


class Nodes:
    """Namespaces 10.78.0.1, 10.78.0.2, ... connected by delay_relay; without limits the delay is zero and the bandwidth this host's."""

    def __init__(self, count, microseconds, megabytes_per_second, lost=0):
        self.names = [f"bpd{os.getpid()}n{i}" for i in range(count)]
        self.links = [f"bpd{os.getpid() % 100000}t{i}" for i in range(count)]
        self.relay = subprocess.Popen([program("delay_relay"), str(microseconds), str(lost), *self.links], stdout=subprocess.PIPE, text=True)
        assert self.relay.stdout.readline() == "ready\n"
        for number, (name, link) in enumerate(zip(self.names, self.links)):
            sh(f"ip netns add {name} && ip link set {link} netns {name} && ip -n {name} link set lo up && ip -n {name} link set {link} mtu {MTU} "
               f"&& ip -n {name} addr add 10.78.0.{number + 1}/24 dev {link} && ip -n {name} link set {link} up txqueuelen 10000")
            if megabytes_per_second:
                sh(f"tc -n {name} qdisc add dev {link} root tbf rate {round(8e6 * megabytes_per_second)} burst {4 * MTU} limit 100000000")

    def on(self, node, command, **environment):
        """Starts a command on a node; its output goes to /dev/null."""
        return subprocess.Popen(["ip", "netns", "exec", self.names[node], *command], env=environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def round_trip(self):
        """Returns the microseconds that ping measures between the first two nodes, the mean of twenty."""
        printed = sh(f"ip netns exec {self.names[0]} ping -c 20 -i 0.02 -q 10.78.0.2")
        return 1000 * float(re.search(r"= [\d.]+/([\d.]+)/", printed).group(1))

    def remove(self):
        for name in self.names:
            subprocess.run(f"ip netns pids {name} | xargs -r kill -9; ip netns del {name}", shell=True, stderr=subprocess.DEVNULL)
        self.relay.kill()
        self.relay.wait()


def steps_of(nodes, ranks_per_node, config, settings, run, steps):
    """Trains on all nodes. Returns the median seconds of a step after WARM_UP, and the losses of all steps."""
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    command = [program("bertpretrain"), "train", str(config), "--output", str(run), "--set", f"schedule.total_steps={steps + WARM_UP}", *options]
    count = len(nodes.names) * ranks_per_node
    processes = []
    for rank in range(count):
        node, local = divmod(rank, ranks_per_node)
        processes.append(nodes.on(node, command, **program_environment(
            RANK=str(rank), WORLD_SIZE=str(count), LOCAL_RANK=str(local), LOCAL_WORLD_SIZE=str(ranks_per_node), MASTER_ADDR="10.78.0.1",
            MASTER_PORT=str(PORT), BERTPRETRAIN_NODE=nodes.names[node], OMP_NUM_THREADS="1")))
    errors = [process.communicate()[1] for process in processes]
    for process, error in zip(processes, errors):
        if process.returncode:
            raise SystemExit(f"a rank ended with {process.returncode}:\n{error}")
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    steps = [record for record in records if "step_seconds" in record]
    return statistics.median([record["step_seconds"] for record in steps][WARM_UP:]), [record["loss"] for record in steps]


def predicted(config, settings, nodes, ranks_per_node, tflops, microseconds, megabytes_per_second):
    """Returns plan's row for this machine and a network with these limits."""
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    printed = subprocess.run([program("bertpretrain"), "plan", str(config), "--accelerator", "this", "--tflops", repr(tflops), "--ranks-per-node",
                              str(ranks_per_node), "--world-size", str(nodes * ranks_per_node), "--network",
                              f"limited:{megabytes_per_second / 1000}:{microseconds}", "--json", *options], check=True, env=program_environment(),
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return json.loads(printed)["plan"][0]


def compare(layout, options, folder, config):
    """Trains and predicts a layout's runs. Returns [(name of the run, computing, measured, predicted), ...] in seconds."""
    count, ranks_per_node = map(int, layout.split("x"))
    rows = []
    for name, settings in RUNS:
        seconds, losses = [], []
        for limits in ((0, 0), (options.microseconds, options.mb_per_second, options.lost)):
            nodes = Nodes(count, *limits)
            with contextlib.ExitStack() as cleanup:
                cleanup.callback(nodes.remove)
                run = folder / f"{layout}_{name.replace(' ', '_')}_{limits[0]}"
                of_run = steps_of(nodes, ranks_per_node, config, settings, run, options.steps)
                seconds.append(of_run[0]), losses.append(of_run[1])
        if losses[0] != losses[1]:
            raise SystemExit(f"{layout}, {name}: the network changes the losses: {losses}")
        computing, measured = seconds
        once = predicted(config, settings, count, ranks_per_node, 1.0, options.microseconds, options.mb_per_second)
        plan = predicted(config, settings, count, ranks_per_node, once["computing_seconds"] / computing, options.microseconds, options.mb_per_second)
        rows.append((name, computing, measured, plan["step_seconds"]))
    return rows


def draw(picture, table):
    """Draws measured against predicted seconds, and the line on which they are equal."""
    largest = max(map(max, table))
    chart = {"title": "Seconds of a step between delayed nodes", "x": "measured", "y": "predicted by plan",
             "lines": {"plan": sorted(table), "equal": [(0, 0), (largest, largest)]}, "levels": {}}
    drawn = subprocess.run([program("draw_curves")], input=json.dumps(chart), capture_output=True, text=True, check=True)
    picture.write_text(drawn.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layouts", nargs="+", default=LAYOUTS, help="nodes x ranks of a node (default: %(default)s)")
    parser.add_argument("--microseconds", type=int, default=2500, help="between nodes, one way (default: %(default)s)")
    parser.add_argument("--mb-per-second", type=float, default=4, help="out of a node (default: %(default)s)")
    parser.add_argument("--lost", type=int, default=0, help="packets of 1,000 that are lost between nodes, which `plan` does not know (default: %(default)s)")
    parser.add_argument("--picture", type=pathlib.Path, help="SVG file of the table")
    parser.add_argument("--steps", type=int, default=5, help="that are timed (default: %(default)s)")
    options = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("delayed_network: needs root, for network namespaces")
    with contextlib.ExitStack() as cleanup:
        pair = Nodes(2, options.microseconds, 0)
        cleanup.callback(pair.remove)
        print(f"ping between two nodes: {pair.round_trip():.0f} us there and back; the relay delays each way by {options.microseconds} us")
    errors, table = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "shards").mkdir()
        write_shard(folder / "shards", sample_rows(512, 0, LENGTH, ids=range(1000, 2000), predictions=4))
        settings = experiment("tiny", MICRO_BATCH, folder / "shards", LENGTH)
        settings["model"] |= {"num_hidden_layers": 4, "vocab_size": 2048}
        settings["training"]["precision"] = "fp32"
        settings["evaluation"] = {"every_steps": 0}
        settings["parallel"] = {"bucket_mib": 1}
        config = folder / "experiment.json"
        config.write_text(json.dumps(settings))
        print(f"\nA step with {options.mb_per_second:g} MB/s out of a node, {options.microseconds} us between nodes and {options.lost} of 1,000 packets lost\n")
        print("| nodes x ranks | gradients | without limits, s | measured, s | plan, s | error |\n|---|---|---|---|---|---|")
        for layout in options.layouts:
            for name, computing, measured, plan in compare(layout, options, folder, config):
                errors.append(plan / measured - 1)
                table.append((measured, plan))
                print(f"| {layout} | {name} | {computing:.3f} | {measured:.3f} | {plan:.3f} | {100 * errors[-1]:+.1f} % |", flush=True)
    sizes = sorted(map(abs, errors))
    if options.picture:
        draw(options.picture, table)
    print(f"\nmedian error {100 * statistics.median(sizes):.1f} %, largest {100 * sizes[-1]:.1f} %")


if __name__ == "__main__":
    main()
