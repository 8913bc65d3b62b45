"""The peer: Hugging Face's BertForPreTraining in PyTorch as its users write it; one optimizer step per micro-batch.

Prints a JSON line with the seconds of each step and the peak memory. Arguments: size micro_batch steps threads padding
"""
import json
import resource
import sys
import time

import torch

from hf_model import batch_of, model_of
from training_step import WARM_UP

size, micro_batch, steps, threads, padding = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
torch.set_num_threads(threads)
model = model_of(size)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
batch = batch_of(micro_batch, padding)


def step() -> float:
    start = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    loss.item()
    return time.perf_counter() - start


for _ in range(WARM_UP):
    step()
seconds = [step() for _ in range(steps)]
print(json.dumps({"seconds": seconds, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
