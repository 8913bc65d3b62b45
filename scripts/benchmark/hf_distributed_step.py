"""The peer of scaling.py: Hugging Face's BertForPreTraining under DistributedDataParallel and ZeroRedundancyOptimizer (AdamW), with
no_sync() for all micro-batches but the last. Each process is one rank; rank 0 prints a JSON line with the seconds of each step.
Started by torchrun. Arguments: size micro_batch accumulation steps threads
"""
import contextlib
import json
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

from hf_model import batch_of, model_of
from training_step import WARM_UP

size, micro_batch, accumulation, steps, threads = sys.argv[1], *map(int, sys.argv[2:6])
torch.set_num_threads(threads)
dist.init_process_group("gloo")
model = DistributedDataParallel(model_of(size), gradient_as_bucket_view=True)
optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-4, fused=True)
batch = batch_of(micro_batch, 0.0)


def step() -> float:
    start = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    for index in range(accumulation):
        last = index + 1 == accumulation
        with contextlib.nullcontext() if last else model.no_sync(), torch.autocast("cpu", dtype=torch.bfloat16):
            (model(**batch).loss / accumulation).backward()
    optimizer.step()
    return time.perf_counter() - start


for _ in range(WARM_UP):
    step()
seconds = [step() for _ in range(steps)]
if dist.get_rank() == 0:
    print(json.dumps({"seconds": seconds}))
dist.destroy_process_group()
