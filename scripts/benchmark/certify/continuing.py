"""Part 2: a model that others trained is trained further, by us and by plain PyTorch: the same weights, samples, order and schedule, fp32,
no dropout."""

import json

from lines import at_most, line
from other_models import other_model
from programs import PROGRAMS, bertpretrain, python, run
from samples import Chain, special_ids, write_shard

SEQUENCES, LENGTH, SEED, BOUND = 16, 64, 42, 0.005


def experiment(model, shards, steps):
    config = json.loads((model / "config.json").read_text())
    shape = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size", "max_position_embeddings")
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return {"model": {name: config[name] for name in shape} | no_dropout,
            "data": {"training_shards": str(shards), "sequence_length": LENGTH},
            "initialization": {"init_from": str(model)},
            "batch": {"micro_batch_size": SEQUENCES, "gradient_accumulation_steps": 1},
            "optimizer": {"name": "adamw", "learning_rate": 0.0002, "betas": [0.9, 0.98], "weight_decay": 0.01, "max_grad_norm": 1.0},
            "schedule": {"name": "warmup_linear", "warmup_ratio": 0.1, "total_steps": steps},
            "training": {"precision": "fp32", "device": "cpu", "seed": SEED},
            "checkpoint": {"save_every_steps": steps, "keep_last": 1},
            "evaluation": {"every_steps": max(1, steps // 10), "micro_batch_size": 32, "max_sequences": 200}}


def curve(file, key):
    lines = [json.loads(text) for text in file.read_text().splitlines()]
    return {line["step"]: line[key] for line in lines if key in line}


def lines_of_part(options):
    steps = 20 if options.quick else 200
    model, work = other_model("rxnfp", options.output / "models"), options.output / f"continue-{steps}"
    shards = work / "shards"
    if not (work / "experiment.json").exists():
        shards.mkdir(parents=True, exist_ok=True)
        chain, special = Chain(list(range(16, 60)), "continue"), special_ids(model / "vocab.txt")
        write_shard(shards / "chain_training_0000.h5", steps * SEQUENCES, chain, special, LENGTH)
        write_shard(shards / "chain_test_0000.h5", 200, chain, special, LENGTH)
        (work / "experiment.json").write_text(json.dumps(experiment(model, shards, steps), indent=1))
    bertpretrain("train", work / "experiment.json", "--output", work / "ours")
    # The learning rate of a linear schedule's last step is 0, so a run of one step saves the weights that both begin with.
    bertpretrain("train", work / "experiment.json", "--output", work / "start", "--set", "schedule.total_steps=1")
    order = work / "order"
    order.write_text(run(PROGRAMS / "print_sample_order", shards, LENGTH, SEED, steps * SEQUENCES))
    if not (work / "theirs/metrics.jsonl").exists():
        python("scripts/benchmark/learning/hf_training.py", work / "start/checkpoints/step_00000001", order, shards,
               shards / "chain_test_0000.h5", work / "theirs", steps)
    lines = []
    for key, name in (("mlm_loss", "training MLM loss of every step"), ("held_out_mlm_loss", "held-out MLM loss of every evaluation")):
        ours, theirs = curve(work / "ours/metrics.jsonl", key), curve(work / "theirs/metrics.jsonl", key)
        common = sorted(ours.keys() & theirs.keys())
        apart = max(abs(ours[step] / theirs[step] - 1) for step in common)
        lines.append(at_most(f"rxnfp, {steps} steps: {name} ({len(common)}), largest relative difference", apart, BOUND))
        last = common[-1]
    lines.append(line(f"rxnfp, {steps} steps: held-out MLM loss fell", f"{theirs[common[0]]:.4f} to {theirs[last]:.4f} in PyTorch, "
                      f"{ours[last]:.4f} in ours", "falls", ours[last] < ours[common[0]]))
    return lines
