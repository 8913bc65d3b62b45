"""Compares forecasts of runs with their outcomes: one run stops at a loss, one before its budget, one at its deadline. forecast.sh runs it."""
import argparse
import pathlib
import tempfile

from sample_run import lines_of, load, make_shards, steps_of, train

PRICE = 36.0  # a rank costs a cent per second


def forecasts_of(run):
    return [line for line in lines_of(run / "events.jsonl") if line["event"] == "forecast"]


def seconds_until(run, step):
    """Returns the run's seconds at the end of a step."""
    return next(line["elapsed_seconds"] for line in steps_of(run) if line["step"] == step)


def report(name, what, forecast, expected, outcome, unit):
    error = 100 * (expected / outcome - 1)
    plan = forecast.get("planned_run_seconds")
    beside = f"; `plan` expected {plan:.1f} s for all steps" if plan else ""
    print(f"  {name:8} after step {forecast['step']:5}: {what} {expected:.1f} {unit}, outcome {outcome:.1f} {unit}: {error:+.1f} % "
          f"(goal: within 10){beside}", flush=True)


def at_tenth(run, last_step):
    """Returns the first forecast after a tenth of the steps that the run took."""
    return next(forecast for forecast in forecasts_of(run) if forecast["step"] >= last_step / 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="of each run, about")
    parser.add_argument("--ranks", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shards = make_shards(folder)
        common = ["checkpoint.save_every_steps=0", "evaluation.max_sequences=32"]
        train(folder / "trial", shards, ranks=arguments.ranks, settings=[*common, "schedule.total_steps=40", "evaluation.every_steps=0"])
        trial = steps_of(folder / "trial")[10:]
        per_second = len(trial) / sum(step["step_seconds"] for step in trial)
        steps = int(arguments.seconds * per_second)
        every = max(2, steps // 40)
        common += [f"evaluation.every_steps={every}"]
        print(f"{arguments.ranks} rank(s), about {steps} steps of {1e3 / per_second:.0f} ms, evaluated every {every}; {load()}")

        run = folder / "target"  # a smoothed loss that the sample reaches before the end
        train(run, shards, ["--price", PRICE], [*common, f"schedule.total_steps={2 * steps}", "schedule.stop_at.mlm_loss=6.6"],
              arguments.ranks)
        last = steps_of(run)[-1]["step"]
        forecast = at_tenth(run, last)
        per_step = forecast["run_seconds_left"] / (2 * steps - forecast["step"])
        reached = [line for line in lines_of(run / "events.jsonl") if line["event"] == "target_reached"]
        outcome = f"reached at step {last}: mlm_loss {reached[0]['value']:.3f}" if reached else "NOT reached"
        print(f"  target   {outcome}")
        report("target", f"time until step {last}", forecast, forecast["run_seconds"] + per_step * (last - forecast["step"]),
               seconds_until(run, last), "s")

        for name, options in (("budget", ["--budget", f"{arguments.ranks * PRICE / 3600 * arguments.seconds:.4f}USD", "--price", PRICE]),
                              ("deadline", ["--deadline", f"{arguments.seconds}s"])):
            run = folder / name
            train(run, shards, options, [*common, f"schedule.total_steps={3 * steps}"], arguments.ranks)
            last = steps_of(run)[-1]["step"]
            forecast = at_tenth(run, last)
            report(name, "last step within the limit", forecast, forecast["last_step_within_limits"], last, "steps")
            stop = next(line for line in lines_of(run / "events.jsonl") if line["event"] == "stop")
            print(f"  {name:8} stopped after {stop['elapsed_seconds']:.1f} s of {arguments.seconds:.1f} s: {stop.get('limit', '?')}")


if __name__ == "__main__":
    main()
