"""Compares the final held-out losses of runs on different kernel sets; exits with 1 if a goal is missed.

Usage: kernel_sets.py FOLDER DRAW_CURVES PICTURE BASELINE RUN...     runs named after a set, or BASELINE_dropout_seed_N
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

MOST_APART, LAST = 0.005, 5


def curve(file):
    lines = [json.loads(line) for line in Path(file).read_text().splitlines()]
    return {line["step"]: line["held_out_mlm_loss"] for line in lines if "held_out_mlm_loss" in line}


def spread(losses):
    return max(losses) - min(losses)


def main(folder, draw_curves, picture, baseline, *runs):
    curves = {run: sorted(curve(Path(folder) / run / "metrics.jsonl").items()) for run in runs}
    ends = {run: statistics.mean(loss for _, loss in points[-LAST:]) for run, points in curves.items()}
    reference = ends[baseline]
    print(f"mean held-out loss of the last {LAST} of {len(curves[baseline])} evaluations")
    for run, end in ends.items():
        print(f"{run:26}  {end:.5f}  {end / reference - 1:+8.3%}")
    chart = {"title": "Held-out masked-word loss of each kernel set", "x": "step", "y": "nats", "lines": curves, "levels": {}}
    drawn = subprocess.run([draw_curves], input=json.dumps(chart), capture_output=True, text=True, check=True)
    Path(picture).write_text(drawn.stdout)
    seeds = spread([end for run, end in ends.items() if "seed" in run])
    sets = spread([end for run, end in ends.items() if "seed" not in run])
    print(f"sets differ by {sets:.5f} ({sets / reference:.3%}; goal: below {MOST_APART:.1%}), the three seeds of dropout by {seeds:.5f} "
          f"({seeds / reference:.3%}; goal: more than the sets)\npicture: {picture}")
    sys.exit(sets >= seeds or sets >= MOST_APART * reference)


if __name__ == "__main__":
    main(*sys.argv[1:])
