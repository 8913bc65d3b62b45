"""Stage `proof`: runs `bertpretrain preflight`, which checks the device, each kernel against plain ATen, and a short run with a
checkpoint."""
import shutil

from programs import PROJECT, program

from . import sample_data
from .stage import Result, block

# The quickstart's model; on a GPU with BERT-Large's widths, because the choice of kernels depends on their times.
LARGE = [option for setting in ("hidden_size=1024", "num_attention_heads=16", "intermediate_size=4096")
         for option in ("--set", f"model.{setting}")]


def run(stage):
    data = sample_data.make(stage, "proof")
    shutil.rmtree(stage.folder / "run", ignore_errors=True)
    done = stage.run([program("bertpretrain"), "preflight", PROJECT / "configs/small.json", "--output", stage.folder / "run",
                      "--set", f"training.device={stage.device}", *data, *(LARGE if stage.on_gpu else [])], "preflight")
    lines = done.output.strip().splitlines()
    kernels = [line.partition("kernels, ")[2] for line in lines if " kernels, " in line]
    return Result(done.status, "; ".join(lines[-1:] + kernels) or done.tail(1), {"output": done.output, "log": done.tail(30)},
                  block(done.output) + block(done.tail(30)))
