#!/usr/bin/env python3
"""Sends a run's numbers to Weights & Biases:  --set 'telemetry.command=python3 scripts/telemetry/to_wandb.py "$1"'
Needs `pip install wandb`, and its key (`wandb login`, or WANDB_API_KEY). WANDB_PROJECT names the project (bertpretrain). A resumed run
continues in the same place, by the id that its folder got when it was created (or WANDB_RUN_ID); steps that it repeats are not sent again."""
import os

from lines import package, records, run_folder, run_id, settings_of


def main():
    folder, wandb = run_folder(__doc__), package("wandb")
    run = wandb.init(project=os.environ.get("WANDB_PROJECT", "bertpretrain"), name=folder.name,
                     id=os.environ.get("WANDB_RUN_ID") or run_id(folder), resume="allow",
                     config=settings_of(folder))
    step = 0
    for kind, what, values in records():
        if kind == "metrics":
            step = what
            run.log(values, step=step)
        else:
            run.summary[f"event/{what}"] = step
    run.finish()


if __name__ == "__main__":
    main()
