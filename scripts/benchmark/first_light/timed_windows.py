"""Times calls on a device in windows that follow one another without a pause, and saves results while they are measured."""
import json
import os
import pathlib
import statistics
import time

import torch


def mark(device):
    """Returns a point in time: of the device's queue on a GPU, else of this process."""
    if device == "cpu":
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def milliseconds_between(begin, end):
    """Returns the time from one mark to another. The device must have reached both."""
    return 1e3 * (end - begin) if isinstance(begin, float) else begin.elapsed_time(end)


def queue(call, device, calls, windows):
    """Queues `windows` times `calls` calls. Returns the marks around each window."""
    marks = [mark(device)]
    for _ in range(windows):
        for _ in range(calls):
            call()
        marks.append(mark(device))
    return marks


def window_milliseconds(call, device, seconds, windows, meanwhile=None):
    """Returns the milliseconds of one call in each window of about `seconds`. `meanwhile` is called while the device computes."""
    call()
    synchronize(device)
    begin, end = queue(call, device, 2, 1)
    synchronize(device)
    calls = max(1, round(2e3 * seconds / max(1e-3, milliseconds_between(begin, end))))
    marks = queue(call, device, calls, windows)
    if meanwhile:
        meanwhile()
    synchronize(device)
    return [milliseconds_between(a, b) / calls for a, b in zip(marks, marks[1:])]


def median_milliseconds(call, device, seconds, windows=3):
    return statistics.median(window_milliseconds(call, device, seconds, windows))


def host_milliseconds(call, device, calls=5):
    """Returns the time in which the host queues one call. If it is close to the call's own time, the host limits the rate."""
    synchronize(device)
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    milliseconds = 1e3 * (time.perf_counter() - begin) / calls
    synchronize(device)
    return milliseconds


def first_line(error):
    """Returns the first line of an exception's message, which is what a table can show of it."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def save(file, found):
    """Writes a JSON file in one step, so that it is whole whenever this process is killed."""
    part = pathlib.Path(f"{file}.part")
    part.write_text(json.dumps(found))
    os.replace(part, file)
