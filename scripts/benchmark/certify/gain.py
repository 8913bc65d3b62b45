"""Prints what pretraining gained on each labelled set, and in the pretraining loss, as Markdown, and draws the accuracies.

Usage: gain.py CERTIFY_FOLDER PICTURE. The folder is that of a certify.sh whose part `finetune` is done.
"""

import json
import statistics
import sys
from pathlib import Path

from fine_tuning import chosen_rows, kept_scores
from finetune import SCORES, WHOLE, interval, recipes_of
from pretraining import SIDES, work_folder
from pretraining import WHOLE as PRETRAINING

COLORS = {"ours": "#1f77b4", "PyTorch": "#d62728", "not pretrained": "#7f7f7f"}


def accuracies(folder):
    """Returns {set: {side: [percent of each seed]}}."""
    found = {}
    for (name, side, _), accuracy in sorted(kept_scores(folder / SCORES, recipes_of(quick=False)[2]).items()):
        found.setdefault(name, {side: [] for side in SIDES})[side].append(accuracy)
    return found


def majority_of(folder, name):
    return chosen_rows(folder / "sets" / f"{name}.tsv", WHOLE["training"], WHOLE["tests"])[2]


def difference(these, those):
    mean, half = interval([a - b for a, b in zip(these, those, strict=True)])
    return f"{mean:+.1f} ({mean - half:+.1f} to {mean + half:+.1f})"


def print_tasks(tasks, majority):
    print("| set | ours | PyTorch | not pretrained | always the most frequent label | gain of ours | gain of PyTorch | ours - PyTorch |")
    print("|---" * 8 + "|")
    for name, of in tasks.items():
        means = " | ".join(f"{statistics.mean(of[side]):.1f}" for side in SIDES)
        gains = " | ".join(difference(of[side], of["not pretrained"]) for side in SIDES[:2])
        print(f"| {name} | {means} | {majority[name]:.1f} | {gains} | {difference(of['ours'], of['PyTorch'])} |")


def last_loss(file):
    losses = [one["held_out_mlm_loss"] for one in map(json.loads, file.read_text().splitlines()) if "held_out_mlm_loss" in one]
    return losses[-1]


def print_losses(folder):
    print("\n| held-out MLM loss | " + " | ".join(f"seed {seed}" for seed in PRETRAINING["seeds"]) + " |")
    print("|---" * (1 + len(PRETRAINING["seeds"])) + "|")
    works = [work_folder(folder, PRETRAINING, seed) for seed in PRETRAINING["seeds"]]
    steps = PRETRAINING["steps"]
    for name, run in (("ours", f"ours-{steps}"), ("PyTorch", f"theirs-{steps}"), ("not pretrained", "start")):
        print(f"| {name} | " + " | ".join(f"{last_loss(work / run / 'metrics.jsonl'):.4f}" for work in works) + " |")
    unigram = [json.loads((work / "shards/manifest.json").read_text())["unigram_cross_entropy"] for work in works]
    print("| guessing by frequency | " + " | ".join(f"{one:.4f}" for one in unigram) + " |")


def bar(y, percent, color, text, half=0):
    """@param half of the interval, which the text is right of"""
    return (f'<rect x="150" y="{y}" width="{percent * 4:.1f}" height="14" fill="{color}"/>'
            f'<text x="{156 + min(100, percent + half) * 4:.1f}" y="{y + 12}">{text}</text>')


def whisker(y, mean, half):
    return f'<path d="M{150 + 4 * (mean - half):.1f} {y + 7}H{150 + 4 * min(100, mean + half):.1f}" stroke="black" stroke-width="2"/>'


def picture(tasks, majority):
    """Returns an SVG chart with bars of accuracy per set: the mean over seeds, and its 95 % interval as a line."""
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{40 + 86 * len(tasks)}" font-family="sans-serif" font-size="12">'
           '<rect width="100%" height="100%" fill="white"/>'
           '<text x="10" y="20">Accuracy after fine-tuning, mean over seeds with its 95 % interval</text>']
    for row, (name, of) in enumerate(tasks.items()):
        top = 36 + 86 * row
        out.append(f'<text x="10" y="{top + 34}" font-size="14">{name}</text>')
        for i, side in enumerate(SIDES):
            mean, half = interval(of[side])
            out.append(bar(top + 18 * i, mean, COLORS[side], f"{mean:.1f} % {side}", half) + whisker(top + 18 * i, mean, half))
        out.append(bar(top + 54, majority[name], "#dddddd", f"{majority[name]:.1f} % most frequent label"))
    return "\n".join(out) + "\n</svg>\n"


def main(folder, file):
    tasks = accuracies(folder)
    majority = {name: majority_of(folder, name) for name in tasks}
    print_tasks(tasks, majority)
    print_losses(folder)
    file.write_text(picture(tasks, majority))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
