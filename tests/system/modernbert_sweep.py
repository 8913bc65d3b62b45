"""Gives each known field of a ModernBERT's config.json another value, and compares our vectors and guesses with transformers'.

Usage: modernbert_sweep.py PROGRAM FOLDER STEP, as model_folder_sweep.py."""
import json
import re
import shutil
import sys
from pathlib import Path

import model_folder_sweep
from model_folder_sweep import CLASS_ATTRIBUTES, AutoTokenizer, Sweep, VOCABULARY, fields_of_class, torch, transformers
from transformers import ModernBertConfig, ModernBertForMaskedLM

TYPES = ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]
ROPE = {"full_attention": {"rope_type": "default", "rope_theta": 160000.0}, "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}


class ModernSweep(Sweep):
    NAMED = {"hidden_size": "expected \\[", "num_hidden_layers": "layers.", "intermediate_size": "expected \\[", "vocab_size": "tok_embeddings"}

    def __init__(self, program, folder):
        self.begin(program, folder)
        torch.manual_seed(4)
        rows = len(VOCABULARY) + 8
        model = ModernBertForMaskedLM(ModernBertConfig(vocab_size=rows, hidden_size=16, num_hidden_layers=4, num_attention_heads=2, intermediate_size=32,
                                                       max_position_embeddings=32, local_attention=8, pad_token_id=0, bos_token_id=None,
                                                       eos_token_id=None, cls_token_id=None, sep_token_id=None, attn_implementation="eager"))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.3)
        base = folder / "base"
        model.save_pretrained(base)
        bert = folder / "bert"  # gives a tokenizer.json
        bert.mkdir()
        (bert / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
        (bert / "tokenizer_config.json").write_text(json.dumps(model_folder_sweep.CLASS))
        (base / "tokenizer.json").write_text(AutoTokenizer.from_pretrained(bert)._tokenizer.to_str())
        (base / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "mask_token": "[MASK]", "pad_token": "[PAD]"}))
        shutil.rmtree(bert)
        self.config = json.loads((base / "config.json").read_text())
        # the spelling of transformers 4, so that a row changes one field alone
        for name in ("layer_types", "rope_parameters"):
            self.config.pop(name, None)
        self.config |= {"global_attn_every_n_layers": 3, "global_rope_theta": 160000.0, "local_rope_theta": 10000.0}
        (base / "config.json").write_text(json.dumps(self.config))

    def fields(self):
        row = self.config_json
        for field, values in {
            "model_type": ["deberta"], "hidden_size": [8], "num_hidden_layers": [2, 5], "num_attention_heads": [4, 1], "intermediate_size": [64],
            "vocab_size": [self.config["vocab_size"] + 100], "max_position_embeddings": [64, 16], "norm_eps": [1e-2], "layer_norm_eps": [0.5],
            "attention_dropout": [0.5], "attention_bias": [True], "mlp_bias": [True], "norm_bias": [True], "decoder_bias": [False],
            "classifier_bias": [True], "classifier_activation": ["silu"], "classifier_pooling": ["mean", "cls"], "classifier_dropout": [0.5],
            "embedding_dropout": [0.5], "mlp_dropout": [0.5], "global_attn_every_n_layers": [1, 2, 4, 9], "local_attention": [4, 2, 64, 7],
            "global_rope_theta": [10.0], "local_rope_theta": [10.0, None], "initializer_cutoff_factor": [1.0], "initializer_range": [0.5],
            "is_causal": [True], "is_decoder": [True], "is_encoder_decoder": [True], "deterministic_flash_attn": [True], "reference_compile": [False],
            "repad_logits_with_grad": [True], "sparse_prediction": [True], "sparse_pred_ignore_index": [-1], "pad_token_id": [5],
            "position_embedding_type": ["absolute"], "tie_word_embeddings": [False],
            "hidden_activation": ["gelu_new", "gelu_pytorch_tanh", "silu", "swish", "relu", "quick_gelu", "gelu_fast", "gelu_python", "tanh"],
            "layer_types": [TYPES, ["full_attention"] * 4, ["full_attention", "sliding_attention"] * 2, ["sliding_attention"] * 4, TYPES[::-1], TYPES[:2]],
            "rope_parameters": [ROPE, ROPE | {"full_attention": {"rope_type": "default", "rope_theta": 10.0}},
                                {"full_attention": ROPE["full_attention"]}, {"rope_type": "default", "rope_theta": 10.0},
                                ROPE | {"sliding_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}},
                                ROPE | {"full_attention": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 160000.0}}],
            "rope_scaling": [{"rope_type": "linear", "factor": 2.0}],
            "quantization_config": [{"quant_method": "bitsandbytes", "load_in_8bit": True}],
            "auto_map": [{"AutoModel": "other.Model"}], "adapters": [{"a": 1}], "tokenizer_class": ["PreTrainedTokenizerFast", "BertTokenizer"],
            "_attn_implementation": ["sdpa"], "_name_or_path": ["x"], "architectures": [["ModernBertModel"]], "attn_implementation": ["eager"],
            "bos_token_id": [7], "chunk_size_feed_forward": [1], "cls_token_id": [9], "dtype": ["float64"], "eos_token_id": [7],
            "finetuning_task": ["x"], "gradient_checkpointing": [True], "id2label": [{"0": "a", "1": "b"}], "label2id": [{"a": 0, "b": 1}],
            "num_labels": [5], "output_attentions": [True], "output_hidden_states": [True], "problem_type": ["regression"], "return_dict": [False],
            "sep_token_id": [9], "task_specific_params": [{"a": 1}], "torch_dtype": ["float32"], "torchscript": [True],
            "transformers_version": ["9.9"], "use_bfloat16": [True], "use_cache": [False], "an_unknown_field": [3],
            "attribute_map": [{"hidden_activation": "x"}], "per_layer_config": [{"1": {"hidden_activation": "relu"}}], "head_dim": [8, 4],
            **{name: [value] for name, value in CLASS_ATTRIBUTES.items() if name != "rope_scaling"}}.items():
            row(field, *values)
        for value in (2, 16, 3):
            self.add("config.json", "sliding_window", value, {"config.json": self.config | {"sliding_window": value}}, always=True)
        newer = {name: value for name, value in self.config.items() if name not in ("global_attn_every_n_layers", "global_rope_theta", "local_rope_theta")}
        for value in (TYPES, ["full_attention", "sliding_attention"] * 2):  # the spelling of transformers 5 alone
            self.add("config.json", "layer_types", {"alone": value}, {"config.json": newer | {"layer_types": value, "rope_parameters": ROPE}})
        lowered = json.loads((self.folder / "base/tokenizer.json").read_text())
        lowered["normalizer"]["lowercase"] = False
        self.add("tokenizer.json", "tokenizer_class", "BertTokenizer, cased", {
            "tokenizer.json": lowered, "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": True}}, export=True)
        self.add("tokenizer_config.json", "tokenizer_config.json", "missing", {"tokenizer.json": lowered, "tokenizer_config.json": None}, export=True)

    def missing(self):
        fields = set()
        for source in ("modern/hugging_face.cpp", "config_json.cpp"):
            text = (Path(__file__).resolve().parents[2] / "lib/model" / source).read_text()
            fields |= {("config.json", name) for name in re.findall(r'^ +\{"(\w+)", (?:obeyed|nothing|refused)', text, re.M)}
        fields |= fields_of_class(ModernBertConfig, transformers.models.modernbert.modeling_modernbert)
        return sorted(fields - self.swept)


if __name__ == "__main__":
    sys.exit(model_folder_sweep.judged(ModernSweep(sys.argv[1], Path(sys.argv[2])), int(sys.argv[3])))
