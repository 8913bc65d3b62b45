"""Pretrains the same model by us in bf16 and by plain PyTorch in fp32 (learning.sh), from the same weights on the same samples in the same
order, without dropout: nothing is random, so only the programs and their precision differ."""

import os
from concurrent.futures import ThreadPoolExecutor

import torch
from transformers import BertConfig, BertForMaskedLM

from programs import PROGRAMS, bertpretrain, run

SIDES = ("ours", "PyTorch", "not pretrained")
# Short samples: with 128 tokens, a model needs some 5,000 steps until it uses the words around a masked one; with 32, less than 1,000.
WHOLE = {"steps": 2000, "batch": 64, "length": 32, "rate": 0.0008, "seeds": [42, 43, 44, 45]}
QUICK = WHOLE | {"steps": 100, "seeds": [42, 43]}


def settings_of(recipe, seed):
    values = {"training.seed": seed, "optimizer.learning_rate": recipe["rate"],
              "model.hidden_dropout_prob": 0, "model.attention_probs_dropout_prob": 0,
              "batch.micro_batch_size": recipe["batch"], "batch.gradient_accumulation_steps": 1,
              "evaluation.every_steps": max(50, recipe["steps"] // 20), "checkpoint.save_every_steps": max(50, recipe["steps"] // 20)}
    return [part for name, value in values.items() for part in ("--set", f"{name}={value}")]


def work_folder(output, recipe, seed):
    """The folder of learning.sh for one pretraining seed. Its name has the recipe, so another recipe does not reuse it."""
    return output / "pretraining" / f"{recipe['steps']}x{recipe['batch']}x{recipe['length']}-{recipe['rate']}-seed{seed}"


def pretrain(work, recipe, seed, threads):
    """Runs both sides, or continues them. The goals of learning.sh are those of its own runs: this part only needs the models."""
    environment = os.environ | {"BERTPRETRAIN_PROGRAMS": str(PROGRAMS), "OMP_NUM_THREADS": str(threads)}
    run("bash", "-c", 'scripts/benchmark/learning.sh --mlm "$@" >&2 || [[ $? == 1 ]]', "learning", "--steps", recipe["steps"],
        "--length", recipe["length"], "--output", work, *settings_of(recipe, seed), env=environment)


def export(work, steps):
    """Writes the three models as folders for from_pretrained. @returns {side: folder}"""
    folders = {side: work / "exported" / side.replace(" ", "_") for side in SIDES}
    for side, trained in (("ours", f"ours-{steps}"), ("not pretrained", "start")):
        if not folders[side].exists():
            folders[side].parent.mkdir(parents=True, exist_ok=True)
            bertpretrain("export", work / trained, "--format", "hf", "--output", folders[side])
    if not folders["PyTorch"].exists():
        theirs = BertForMaskedLM(BertConfig.from_pretrained(folders["ours"]))
        theirs.load_state_dict(torch.load(work / f"theirs-{steps}/state.pt", weights_only=True)["model"])
        theirs.save_pretrained(folders["PyTorch"])
    return folders


def pretrained(output, recipe, seeds):
    """Returns {pretraining seed: {side: a folder for from_pretrained}}, after pretraining what is missing. The seeds run at the same time."""
    cores = os.cpu_count()
    with ThreadPoolExecutor(cores) as pool:
        works = {seed: work_folder(output, recipe, seed) for seed in seeds}
        runs = [pool.submit(pretrain, works[seed], recipe, seed, max(1, cores // len(seeds))) for seed in seeds
                if not (works[seed] / f"theirs-{recipe['steps']}/metrics.jsonl").exists()]
        for one in runs:
            one.result()
    return {seed: export(works[seed], recipe["steps"]) for seed in seeds}
