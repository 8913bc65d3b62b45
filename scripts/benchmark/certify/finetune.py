"""Part 3: two models that were pretrained on the same samples, by us in bf16 and by plain PyTorch in fp32 (learning.sh), and one that was
never pretrained, are fine-tuned by the same script on four labelled sets, with the same seeds."""

import json
import math
import statistics
import sys
from pathlib import Path

import torch
from transformers import BertConfig, BertForPreTraining, BertForSequenceClassification, BertTokenizer, logging

from labelled_sets import write_sets
from lines import line
from programs import bertpretrain, run

logging.set_verbosity_error()
logging.disable_progress_bar()
# Student's t at 97.5 %, by degrees of freedom
T_QUANTILE = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
POOLED_BOUND, SET_BOUND = 0.5, 1.5  # points
STEPS, EPOCHS, TRAINING, TESTS = 1500, 3, 2000, 1000  # without --quick: pretraining steps, epochs, examples per set
SIDES = ("ours", "PyTorch", "not pretrained")


def pretrained(options, steps):
    """Returns {side: a folder for from_pretrained}, after pretraining what is missing."""
    learning, folders = options.output / "learning", {}
    if not (learning / f"theirs-{steps}/metrics.jsonl").exists() or not list((learning / f"ours-{steps}/checkpoints").glob("step_*")):
        # Its goals are those of a full-length run: this part only needs the models.
        run("bash", "-c", f'scripts/benchmark/learning.sh --steps {steps} --output "$0" >&2 || [[ $? == 1 ]]', learning)
    for side in SIDES:
        folders[side] = options.output / f"pretrained-{steps}" / side.replace(" ", "_")
    if not folders["ours"].exists():
        folders["ours"].parent.mkdir(parents=True, exist_ok=True)
        bertpretrain("export", learning / f"ours-{steps}", "--format", "hf", "--output", folders["ours"])
    config = BertConfig.from_pretrained(folders["ours"])
    theirs = BertForPreTraining(config)
    theirs.load_state_dict(torch.load(learning / f"theirs-{steps}/state.pt", weights_only=True)["model"])
    theirs.save_pretrained(folders["PyTorch"])
    torch.manual_seed(0)
    BertForPreTraining(config).save_pretrained(folders["not pretrained"])
    return folders


def chosen_rows(file, training, tests):
    """Returns [(class, text)] of the training and the test examples, the first of the file after a fixed shuffle, the number of classes, and
    the share of the most frequent class of the test examples in percent."""
    rows = [text.split("\t", 1) for text in file.read_text(encoding="utf-8").splitlines()]
    labels = sorted({label for label, _ in rows})
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(1)).tolist()
    chosen = [(labels.index(rows[i][0]), rows[i][1]) for i in order[:training + tests]]
    classes = [one for one, _ in chosen[training:]]
    share = classes.count(statistics.mode(classes)) / max(1, len(classes))
    return chosen, len(labels), 100 * share


def examples_of(file, tokenizer, training, tests, length):
    """Returns chosen_rows() with token ids in place of texts, as [(token ids, class)]."""
    rows, classes, share = chosen_rows(file, training, tests)
    return [(tokenizer(text, truncation=True, max_length=length)["input_ids"], one) for one, text in rows], classes, share


def batch_of(examples):
    longest = max(len(ids) for ids, _ in examples)
    padded = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in examples])
    mask = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in examples])
    return {"input_ids": padded, "attention_mask": mask, "labels": torch.tensor([one for _, one in examples])}


def fine_tuned_accuracy(folder, examples, training, classes, seed, epochs):
    """Fine-tunes with AdamW and a linear schedule. The seed decides the new head, the order and dropout. @returns percent"""
    torch.manual_seed(seed)
    model = BertForSequenceClassification.from_pretrained(folder, num_labels=classes)
    size, rate = 16, 3e-4
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    steps = epochs * math.ceil(training / size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / (0.1 * steps)) * (1 - step / steps))
    model.train()
    for _ in range(epochs):
        order = torch.randperm(training, generator=torch.Generator().manual_seed(seed)).tolist()
        for first in range(0, training, size):
            model(**batch_of([examples[i] for i in order[first:first + size]])).loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    model.eval()
    right = 0
    with torch.no_grad():
        for first in range(training, len(examples), 64):
            batch = batch_of(examples[first:first + 64])
            right += int((model(**batch).logits.argmax(1) == batch["labels"]).sum())
    return 100 * right / (len(examples) - training)


def interval(values):
    """The mean with the half-width of its 95 % confidence interval."""
    half = T_QUANTILE[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return statistics.mean(values), half


def within(values, bound, what):
    mean, half = interval(values)
    return line(what, f"{mean:+.2f} ({mean - half:+.2f} to {mean + half:+.2f}) points", f"interval within +-{bound}",
                abs(mean) + half <= bound)


def lines_of_scores(scores, seeds, majority):
    """@param scores {(set, side, seed): percent}"""
    names, lines = list(majority), []
    of = {(name, side): [scores[name, side, seed] for seed in seeds] for name in names for side in SIDES}
    pairs = {name: [a - b for a, b in zip(of[name, "ours"], of[name, "PyTorch"])] for name in names}
    pooled = [statistics.mean(pairs[name][i] for name in names) for i in range(len(seeds))]
    lines.append(within(pooled, POOLED_BOUND, f"ours - PyTorch, mean of {len(names)} sets, {len(seeds)} paired seeds"))
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
    steps, epochs, training, tests = (100, 1, 64, 64) if options.quick else (STEPS, EPOCHS, TRAINING, TESTS)
    seeds, length = range(2) if options.quick else range(10), 32 if options.quick else 64
    folders, sets = pretrained(options, steps), write_sets(options.output / "sets")
    tokenizer = BertTokenizer(vocab=str(folders["ours"] / "vocab.txt"), do_lower_case=True)
    done_file = options.output / f"finetune-{'quick' if options.quick else 'whole'}.jsonl"
    done = [json.loads(text) for text in done_file.read_text().splitlines()] if done_file.exists() else []
    scores = {(one["set"], one["side"], one["seed"]): one["accuracy"] for one in done}
    majority = {}
    with done_file.open("a") as log:
        for name, file in sets.items():
            examples, classes, majority[name] = examples_of(Path(file), tokenizer, training, tests, length)
            for seed in seeds:
                for side in SIDES:
                    if (name, side, seed) in scores:
                        continue
                    accuracy = fine_tuned_accuracy(folders[side], examples, training, classes, seed, epochs)
                    scores[name, side, seed] = accuracy
                    log.write(json.dumps({"set": name, "side": side, "seed": seed, "accuracy": accuracy}) + "\n")
                    log.flush()
                    print(f"certify: {name}, seed {seed}, {side}: {accuracy:.2f} %", file=sys.stderr)
    return lines_of_scores(scores, seeds, majority)
