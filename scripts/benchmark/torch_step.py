"""PyTorch's sides of device_step.py: optimizer steps with bf16 autocast, fused AdamW and gradient accumulation.

Reads tasks from standard input, one JSON object per line, and answers each with one line, in order: its result, or {"error": text}.
    {"way": "check", "size", "device"}
                                       {"difference": of strongest from Hugging Face's model, of a ModernBERT also of hf-flash; null without
                                        transformers; "kernel_difference": of ModernBERT's attention on the GPU from the CPU's, else null}
    {"way": "roof", "device"}          {"flops_per_second": of a matmul of 8,192 x 8,192 matrices in bf16 (1,024 x 1,024 on a CPU)}
    {"way": hf | hf-compile | hf-flash | hf-flash-compile | strongest, "side": a name, "size", "device", "micro_batch", "accumulation",
     "steps", "padding", "places", "compile": whole | layers, "micro_batches": those to try, or null}
                                       {"seconds": of each step, "device_bytes", "micro_batch"}
A side's model is kept in host memory for its next task, so that the device is free in between and nothing is compiled twice.
strongest uses the fastest number of sequences per pass among `micro_batches`; null tries all that divide a step evenly.
"""
import gc
import importlib
import importlib.util
import json
import os
import statistics
import sys
import time
import traceback

import torch

from training_runs import MODERN_SIZES, WARM_UP, masked_positions, sample_rows


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def seconds_of(call, device):
    wait(device)
    start = time.perf_counter()
    call()
    wait(device)
    return time.perf_counter() - start


def roof(device):
    side = 8192 if device == "cuda" else 1024
    a, b = (torch.randn(side, side, device=device, dtype=torch.bfloat16) for _ in range(2))
    for _ in range(3):
        a @ b
    return 2 * side**3 / statistics.median(seconds_of(lambda: a @ b, device) for _ in range(20))


def free(device):
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()


def strongest_of(size):
    """Returns the module of the strongest PyTorch step for a size."""
    return importlib.import_module("strongest_modernbert" if size in MODERN_SIZES else "strongest_bert")


class Side:
    """One implementation that trains in passes of `micro_batch` sequences."""

    def __init__(self, task, micro_batch):
        self.device, self.micro_batch = task["device"], micro_batch
        self.passes = task["micro_batch"] * task["accumulation"] // micro_batch
        what = (task["padding"], task["places"])
        if task["way"] == "strongest":
            strongest = strongest_of(task["size"])
            torch.manual_seed(0)
            with torch.device(self.device):  # initializing the weights is fast there
                self.model = strongest.model_of(task["size"], task["places"])
            rows = sample_rows(micro_batch, *what, predictions=masked_positions(task["size"], task["places"]))
            self.inputs, parts = {"batch": strongest.batch_of_rows(rows, self.device)}, self.model.compiled_parts()
        else:
            from hf_model import RAGGED, batch_of, model_of
            with torch.device(self.device):
                self.model = model_of(task["size"], RAGGED if "flash" in task["way"] else "sdpa")
            self.inputs = {name: values.to(self.device) for name, values in batch_of(task["size"], micro_batch, *what).items()}
            parts = self.model.model.layers if task["size"] in MODERN_SIZES else self.model.bert.encoder.layer
        self.forward = self.model
        compiles = task["way"] == "strongest" or "compile" in task["way"]
        if compiles and task["compile"] == "whole":
            self.forward = torch.compile(self.model, dynamic=False)  # a side has one shape
        elif compiles:
            for part in parts:  # the layers share their compilations
                part.compile(dynamic=False)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)

    def move(self, device):
        """Moves weights and optimizer state. A compiled model that returns to its device is not compiled again."""
        self.optimizer.zero_grad(set_to_none=True)
        self.model.to(device)
        for state in self.optimizer.state.values():
            state.update({name: values.to(device) for name, values in state.items() if torch.is_tensor(values)})

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        for _ in range(self.passes):
            with torch.autocast(self.device, dtype=torch.bfloat16):
                result = self.forward(**self.inputs)
            loss = result if torch.is_tensor(result) else result.loss
            (loss / self.passes).backward()
        self.optimizer.step()
        loss.item()

    def seconds(self, steps):
        for _ in range(WARM_UP):
            self.step()
        return [seconds_of(self.step, self.device) for _ in range(steps)]


def fastest_micro_batch(task):
    """Returns the fastest of the candidates. The first one that does not fit into memory ends the search."""
    sequences, rates = task["micro_batch"] * task["accumulation"], {}
    candidates = task["micro_batches"] or [sequences // passes for passes in range(task["accumulation"], 0, -1)
                                           if task["accumulation"] % passes == 0]
    if len(candidates) == 1:
        return candidates[0]
    for micro_batch in candidates:
        torch.compiler.reset()
        try:
            rates[micro_batch] = sequences / statistics.median(Side(task, micro_batch).seconds(2))
        except torch.OutOfMemoryError:
            break
        finally:
            free(task["device"])
    print(f"{task['side']}: sequences/s by micro-batch: {rates}", file=sys.stderr, flush=True)
    return max(rates, key=rates.get)


def time_side(task, sides):
    """Times the side of a task. `sides` maps names to the sides of earlier tasks."""
    device, side = task["device"], sides.pop(task["side"], None)
    if side is None:
        side = Side(task, fastest_micro_batch(task) if task["way"] == "strongest" else task["micro_batch"])
    else:
        side.move(device)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds = side.seconds(task["steps"])
    peak = torch.cuda.max_memory_reserved() if device == "cuda" else 0
    side.move("cpu")
    sides[task["side"]] = side
    return {"seconds": seconds, "device_bytes": peak, "micro_batch": side.micro_batch}


def answer(task, sides):
    if task["way"] == "roof":
        return {"flops_per_second": roof(task["device"])}
    if task["way"] == "check":
        strongest, has_kernels = strongest_of(task["size"]), task["size"] in MODERN_SIZES and task["device"] == "cuda"
        return {"difference": strongest.agrees_with_hf() if importlib.util.find_spec("transformers") else None,
                "kernel_difference": strongest.kernel_difference(task["device"]) if has_kernels else None}
    return time_side(task, sides)


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print to standard output, too
    torch.set_float32_matmul_precision("high")
    sides = {}
    for line in sys.stdin:
        task = json.loads(line)
        try:
            result = answer(task, sides)
        except Exception as error:
            traceback.print_exc()
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), file=answers, flush=True)
        free(task.get("device"))


if __name__ == "__main__":
    main()
