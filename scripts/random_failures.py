#!/usr/bin/env python3
"""Kills, stops or delays a random rank of a small run at a random moment, hundreds of times, and checks what the others do.

    scripts/random_failures.py --output FOLDER [--failures 900] [--ranks 3] [--at-once 1] [--programs build/release]

kill: SIGKILL. The others must end with exit code 5. hang: SIGSTOP for ever. The same, after parallel.timeout_seconds. slow: SIGSTOP for
a second, which is less than the timeout: the run must go on. After a kill or a hang the run is started again. In every case it must end with
the losses and the weights of a run that was not disturbed, to the last bit.

Each failure is a line of FOLDER/failures.jsonl. The same command again makes those that are missing. Exit 1: a failure went wrong; its run
is kept in FOLDER. At the end a table of kinds, exit codes and seconds is printed.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "scripts/benchmark"))
from training_runs import experiment, sample_rows, write_shard  # noqa: E402

KINDS = ("kill", "kill", "hang", "slow")  # killing is the commonest failure
LOST_PEER = 5  # exit code
TIMEOUT, FIRST_TIMEOUT = 8, 30  # parallel.timeout_seconds, parallel.first_step_timeout_seconds
# Seconds in which the others end after they could notice: they also write a checkpoint's rest and their logs on a busy machine.
LEAVE = 20
SLOW = 1.0
STEPS, SAVE_EVERY, LENGTH = 30, 5, 32


def write_experiment(folder):
    (folder / "shards").mkdir(parents=True, exist_ok=True)
    write_shard(folder / "shards", sample_rows(1024, 0.1, LENGTH, ids=range(1000, 2000), predictions=4))
    settings = experiment("tiny", 1, folder / "shards", LENGTH)
    settings["model"] |= {"vocab_size": 2048}
    settings["batch"]["global_batch_size"] = 24
    settings["optimizer"]["name"] = "lans"
    settings["schedule"]["total_steps"] = STEPS
    settings["checkpoint"] = {"save_every_steps": SAVE_EVERY, "keep_last": 2}
    settings["evaluation"] = {"every_steps": 0}
    settings["parallel"] = {"bucket_mib": 0.5, "timeout_seconds": TIMEOUT, "first_step_timeout_seconds": FIRST_TIMEOUT}
    settings["training"]["cpu_matmul"] = "onednn"
    (folder / "experiment.json").write_text(json.dumps(settings))


class Run:
    """The ranks of one start of a run."""

    def __init__(self, options, folder, name):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.folder, self.logs = folder / name, []
        command = [options.programs / "bertpretrain", "train", folder / "experiment.json", "--output", self.folder]
        self.processes = []
        for rank in range(options.ranks):
            self.logs.append(folder / f"{name}.rank{rank}.log")
            environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(options.ranks), LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(options.ranks),
                               MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1")
            with open(self.logs[-1], "a") as log:
                self.processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))

    def wait(self, ranks, seconds):
        """Waits for some ranks. Returns their exit codes; None: still running after `seconds`."""
        end = time.monotonic() + seconds
        while any(self.processes[rank].poll() is None for rank in ranks) and time.monotonic() < end:
            time.sleep(0.01)
        return [self.processes[rank].poll() for rank in ranks]

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()

    def text(self):
        return "".join(log.read_text(errors="replace") for log in self.logs)


def outcome(folder):
    """Returns a digest of a finished run's losses and last weights."""
    losses = {}
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        record = json.loads(line)
        if "step_seconds" in record:
            losses[record["step"]] = record["loss"]  # a step that was repeated counts as its last
    newest = max(folder.glob("checkpoints/step_*"))
    weights = hashlib.sha256((newest / "model.pt").read_bytes()).hexdigest()
    return hashlib.sha256(json.dumps([sorted(losses.items()), newest.name, weights]).encode()).hexdigest()


def last_step(folder):
    try:
        return json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1]).get("step", 0)
    except (OSError, IndexError, ValueError):
        return 0


def fail_once(options, number, duration, expected):
    """Makes failure `number`. Returns its record; "wrong" in it says what was not as expected."""
    draw = random.Random(options.seed * 1_000_003 + number)
    kind, rank, moment = draw.choice(KINDS), draw.randrange(options.ranks), draw.uniform(0, duration)
    name = f"failure{number}"
    shutil.rmtree(options.output / name, ignore_errors=True)  # of this script, killed in the middle: the run would continue there
    run = Run(options, options.output, name)
    others = [other for other in range(options.ranks) if other != rank]
    time.sleep(moment)
    victim, step = run.processes[rank], last_step(run.folder)
    record = {"number": number, "kind": kind, "rank": rank, "moment": round(moment, 3), "step": step, "wrong": ""}
    if victim.poll() is not None:
        record["kind"] = "too late"
    else:
        victim.send_signal(signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
    began = time.monotonic()
    if kind == "slow" or record["kind"] == "too late":
        time.sleep(SLOW if kind == "slow" else 0)
        victim.send_signal(signal.SIGCONT)
        codes = run.wait(range(options.ranks), FIRST_TIMEOUT + LEAVE)
        good = codes == [0] * options.ranks
    else:
        # A rank that is killed is noticed by its connections, at once; before it has any, the others wait for it as for a late host.
        notice = FIRST_TIMEOUT if step == 0 else 0 if kind == "kill" else TIMEOUT
        codes = run.wait(others, notice + LEAVE)
        # A rank whose work was complete before the failure ends with 0.
        good = all(code == LOST_PEER or (code == 0 and step >= STEPS - 1) for code in codes)
    record |= {"codes": codes, "seconds": round(time.monotonic() - began, 2)}
    record["named"] = any(f"lost rank {rank} " in run.logs[other].read_text(errors="replace") for other in others)
    run.end()
    if not good:
        record["wrong"] = f"exit codes {codes}"
    elif 0 in codes and LOST_PEER not in codes:
        pass  # the run is complete
    else:
        again = Run(options, options.output, name)
        codes = again.wait(range(options.ranks), 4 * duration + LEAVE)
        again.end()
        if codes != [0] * options.ranks:
            record["wrong"] = f"the run started again ended with {codes}"
    if not record["wrong"] and outcome(run.folder) != expected:
        record["wrong"] = "other losses or weights than without the failure"
    if not record["wrong"]:
        shutil.rmtree(run.folder)
        for log in run.logs:
            log.unlink()
    return record


def table(records):
    """Returns a table of kinds, whether before the first step was complete, exit codes of the others, and seconds until they ended."""
    groups = collections.defaultdict(list)
    for record in records:
        groups[record["kind"], "while starting" if record["step"] == 0 else "in steps", str(sorted(set(map(str, record["codes"]))))].append(record)
    lines = ["| kind | when | exit codes | failures | seconds: median, most | names the rank | wrong |", "|---|---|---|---|---|---|---|"]
    for (kind, when, codes), group in sorted(groups.items()):
        seconds = [record["seconds"] for record in group]
        lines.append(f"| {kind} | {when} | {codes.strip('[]').replace(chr(39), '')} | {len(group)} | {statistics.median(seconds):.1f}, {max(seconds):.1f} | "
                     f"{sum(record['named'] for record in group)} | {sum(bool(record['wrong']) for record in group)} |")
    return "\n".join(lines)


def undisturbed(options):
    """Returns the seconds of a run beside as many others as a failure has beside it, and its outcome."""
    names = [f"undisturbed{number}" for number in range(options.at_once)]
    for name in names:
        shutil.rmtree(options.output / name, ignore_errors=True)
    began = time.monotonic()
    runs = [Run(options, options.output, name) for name in names]
    for run in runs:
        if run.wait(range(options.ranks), 600) != [0] * options.ranks:
            for one in runs:
                one.end()
            raise SystemExit(f"the undisturbed run failed:\n{run.text()}")
    return time.monotonic() - began, outcome(runs[0].folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="folder of the results and of runs that went wrong")
    parser.add_argument("--failures", type=int, default=900, help="how many (default: %(default)s)")
    parser.add_argument("--ranks", type=int, default=3, help="of each run (default: %(default)s)")
    parser.add_argument("--at-once", type=int, default=1, help="runs beside each other, of which most wait for a timeout (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the kinds, ranks and moments")
    parser.add_argument("--programs", type=Path, default=PROJECT / "build/release", help="folder with bertpretrain")
    options = parser.parse_args()
    options.output, options.programs = options.output.resolve(), options.programs.resolve()
    options.output.mkdir(parents=True, exist_ok=True)
    write_experiment(options.output)
    duration, expected = undisturbed(options)
    results = options.output / "failures.jsonl"
    records = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    print(f"a run takes {duration:.1f} s; {len(records)} failures were made before", flush=True)
    missing = sorted(set(range(options.failures)) - {record["number"] for record in records})
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as threads:
        made = [threads.submit(fail_once, options, number, duration, expected) for number in missing]
        for future in concurrent.futures.as_completed(made):
            records.append(future.result())
            with open(results, "a") as lines:
                lines.write(json.dumps(records[-1]) + "\n")
            if records[-1]["wrong"]:
                print(f"failure {records[-1]['number']}: {records[-1]}", flush=True)
    print(table(records))
    return any(record["wrong"] for record in records)


if __name__ == "__main__":
    raise SystemExit(main())
