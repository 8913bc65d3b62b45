"""Stage `nccl`: compares a run whose single process communicates with itself (through NCCL on a GPU, else Gloo) with a plain run."""
import json
import shutil
import statistics

from programs import PROJECT, program

from . import sample_data
from .stage import FAILED, PASSED, UNAVAILABLE, Result, block, table

FORCED = "BERTPRETRAIN_FORCE_WORLD"


def run(stage):
    data, runs, steps = sample_data.make(stage, "nccl"), {}, 50 if stage.on_gpu else 5
    for name, environment in (("alone", {}), ("forced", {FORCED: "1"})):
        shutil.rmtree(stage.folder / name, ignore_errors=True)
        done = stage.run([program("bertpretrain"), "train", PROJECT / "configs/small.json", "--output", stage.folder / name, *data,
                          "--set", f"training.device={stage.device}", "--set", f"schedule.total_steps={steps}",
                          "--set", "evaluation.every_steps=0", "--set", "checkpoint.save_every_steps=0"], name, **environment)
        if done.code != 0:
            return Result(done.status, f"the run {name} ended with {done.code}: {done.tail(1)}", {}, block(done.tail(30)))
        lines = (stage.folder / name / "metrics.jsonl").read_text().splitlines()
        runs[name] = [record for record in map(json.loads, lines) if "step_seconds" in record], done.tail(30)
    (alone, _), (forced, log) = runs["alone"], runs["forced"]
    differ = [a["step"] for a, b in zip(alone, forced) if a["mlm_loss"] != b["mlm_loss"]]
    seconds = {name: statistics.median(record["step_seconds"] for record in records) for name, (records, _) in runs.items()}
    communicated = FORCED in log
    status = UNAVAILABLE if not communicated else FAILED if differ else PASSED
    summary = (f"{'losses equal' if not differ else f'losses differ from step {differ[0]}'} in {len(forced)} steps; a step takes "
               f"{1e3 * seconds['forced']:.1f} ms with communication, {1e3 * seconds['alone']:.1f} ms without")
    if not communicated:
        summary = f"this program does not support {FORCED}"
    keys = ("bytes_sent", "communication_seconds", "exposed_communication_seconds")
    rows = [(key, *(f"{statistics.median(record.get(key, 0) for record in records):.6g}" for records, _ in runs.values()))
            for key in ("step_seconds", *keys)]
    return Result(status, summary, {"seconds": seconds, "differ": differ}, table(("median of a step", *runs), rows) + block(log))
