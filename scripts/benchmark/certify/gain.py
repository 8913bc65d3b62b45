"""Prints what pretraining gained on each labelled set, and in the pretraining loss, as Markdown, and draws the accuracies.

Usage: gain.py CERTIFY_FOLDER PICTURE. The folder is that of a certify.sh whose part `finetune` is done.
"""

import json
import statistics
import sys
from pathlib import Path

from fine_tuning import chosen_rows, kept_scores
from finetune import SCORES, WHOLE, complete, differences, interval, recipes_of
from pretraining import SIDES, work_folder
from pretraining import WHOLE as PRETRAINING

COLORS = {"ours": "#1f77b4", "PyTorch": "#d62728", "not pretrained": "#7f7f7f"}


def sides_of(scores, name):
    """Returns {side: [percent of each seed]} of the sides that have scores, for the seeds of which every set has both trained sides' scores."""
    seeds = complete(scores, {one for one, _, _ in scores}, SIDES[:2])
    found = {side: [scores[name, side, seed] for seed in seeds if (name, side, seed) in scores] for side in SIDES}
    return {side: values for side, values in found.items() if values}


def majority_of(folder, name):
    return chosen_rows(folder / "sets" / f"{name}.tsv", WHOLE["training"], WHOLE["tests"])[2]


def difference(scores, name, sides):
    seeds = [seed for seed in complete(scores, {one for one, _, _ in scores}, SIDES[:2]) if seed in complete(scores, [name], sides)]
    if not seeds:
        return "not run"
    mean, half = interval(differences(scores, name, sides, seeds))
    return f"{mean:+.2f} ({mean - half:+.2f} to {mean + half:+.2f})"


def print_tasks(scores, majority):
    print("| set | ours | PyTorch | not pretrained | always the most frequent label | gain of ours | gain of PyTorch | ours - PyTorch |")
    print("|---" * 8 + "|")
    for name in majority:
        of = sides_of(scores, name)
        means = " | ".join(f"{statistics.mean(of[side]):.1f}" if side in of else "not run" for side in SIDES)
        compared = " | ".join(difference(scores, name, sides) for sides in ((SIDES[0], SIDES[2]), (SIDES[1], SIDES[2]), SIDES[:2]))
        print(f"| {name} | {means} | {majority[name]:.1f} | {compared} |")


def last_loss(file):
    losses = [one["held_out_mlm_loss"] for one in map(json.loads, file.read_text().splitlines()) if "held_out_mlm_loss" in one]
    return losses[-1]


def print_losses(folder):
    found = [seed for seed in PRETRAINING["seeds"] if work_folder(folder, PRETRAINING, seed).exists()]
    print("\n| held-out MLM loss | " + " | ".join(f"seed {seed}" for seed in found) + " |")
    print("|---" * (1 + len(found)) + "|")
    works = [work_folder(folder, PRETRAINING, seed) for seed in found]
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


def picture(scores, majority):
    """Returns an SVG chart with bars of accuracy per set: the mean over seeds, and its 95 % interval as a line."""
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{40 + 86 * len(majority)}" font-family="sans-serif" font-size="12">'
           '<rect width="100%" height="100%" fill="white"/>'
           '<text x="10" y="20">Accuracy after fine-tuning, mean over seeds with its 95 % interval</text>']
    for row, name in enumerate(majority):
        of, top = sides_of(scores, name), 36 + 86 * row
        out.append(f'<text x="10" y="{top + 34}" font-size="14">{name}</text>')
        for i, side in enumerate(of):
            mean, half = interval(of[side])
            out.append(bar(top + 18 * i, mean, COLORS[side], f"{mean:.1f} % {side}", half) + whisker(top + 18 * i, mean, half))
        out.append(bar(top + 18 * len(of), majority[name], "#dddddd", f"{majority[name]:.1f} % most frequent label"))
    return "\n".join(out) + "\n</svg>\n"


def main(folder, file):
    scores = kept_scores(folder / SCORES, recipes_of(quick=False)[2])
    majority = {name: majority_of(folder, name) for name in sorted({name for name, _, _ in scores})}
    print_tasks(scores, majority)
    print_losses(folder)
    file.write_text(picture(scores, majority))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
