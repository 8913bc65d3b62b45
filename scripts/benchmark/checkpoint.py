"""Times saving, loading, the snapshot, and training steps during a save, each against its reference, in turns on one disk.
Called by checkpoint.sh."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

from interleaved import compare
from programs import program
from training_runs import SIZES, experiment, sample_rows, write_shard

OURS = program("time_checkpoint")
TORCH = """
import sys, time, torch
what, folder, elements = sys.argv[1], sys.argv[2], int(sys.argv[3])
files = folder + "/model.pt", folder + "/optimizer.pt"
if what == "save":
    import os
    tensor = lambda: torch.arange(elements, dtype=torch.float32)
    model, moments = {"weights": tensor()}, {"exp_avg": tensor(), "exp_avg_sq": tensor()}
    begin = time.perf_counter()
    for name, content in zip(files, (model, moments)):
        with open(name, "wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
else:
    begin = time.perf_counter()
    loaded = [torch.load(name, weights_only=True) for name in files]
print(time.perf_counter() - begin)
"""


def seconds_of(command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{result.stderr}")
    return float(result.stdout.split()[-1])


def fresh(folder):
    """Empties or creates a folder, and waits until the disk has written all pending data."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.sync()
    return folder


def dd(folder, mebibytes):
    """Holds as much memory as the other sides do, so that the file cache gets pages as cold as theirs."""
    ballast = numpy.ones(mebibytes << 20, "u1")
    begin = time.perf_counter()
    subprocess.run(["dd", "if=/dev/zero", f"of={folder}/zeros", "bs=8M", f"count={mebibytes // 8}", "conv=fsync"], check=True,
                   capture_output=True)
    seconds = time.perf_counter() - begin
    del ballast
    return seconds


def writing(folder, shape, elements, rounds):
    mebibytes = 12 * elements >> 20
    torch_save = [sys.executable, "-c", TORCH, "save"]
    compare(f"write {mebibytes / 1024:.2f} GiB, flushed to the disk",
            {"ours": lambda: seconds_of([OURS, "save", fresh(folder / "write"), *shape]),
             "torch.save + fsync": lambda: seconds_of([*torch_save, fresh(folder / "write"), elements]),
             "dd conv=fsync": lambda: dd(fresh(folder / "write"), mebibytes)},
            mebibytes / 1024, "GiB", rounds, warm_up=0)
    print("  goals: 1.0x torch.save + fsync, 0.8x dd")
    shutil.rmtree(folder / "write")


def loading(folder, shape, elements, rounds):
    """The files are in the page cache on both sides. Ours also verifies every checksum."""
    ours, theirs = fresh(folder / "ours"), fresh(folder / "theirs")
    seconds_of([OURS, "save", ours, *shape])
    seconds_of([sys.executable, "-c", TORCH, "save", theirs, elements])
    compare("load, from the page cache",
            {"ours": lambda: seconds_of([OURS, "load", ours, *shape]),
             "torch.load": lambda: seconds_of([sys.executable, "-c", TORCH, "load", theirs, elements])},
            12 * elements / 2**30, "GiB", rounds)
    shutil.rmtree(ours)
    shutil.rmtree(theirs)


def snapshots(shape, rounds):
    lines = subprocess.run([OURS, "snapshot", str(rounds + 1), *shape], capture_output=True, text=True, check=True).stdout
    ours, plain = zip(*(map(float, line.split()) for line in lines.splitlines()))
    print(f"snapshot ({rounds} rounds, interleaved): {statistics.median(ours):.3f} s, memcpy of as many bytes on one thread "
          f"{statistics.median(plain):.3f} s; ratio {statistics.median(ours) / statistics.median(plain):.2f} (goal at most 1.5); "
          f"the first snapshot {ours[0]:.3f} s")


def steps_beside_saves(folder, size, steps):
    """Compares steps during which a save was in progress, for the whole step or a part of it, with steps without a save."""
    write_shard(fresh(folder / "shards"), sample_rows(16, 0.0))
    settings = experiment(size, 16, folder / "shards")
    settings["checkpoint"] = {"save_every_steps": steps, "keep_last": 1}
    settings["schedule"]["total_steps"] = 4 * steps + 1
    config, run = folder / "experiment.json", folder / "run"
    config.write_text(json.dumps(settings))
    process = subprocess.Popen([program("bertpretrain"), "train", config, "--output", run], stderr=subprocess.PIPE, text=True)
    beside, alone = watch(process, run, 4 * steps)
    process.kill()
    process.wait()
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    stalls = [event["stall_seconds"] for event in events if event.get("event") == "save"]
    print(f"steps: {statistics.median(beside):.3f} s beside a save ({len(beside)}), {statistics.median(alone):.3f} s without "
          f"({len(alone)}); ratio {statistics.median(beside) / statistics.median(alone):.3f} (goal at most 1.10); "
          f"saves stalled the run for {', '.join(f'{seconds:.3f}' for seconds in stalls)} s")
    shutil.rmtree(run)


def watch(process, run, last):
    """Returns the seconds of the steps during a save and of those without one, after two warm-up steps."""
    metrics, partial = run / "metrics.jsonl", run / "checkpoints"
    beside, alone, seen, kinds = [], [], 0, set()
    while seen < last:
        if process.poll() is not None:
            sys.exit(f"the run failed:\n{process.stderr.read()}")
        kinds.add(any(partial.glob("*.partial")))
        lines = metrics.read_text().splitlines() if metrics.exists() else []
        if len(lines) > seen:
            if len(lines) == seen + 1 and seen >= 2:
                (beside if True in kinds else alone).append(json.loads(lines[-1])["step_seconds"])
            seen, kinds = len(lines), set()
        time.sleep(0.01)
    return beside, alone


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="large")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=12, help="steps from one save to the next")
    parser.add_argument("--folder", help="folder on the disk to measure; a temporary folder when not given")
    parser.add_argument("--parts", default="write,load,snapshot,steps")
    arguments = parser.parse_args()
    layers, hidden, _ = SIZES[arguments.size]
    shape = [str(layers), str(hidden)]
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        parameters = 12 * layers * hidden * hidden + (30528 + 512 + 2) * hidden
        for part in arguments.parts.split(","):
            if part == "write":
                writing(folder, shape, parameters, arguments.rounds)
            elif part == "load":
                loading(folder, shape, parameters, arguments.rounds)
            elif part == "snapshot":
                snapshots(shape, arguments.rounds)
            elif part == "steps":
                steps_beside_saves(folder, arguments.size, arguments.steps)


if __name__ == "__main__":
    main()
