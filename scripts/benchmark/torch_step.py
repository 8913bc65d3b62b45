"""PyTorch's sides of device_step.py: optimizer steps of bf16 autocast and fused AdamW, gradients of several micro-batches added up.

Prints a JSON line. Arguments, as JSON: {"way": hf | hf-compile | strongest | roof, "size", "device", "micro_batch", "accumulation",
"steps", "padding", "places", "choice": a file that keeps strongest's micro-batch from one process to the next}.
roof: the FLOP/s of a product of 8,192 x 8,192 matrices in bf16. strongest: in passes of as many sequences as are fastest.
"""
import json
import pathlib
import statistics
import sys
import time

import torch

from hf_model import batch_of, model_of
from strongest_bert import StrongestBert, batch_of_rows
from training_step import SIZES, WARM_UP, sample_rows


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


class Side:
    """One way to train, in passes of `micro_batch` sequences, `passes` of them a step."""

    def __init__(self, task, micro_batch, passes):
        device, what = task["device"], (task["padding"], task["places"])
        if task["way"] == "strongest":
            torch.manual_seed(0)
            self.model = StrongestBert(*SIZES[task["size"]], 30528, max(512, task["places"])).to(device)
            self.inputs = {"batch": batch_of_rows(sample_rows(micro_batch, *what), device)}
        else:
            self.model = model_of(task["size"]).to(device)
            self.inputs = {name: values.to(device) for name, values in batch_of(micro_batch, *what).items()}
        self.forward = self.model if task["way"] == "hf" else torch.compile(self.model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)
        self.device, self.passes = device, passes

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
    """Of those that cut a step's sequences evenly; what does not fit ends the search."""
    choice = pathlib.Path(task["choice"])
    if choice.exists():
        return json.loads(choice.read_text())
    sequences, rates = task["micro_batch"] * task["accumulation"], {}
    for passes in (passes for passes in range(task["accumulation"], 0, -1) if task["accumulation"] % passes == 0):
        torch.compiler.reset()
        try:
            rates[sequences // passes] = sequences / statistics.median(Side(task, sequences // passes, passes).seconds(2))
        except torch.OutOfMemoryError:
            break
        finally:
            torch.cuda.empty_cache()
    print(f"strongest: sequences/s by micro-batch: {rates}", file=sys.stderr)
    choice.write_text(json.dumps(max(rates, key=rates.get)))
    return max(rates, key=rates.get)


def main(task):
    torch.set_float32_matmul_precision("high")
    if task["way"] == "roof":
        return {"flops_per_second": roof(task["device"])}
    sequences = task["micro_batch"] * task["accumulation"]
    micro_batch = fastest_micro_batch(task) if task["way"] == "strongest" else task["micro_batch"]
    torch.compiler.reset()
    if task["device"] == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds = Side(task, micro_batch, sequences // micro_batch).seconds(task["steps"])
    peak = torch.cuda.max_memory_reserved() if task["device"] == "cuda" else 0
    return {"seconds": seconds, "device_bytes": peak, "micro_batch": micro_batch}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
