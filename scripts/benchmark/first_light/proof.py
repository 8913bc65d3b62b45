"""Stage `proof`: `bertpretrain preflight` with the quickstart's model: what the device computes, and a short run with a checkpoint."""
import shutil

from programs import PROJECT, program

from . import sample_data
from .stage import Result, block


def run(stage):
    data = sample_data.make(stage, "proof")
    shutil.rmtree(stage.folder / "run", ignore_errors=True)
    done = stage.run([program("bertpretrain"), "preflight", PROJECT / "configs/quickstart.json", "--output", stage.folder / "run",
                      "--set", f"training.device={stage.device}", *data], "preflight")
    lines = done.output.strip().splitlines()
    return Result(done.status, lines[-1] if lines else done.tail(1), {"output": done.output, "log": done.tail(30)},
                  block(done.output) + block(done.tail(30)))
