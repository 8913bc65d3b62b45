"""The peer of step.py: Hugging Face's BertForPreTraining or ModernBertForMaskedLM in PyTorch as its users write it, AdamW. Started by torchrun, each process is a
rank, with DistributedDataParallel, ZeroRedundancyOptimizer, and no_sync() for all micro-batches but the last.

Prints a JSON line with the seconds of each step and the peak memory. Arguments: size micro_batch accumulation steps threads places
padding fp32|bf16 eager|compile. bf16 is autocast, compile is torch.compile.
"""
import contextlib
import json
import os
import resource
import sys
import time

import torch
import torch.distributed as dist

from hf_model import batch_of, model_of
from training_runs import WARM_UP

size, (micro_batch, accumulation, steps, threads, places) = sys.argv[1], map(int, sys.argv[2:7])
padding, (precision, way) = float(sys.argv[7]), sys.argv[8:10]
torch.set_num_threads(threads)
forward = model = model_of(size)
several = int(os.environ.get("WORLD_SIZE", "1")) > 1
if several:
    from torch.distributed.optim import ZeroRedundancyOptimizer
    from torch.nn.parallel import DistributedDataParallel
    dist.init_process_group("gloo")
    forward = model = DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-4, fused=True)
else:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
if way == "compile":
    forward = torch.compile(model)
batch = batch_of(size, micro_batch, padding, places)


def step() -> float:
    start = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    for index in range(accumulation):
        with model.no_sync() if several and index + 1 < accumulation else contextlib.nullcontext():
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
                loss = forward(**batch).loss / accumulation
            loss.backward()
    optimizer.step()
    loss.item()
    return time.perf_counter() - start


for _ in range(WARM_UP):
    step()
seconds = [step() for _ in range(steps)]
if not several or dist.get_rank() == 0:
    print(json.dumps({"seconds": seconds, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
if several:
    dist.destroy_process_group()
