"""The cores and NUMA nodes of this host that this process may use."""
import os
import pathlib

CORES = pathlib.Path("/sys/devices/system/cpu")
NODES = pathlib.Path("/sys/devices/system/node")


def numbers(text):
    """Returns the numbers of a kernel list such as 0-3,8."""
    found = []
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            found += range(int(first), int(last or first) + 1)
    return found


def numa_nodes():
    """Returns the sets of usable cores of each NUMA node that has some. Without NUMA, all cores are one node."""
    allowed = os.sched_getaffinity(0)
    nodes = [set(numbers(file.read_text())) & allowed for file in sorted(NODES.glob("node[0-9]*/cpulist"),
                                                                          key=lambda file: int(file.parent.name[4:]))]
    return [node for node in nodes if node] or [allowed]


def physical_cores():
    """Returns one usable hardware thread of each core, node by node."""
    cores, seen = [], set()
    for node in numa_nodes():
        for core in sorted(node):
            siblings = CORES / f"cpu{core}/topology/thread_siblings_list"
            same = frozenset(numbers(siblings.read_text())) if siblings.exists() else frozenset([core])
            if not same & seen:
                cores.append(core)
            seen |= same
    return cores
