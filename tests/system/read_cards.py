"""Reads model and dataset cards as Hugging Face's hub does.

Usage: read_cards.py CARD... Prints for each {"library", "licence", "pipeline", "metrics": {name: value}, "tables": number of tables in HTML,
"headings"}. Fails if the YAML is invalid. Exits with 77 if a package is missing.
"""

import json
import sys
from pathlib import Path

try:
    import markdown
    import yaml
    from huggingface_hub import DatasetCard, ModelCard
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


def main(cards):
    for path in cards:
        text = Path(path).read_text()
        plain = yaml.safe_load(text.split("---\n")[1])
        is_model = "library_name" in plain
        card = (ModelCard if is_model else DatasetCard)(text, ignore_metadata_errors=False)
        assert card.data.to_dict()["license"] == plain["license"]
        html = markdown.markdown(card.text, extensions=["tables", "fenced_code"])
        results = getattr(card.data, "eval_results", None) or []
        print(json.dumps({"library": plain.get("library_name"), "licence": plain["license_name"], "pipeline": plain.get("pipeline_tag"),
                          "name": plain.get("pretty_name"), "size": plain.get("size_categories"),
                          "metrics": {one.metric_name: one.metric_value for one in results},
                          "tables": html.count("<table>"), "headings": html.count("<h2>"), "code": html.count("<code")}))


if __name__ == "__main__":
    main(sys.argv[1:])
