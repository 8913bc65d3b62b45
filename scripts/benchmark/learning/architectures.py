"""Trains two architectures for the same minutes and prints their held-out losses. Called by scripts/benchmark/architectures.sh.

Usage: architectures.py FOLDER PROGRAMS MINUTES LENGTH RATES
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
SEQUENCES = 32  # of a step
TURNS, STEPS_OF_TURN, WARM_UP = 4, 10, 2
EVALUATIONS = 20


def modernbert(rate):
    """configs/modernbert_small.json in one phase: its share of constant rate, then the fall by one minus a square root."""
    settings = json.loads((CONFIGS / "modernbert_small.json").read_text())
    del settings["phases"]
    settings["model"].update({"vocab_size": "auto", "max_position_embeddings": 1024})
    settings["optimizer"]["learning_rate"] = rate
    settings["schedule"] = {"name": "wsd", "warmup_ratio": 0.05, "decay_ratio": 0.3, "decay_shape": "one_minus_sqrt"}
    settings["data"]["block_diagonal"] = False
    return settings


def bert(rate):
    """BERT of the same width and vocabulary, with seven layers: as many parameters but for 2 %. Its own recipe: 15 % masked, AdamW with
    clipping and decoupled decay, a rate that falls linearly to 0."""
    settings = modernbert(rate)
    settings["model"] = {"hidden_size": 384, "num_hidden_layers": 7, "num_attention_heads": 6, "intermediate_size": 1536,
                         "vocab_size": "auto", "max_position_embeddings": 512}
    settings["data"]["masked_lm_prob"] = 0.15
    settings["optimizer"] = {"name": "adamw", "learning_rate": rate, "betas": [0.9, 0.98], "weight_decay": 0.01, "max_grad_norm": 1.0}
    settings["schedule"] = {"name": "warmup_linear", "warmup_ratio": 0.1}
    return settings


def experiment(settings, folder, length, steps):
    settings["about"] = "scripts/benchmark/architectures.sh"
    settings["data"].update({"training_shards": str(folder / "shards"), "sequence_length": length})
    settings["batch"] = {"micro_batch_size": 16, "global_batch_size": SEQUENCES}
    settings["schedule"]["total_steps"] = steps
    settings["model"]["max_position_embeddings"] = max(length, settings["model"]["max_position_embeddings"])
    every = max(1, steps // EVALUATIONS)
    settings["checkpoint"] = {"save_every_steps": every, "keep_last": 1}
    settings["evaluation"] = {"every_steps": every, "micro_batch_size": 16, "max_sequences": 300}
    return settings


def train(program, settings, run):
    run.parent.mkdir(parents=True, exist_ok=True)
    config = run.parent / f"{run.name}.json"
    config.write_text(json.dumps(settings, indent=1))
    log = (run.parent / f"{run.name}.log").open("a")
    subprocess.run([program, "train", str(config), "--output", str(run)], check=True, stderr=log, stdout=log)
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def seconds_per_step(program, sides, folder, length):
    """Both sides in turns. Returns {side: the median of its fastest turn}: other work on the machine only makes turns slower."""
    file = folder / "seconds_per_step.json"
    if not file.exists():
        rounds = {side: [] for side in sides}
        for turn in range(TURNS):
            for side, settings in sides.items():
                steps = experiment(settings(1e-4), folder, length, STEPS_OF_TURN)
                steps["evaluation"]["every_steps"] = 0
                lines = train(program, steps, folder / f"turn_{turn}" / side)
                rounds[side].append(statistics.median(line["step_seconds"] for line in lines[WARM_UP:]))
                print(f"turn {turn + 1}: {side} {rounds[side][-1]:.3f} s per step", flush=True)
        file.write_text(json.dumps({side: min(seconds) for side, seconds in rounds.items()}))
    return json.loads(file.read_text())


def main(folder, programs, minutes, length, rates):
    folder, program, minutes, length = Path(folder), f"{programs}/bertpretrain", float(minutes), int(length)
    sides = {"ModernBERT": modernbert, "BERT": bert}
    seconds = seconds_per_step(program, sides, folder, length)
    lines = {}
    for (side, settings), rate in zip(sides.items(), map(float, rates.split(","))):
        steps = int(minutes * 60 / seconds[side])
        run = folder / f"{side}-{minutes:g}min-{rate:g}"
        metrics = train(program, experiment(settings(rate), folder, length, steps), run)
        lines[side] = [[line["step"] * seconds[side] / 60, line["held_out_mlm_loss"]] for line in metrics if "held_out_mlm_loss" in line]
        parameters = next(line for line in (run / "log.txt").read_text().splitlines() if "parameters  " in line).split()[-1]
        print(f"{side}: {parameters} parameters, largest rate {rate:g}, {seconds[side]:.3f} s per step, {steps} steps, "
              f"{steps * SEQUENCES * length / 1e6:.2f} million places", flush=True)
    print(f"{'minutes':>8}  " + "  ".join(f"{side:>10}" for side in sides))
    for ours, theirs in zip(lines["ModernBERT"], lines["BERT"]):
        print(f"{ours[0]:8.2f}  {ours[1]:10.4f}  {theirs[1]:10.4f}   (BERT at {theirs[0]:.2f})")
    unigram = json.loads((folder / "shards/manifest.json").read_text())["unigram_cross_entropy"]
    chart = {"title": "Held-out loss on the same masked words (15 %)", "x": "minutes of training", "y": "nats per masked word",
             "lines": lines, "levels": {"guessing by frequency": unigram}}
    drawn = subprocess.run([f"{programs}/draw_curves"], input=json.dumps(chart), capture_output=True, text=True, check=True)
    (folder / "architectures.svg").write_text(drawn.stdout)
    print(f"picture: {folder / 'architectures.svg'}")


if __name__ == "__main__":
    main(*sys.argv[1:6])
