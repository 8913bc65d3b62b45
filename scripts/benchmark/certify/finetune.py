"""Part 3: models that were pretrained on the same samples, by us in bf16 and by plain PyTorch in fp32, and their initial weights, are
fine-tuned by the same script on four labelled sets, with the same seeds."""

import math
import statistics

from scipy.stats import t as student_t

from fine_tuning import all_scores, chosen_rows
from labelled_sets import write_sets
from lines import line
from pretraining import QUICK as QUICK_PRETRAINING
from pretraining import SIDES
from pretraining import WHOLE as WHOLE_PRETRAINING
from pretraining import pretrained

SEEDS, QUICK_SEEDS = 10, 2  # of fine-tuning
POOLED_BOUND, SET_BOUND = 0.5, 1.5  # points
# training, tests: examples per set; length: tokens, at most those of pretraining; a set with fewer examples has a smaller test part
WHOLE = {"training": 2000, "tests": 3000, "length": 32, "batch": 32, "epochs": 3, "rate": 0.0003, "dropout": 0.1, "precision": "bf16"}
QUICK = WHOLE | {"training": 64, "tests": 64, "epochs": 1}
SCORES = "finetune.jsonl"


def recipes_of(quick):
    """Returns the recipes of pretraining and of fine-tuning, and a function from a fine-tuning seed to all that a score of this seed depends on,
    beside set and side. Each line of the file of scores has the latter, so another recipe's scores are not reused."""
    pretraining, fine_tuning = (QUICK_PRETRAINING, QUICK) if quick else (WHOLE_PRETRAINING, WHOLE)
    rest = {name: value for name, value in pretraining.items() if name != "seeds"}

    def recipe_of_seed(seed):
        own = pretraining["seeds"][seed % len(pretraining["seeds"])]
        return {"pretraining": rest | {"seed": own}, "fine_tuning": fine_tuning}
    return pretraining, fine_tuning, recipe_of_seed


def seeds_of(quick):
    return range(QUICK_SEEDS if quick else SEEDS)


def interval(values):
    """The mean with the half-width of its 95 % confidence interval."""
    if len(values) < 2:
        return statistics.mean(values), math.inf
    return statistics.mean(values), student_t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def within(values, bound, what):
    mean, half = interval(values)
    return line(what, f"{mean:+.2f} ({mean - half:+.2f} to {mean + half:+.2f}) points", f"interval within +-{bound}",
                abs(mean) + half <= bound)


def by_pretraining_seed(values, pretraining_seeds):
    """The mean of the fine-tuning seeds that began with each pretraining seed's models."""
    count = len(pretraining_seeds)
    return ", ".join(f"{seed}: {statistics.mean(values[i::count]):+.2f}" for i, seed in enumerate(pretraining_seeds))


def lines_of_scores(scores, seeds, majority, pretraining_seeds):
    """@param scores {(set, side, seed): percent}"""
    names, lines = list(majority), []
    of = {(name, side): [scores[name, side, seed] for seed in seeds] for name in names for side in SIDES}
    pairs = {name: [a - b for a, b in zip(of[name, "ours"], of[name, "PyTorch"])] for name in names}
    pooled = [statistics.mean(pairs[name][i] for name in names) for i in range(len(seeds))]
    lines.append(within(pooled, POOLED_BOUND, f"ours - PyTorch, mean of {len(names)} sets, {len(seeds)} paired seeds"))
    lines[-1]["found"] += f"; by pretraining seed {by_pretraining_seed(pooled, pretraining_seeds)}"
    for name in names:
        lines.append(within(pairs[name], SET_BOUND, f"{name}: ours - PyTorch"))
    for name in names:
        means = [statistics.mean(of[name, side]) for side in SIDES]
        gain, half = interval([a - b for a, b in zip(of[name, "ours"], of[name, "not pretrained"])])
        lines.append(line(f"{name}: accuracy of {', '.join(SIDES)}; always the most frequent label; gain of pretraining",
                          f"{means[0]:.1f}, {means[1]:.1f}, {means[2]:.1f}; {majority[name]:.1f}; {gain:+.1f} +- {half:.1f} points",
                          "gain's interval above 0", gain - half > 0))
    return lines


def lines_of_part(options):
    (pretraining, fine_tuning, recipe_of_seed), seeds = recipes_of(options.quick), seeds_of(options.quick)
    folders, sets = pretrained(options.output, pretraining), write_sets(options.output / "sets")
    tasks = []
    for seed in seeds:
        recipe = recipe_of_seed(seed)
        folder_of = folders[recipe["pretraining"]["seed"]]
        tasks += [{"set": name, "side": side, "seed": seed, "recipe": recipe, "folder": folder_of[side], "file": file,
                   "vocabulary": folder_of["ours"] / "vocab.txt"} for name, file in sets.items() for side in SIDES]
    scores = all_scores(tasks, options.output / SCORES, recipe_of_seed)
    majority = {name: chosen_rows(file, fine_tuning["training"], fine_tuning["tests"])[2] for name, file in sets.items()}
    return lines_of_scores(scores, seeds, majority, pretraining["seeds"])
