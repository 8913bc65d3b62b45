"""Trains STEPS steps for each number of sequences per pass (batch.device_micro_batch), and writes rate, memory and `plan`'s estimate
as JSON after each.  Usage: time_passes.py FILE DEVICE SIZE MICRO_BATCH ACCUMULATION STEPS LIMIT PASS...     a PASS of 0: auto"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from programs import program, program_environment
from training_runs import SideFailed, experiment, run_ours, sample_rows, write_shard


def planned_bytes(config, device):
    """Returns `plan`'s estimate of one rank's memory in bytes, of the GPU or on a CPU of the host; None if `plan` fails."""
    done = subprocess.run([program("bertpretrain"), "plan", str(config), "--world-size", "1", "--json"], capture_output=True, text=True,
                          env=program_environment())
    if done.returncode != 0:
        return None
    plan = json.loads(done.stdout)["plan"][0]
    return plan.get("gpu_memory_bytes") if device == "cuda" else plan["memory_bytes"]


def main(file, device, size, micro_batch, accumulation, steps, limit, *passes):
    micro_batch, accumulation, found = int(micro_batch), int(accumulation), {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_shard(folder, sample_rows(micro_batch * accumulation, 0.0))
        for at_once in map(int, passes):
            settings = experiment(size, micro_batch, folder)
            settings["batch"] |= {"gradient_accumulation_steps": accumulation, **({"device_micro_batch": at_once} if at_once else {})}
            settings["training"]["device"] = device
            config = folder / "experiment.json"
            config.write_text(json.dumps(settings))
            try:
                result = run_ours(config, folder, int(steps), 2 if device == "cpu" else 8, limit=float(limit))
                used = result["peak_bytes"] if device == "cpu" else max(record["memory_bytes"] for record in result["records"])
                one = {"sequences_per_second": micro_batch * accumulation / statistics.median(result["seconds"]), "bytes": used,
                       "planned_bytes": planned_bytes(config, device) if at_once else None}
            except SideFailed as failed:
                one = {"error": str(failed)[-2000:]}
            found[at_once or "auto"] = one
            print(at_once or "auto", one, flush=True)
            pathlib.Path(file).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
