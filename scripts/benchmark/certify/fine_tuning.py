"""Fine-tunes pretrained models on labelled sets with Hugging Face's BertForSequenceClassification, in as many processes as there are cores."""

import json
import math
import os
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from threading import Thread

import torch
from transformers import BertForSequenceClassification, BertTokenizer, logging


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


def examples_of(file, tokenizer, recipe):
    """Returns chosen_rows() with token ids in place of texts, as [(token ids, class)]."""
    rows, classes, share = chosen_rows(file, recipe["training"], recipe["tests"])
    ids = [tokenizer(text, truncation=True, max_length=recipe["length"])["input_ids"] for _, text in rows]
    return [(one_ids, one) for one_ids, (one, _) in zip(ids, rows)], classes, share


def batch_of(examples):
    longest = max(len(ids) for ids, _ in examples)
    padded = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in examples])
    mask = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in examples])
    return {"input_ids": padded, "attention_mask": mask, "labels": torch.tensor([one for _, one in examples])}


def output_of(model, batch, recipe):
    """The model's output, in bf16 by autocast or in fp32."""
    with torch.autocast("cpu", torch.bfloat16, enabled=recipe["precision"] == "bf16"):
        return model(**batch)


@torch.no_grad()
def accuracy_of(model, examples, recipe):
    """@returns percent"""
    model.eval()
    right = 0
    examples = sorted(examples, key=lambda example: len(example[0]))  # less padding
    for first in range(0, len(examples), 64):
        batch = batch_of(examples[first:first + 64])
        right += int((output_of(model, batch, recipe).logits.argmax(1) == batch["labels"]).sum())
    return 100 * right / len(examples)


def fine_tuned_accuracy(folder, examples, classes, seed, recipe):
    """Fine-tunes with AdamW and a linear schedule. The seed decides the new head, the order and dropout. @returns percent"""
    torch.manual_seed(seed)
    model = BertForSequenceClassification.from_pretrained(
        folder, num_labels=classes, hidden_dropout_prob=recipe["dropout"], attention_probs_dropout_prob=recipe["dropout"])
    size, training = recipe["batch"], recipe["training"]
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe["rate"], weight_decay=0.01, fused=True)
    steps = recipe["epochs"] * math.ceil(training / size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / (0.1 * steps)) * (1 - step / steps))
    model.train()
    chance = torch.Generator().manual_seed(seed)
    for _ in range(recipe["epochs"]):
        order = torch.randperm(training, generator=chance).tolist()
        for first in range(0, training, size):
            output_of(model, batch_of([examples[i] for i in order[first:first + size]]), recipe).loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    return accuracy_of(model, examples[training:], recipe)


def end_with_parent():
    """Ends this worker when the program that started it ends. Without it, workers of a killed program would wait forever."""
    parent_process().join()
    os._exit(1)


def start_worker():
    Thread(target=end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def one_accuracy(task, end):
    """Runs one fine-tuning in a worker. @param task {"set", "side", "seed", "recipe", "folder", "vocabulary", "file"} @returns percent, or None
    if the time `end` has passed"""
    if time.monotonic() > end:
        return None
    tokenizer, recipe = BertTokenizer(vocab=str(task["vocabulary"]), do_lower_case=True), task["recipe"]["fine_tuning"]
    examples, classes, _ = examples_of(task["file"], tokenizer, recipe)
    return fine_tuned_accuracy(task["folder"], examples, classes, task["seed"], recipe)


def kept_scores(file, recipe_of_seed):
    """Returns {(set, side, seed): percent} of the file's lines that were measured with the seed's recipe."""
    lines = [json.loads(text) for text in file.read_text().splitlines()] if file.exists() else []
    return {(one["set"], one["side"], one["seed"]): one["accuracy"] for one in lines if one["recipe"] == recipe_of_seed(one["seed"])}


def all_scores(tasks, done_file, recipe_of_seed, end):
    """Runs the tasks whose result the file lacks, in order, and appends each result to it at once. Begins no task after the time `end` of
    time.monotonic(). @returns {(set, side, seed): percent}"""
    scores = kept_scores(done_file, recipe_of_seed)
    todo = [task for task in tasks if (task["set"], task["side"], task["seed"]) not in scores]
    with done_file.open("a") as log, ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), start_worker) as pool:
        running = {pool.submit(one_accuracy, task, end): task for task in todo}
        for number, done in enumerate(as_completed(running), 1):
            task, accuracy = running[done], done.result()
            if accuracy is None:
                continue
            line = {name: task[name] for name in ("set", "side", "seed", "recipe")} | {"accuracy": accuracy}
            scores[task["set"], task["side"], task["seed"]] = accuracy
            log.write(json.dumps(line) + "\n")
            log.flush()
            print(f"certify: {number} of {len(todo)}: {task['set']}, seed {task['seed']}, {task['side']}: {accuracy:.2f} %", file=sys.stderr)
    return scores
