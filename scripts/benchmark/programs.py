"""Finds the programs: in the folder BERTPRETRAIN_PROGRAMS, otherwise in this source tree's build/release."""
import importlib.util
import os
import pathlib

PROJECT = pathlib.Path(__file__).resolve().parents[2]


def programs_folder():
    given = os.environ.get("BERTPRETRAIN_PROGRAMS")
    return pathlib.Path(given).resolve() if given else PROJECT / "build/release"


def program(name):
    """Returns the path of one of our programs. The file may be missing."""
    return str(programs_folder() / name)


def torch_folder():
    """Returns the folder of this Python's PyTorch, or None. Does not import it."""
    found = importlib.util.find_spec("torch")
    return pathlib.Path(found.origin).parent if found and found.origin else None


def can_import(*modules):
    """Returns whether this Python finds all of them. Does not import them, because importing PyTorch takes seconds."""
    needed = [*modules, "typing_extensions"] if "torch" in modules else modules  # PyTorch's import needs it
    return all(importlib.util.find_spec(module) for module in needed)


def program_environment(**variables):
    """Returns the environment for programs: this process's, `variables`, and, for programs outside build/release, the search path of
    PyTorch's libraries. Programs in build/release find them by themselves."""
    environment = dict(os.environ, **variables)
    torch = torch_folder()
    if torch and "BERTPRETRAIN_PROGRAMS" in os.environ:
        before = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = os.pathsep.join([str(torch / "lib")] + ([before] if before else []))
    return environment
