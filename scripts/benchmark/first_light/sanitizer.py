"""Stage `sanitizer`: compute-sanitizer's memcheck, then racecheck, on the tests of test_gpu that run kernels of ours."""
import os
import pathlib
import re
import shutil
import sys

from programs import program

from .gpu_tests import environment
from .stage import FAILED, PASSED, TIMED_OUT, UNAVAILABLE, Result, block

# Tests that run a program, search for memory or look at files: slow under the tool, and of no use to it.
LEFT_OUT = ("*a run on a GPU*", "*trial pass*", "*CUDA module*")


def find_sanitizer():
    """The tool on the PATH, in a CUDA toolkit or in a PyPI wheel (nvidia-cuda-sanitizer-api), or None."""
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
    tests = [f"~{pattern}" for pattern in LEFT_OUT]
    done = stage.run([tool, "--tool", kind, "--error-exitcode", "99", "--launch-timeout", "0", program("test_gpu"), " ".join(tests)],
                     kind, CUDA_MODULE_LOADING="LAZY", **environment())
    found = re.findall(r"========= (?:ERROR|RACECHECK) SUMMARY: (.*)", done.output + done.log.read_text(errors="replace"))
    return {"tool": kind, "status": done.status, "summary": "; ".join(found) or "no summary", "tail": done.output[-4000:]}


def run(stage):
    if not stage.on_gpu:
        return Result(UNAVAILABLE, "compute-sanitizer needs a GPU")
    tool = find_sanitizer()
    if not tool:
        return Result(UNAVAILABLE, "compute-sanitizer was found neither on the PATH nor in a CUDA toolkit or a PyPI wheel")
    checks = [check(stage, tool, "memcheck")]
    if checks[0]["status"] == PASSED and stage.remaining() > 20:
        checks.append(check(stage, tool, "racecheck"))
    statuses = [one["status"] for one in checks]
    status = FAILED if FAILED in statuses else TIMED_OUT if statuses[0] == TIMED_OUT else PASSED
    text = "\n".join(f"{one['tool']}: {one['status']}: {one['summary']}\n\n" + (block(one["tail"]) if one["status"] != PASSED else "")
                     for one in checks)
    return Result(status, "; ".join(f"{one['tool']} {one['status']}: {one['summary']}" for one in checks), {"checks": checks}, text)
