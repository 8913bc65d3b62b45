"""Part 4: the optimizers beside float64 oracles written from the papers, and beside published code where a tester provides it.

REFERENCE_FOLDER names a folder with lamb.py, lans.py or both, anywhere below it. Each defines a torch optimizer whose class name contains
the file's (in any case), and which runs on a CPU and needs no other file. It takes lr, betas, eps and weight_decay, and no decay for a group
whose weight_decay is 0. If it takes bias_correction and grad_averaging, it gets True; if it takes max_grad_norm, both sides clip at 1,
otherwise neither does. Such files are, for example, timm 0.6.13's timm/optim/lamb.py and Habana's lans.py.
StableAdamW is compared with torch-optimi where that is installed (pip install torch-optimi==0.3.3).
"""

import importlib.util
import inspect
import json
import os
import subprocess
from pathlib import Path

import torch

from lines import at_most, line, not_run
from programs import PROGRAMS, PROJECT, run

STEPS, RATE, BETAS, EPS, DECAY, CLIP, BOUND = 20, 0.01, (0.9, 0.999), 1e-6, 0.01, 1.0, 1e-5
# name, elements, whether it decays, scale of its weights, scale of its gradients
TENSORS = (("embedding", 9000, True, 0.5, 0.2), ("square", 4096, True, 0.05, 0.02), ("bias", 300, False, 0.1, 0.1),
           ("zero weights", 65, True, 0.0, 0.1), ("no gradient", 33, True, 0.2, 0.0), ("one element", 1, False, 1.0, 0.3))


def oracle_line():
    program = PROGRAMS / "test_optimizer"
    if not program.exists():
        return not_run("AdamW, LAMB, LANS and StableAdamW beside float64 oracles", f"{program} is missing: scripts/build.sh release test_optimizer")
    done = subprocess.run([program], stdout=subprocess.PIPE, text=True, cwd=PROJECT)
    last = [text for text in done.stdout.splitlines() if text.strip()][-1]
    return line("AdamW, LAMB, LANS and StableAdamW beside float64 oracles, AdamW beside PyTorch's (test_optimizer)", last, "all pass", done.returncode == 0)


def optimizer_class(file):
    """The class of the file that is an optimizer of its name. @throws LookupError if there is none"""
    spec = importlib.util.spec_from_file_location(f"reference_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in vars(module).items():
        if inspect.isclass(value) and issubclass(value, torch.optim.Optimizer) and file.stem in name.lower():
            return value
    raise LookupError(f"{file} defines no torch optimizer whose name contains \"{file.stem}\"")


def problem():
    """Returns the weights per tensor, and the gradients per step and tensor. Gradients shrink, so that only the first are clipped."""
    chance = torch.Generator().manual_seed(25)
    weights = [scale * torch.randn(elements, generator=chance) for _, elements, _, scale, _ in TENSORS]
    gradients = [[scale * torch.randn(elements, generator=chance) / step for _, elements, _, _, scale in TENSORS]
                 for step in range(1, STEPS + 1)]
    return weights, gradients


def their_weights(made, options, weights, gradients):
    """@param made the optimizer's class"""
    parameters = [torch.nn.Parameter(one.clone()) for one in weights]
    groups = [{"params": [p for p, tensor in zip(parameters, TENSORS) if tensor[2] == decays], "weight_decay": DECAY * decays}
              for decays in (True, False)]
    optimizer = made(groups, lr=RATE, betas=BETAS, eps=EPS, **options)
    for of_step in gradients:
        for parameter, gradient in zip(parameters, of_step):
            parameter.grad = gradient.clone()
        optimizer.step()
    return [parameter.detach() for parameter in parameters]


def our_weights(name, clip, weights, gradients):
    settings = {"name": name, "learning_rate": RATE, "betas": BETAS, "eps": EPS, "weight_decay": DECAY, "max_grad_norm": clip}
    request = {"optimizer": settings, "gradients": [[one.tolist() for one in of_step] for of_step in gradients],
               "tensors": [{"name": tensor[0], "decays": tensor[2], "weights": one.tolist()} for tensor, one in zip(TENSORS, weights)]}
    return [torch.tensor(one) for one in json.loads(run(PROGRAMS / "run_optimizer", input=json.dumps(request)))]


def reference_line(name, folder):
    file = next(iter(sorted(folder.rglob(f"{name}.py"))), None)
    if file is None:
        return not_run(f"{name} beside published code", f"REFERENCE_FOLDER holds no {name}.py")
    made = optimizer_class(file)
    known = inspect.signature(made).parameters
    clip = CLIP if "max_grad_norm" in known else 0.0
    options = {key: value for key, value in (("bias_correction", True), ("grad_averaging", True), ("max_grad_norm", clip)) if key in known}
    return compared(name, made, options, f"{made.__name__} of {file.name}", clip, BOUND)


def stable_adamw_line():
    try:
        from optimi import StableAdamW
    except ImportError:
        return not_run("stable_adamw beside torch-optimi's StableAdamW", "torch-optimi is not installed")
    options = {"decouple_lr": True, "max_lr": RATE, "foreach": False, "triton": False}
    return compared("stable_adamw", StableAdamW, options, "torch-optimi's StableAdamW", 0.0, 1e-6)


def compared(name, made, options, their_name, clip, bound):
    """@param made their optimizer's class, with options besides rate, betas, eps and weight decay"""
    weights, gradients = problem()
    ours, theirs = our_weights(name, clip, weights, gradients), their_weights(made, options, weights, gradients)
    apart = [float((a - b).abs().max() / max(b.abs().max(), 1e-30)) for a, b in zip(ours, theirs)]
    worst = max(range(len(apart)), key=apart.__getitem__)
    passed = [f"{key}={value:g}" for key, value in options.items()]
    return at_most(f"{name} beside {their_name} ({', '.join(passed) or 'no options'}), {STEPS} steps: largest difference "
                   f"relative to its tensor's largest weight, in \"{TENSORS[worst][0]}\"", apart[worst], bound)


def lines_of_part(options):
    del options
    folder = os.environ.get("REFERENCE_FOLDER")
    if not folder:
        return [oracle_line(), stable_adamw_line(), not_run("lamb and lans beside published code", "REFERENCE_FOLDER is not set")]
    return [oracle_line(), stable_adamw_line(), *(reference_line(name, Path(folder)) for name in ("lamb", "lans"))]
