"""Stages `learning` and `modern_learning`: train a small BERT or ModernBERT from the same seed on the device and on the CPU, and compare
the held-out losses; on the device also with the residual in bf16, and with matmuls in fp8."""
import json
import shutil
import statistics

from kernel_sets import LAST, MOST_APART, curve, spread
from programs import PROJECT, program

from . import sample_data
from .stage import FAILED, PASSED, TIMED_OUT, Result, block, table

# Dropout masks depend on the sample, not on the device.
DROPOUT = {"hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}
MODERN = {"model_type": "modernbert", "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 384,
          "local_attention": 64, "attention_dropout": 0.1, "attention_output_dropout": 0.1}
# Two runs on one CPU must agree to the bit, but each would measure which matmul library is fastest, and libraries round differently.
SAME_MATMUL = ["--set", "training.cpu_matmul=onednn"]
NARROW = {"bf16_residual": "training.residual_dtype=bf16", "fp8": "training.fp8_matmuls=true"}
TITLE = "Held-out masked-word loss from the same seed"


def write_config(stage, is_modern):
    """Writes configs/small.json with dropout, or with a ModernBERT of windows of 32 tokens on each side, and returns its path."""
    settings = json.loads((PROJECT / "configs/small.json").read_text())
    if is_modern:
        settings["model"] = MODERN
        settings["data"] |= {"objective": "mlm", "masking": "dynamic", "masked_lm_prob": 0.3}
        settings["optimizer"] |= {"name": "stable_adamw", "max_grad_norm": 0.0}
    else:
        settings["model"] |= DROPOUT
    file = stage.folder / "experiment.json"
    file.write_text(json.dumps(settings))
    return file


def start(stage, config, name, device, data, steps, *more):
    shutil.rmtree(stage.folder / name, ignore_errors=True)
    return stage.start([program("bertpretrain"), "train", config, "--output", stage.folder / name, *data,
                        "--set", f"training.device={device}", "--set", f"schedule.total_steps={steps}",
                        "--set", f"evaluation.every_steps={steps // 10}", "--set",
                        f"evaluation.max_sequences={200 if stage.on_gpu else 32}", "--set", "checkpoint.save_every_steps=0",
                        *([] if stage.on_gpu else SAME_MATMUL), *more], name)


def draw(stage, curves):
    """Draws the curves as SVG with draw_curves, if that program was built."""
    chart = json.dumps({"title": TITLE, "x": "step", "y": "nats", "lines": {name: sorted(points.items()) for name, points in
                                                                          curves.items()}, "levels": {}})
    (stage.folder / "chart.json").write_text(chart)
    try:
        done = stage.run(["sh", "-c", '"$0" <"$1"', program("draw_curves"), stage.folder / "chart.json"], "draw_curves")
    except OSError:
        return
    if done.code == 0:
        (stage.folder / "learning.svg").write_text(done.output)


def run_bert(stage):
    return run(stage, False)


def run_modern(stage):
    return run(stage, True)


def run(stage, is_modern):
    data, config = sample_data.make(stage, "learning"), write_config(stage, is_modern)
    steps = 1000 if stage.on_gpu else 10  # after fewer, the loss leaves a plateau, at a step that rounding decides
    # All runs compute at the same time.
    device = "gpu" if stage.on_gpu else "cpu_again"
    runs = {device: start(stage, config, device, stage.device, data, steps), "cpu": start(stage, config, "cpu", "cpu", data, steps),
            **{name: start(stage, config, name, stage.device, data, steps, "--set", setting) for name, setting in NARROW.items()}}
    done = {name: stage.finish(started) for name, started in runs.items()}
    files = {name: stage.folder / name / "metrics.jsonl" for name in runs}
    curves = {name: curve(file) if file.exists() else {} for name, file in files.items()}
    common = sorted(set.intersection(*(set(points) for points in curves.values())))
    logs = "".join(f"{name}:\n\n" + block(one.tail()) for name, one in done.items() if one.code != 0)
    rows = [(step, *(f"{points[step]:.4f}" for points in curves.values())) for step in common]
    text = table(("step", *curves), rows) + logs
    if not common:
        return Result(TIMED_OUT if stage.remaining() == 0 else FAILED, "no evaluation was reached by both runs", {}, text)
    ends = {name: statistics.mean(points[step] for step in common[-LAST:]) for name, points in curves.items()}
    apart, narrow_apart = spread([ends[device], ends["cpu"]]) / ends["cpu"], spread(ends.values()) / ends["cpu"]
    draw(stage, curves)
    whole = all(one.code == 0 for one in done.values())
    status = FAILED if max(apart, narrow_apart) >= MOST_APART else PASSED if whole else TIMED_OUT if stage.remaining() == 0 else FAILED
    summary = f"{apart:.3%} apart at step {common[-1]}, {narrow_apart:.3%} with the narrow ones (goal: below {MOST_APART:.1%}): " + ", ".join(
        f"{name} {end:.4f}" for name, end in ends.items())
    return Result(status, summary, {"curves": curves, "ends": ends, "apart": apart, "narrow_apart": narrow_apart}, text)
