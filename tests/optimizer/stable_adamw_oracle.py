"""Prints the numbers of stable_adamw_test.cpp: 20 steps of torch-optimi's StableAdamW (pip install torch-optimi==0.3.3, and torch).

The weights, gradients and rates are closed formulas, which the test repeats. Gradients grow 30-fold in steps 7 and 13, so that the
root mean square of the update exceeds 1 there. Each line has ten weights of one tensor after the last step.
"""

import math

import torch
from optimi import StableAdamW

PEAK, STEPS = 8e-4, 20
TENSORS = ((5000, True), (700, False))  # elements, whether it decays; the first has more than one block


def rate(step):
    return PEAK * min(1, step / 5, (STEPS + 1 - step) / 8)


parameters = [torch.nn.Parameter(torch.tensor([0.02 * math.sin(i + 1) for i in range(elements)])) for elements, _ in TENSORS]
groups = [{"params": [p], "weight_decay": 0.1 * decays} for p, (_, decays) in zip(parameters, TENSORS)]
optimizer = StableAdamW(groups, lr=PEAK, betas=(0.9, 0.98), eps=1e-6, decouple_lr=True, max_lr=PEAK, foreach=False, triton=False)
for step in range(1, STEPS + 1):
    for parameter in parameters:
        large = 30 if step in (7, 13) else 1
        parameter.grad = torch.tensor([large * 1e-3 * math.cos(i * step) for i in range(parameter.numel())])
    for group in optimizer.param_groups:
        group["lr"] = rate(step)
    optimizer.step()
for parameter in parameters:
    weights = parameter.detach()
    print(", ".join(f"{float(weight):.9g}" for weight in weights[:: len(weights) // 10]))
