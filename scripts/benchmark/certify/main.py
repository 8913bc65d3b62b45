"""Runs the parts of certify.sh and writes its page.

usage: certify.sh [PART...] [--output build/certify] [--quick] [--run DIR] [--pretraining-seeds SEED...] [--minutes N]

parts:
  forward     models that others trained: logits and losses, ours against transformers (minutes)
  continue    200 more steps of such a model, beside PyTorch (minutes)
  finetune    pretraining by us and by PyTorch, then the same fine-tuning of both and of an untrained model (hours)
  optimizers  AdamW, LAMB, LANS and StableAdamW beside float64 oracles, and beside published code in REFERENCE_FOLDER (seconds)
  published   the loss of a run of configs/bert_large_phase1.json beside NVIDIA's; needs --run
"""

import argparse
import importlib
import json
import math
import sys
import time
from pathlib import Path

from lines import write_json
from page import VERDICTS, write_page
from programs import PROJECT

PARTS = {"forward": "forward", "continue": "continuing", "finetune": "finetune", "optimizers": "optimizers", "published": "published"}


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="certify.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("parts", nargs="*", metavar="PART", help="the parts to run; all of them when absent")
    parser.add_argument("--output", type=Path, default=PROJECT / "build/certify", help="the folder for the page and all files (build/certify of the project)")
    parser.add_argument("--quick", action="store_true", help="fewer samples, steps and seeds, to see that everything works")
    parser.add_argument("--run", type=Path, help="the folder of a run of configs/bert_large_phase1.json, for the part published")
    parser.add_argument("--pretraining-seeds", type=int, nargs="+", metavar="SEED",
                        help="run only the share of finetune that begins with these pretraining seeds, as when machines share the work")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no fine-tuning after so many minutes, and use those that are done")
    options = parser.parse_args(arguments)
    options.output = options.output.resolve()
    options.run = options.run.resolve() if options.run else None
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"there is no part \"{part}\"; expected one of: {', '.join(PARTS)}")
    return options


def main(arguments):
    options = options_of(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    failed = False
    for part in options.parts or PARTS:
        file = options.output / f"{part}.json"
        if file.exists() and json.loads(file.read_text())["quick"] == options.quick:
            print(f"certify: {part}: done before ({file})", file=sys.stderr)
        else:
            print(f"certify: {part}", file=sys.stderr)
            began = time.monotonic()
            lines = importlib.import_module(PARTS[part]).lines_of_part(options)
            write_json(file, {"part": part, "quick": options.quick, "seconds": time.monotonic() - began, "lines": lines})
        found = json.loads(file.read_text())
        for line in found["lines"]:
            failed = failed or line["passed"] is False
            print(f"{VERDICTS[line['passed']]:9}{line['what']}: {line['found']}"
                  + (f" ({line['bound']})" if line["bound"] else ""), flush=True)
        write_page(options.output, [name for name in PARTS if (options.output / f"{name}.json").exists()])
    print(f"page: {options.output / 'certify.md'}, {options.output / 'certify.html'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
