"""The peer of training_step.py: Hugging Face's BertForPreTraining in PyTorch as its users write it; one optimizer step per micro-batch.

Prints a JSON line with the seconds of each step and the peak memory. Arguments: size micro_batch steps threads padding
eager|compile|fp32. `eager` and `compile` (torch.compile) use bf16 autocast.
"""
import json
import resource
import sys
import time

import torch

from hf_model import batch_of, model_of
from training_step import WARM_UP

size, micro_batch, steps, threads, padding, way = sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5]), sys.argv[6]
torch.set_num_threads(threads)
model = model_of(size)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
batch = batch_of(micro_batch, padding)
forward = torch.compile(model) if way == "compile" else model


def step() -> float:
    start = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=way != "fp32"):
        loss = forward(**batch).loss
    loss.backward()
    optimizer.step()
    loss.item()
    return time.perf_counter() - start


for _ in range(WARM_UP):
    step()
seconds = [step() for _ in range(steps)]
print(json.dumps({"seconds": seconds, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
