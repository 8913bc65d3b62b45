#!/usr/bin/env python3
"""Sends a run's numbers to MLflow:  --set 'telemetry.command=python3 scripts/telemetry/to_mlflow.py "$1"'
Needs `pip install mlflow`. MLFLOW_TRACKING_URI names the server, MLFLOW_EXPERIMENT_NAME the experiment (bertpretrain). A resumed run
continues in the same place, by the id that its folder got when it was created (the tag run_id; or MLFLOW_RUN_ID)."""
import os

from lines import package, records, run_folder, run_id, settings_of

longest_value, most_at_once = 500, 100  # MLflow's limits


def start(mlflow, folder):
    experiment = mlflow.set_experiment(os.environ.get("MLFLOW_EXPERIMENT_NAME", "bertpretrain"))
    if os.environ.get("MLFLOW_RUN_ID"):
        mlflow.start_run(run_id=os.environ["MLFLOW_RUN_ID"])
        return
    identity = run_id(folder)
    earlier = mlflow.search_runs([experiment.experiment_id], filter_string=f"tags.run_id = '{identity}'", max_results=1,
                                 output_format="list")
    if earlier:
        mlflow.start_run(run_id=earlier[0].info.run_id)
        return
    mlflow.start_run(run_name=folder.name, tags={"folder": str(folder), "run_id": identity})
    settings = [(name, str(value)[:longest_value]) for name, value in settings_of(folder).items()]
    for first in range(0, len(settings), most_at_once):
        mlflow.log_params(dict(settings[first:first + most_at_once]))


def main():
    folder, mlflow = run_folder(__doc__), package("mlflow")
    start(mlflow, folder)
    for kind, what, values in records():
        if kind == "metrics":
            mlflow.log_metrics(values, step=what)
        else:
            mlflow.set_tag(f"event.{what}", str(values)[:longest_value])
    mlflow.end_run()


if __name__ == "__main__":
    main()
