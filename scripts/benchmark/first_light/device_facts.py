"""Prints facts about a device and its rates of matmul and copying, as one JSON object.  Usage: device_facts.py cuda|cpu"""
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import time

import torch

QUERIES = ("driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem", "power.limit", "temperature.gpu", "ecc.mode.current",
           "mig.mode.current")


def ask_driver():
    """Returns {query: value} of the first GPU from nvidia-smi; {} without nvidia-smi."""
    if not shutil.which("nvidia-smi"):
        return {}
    result = subprocess.run(["nvidia-smi", f"--query-gpu={','.join(QUERIES)}", "--format=csv,noheader"], capture_output=True, text=True)
    return dict(zip(QUERIES, map(str.strip, result.stdout.splitlines()[0].split(",")))) if result.returncode == 0 else {}


def median_seconds(call, device, rounds):
    """Returns the median seconds of one call. On a GPU each round queues ten calls and divides their time by ten."""
    repetitions = 10 if device == "cuda" else 1
    seconds = []
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        for _ in range(repetitions):
            call()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds.append((time.perf_counter() - begin) / repetitions)
    return statistics.median(seconds[1:])


def rates(device):
    side, elements = (8192, 2**29) if device == "cuda" else (1024, 2**25)
    a, b = (torch.randn(side, side, device=device, dtype=torch.bfloat16) for _ in range(2))
    product = torch.empty_like(a)
    gemm = 2 * side**3 / median_seconds(lambda: torch.matmul(a, b, out=product), device, 7)
    during_gemm = {}
    if device == "cuda":
        for _ in range(1500):  # about two seconds of work on the device, during which the driver is queried
            torch.matmul(a, b, out=product)
        during_gemm = ask_driver()
        torch.cuda.synchronize()
    source = torch.randn(elements, device=device, dtype=torch.bfloat16)
    target = torch.empty_like(source)
    copy = 2 * source.nbytes / median_seconds(lambda: target.copy_(source), device, 7)
    return {"gemm_side": side, "gemm_flops_per_second": gemm, "copy_bytes_per_second": copy, "during_gemm": during_gemm}


def facts(device):
    cores = len(os.sched_getaffinity(0))
    known = {"torch": torch.__version__, "torch_folder": str(pathlib.Path(torch.__file__).parent), "torch_cuda": torch.version.cuda,
             "python": platform.python_version(), "glibc": " ".join(platform.libc_ver()), "cpu_cores": cores}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            known["name"] = known["cpu"] = line.split(":", 1)[1].strip()
            break
    if device == "cuda":
        properties = torch.cuda.get_device_properties(0)
        known |= {"name": properties.name, "memory_bytes": properties.total_memory, "multiprocessors": properties.multi_processor_count,
                  "compute_capability": f"{properties.major}.{properties.minor}", "driver": ask_driver(),
                  "cudnn": torch.backends.cudnn.version()}
    for module in ("transformers", "numpy", "h5py"):
        try:
            from importlib.metadata import version
            known[module] = version(module)
        except Exception:
            known[module] = None
    return known


if __name__ == "__main__":
    print(json.dumps({**facts(sys.argv[1]), **rates(sys.argv[1])}))
