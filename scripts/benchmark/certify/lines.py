"""The lines of the page: what was compared, what was found, the bound and the verdict."""

import json


def line(what, found, bound, passed):
    return {"what": what, "found": found, "bound": bound, "passed": bool(passed)}


def reported(what, found):
    """A line without a bound and a verdict."""
    return {"what": what, "found": found, "bound": "", "passed": "reported"}


def not_run(what, why):
    return {"what": what, "found": why, "bound": "", "passed": None}


def at_most(what, number, bound, digits=2):
    """A line whose number must not exceed its bound."""
    return line(what, f"{number:.{digits}g}", f"at most {bound:g}", number <= bound)


def write_json(file, content):
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    partial.rename(file)
