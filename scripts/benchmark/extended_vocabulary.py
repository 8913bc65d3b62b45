"""Compares two models after equally many steps on a domain's text: one with the vocabulary of general text, and one whose vocabulary has
tokens of the domain added. See extended_vocabulary.sh.

Bits per character: held-out loss per masked token, times tokens per character of the whole domain text, in bits. Loss per token alone
says nothing here, because the longer tokens of the larger vocabulary are harder to predict."""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from programs import program, program_environment

SETTINGS = {
    "model": {"hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 1024,
              "max_position_embeddings": 128, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0},
    "data": {"objective": "mlm", "masking": "dynamic"},
    "batch": {"micro_batch_size": 16, "global_batch_size": 16},
    "optimizer": {"name": "adamw", "learning_rate": 0.0005},
    "schedule": {"warmup_ratio": 0.05},
    "evaluation": {"every_steps": 1_000_000},
}


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True,
                          env=program_environment()).stdout


def tokens_per_character(text, vocabulary):
    ids = run(program("bertpretrain_data"), "tokenize", text, "--vocabulary", vocabulary)
    return len(ids.split()) / len(pathlib.Path(text).read_text())


def make_shards(text, vocabulary, output):
    run(program("bertpretrain_data"), "shard", text, "--vocabulary", vocabulary, "--output", output, "--objective", "mlm", "--shards", 4,
        "--held-out-shards", 1, "--held-out-fraction", 0.1)


def train(folder, name, shards, steps, begin=None):
    settings = json.loads(json.dumps(SETTINGS))
    settings["data"]["training_shards"] = str(shards)
    settings["schedule"]["total_steps"] = steps
    if begin:
        settings["initialization"] = {"init_from": str(begin)}
    (folder / f"{name}.json").write_text(json.dumps(settings))
    run(program("bertpretrain"), "train", folder / f"{name}.json", "--output", folder / name)
    lines = [json.loads(line) for line in (folder / name / "metrics.jsonl").read_text().splitlines()]
    return next(line["held_out_mlm_loss"] for line in reversed(lines) if "held_out_mlm_loss" in line)


def main(general, domain, added, general_steps, domain_steps):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        run(program("bertpretrain_data"), "vocabulary", general, "--size", 8000, "--output", folder / "general.txt")
        run(program("bertpretrain_data"), "vocabulary", domain, "--extend", folder / "general.txt", "--add", added, "--output",
            folder / "extended.txt")
        make_shards(general, folder / "general.txt", folder / "general")
        print(f"general text: held-out loss {train(folder, 'base', folder / 'general', general_steps):.4f} after {general_steps} steps",
              flush=True)
        print(f"{'vocabulary':<12} {'tokens':>7} {'tokens/character':>17} {'steps':>6} {'loss/token':>11} {'bits/character':>15}")
        for name in ("general", "extended"):
            vocabulary, shards = folder / f"{name}.txt", folder / f"{name}_domain"
            make_shards(domain, vocabulary, shards)
            ratio = tokens_per_character(domain, vocabulary)
            for steps in (1, domain_steps):  # a single step has the learning rate 0
                loss = train(folder, f"{name}_{steps}", shards, steps, folder / "base")
                print(f"{name:<12} {len(vocabulary.read_text().splitlines()):>7} {ratio:>17.4f} {steps if steps > 1 else 0:>6} {loss:>11.4f} "
                      f"{loss * ratio / math.log(2):>15.4f}", flush=True)


if __name__ == "__main__":
    main(os.environ["BENCHMARK_TEXT"], os.environ["BENCHMARK_DOMAIN_TEXT"], *(int(number) for number in sys.argv[1:] or (1000, 1500, 800)))
