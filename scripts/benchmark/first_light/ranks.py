"""Stage `ranks`: several ranks on one device. Their losses must be those of one rank, and they must notice a rank that is lost."""
import dataclasses
import itertools
import json
import os
import shutil
import signal
import socket
import time

from programs import PROJECT, program

from . import sample_data
from .stage import FAILED, PASSED, TIMED_OUT, Finished, Result, block, end_group, table

STEPS, SAVE_EVERY, MICRO_BATCH = 20, 10, 4
TIMEOUT = 10  # parallel.timeout_seconds
# Seconds that a rank that has lost another may take until NCCL's watchdog has written its dump (lib/parallel/nccl/nccl_world.cpp), to end,
# and to write its log (lib/train/stop/hung_run.cpp).
LEAVE = 4 + 1 + 15 + 2
LOST_PEER = 5  # exit code
FOREVER = 100_000  # steps of a run that loses a rank
# NCCL refuses two ranks of a host on one GPU. Each gets a host name of its own here, so that NCCL connects them by sockets.
NCCL = {"NCCL_NET": "Socket", "NCCL_SOCKET_IFNAME": "lo", "NCCL_MAX_CTAS": "4", "NCCL_NVLS_ENABLE": "0",
        "NCCL_MNNVL_ENABLE": "0", "NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1", "NCCL_RAS_ENABLE": "0", "NCCL_DEBUG": "WARN",
        "CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]}
# The learning rate must not depend on the number of steps, because the lost run and its resumption have another one. One fixed pass
# size: without it each rank would take all of the GPU's memory, and ranks would round differently.
SETTINGS = {"schedule.name": "constant", "schedule.warmup_ratio": 0, "optimizer.learning_rate": 0.0005,
            "model.hidden_dropout_prob": 0.1, "model.attention_probs_dropout_prob": 0.1, "evaluation.every_steps": 0,
            "batch.micro_batch_size": MICRO_BATCH, "batch.device_micro_batch": MICRO_BATCH, "batch.global_batch_size": 16,
            "parallel.timeout_seconds": TIMEOUT, "parallel.first_step_timeout_seconds": 25, "training.cpu_matmul": "onednn"}
RUNS = 9
# Bounds of the relative differences of losses and of gradient norms. With sums in fp32 they are those of the CPU tests for
# training.precision bf16 (tests/distributed/world_size_test.cpp). Gradients on the wire in bf16 are rounded once more.
BOUNDS = {"fp32": (1e-3, 1e-2), "bf16": (5e-3, 5e-2)}


@dataclasses.dataclass
class Run:
    """One start of a run in the folder `name`. codes: of the ranks; None: killed at the time limit."""
    title: str
    name: str
    ranks: int
    reduce_dtype: str = "fp32"
    nodes: int = 1  # among which the ranks are divided
    settings: dict = dataclasses.field(default_factory=dict)
    codes: list = dataclasses.field(default_factory=list)
    seconds: float = 0
    note: str = ""
    well: bool = False
    differences: tuple = ()


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def start(stage, run, data):
    """Starts the ranks of a run. Returns (process, log) of each."""
    settings = SETTINGS | {"training.device": stage.device, "parallel.reduce_dtype": run.reduce_dtype, "schedule.total_steps": STEPS,
                           "checkpoint.save_every_steps": 0} | run.settings
    command = [program("bertpretrain"), "train", PROJECT / "configs/small.json", "--output", stage.folder / run.name, *data,
               *itertools.chain.from_iterable(("--set", f"{key}={value}") for key, value in settings.items())]
    cores = len(os.sched_getaffinity(0))
    world = {"WORLD_SIZE": str(run.ranks), "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1",
             "MASTER_PORT": str(free_port()), "OMP_NUM_THREADS": str(max(1, cores // run.ranks)), **(NCCL if stage.on_gpu else {})}
    log = run.title.replace(" ", "_").replace(",", "")
    return [stage.start(command, f"{log}_rank_{rank}", RANK=str(rank), NCCL_HOSTID=f"rank{rank}",
                        BERTPRETRAIN_NODE=f"node{rank * run.nodes // run.ranks}", **world) for rank in range(run.ranks)]


def wait(stage, run, started, seconds):
    """Waits until all ranks have ended, at most so long, and five seconds after the first failure. Then kills the others."""
    begin = time.monotonic()
    end = begin + min(seconds, stage.remaining())
    while any(process.poll() is None for process, _ in started) and time.monotonic() < end:
        if any(process.poll() for process, _ in started):
            end = min(end, time.monotonic() + 5)
        time.sleep(0.05)
    run.codes = [process.poll() for process, _ in started]
    for process, _ in started:
        end_group(process)


def steps_of(folder):
    """Returns {step: record}. Leaves out evaluations and a line that is not complete yet."""
    try:
        lines = (folder / "metrics.jsonl").read_text().split("\n")[:-1]
    except OSError:
        return {}
    records = [json.loads(line) for line in lines if line]
    return {record["step"]: record for record in records if "step_seconds" in record}


def relative(a, b):
    return abs(a - b) / abs(b) if a == a and b == b and b else float("inf")


def compare(stage, run, reference):
    """Sets the largest relative differences of loss and gradient norm, over the reference's steps."""
    steps = steps_of(stage.folder / run.name)
    missing = [step for step in reference if step not in steps]
    if missing:
        run.note, run.well = run.note or f"step {missing[0]} is missing", False
        return
    run.differences = tuple(max(relative(steps[step][key], one[key]) for step, one in reference.items()) for key in ("loss", "grad_norm"))
    run.well = run.well and all(found < bound for found, bound in zip(run.differences, BOUNDS[run.reduce_dtype]))


def train(stage, run, data, reference=None, fresh=True):
    """Trains to the end and compares with the steps of the reference, if it is given."""
    if fresh:
        shutil.rmtree(stage.folder / run.name, ignore_errors=True)
    begin = time.monotonic()
    started = start(stage, run, data)
    wait(stage, run, started, 30)
    run.seconds = time.monotonic() - begin
    run.well = run.codes == [0] * run.ranks
    if not run.well:
        run.note = logs_of(started)
    if reference is not None:
        compare(stage, run, reference)
    return run


def logs_of(started):
    """Returns the last lines of each rank's log and of its output, which has NCCL's warnings. Leaves out the stack's frames."""
    texts = []
    for rank, (_, log) in enumerate(started):
        texts.append(f"rank {rank}:")
        for file, count in ((log, 8), (log.with_suffix(".out"), 6)):
            lines = file.read_text(errors="replace").splitlines()
            texts += [line for line in lines if line.strip() and not line.startswith("frame #")][-count:]
    return "\n".join(texts)


def lose(stage, run, data, number, is_due):
    """Trains until is_due(folder), sends a signal to the last rank, and waits until the others have ended."""
    folder = stage.folder / run.name
    shutil.rmtree(folder, ignore_errors=True)
    began, started = time.monotonic(), start(stage, run, data)
    end = began + min(30, stage.remaining())
    while not is_due(folder) and time.monotonic() < end and all(process.poll() is None for process, _ in started):
        time.sleep(0.02)
    if not is_due(folder) or any(process.poll() is not None for process, _ in started):
        run.note = "the ranks did not get to the step at which one should be lost\n" + logs_of(started)
        wait(stage, run, started, 0)
        run.seconds = time.monotonic() - began
        return run
    lost = started[-1][0]
    os.killpg(lost.pid, number)
    sent = time.monotonic()
    if number == signal.SIGKILL:
        lost.wait()
    wait(stage, run, started[:-1], TIMEOUT + LEAVE + 1)
    waited = time.monotonic() - sent
    lost.kill()  # SIGTERM would have no effect on a stopped process
    end_group(lost)
    run.codes, run.seconds = [*run.codes, lost.poll()], time.monotonic() - began
    run.well = run.codes[:-1] == [LOST_PEER] * (run.ranks - 1) and waited < TIMEOUT + LEAVE
    run.note = f"ended {waited:.1f} s after {signal.Signals(number).name}: {cause(folder)}" + (
        "" if run.well else "\n" + logs_of(started))
    return run


def cause(folder):
    """Returns why the run ended, from its exit.json."""
    try:
        return json.loads((folder / "exit.json").read_text())["cause"].splitlines()[0]
    except (OSError, ValueError, LookupError):
        return "exit.json has no cause"


def newest_checkpoint(folder):
    """Returns the step of the newest complete checkpoint, or 0."""
    steps = [int(file.parent.name.removeprefix("step_")) for file in folder.glob("checkpoints/step_*/COMPLETE.json")
             if file.parent.name.removeprefix("step_").isdigit()]
    return max(steps, default=0)


def runs_of(stage, data):
    """Yields the finished runs, the most important first."""
    alone = train(stage, Run("1 rank", "one", 1), data)
    yield alone
    if not alone.well:
        return
    reference = steps_of(stage.folder / "one")
    zero_0 = {"parallel.zero_stage": 0}
    yield train(stage, Run("2 ranks, ZeRO 1", "two_1", 2), data, reference)
    yield train(stage, Run("4 ranks, ZeRO 1", "four", 4), data, reference)
    lost = Run("2 ranks, one killed", "killed", 2, settings={"schedule.total_steps": FOREVER, "checkpoint.save_every_steps": SAVE_EVERY})
    yield lose(stage, lost, data, signal.SIGKILL, lambda folder: newest_checkpoint(folder) >= SAVE_EVERY)
    if saved := newest_checkpoint(stage.folder / "killed"):
        resumed = Run("1 rank, resumed", "killed", 1, settings={"schedule.total_steps": max(STEPS, saved + 5)})
        resumed = train(stage, resumed, data, reference, fresh=False)
        resumed.note = resumed.note or f"from step {saved}"
        yield resumed
    lost = Run("2 ranks, one stopped", "stopped", 2, settings={"schedule.total_steps": FOREVER})
    yield lose(stage, lost, data, signal.SIGSTOP, lambda folder: len(steps_of(folder)) >= 5)
    yield train(stage, Run("2 ranks, ZeRO 0", "two_0", 2, settings=zero_0), data, reference)
    yield train(stage, Run("2 ranks, bf16 on the wire", "two_bf16", 2, "bf16"), data, reference)
    yield train(stage, Run("4 ranks on 2 nodes, bf16 on the wire", "four_bf16", 4, "bf16", nodes=2), data, reference)


def code_text(code):
    return "killed at the time limit" if code is None else signal.Signals(-code).name if code < 0 else str(code)


def row(run):
    codes = ", ".join(map(code_text, run.codes))
    differences = [f"{one:.1e} (below {bound:g})" for one, bound in zip(run.differences, BOUNDS[run.reduce_dtype])] or ["", ""]
    note = run.note if "\n" not in run.note else "see below"
    return run.title, "passed" if run.well else "failed", codes, f"{run.seconds:.1f}", *differences, note.replace("|", "/")


def run(stage):
    data, finished = sample_data.make(stage, "ranks"), []
    for one in runs_of(stage, data):
        print(f"  {one.title}: {'passed' if one.well else 'failed'} after {one.seconds:.0f} s", flush=True)
        finished.append(one)
        failed = [one for one in finished if not one.well]
        no_ranks_work = len(finished) == 3 and all(any(one.codes) or None in one.codes for one in finished[1:])
        if stage.remaining() < 5 or no_ranks_work:
            break
    apart = [one for one in finished if one.differences]
    compared = f"; losses at most {max(one.differences[0] for one in apart):.1e} apart from one rank's" if apart else ""
    summary = f"{len(finished) - len(failed)} of {RUNS} runs as expected{compared}"
    summary += f"; failed: {', '.join(one.title for one in failed)}" if failed else ""
    status = FAILED if failed and stage.remaining() > 0 else PASSED if len(finished) == RUNS else TIMED_OUT
    text = table(("run", "result", "exit codes", "seconds", "largest relative difference of a loss", "of a gradient norm", "note"),
                 [row(one) for one in finished])
    text += "".join(f"\n{one.title}:\n\n" + block(one.note) for one in failed if one.note)
    return Result(status, summary, {"runs": [dataclasses.asdict(one) for one in finished]}, text)
