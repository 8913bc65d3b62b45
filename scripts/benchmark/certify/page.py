"""Writes the page of certify.sh, as Markdown and as HTML in the style of `bertpretrain report`."""

import html
import json
import platform
import re
from pathlib import Path

from programs import PROJECT, bertpretrain

TITLES = {"forward": "Models that others trained: our numbers and transformers'",
          "continue": "Training such a model further, beside PyTorch",
          "finetune": "Fine-tuning models that we and PyTorch pretrained",
          "optimizers": "Optimizers",
          "published": "The published loss curve"}
VERDICTS = {True: "passed", False: "FAILED", None: "not run", "reported": "reported"}
COLUMNS = ("what", "found", "bound", "verdict")


def style():
    """The style sheet of the report's page, read where it is written."""
    source = (PROJECT / "lib/reports/report_page.cpp").read_text()
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', source.split("constexpr const char* style =")[1].split(";\n\nstruct")[0]))


def machine():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def rows_of(part):
    return [(line["what"], line["found"], line["bound"], VERDICTS[line["passed"]]) for line in part["lines"]]


def as_markdown(parts, about):
    text = [f"# Certificate\n\n{about}\n"]
    for part in parts:
        text.append(f"\n## {TITLES[part['part']]}\n\n{note(part)}\n\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n")
        text += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |\n" for row in rows_of(part)]
    return "".join(text)


def as_html(parts, about):
    text = [f"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Certificate</title><style>{style()}</style></head>"
            f"<body>\n<h1>Certificate</h1>\n<p>{html.escape(about)}</p>\n"]
    for part in parts:
        text.append(f"<h2>{html.escape(TITLES[part['part']])}</h2>\n<p>{note(part)}</p>\n<div class=\"scroll\"><table>\n")
        text.append("<tr>" + "".join(f"<th>{name}</th>" for name in COLUMNS) + "</tr>\n")
        text += ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows_of(part)]
        text.append("</table></div>\n")
    return "".join(text) + "</body></html>\n"


def note(part):
    quick = " With --quick: too few samples to certify anything." if part["quick"] else ""
    return f"{part['seconds'] / 60:.1f} minutes.{quick}"


def write_page(folder, names):
    parts = [json.loads((folder / f"{name}.json").read_text()) for name in names]
    about = f"{bertpretrain('--version').splitlines()[0]}, on {machine()}."
    (folder / "certify.md").write_text(as_markdown(parts, about), encoding="utf-8")
    (folder / "certify.html").write_text(as_html(parts, about), encoding="utf-8")
