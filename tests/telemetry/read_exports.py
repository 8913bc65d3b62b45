"""Prints as JSON what TensorBoard's reader finds in a folder, or prometheus_client's parser in a .prom file."""
import json
import pathlib
import sys


def tensorboard(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return {tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def prometheus(file):
    from prometheus_client.parser import text_string_to_metric_families
    families = text_string_to_metric_families(file.read_text())
    return {s.name: [repr(float(s.value)), s.labels, f.type, bool(f.documentation)] for f in families for s in f.samples}


path = pathlib.Path(sys.argv[1])
try:
    print(json.dumps(tensorboard(path) if path.is_dir() else prometheus(path)))
except ImportError as error:
    print(json.dumps({"missing": str(error)}))
