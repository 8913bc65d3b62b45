"""Part 3: models that were pretrained on the same samples, by us in bf16 and by plain PyTorch in fp32, and their initial weights, are
fine-tuned by the same script on four labelled sets, with the same seeds."""

import math
import statistics
import time

import torch
from scipy.stats import t as student_t

from fine_tuning import all_scores, chosen_rows
from labelled_sets import write_sets
from lines import line, not_run, reported
from pretraining import QUICK as QUICK_PRETRAINING
from pretraining import SIDES
from pretraining import WHOLE as WHOLE_PRETRAINING
from pretraining import pretrained

SEEDS, QUICK_SEEDS = 20, 2  # of fine-tuning
NOT_PRETRAINED_SEEDS = 10  # the first of them, since the gain has no bound
POOLED_BOUND, SET_BOUND = 0.5, 1.5  # points


def precision():
    """bf16 where the processor multiplies it: two thirds of fp32's time with AMX, but thirty times fp32's time without such instructions."""
    has = torch.cpu.get_capabilities()
    return "bf16" if has.get("amx_bf16") or has.get("avx512_bf16") else "fp32"


# training, tests: examples per set; length: tokens, at most those of pretraining; a set with fewer examples has a smaller test part
WHOLE = {"training": 2000, "tests": 3000, "length": 32, "batch": 32, "epochs": 3, "rate": 0.0003, "dropout": 0.1, "precision": precision()}
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


def seeds_of(quick, recipe_of_seed, pretraining_seeds=None):
    """Returns the fine-tuning seeds, or those that begin with the named pretraining seeds."""
    seeds = range(QUICK_SEEDS if quick else SEEDS)
    return [seed for seed in seeds if pretraining_seeds is None or recipe_of_seed(seed)["pretraining"]["seed"] in pretraining_seeds]


def interval(values):
    """The mean with the half-width of its 95 % confidence interval."""
    if len(values) < 2:
        return statistics.mean(values), math.inf
    return statistics.mean(values), student_t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def within(values, bound, what):
    mean, half = interval(values)
    return line(what, f"{mean:+.2f} ({mean - half:+.2f} to {mean + half:+.2f}) points", f"interval within +-{bound}",
                abs(mean) + half <= bound)


def complete(scores, names, sides):
    """Returns the seeds that have a score of every set and side, in order."""
    return [seed for seed in sorted({seed for _, _, seed in scores})
            if all((name, side, seed) in scores for name in names for side in sides)]


def differences(scores, name, sides, seeds):
    return [scores[name, sides[0], seed] - scores[name, sides[1], seed] for seed in seeds]


def by_pretraining_seed(values, seeds, recipe_of_seed):
    """The mean of the fine-tuning seeds that began with each pretraining seed's models."""
    of = {}
    for value, seed in zip(values, seeds, strict=True):
        of.setdefault(recipe_of_seed(seed)["pretraining"]["seed"], []).append(value)
    return ", ".join(f"{seed}: {statistics.mean(ones):+.2f}" for seed, ones in sorted(of.items()))


def gain_line(scores, name, paired, majority):
    seeds = [seed for seed in complete(scores, [name], SIDES) if seed in paired]
    means = [statistics.mean(scores[name, side, seed] for seed in paired) for side in SIDES[:2]]
    found = f"ours {means[0]:.1f}, PyTorch's {means[1]:.1f}, always the most frequent label {majority:.1f} %"
    if seeds:
        gain, half = interval(differences(scores, name, (SIDES[0], SIDES[2]), seeds))
        found += f"; ours gained {gain:+.1f} ({gain - half:+.1f} to {gain + half:+.1f}) points over its initial weights, {len(seeds)} seeds"
    return reported(f"{name}: accuracy, and gain of pretraining", found)


def lines_of_scores(scores, majority, recipe_of_seed):
    """@param scores {(set, side, seed): percent}; seeds without both sides' scores of every set are left out"""
    names, lines, sides = list(majority), [], SIDES[:2]
    seeds = complete(scores, names, sides)
    if not seeds:
        return [not_run("ours - PyTorch", "no fine-tuning seed has all scores")]
    pairs = {name: differences(scores, name, sides, seeds) for name in names}
    pooled = [statistics.mean(of_seed) for of_seed in zip(*pairs.values(), strict=True)]
    lines.append(within(pooled, POOLED_BOUND, f"ours - PyTorch, mean of {len(names)} sets, {len(seeds)} paired seeds"))
    lines[-1]["found"] += f"; by pretraining seed {by_pretraining_seed(pooled, seeds, recipe_of_seed)}"
    lines += [within(pairs[name], SET_BOUND, f"{name}: ours - PyTorch") for name in names]
    return lines + [gain_line(scores, name, seeds, majority[name]) for name in names]


def tasks_of(seeds, recipe_of_seed, folders, sets):
    """Returns the fine-tunings seed by seed, so that a run that is cut has complete pairs. Models that were never pretrained come last."""
    order = [(seed, SIDES[:2]) for seed in seeds] + [(seed, SIDES[2:]) for seed in seeds if seed < NOT_PRETRAINED_SEEDS]
    tasks = []
    for seed, sides in order:
        recipe = recipe_of_seed(seed)
        folder_of = folders[recipe["pretraining"]["seed"]]
        tasks += [{"set": name, "side": side, "seed": seed, "recipe": recipe, "folder": folder_of[side], "file": file,
                   "vocabulary": folder_of["ours"] / "vocab.txt"} for name, file in sets.items() for side in sides]
    return tasks


def lines_of_part(options):
    end = time.monotonic() + 60 * options.minutes
    pretraining, fine_tuning, recipe_of_seed = recipes_of(options.quick)
    seeds = seeds_of(options.quick, recipe_of_seed, options.pretraining_seeds)
    folders = pretrained(options.output, pretraining, sorted({recipe_of_seed(seed)["pretraining"]["seed"] for seed in seeds}))
    sets = write_sets(options.output / "sets")
    scores = all_scores(tasks_of(seeds, recipe_of_seed, folders, sets), options.output / SCORES, recipe_of_seed, end)
    majority = {name: chosen_rows(file, fine_tuning["training"], fine_tuning["tests"])[2] for name, file in sets.items()}
    return lines_of_scores(scores, majority, recipe_of_seed)
