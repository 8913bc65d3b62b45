"""Stage `sanitizer`: runs compute-sanitizer's memcheck, then racecheck, on the tests of test_gpu that run our kernels."""
import os
import pathlib
import re
import shutil
import sys

from programs import program

from .gpu_tests import environment
from .stage import FAILED, PASSED, TIMED_OUT, UNAVAILABLE, Result, block

# The tests of single operations. Under the tool a trial pass of a whole model takes minutes, and tests with time limits fail.
# racecheck is too slow for libtorch's kernels: it checks those whose name contains our namespace. Newer tools call the option
# --kernel-name, and accept this name too.
KERNELS = {"memcheck": [], "racecheck": ["--kernel-regex", "kns=bertpretrain"]}
KERNEL_TESTS = '"on a GPU*"~"*trial pass*"~"*within*"'


def find_sanitizer():
    """Returns the tool's path on the PATH, in a CUDA toolkit or in a PyPI wheel (nvidia-cuda-sanitizer-api), or None."""
    on_path = shutil.which("compute-sanitizer")
    if on_path:
        return on_path
    roots = [pathlib.Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
    roots += sorted(pathlib.Path("/usr/local").glob("cuda*"))
    roots += [pathlib.Path(folder) / "nvidia" for folder in sys.path if (pathlib.Path(folder) / "nvidia").is_dir()]
    for root in roots:
        for place in ("bin", "compute-sanitizer", "*/bin", "*/compute-sanitizer"):
            for file in root.glob(f"{place}/compute-sanitizer"):
                if file.is_file() and os.access(file, os.X_OK):
                    return str(file)
    return None


def check(stage, tool, kind):
    """Runs one tool without PyTorch's caching allocator: an access past a tensor's end is then past an allocation's end, which the
    tool detects."""
    command = [tool, "--tool", kind, "--target-processes", "all", "--error-exitcode", "99", *KERNELS[kind], program("test_gpu"), KERNEL_TESTS]
    done = stage.run(command, kind, CUDA_MODULE_LOADING="LAZY", PYTORCH_NO_CUDA_MEMORY_CACHING="1", **environment())
    found = re.findall(r"========= (?:ERROR|RACECHECK) SUMMARY: (.*)", done.output + done.log.read_text(errors="replace"))
    return {"tool": kind, "status": done.status, "summary": "; ".join(found) or "no summary", "tail": done.output[-4000:]}


def run(stage):
    if not stage.on_gpu:
        return Result(UNAVAILABLE, "compute-sanitizer needs a GPU")
    tool = find_sanitizer()
    if not tool:
        return Result(UNAVAILABLE, "compute-sanitizer was found neither on the PATH nor in a CUDA toolkit or a PyPI wheel")
    checks = [check(stage, tool, "memcheck")]
    if "Device not supported" in checks[0]["tail"]:
        return Result(UNAVAILABLE, "compute-sanitizer does not support this device or this virtual machine", {"checks": checks})
    if checks[0]["status"] == PASSED and stage.remaining() > 20:
        checks.append(check(stage, tool, "racecheck"))
    statuses = [one["status"] for one in checks]
    status = FAILED if FAILED in statuses else TIMED_OUT if statuses[0] == TIMED_OUT else PASSED
    text = "\n".join(f"{one['tool']}: {one['status']}: {one['summary']}\n\n" + (block(one["tail"]) if one["status"] != PASSED else "")
                     for one in checks)
    return Result(status, "; ".join(f"{one['tool']} {one['status']}: {one['summary']}" for one in checks), {"checks": checks}, text)
