"""Trains a tiny model through kills and changes of the number of ranks, and checks what `bertpretrain audit` says of it, of other
kernels and ranks, and of altered copies. Called by audit.sh."""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from programs import PROJECT, program, program_environment

STRETCH = 10  # steps
SETTINGS = {
    "model": {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 256, "vocab_size": 800,
              "max_position_embeddings": 64},
    "data": {"sequence_length": 64},
    "batch": {"micro_batch_size": 4, "global_batch_size": 8},
    "optimizer": {"name": "adamw", "learning_rate": 0.001},
    "training": {"precision": "fp32", "device": "cpu", "cpu_matmul": "onednn", "seed": 7},
    "checkpoint": {"save_every_steps": 25, "keep_last": 2, "keep_every_steps": 100},
    "evaluation": {"every_steps": 200, "max_sequences": 32},
}


def run(*command, code=0, **variables):
    """Runs one of our programs and returns its standard output and its seconds. @param code the exit code that it must have"""
    began = time.monotonic()
    done = subprocess.run([program(command[0]), *map(str, command[1:])], text=True, capture_output=True,
                          env=program_environment(OMP_NUM_THREADS="1", **variables))
    if code is not None and done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode} instead of {code}\n{done.stderr}{done.stdout[-2000:]}")
    return done.stdout, time.monotonic() - began


def make_experiment(folder):
    text, vocabulary, shards = (folder / name for name in ("text.txt", "vocab.txt", "shards"))
    run("bertpretrain_data", "extract", PROJECT / "data_tools/sample/encyclopaedia.xml", "--output", text)
    run("bertpretrain_data", "vocabulary", text, "--size", 800, "--output", vocabulary)
    run("bertpretrain_data", "shard", text, "--vocabulary", vocabulary, "--output", shards, "--sequence-length", 64,
        "--max-predictions", 10, "--duplicate-factor", 5, "--shards", 2, "--held-out-shards", 1)
    SETTINGS["data"]["training_shards"] = str(shards)
    (folder / "experiment.json").write_text(json.dumps(SETTINGS))


def step_of(output):
    """Returns the last step in metrics.jsonl; 0 without one."""
    try:
        lines = (output / "metrics.jsonl").read_text().splitlines()
    except OSError:
        return 0
    return max((json.loads(line)["step"] for line in lines if line.endswith("}")), default=0)


def train(folder, total, ranks, end=None, sent=None):
    """Trains to `total`, or sends the signal `sent` to all processes at step `end`."""
    output = folder / "run"
    process = subprocess.Popen([program("bertpretrain"), "train", folder / "experiment.json", "--output", output, "--set",
                                f"schedule.total_steps={total}", "--local-ranks", str(ranks)], start_new_session=True,
                               env=program_environment(OMP_NUM_THREADS="1"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
    while end and process.poll() is None and step_of(output) < end:
        time.sleep(0.05)
    if end and process.poll() is None:
        os.killpg(process.pid, sent)
    errors = process.communicate()[1]
    if not end and process.returncode != 0:
        sys.exit(f"the run failed with exit code {process.returncode}:\n{errors}")


def ranks_by_step(output):
    """Returns the number of ranks that computed each step, by step."""
    ranks = {}
    for event in map(json.loads, (output / "events.jsonl").read_text().splitlines()):
        if event["event"] in ("start", "resume"):
            ranks = {step: count for step, count in ranks.items() if step <= event["step"]}
            ranks.update({step: event["ranks"] for step in range(event["step"] + 1, step_of(output) + 1)})
    return ranks


def audit(output, first, last, ranks, code=0, **variables):
    """Returns the parsed report and the seconds of the command."""
    report, seconds = run("bertpretrain", "audit", output, "--steps", f"{first}:{last}", "--local-ranks", ranks, "--json",
                          code=code, **variables)
    return json.loads(report), seconds


def first_difference(report):
    """Returns step and reason of the first step that differs."""
    for stretch in report["stretches"]:
        for step in stretch["steps"]:
            if step["verdict"] == "different":
                return step["step"], step["what"]
    return None, ""


def flip_bit(file, position):
    with open(file, "r+b") as handle:
        handle.seek(position)
        byte = handle.read(1)[0]
        handle.seek(position)
        handle.write(bytes([byte ^ 1]))


def is_of_one_number(output, ranks, first, last):
    """Whether all steps that an audit computes, from the newest checkpoint before the first, had the same number of ranks."""
    kept = [int(folder.name[5:]) for folder in (output / "checkpoints").glob("step_*")]
    begin = max((step for step in kept if step < first), default=0)
    return len({ranks[step] for step in range(begin + 1, last + 1)}) == 1


def check_stretches(output, ranks, count, rng):
    possible = [step for step in ranks if step + STRETCH - 1 in ranks and is_of_one_number(output, ranks, step, step + STRETCH - 1)]
    verdicts, others = [], []
    for first in sorted(rng.sample(possible, count)):
        last, own = first + STRETCH - 1, ranks[first]
        verdicts.append(audit(output, first, last, own)[0]["verdict"])
        others.append((audit(output, first, last, 3 - own)[0]["verdict"],
                       audit(output, first, last, own, BERTPRETRAIN_CPU_CAPABILITY="reference")[0]["verdict"]))
        print(f"steps {first} to {last}, {own} rank(s): {verdicts[-1]}; on {3 - own}: {others[-1][0]}; reference kernels: "
              f"{others[-1][1]}", flush=True)
    equal = verdicts.count("equal")
    within = sum(verdict in ("equal", "within_bound") for pair in others for verdict in pair)
    print(f"equal to the bit: {equal} of {count}; other ranks or kernels within the bound: {within} of {2 * count}")
    return equal == count and within == 2 * count


def check_altered_metrics(folder, ranks, rng):
    """One bit of one loss: found by the chain and by the recomputed step."""
    copy = folder / "altered"
    shutil.copytree(folder / "run", copy, symlinks=True)
    step = rng.choice([step for step in ranks if step + 102 in ranks and is_of_one_number(copy, ranks, step - 2, step + 2)])
    text = (copy / "metrics.jsonl").read_bytes()
    line = text.index(b'{"step":%d,' % step)
    flip_bit(copy / "metrics.jsonl", text.index(b',"mlm_loss"', line) - 1)
    report, _ = audit(copy, step - 2, step + 2, ranks[step], code=6)
    found, what = first_difference(report)
    far, _ = audit(copy, step + 101, step + 102, ranks[step + 101], code=6)
    print(f"a bit of the loss of step {step}: refuted at step {found} ({what}); 100 steps later: {far['verdict']}, the chain is "
          f"broken at step {far['chain']['broken_step']}")
    shutil.rmtree(copy)
    return found == step and far["chain"]["broken_step"] == step


def check_altered_checkpoint(folder, ranks, rng):
    """One bit of one weight: the audit names step and tensor."""
    copy = folder / "altered"
    shutil.copytree(folder / "run", copy, symlinks=True)
    step = rng.choice([step for step in range(200, max(ranks) - 1, 100) if is_of_one_number(copy, ranks, step - 1, step + 1)])
    file = copy / f"checkpoints/step_{step:08d}/model.pt"
    flip_bit(file, rng.randrange(file.stat().st_size // 4, file.stat().st_size // 2))
    report, _ = audit(copy, step - 1, step + 1, ranks[step], code=6)
    found, what = first_difference(report)
    print(f"a bit of model.pt of step {step}: refuted at step {found} ({what})")
    shutil.rmtree(copy)
    return found == step and "tensor" in what


def compare_times(output, ranks):
    """Times a long audit of steps of one rank, and subtracts that of one step: what is left are the steps."""
    steps = [step for step in sorted(ranks) if ranks[step] == 1]
    last = steps[-1]
    first = max(step for step in steps if ranks.get(step - 1) != 1)
    first = (first + 99) // 100 * 100 + 1  # after a kept checkpoint
    trained = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
    own = [line["step_seconds"] for line in trained if "step_seconds" in line and first < line["step"] <= last]
    _, whole = audit(output, first, last, 1)
    _, start = audit(output, first, first, 1)
    per_step = (whole - start) / (last - first)
    print(f"time per audited step {1e3 * per_step:.2f} ms, per trained step {1e3 * statistics.mean(own):.2f} ms: "
          f"{per_step / statistics.mean(own):.2f} times; {start:.1f} s to start an audit")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--stretches", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=pathlib.Path)
    arguments = parser.parse_args()
    folder = arguments.output or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    share = arguments.steps // 20
    make_experiment(folder)
    train(folder, arguments.steps, 1, 3 * share, signal.SIGKILL)
    train(folder, arguments.steps, 1, 6 * share, signal.SIGTERM)
    train(folder, arguments.steps, 2, 9 * share, signal.SIGKILL)
    train(folder, arguments.steps, 2, 12 * share, signal.SIGTERM)
    train(folder, arguments.steps, 1, 15 * share, signal.SIGKILL)
    train(folder, arguments.steps, 1)
    ranks = ranks_by_step(folder / "run")
    counts = {count: sum(value == count for value in ranks.values()) for count in (1, 2)}
    print(f"{max(ranks)} steps: {counts[1]} on one rank, {counts[2]} on two; five interruptions, three of them SIGKILL", flush=True)
    rng = random.Random(arguments.seed)
    held = [check_stretches(folder / "run", ranks, arguments.stretches, rng), check_altered_metrics(folder, ranks, rng),
            check_altered_checkpoint(folder, ranks, rng)]
    compare_times(folder / "run", ranks)
    if not arguments.output:
        shutil.rmtree(folder)
    return 0 if all(held) else 1


sys.exit(main())
