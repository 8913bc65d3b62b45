"""Stage `roofline`: roofline.py, which times each part of a step by itself."""
from .stage import Result, block, read_json


def run(stage):
    if stage.on_gpu:
        options = ["--size", "large", "--micro-batch", 96, "--rounds", 5, "--steps", 3]
    else:
        options = ["--size", "small", "--rounds", 1, "--steps", 1]
    file = stage.folder / "roofline.json"
    file.unlink(missing_ok=True)
    done = stage.run_python("roofline.py", "--device", stage.device, "--json", file, "--picture", stage.folder / "roofline.svg", *options)
    lines = done.output.strip().splitlines()
    return Result(done.status, lines[-1] if done.code == 0 and lines else done.tail(1), {"output": done.output, "timed": read_json(file)},
                  block(done.output + ("" if done.code == 0 else done.tail())))
