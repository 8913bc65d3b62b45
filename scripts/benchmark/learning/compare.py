"""Prints both held-out curves side by side, and how far the training losses of the same step are apart; exits with 1 if a goal is missed.

Usage: compare.py OUR_METRICS THEIR_METRICS MANIFEST DRAW_CURVES PICTURE
"""

import json
import subprocess
import sys
from pathlib import Path

MOST_APART, LEAST_BELOW_UNIGRAM = 0.01, 0.3


def curve(file, name="held_out_mlm_loss"):
    lines = [json.loads(line) for line in Path(file).read_text().splitlines()]
    return {line["step"]: line[name] for line in lines if name in line}


def print_training_losses(our_metrics, their_metrics):
    ours, theirs = curve(our_metrics, "mlm_loss"), curve(their_metrics, "mlm_loss")
    apart = {step: abs(ours[step] / theirs[step] - 1) for step in ours.keys() & theirs.keys()}
    largest = max(apart, key=apart.get)
    print(f"training losses of {len(apart)} steps: at most {apart[largest]:.2e} of the loss apart (step {largest}: ours "
          f"{ours[largest]:.6f}, PyTorch's {theirs[largest]:.6f}), mean {sum(apart.values()) / len(apart):.2e}")


def main(our_metrics, their_metrics, manifest, draw_curves, picture):
    ours, theirs = curve(our_metrics), curve(their_metrics)
    unigram = json.loads(Path(manifest).read_text())["unigram_cross_entropy"]
    print_training_losses(our_metrics, their_metrics)
    print(f"{'step':>6}  {'ours':>10}  {'PyTorch, fp32':>13}  {'apart':>7}")
    for step in sorted(ours.keys() & theirs.keys()):
        print(f"{step:6}  {ours[step]:10.4f}  {theirs[step]:13.4f}  {ours[step] / theirs[step] - 1:+7.2%}")
    chart = {"title": "Held-out masked-word loss, same samples, schedule and dropout", "x": "step", "y": "nats",
             "lines": {"ours": sorted(ours.items()), "Hugging Face, PyTorch, fp32": sorted(theirs.items())},
             "levels": {"guessing by frequency": unigram}}
    drawn = subprocess.run([draw_curves], input=json.dumps(chart), capture_output=True, text=True, check=True)
    Path(picture).write_text(drawn.stdout)
    last = max(ours.keys() & theirs.keys())
    apart, below = abs(ours[last] / theirs[last] - 1), unigram - max(ours[last], theirs[last])
    print(f"at step {last}: {apart:.2%} apart (goal: at most {MOST_APART:.0%}); the worse is {below:.3f} nats below the unigram "
          f"cross-entropy, {unigram:.4f} (goal: at least {LEAST_BELOW_UNIGRAM})\npicture: {picture}")
    sys.exit(apart > MOST_APART or below < LEAST_BELOW_UNIGRAM)


if __name__ == "__main__":
    main(*sys.argv[1:6])
