"""Runs the stages of first_light.sh one after another, each within its own time limit and the total."""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import time
import traceback

from programs import program, program_environment

from . import attention, device, gemms, gpu_tests, learning, nccl, passes, proof, ranks, roofline, sanitizer, step
from .results import read, write
from .stage import FAILED, PASSED, TIMED_OUT, UNAVAILABLE, Result, Stage

STAGES = {  # name: (title, function, limit as a share of --minutes). The most important first; the shares add up to more than 1.
    "device": ("the device and its GEMM and copy rates", device.run, 0.15),
    "tests": ("GPU tests, with synchronous launches", gpu_tests.run, 0.25),
    "step": ("the training step of 128 tokens compared with PyTorch's", step.run_128, 0.4),
    "roofline": ("the time of each part of a training step", roofline.run_bert, 0.15),
    "modern_parts": ("the time of each part of a ModernBERT's training step", roofline.run_modern, 0.15),
    "learning": ("learning on the device and on the CPU", learning.run_bert, 0.15),
    "modern_learning": ("a ModernBERT's learning on the device and on the CPU", learning.run_modern, 0.15),
    "proof": ("preflight: whether the device computes correctly", proof.run, 0.1),
    "memory": ("memory compared with the estimate of `plan`", passes.run_memory, 0.1),
    "sanitizer": ("compute-sanitizer on the kernel tests", sanitizer.run, 0.25),
    "sweep": ("the training step by sequences per pass", passes.run_sweep, 0.25),
    "step512": ("the training step of 512 tokens compared with PyTorch's", step.run_512, 0.4),
    "nccl": ("a single process that communicates through NCCL", nccl.run, 0.1),
    "ranks": ("several ranks on one device", ranks.run, 0.25),
    "modern_1024": ("ModernBERT-base's step of packed rows of 1,024 tokens compared with PyTorch's", step.run_modernbert_1024, 0.25),
    "modern_8192": ("ModernBERT-base's step of rows of 8,192 tokens compared with PyTorch's", step.run_modernbert_8192, 0.25),
    "modern_large": ("ModernBERT-large's step of packed rows of 1,024 tokens compared with PyTorch's", step.run_modernbert_large, 0.25),
    "gemms": ("the GEMMs of an encoder layer in bf16 and in fp8", gemms.run, 0.15),
    "attention": ("the attention of libtorch and of cuDNN", attention.run, 0.1),
}


def parsed_arguments():
    parser = argparse.ArgumentParser(prog="first_light.sh", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="Checks and times BERT pretraining on a GPU, stage by stage.",
                                     epilog="stages:\n" + "\n".join(f"  {name:10} {title}" for name, (title, *_) in STAGES.items()))
    parser.add_argument("--minutes", type=float, default=8, help="time for all stages together (default: 8)")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: only checks, with tiny sizes, that the stages run")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("first_light"), metavar="DIR",
                        help="folder of first_light.md and first_light.json (default: first_light)")
    parser.add_argument("--logs", type=pathlib.Path, metavar="DIR", help="folder of logs, charts and data (default: that of --output)")
    parser.add_argument("--stages", nargs="+", choices=STAGES, metavar="STAGE",
                        help="run these, in this order; when not given, all that have not passed")
    parser.add_argument("--programs", type=pathlib.Path, metavar="DIR", help="folder of our programs (default: build/release)")
    arguments = parser.parse_args()
    if not arguments.minutes > 0:
        parser.error(f"--minutes {arguments.minutes}: expected more than 0")
    arguments.output = arguments.output.resolve()
    arguments.logs = (arguments.logs or arguments.output).resolve()
    return arguments


def version():
    try:
        result = subprocess.run([program("bertpretrain"), "--version"], env=program_environment(), capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"first_light: {error.filename} cannot be run ({error.strerror}); build it, or name its folder by --programs")
    if result.returncode != 0:
        sys.exit(f"first_light: bertpretrain --version failed with exit status {result.returncode}:\n{result.stderr}")
    return result.stdout.splitlines()[0]


def run_stage(name, arguments, limit):
    stage = Stage(name, arguments, limit)
    try:
        result = STAGES[name][1](stage)
    except Exception as error:
        status = TIMED_OUT if stage.remaining() == 0 else FAILED
        result = Result(status, f"{type(error).__name__}: {error}".splitlines()[0], {"traceback": traceback.format_exc()})
    finally:
        stage.end()
    return result


def not_passed(results):
    """Returns the stages that have not passed with this build of the program."""
    good = [name for name, stage in results["stages"].items() if (stage["status"], stage.get("version")) == (PASSED, results["version"])]
    return [name for name in STAGES if name not in good]


def run_stages(names, arguments, results, deadline):
    """Runs these stages and writes the results after each. Returns whether each of them passed or was not available."""
    well, shares = True, sum(STAGES[name][2] for name in names)
    for name in names:
        begin = time.monotonic()
        limit = min(deadline - begin, 60 * arguments.minutes * STAGES[name][2] / min(1, shares))
        if limit < 0.02 * 60 * arguments.minutes:
            print(f"{name}: not run, because no time is left; run first_light.sh again to continue")
            well = False
            continue
        print(f"== {name}: {STAGES[name][0]} (at most {limit:.0f} s)", flush=True)
        result = run_stage(name, arguments, limit)
        seconds = time.monotonic() - begin
        results["stages"][name] = {"status": result.status, "seconds": round(seconds, 1), "limit_seconds": round(limit, 1),
                                   "summary": result.summary, "version": results["version"], "data": result.data, "text": result.text}
        results["device_name"] = results["stages"].get("device", {}).get("data", {}).get("name", arguments.device)
        write(arguments.output, results, STAGES)
        print(f"{name}: {result.status} after {seconds:.0f} s: {result.summary}", flush=True)
        well = well and result.status in (PASSED, UNAVAILABLE)
    return well


def stop(number, frame):
    sys.exit(128 + number)


def main():
    arguments = parsed_arguments()
    deadline = time.monotonic() + 60 * arguments.minutes
    signal.signal(signal.SIGTERM, stop)
    if arguments.programs:
        os.environ["BERTPRETRAIN_PROGRAMS"] = str(arguments.programs.resolve())
    arguments.output.mkdir(parents=True, exist_ok=True)
    results = read(arguments.output)
    if results.get("device") != arguments.device:
        results = {"stages": {}}
    results |= {"version": version(), "device": arguments.device}
    well = run_stages(arguments.stages or not_passed(results), arguments, results, deadline)
    print(f"results: {arguments.output / 'first_light.md'}")
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
