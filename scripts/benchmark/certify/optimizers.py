"""Part 4: the optimizers beside float64 oracles written from the papers."""

import subprocess

from lines import line, not_run
from programs import PROGRAMS, PROJECT


def lines_of_part(options):
    del options
    program = PROGRAMS / "test_optimizer"
    if not program.exists():
        return [not_run("AdamW, LAMB and LANS beside float64 oracles", f"{program} is missing: scripts/build.sh release test_optimizer")]
    done = subprocess.run([program], stdout=subprocess.PIPE, text=True, cwd=PROJECT)
    last = [text for text in done.stdout.splitlines() if text.strip()][-1]
    return [line("AdamW, LAMB and LANS beside float64 oracles, AdamW beside PyTorch's (test_optimizer)", last, "all pass",
                 done.returncode == 0)]
