"""Stages `roofline` and `modern_parts`: roofline.py, which times each part of a step of BERT or ModernBERT by itself."""
from .stage import UNAVAILABLE, Result, block, read_json


def run_bert(stage):
    return run(stage, ["--size", "large", "--micro-batch", 96, "--rounds", 5, "--steps", 3] if stage.on_gpu
               else ["--size", "small", "--rounds", 1, "--steps", 1])


def run_modern(stage):
    return run(stage, ["--size", "modernbert_base", "--length", 1024, "--micro-batch", 64, "--rounds", 5, "--steps", 3] if stage.on_gpu
               else ["--size", "modernbert_tiny", "--length", 256, "--micro-batch", 2, "--rounds", 1, "--steps", 1])


def run(stage, options):
    file = stage.folder / "roofline.json"
    file.unlink(missing_ok=True)
    done = stage.run_python("roofline.py", "--device", stage.device, "--json", file, "--picture", stage.folder / "roofline.svg", *options)
    if done.not_built:
        return Result(UNAVAILABLE, next(line for line in done.tail().splitlines() if "was not built for" in line))
    lines = done.output.strip().splitlines()
    return Result(done.status, lines[-1] if done.code == 0 and lines else done.tail(1), {"output": done.output, "timed": read_json(file)},
                  block(done.output + ("" if done.code == 0 else done.tail())))
