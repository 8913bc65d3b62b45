"""Gives each known field of a model's folder another value, and compares our vectors and guesses with those of transformers and
sentence-transformers.

Usage: model_folder_sweep.py PROGRAM FOLDER STEP. Writes the models into FOLDER, runs PROGRAM on each, and prints a table with a row
per value: equal, refused (with the words that name the field), no reference (transformers refuses it), or different. Tries every
STEP-th value, and all for which a field was once ignored. Exits with 1 if a row is different, if a refusal does not name its field,
or if a field of our tables or of transformers' class has no row; with 77 if a package is missing.
"""

import concurrent.futures
import dataclasses
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TQDM_DISABLE"] = "1"
warnings.filterwarnings("ignore")

try:
    import numpy
    import sentencepiece
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer
    from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, BertConfig, BertForMaskedLM
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

transformers.logging.set_verbosity_error()
torch.set_num_threads(1)

LINES = ["the heron waits .", "möwen über der see", "数字 und 数", "newtok heron <x> <b> tok", "The Heron WAITS .", "a" * 120,
         "the old bird sings near the river , the moon is small and the water is cold", "the [MASK] waits in the [MASK] .",
         "Ünder [mask] [PAD] Éa [SEP] the"]
MASKED = ["the [MASK] waits in the [MASK] .", "Ünder [MASK] Éa"]
LETTERS = [chr(c) for c in range(ord("a"), ord("z") + 1)]
WORDS = ["the", "heron", "waits", "in", "reeds", "old", "bird", "sings", "near", "river", "moon", "is", "small", "and", "water", "cold",
         "The", "Heron", "möwen", "über", "der", "see", "tok", "[unused1]", "[unused2]", "[unused3]"]
VOCABULARY = (["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + LETTERS + ["##" + c for c in LETTERS] +
              [".", ",", "!", "<", ">", "ü", "##ü", "ö", "##ö", "é", "##é", "É", "Ü", "数", "字", "##字", "und", "T", "H", "W"] + WORDS)
ROWS = len(VOCABULARY) + 8  # room for added tokens
CLASS = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
MODULES = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
           {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]
NORMALIZE = {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}
POOLING = {"word_embedding_dimension": 16, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
           "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}
SENTENCE = {"modules.json": MODULES, "1_Pooling/config.json": POOLING,
            "sentence_bert_config.json": {"max_seq_length": 30, "do_lower_case": False}}


# attributes of every configuration class of transformers 5 that are not its fields
CLASS_ATTRIBUTES = {
    "_auto_class": "AutoConfig", "_experts_implementation": "eager", "allow_global_per_layer_attribute_access": True, "base_config_key": "x",
    "base_model_ep_plan": {}, "base_model_fsdp_plan": {}, "base_model_pp_plan": {}, "base_model_tp_plan": {}, "default_rope_type": "linear",
    "default_theta": 10.0, "has_no_defaults_at_init": True, "ignore_keys_at_rope_validation": ["a"], "is_heterogeneous": True,
    "keys_to_ignore_at_inference": ["a"], "name_or_path": "x", "per_layer_attributes": ["a"], "rope_scaling": {"rope_type": "linear", "factor": 2.0},
    "serialize_explicit_per_layer_config": True, "sub_configs": {}, "use_return_dict": False}


def token(content, **flags):
    return {"__type": "AddedToken", "content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False} | flags


class Sweep:
    NAMED = {"hidden_size": "expected \\[", "num_hidden_layers": "layer.1", "intermediate_size": "intermediate", "vocab_size":
             "word_embeddings", "max_position_embeddings": "position_embeddings", "type_vocab_size": "token_type"}  # what refusals name

    def __init__(self, program, folder):
        self.begin(program, folder)
        torch.manual_seed(3)
        self.model = BertForMaskedLM(BertConfig(vocab_size=ROWS, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                                                intermediate_size=32, max_position_embeddings=32))
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.3)
        self.model.save_pretrained(folder / "base")
        (folder / "base/vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
        (folder / "base/tokenizer_config.json").write_text(json.dumps(CLASS))
        self.config = json.loads((folder / "base/config.json").read_text())
        self.definition = json.loads(AutoTokenizer.from_pretrained(folder / "base")._tokenizer.to_str())

    def begin(self, program, folder):
        self.program, self.folder, self.rows, self.swept, self.always, self.exported = program, folder, [], set(), set(), {}

    def add(self, file, field, value, files, masked=True, always=False, export=False):
        """Adds a row: the base model with other files (None: without this file). always: whether every run tries it.
        export: whether transformers must read an export as it reads the folder."""
        self.swept.add((file, field))
        self.always |= {len(self.rows)} if always or export else set()
        self.exported |= {len(self.rows): ""} if export else {}
        place = self.folder / f"{len(self.rows):03}"
        shutil.copytree(self.folder / "base", place)
        for name, content in files.items():
            (place / name).parent.mkdir(exist_ok=True)
            if content is None:
                (place / name).unlink()
            elif isinstance(content, bytes):
                (place / name).write_bytes(content)
            else:
                (place / name).write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
        self.rows.append((file, field, value, place, masked and "modules.json" not in files))

    def config_json(self, field, *values):
        for value in values:
            self.add("config.json", field, value, {"config.json": self.config | {field: value}})

    def tokenizer_config(self, field, *values, also=None, files=None):
        for value in values:
            self.add("tokenizer_config.json", field, value,
                     {"tokenizer_config.json": CLASS | (also or {}) | {field: value}} | (files or {}))

    def definition_row(self, field, value, change, config=None):
        definition = json.loads(json.dumps(self.definition))
        change(definition)
        self.add("tokenizer.json", field, value,
                 {"tokenizer.json": definition} | ({} if config is None else {"tokenizer_config.json": config}))

    def sentence(self, file, field, *values, base=None):
        for value in values:
            content = dict(SENTENCE.get(file, {}) if base is None else base) | {field: value}
            self.add(file.split("/")[-1] if "Pooling" not in file else "Pooling", field, value, SENTENCE | {file: content})

    def fields(self):
        self.config_fields()
        self.tokenizer_fields()
        self.definition_fields()
        self.piece_fields()
        self.sentence_fields()

    def config_fields(self):
        row = self.config_json
        for field, values in {"model_type": ["electra"], "hidden_size": [8], "num_hidden_layers": [1], "num_attention_heads": [4],
                              "intermediate_size": [64], "vocab_size": [ROWS + 200], "max_position_embeddings": [64],
                              "type_vocab_size": [3], "layer_norm_eps": [1e-3], "hidden_dropout_prob": [0.5],
                              "attention_probs_dropout_prob": [0.5], "initializer_range": [0.5], "is_decoder": [True],
                              "add_cross_attention": [True], "is_encoder_decoder": [True], "position_embedding_type": ["relative_key"],
                              "pruned_heads": [{"0": [1]}], "quantization_config": [{"quant_method": "bitsandbytes", "load_in_8bit": True}],
                              "auto_map": [{"AutoModel": "other.Model"}], "adapters": [{"a": 1}], "directionality": ["left"],
                              "attribute_map": [{"hidden_act": "x"}], "per_layer_config": [{"1": {"hidden_act": "relu"}}],
                              "tokenizer_class": ["BertTokenizerFast", "BertJapaneseTokenizer"], "tie_word_embeddings": [False]}.items():
            row(field, *values)
        row("hidden_act", "gelu_new", "gelu_fast", "gelu_accurate", "gelu_python", "gelu_python_tanh", "gelu_pytorch_tanh", "relu", "silu",
            "tanh", "quick_gelu", "gelu_10")
        for field, value in {"_attn_implementation": "eager", "_name_or_path": "x", "architectures": ["BertModel"],
                             "attn_implementation": "eager", "bos_token_id": 7, "chunk_size_feed_forward": 1, "classifier_dropout": 0.5,
                             "cls_token_id": 9, "cross_attention_hidden_size": 8, "dtype": "float64", "embedding_size": 8,
                             "eos_token_id": 7, "finetuning_task": "x", "gradient_checkpointing": True, "id2label": {"0": "a", "1": "b"},
                             "label2id": {"a": 0, "b": 1}, "norm_placement": "pre_ln", "num_labels": 5, "output_attentions": True,
                             "output_hidden_states": True, "output_past": True, "pad_token_id": 5, "pooler_fc_size": 8,
                             "pooler_num_attention_heads": 1, "pooler_num_fc_layers": 7, "pooler_size_per_head": 3, "pooler_type": "x",
                             "problem_type": "regression", "return_dict": False, "sep_token_id": 9, "task_specific_params": {"a": 1},
                             "tie_encoder_decoder": True, "torch_dtype": "float32", "torchscript": True, "transformers_version": "9.9",
                             "use_bfloat16": True, "use_cache": False, "an_unknown_field": 3, **CLASS_ATTRIBUTES}.items():
            row(field, value)

    def tokenizer_fields(self):
        row = self.tokenizer_config
        row("do_lower_case", False)
        row("strip_accents", False, True)
        row("strip_accents", False, True, also={"do_lower_case": False})
        row("tokenize_chinese_chars", False)
        row("tokenizer_class", "BertTokenizerFast", "ElectraTokenizer", "BertJapaneseTokenizer", "AlbertTokenizer", "XLMRobertaTokenizer",
            "PreTrainedTokenizerFast")
        for role in ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token", "bos_token", "eos_token"):
            row(role, "heron", "<x>", token("<x>", lstrip=True))
        row("mask_token", token("[MASK]", lstrip=True, rstrip=True), token("[MASK]", normalized=True))
        row("audio_token", "<x>")
        row("additional_special_tokens", ["<x>"], ["<x>", token("newtok", single_word=True)])
        row("extra_special_tokens", ["<x>", "newtok"], {"image_token": "<x>"})
        row("added_tokens_decoder", {str(len(VOCABULARY)): {"content": "newtok", "normalized": True}},
            {str(len(VOCABULARY)): {"content": "<x>", "special": True, "normalized": False, "rstrip": True}},
            {"5": {"content": "[unused1]"}}, {str(len(VOCABULARY) + 3): {"content": "newtok"}})
        row("model_max_length", 8, 30, 1e30)
        row("max_len", 8)
        row("truncation_side", "left")
        row("truncation_side", "left", also={"model_max_length": 8})
        row("model_input_names", ["input_ids", "attention_mask"], ["input_ids", "token_type_ids"])
        row("padding_side", "left")
        row("split_special_tokens", True)
        for field, value in {"auto_map": {"AutoTokenizer": ["other.Tokenizer", None]}, "clean_text": False, "do_basic_tokenize": False,
                             "fast_tokenizer_files": ["tokenizer.4.0.0.json"], "never_split": ["heron"], "wordpieces_prefix": "#",
                             "special_tokens_pattern": "none", "token_type_ids_pattern": "x"}.items():
            row(field, value)
        for field, value in {"add_bos_token": True, "add_eos_token": True, "add_prefix_space": True, "backend": "tokenizers",
                             "chat_template": "x", "clean_up_tokenization_spaces": True, "is_local": True, "local_files_only": True,
                             "max_length": 8, "name_or_path": "x", "pad_to_multiple_of": 8, "pad_token_type_id": 1, "processor_class": None,
                             "special_tokens_map_file": "x", "stride": 2, "tokenizer_file": "x", "transformers_version": "9",
                             "truncation": True, "truncation_strategy": "only_first", "unk_id": 5, "use_fast": False, "vocab_file": None,
                             "vocab_size": 9, "legacy": False, "sp_model_kwargs": {"alpha": 0.1},
                             "token_type_ids_include_special_tokens": False, "an_unknown_field": 3}.items():
            row(field, value)
        map_row = lambda field, value: self.add("special_tokens_map.json", field, value, {"special_tokens_map.json": {field: value}})
        for field, value in {"unk_token": "heron", "mask_token": {"content": "[MASK]", "lstrip": True}, "cls_token": "heron",
                             "additional_special_tokens": ["<x>"], "extra_special_tokens": ["<x>"], "audio_token": "<x>"}.items():
            map_row(field, value)
        end = len(VOCABULARY)
        self.add("special_tokens_map.json", "unk_token", "ignored", {
            "special_tokens_map.json": {"unk_token": "heron"},
            "tokenizer_config.json": CLASS | {"added_tokens_decoder": {str(end): {"content": "newtok"}}}})
        for value in ({"newtok": end}, {"<x>": end, "newtok": end + 1}, {"newtok": end + 3}, {"heron": VOCABULARY.index("heron")}):
            self.add("added_tokens.json", "added_tokens.json", value, {"added_tokens.json": value})
        self.add("added_tokens.json", "added_tokens.json", "special", {
            "added_tokens.json": {"newtok": end}, "special_tokens_map.json": {"additional_special_tokens": ["newtok"]}})
        self.add("vocab.txt", "vocab.txt", "without [MASK] and [PAD]",
                 {"vocab.txt": "\n".join(t for t in VOCABULARY if t not in ("[MASK]", "[PAD]")) + "\n"})

    def definition_fields(self):
        """tokenizer.json beside vocab.txt: with BertTokenizer, and with PreTrainedTokenizerFast, which obeys all of it."""
        def put(*path, value):
            def change(definition):
                part = definition
                for name in path[:-1]:
                    part = part[name]
                part[path[-1]] = value
            return change

        def swap(definition):  # other ids than those of vocab.txt
            vocabulary = definition["model"]["vocab"]
            vocabulary["heron"], vocabulary["river"] = vocabulary["river"], vocabulary["heron"]

        added = self.definition["added_tokens"] + [{"id": len(VOCABULARY), "content": "newtok", "single_word": False, "lstrip": False,
                                                    "rstrip": False, "normalized": True, "special": False}]
        template = self.definition["post_processor"]
        twice = json.loads(json.dumps(template))
        twice["single"].append({"SpecialToken": {"id": "[SEP]", "type_id": 0}})
        segment = json.loads(json.dumps(template))
        segment["single"][1]["Sequence"]["type_id"] = 1
        for config in (CLASS, {}, CLASS | {"tokenizer_class": "PreTrainedTokenizerFast"}):
            row = lambda *arguments: self.definition_row(*arguments, config)
            row("model.vocab", "other ids", swap)
            row("normalizer.lowercase", False, put("normalizer", "lowercase", value=False))
            row("normalizer.strip_accents", False, put("normalizer", "strip_accents", value=False))
            row("normalizer.handle_chinese_chars", False, put("normalizer", "handle_chinese_chars", value=False))
            row("normalizer.clean_text", False, put("normalizer", "clean_text", value=False))
            row("normalizer", None, put("normalizer", value=None))
            row("normalizer", "Lowercase", put("normalizer", value={"type": "Lowercase"}))
            row("pre_tokenizer", "Whitespace", put("pre_tokenizer", value={"type": "Whitespace"}))
            row("model.max_input_chars_per_word", 200, put("model", "max_input_chars_per_word", value=200))
            row("model.unk_token", "heron", put("model", "unk_token", value="heron"))
            row("model.continuing_subword_prefix", "@@", put("model", "continuing_subword_prefix", value="@@"))
            row("added_tokens", "newtok", put("added_tokens", value=added))
            row("truncation", 8, put("truncation", value={"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}))
            row("truncation", "Left", put("truncation", value={"direction": "Left", "max_length": 8, "strategy": "LongestFirst",
                                                               "stride": 0}))
            row("padding", "Left", put("padding", value={"strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": None,
                                                         "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}))
            row("post_processor", None, put("post_processor", value=None))
            row("post_processor", "two [SEP]", put("post_processor", value=twice))
            row("post_processor", "segment 1", put("post_processor", value=segment))
        fast = {"tokenizer_class": "PreTrainedTokenizerFast"}
        for value in ({"mask_token": "[MASK]"}, {"mask_token": "[MASK]", "additional_special_tokens": ["<x>"]},
                      {"mask_token": "[MASK]", "bos_token": "<b>"}, {"mask_token": "[MASK]", "do_lower_case": False},
                      {"mask_token": "[MASK]", "added_tokens_decoder": {"4": {"content": "[MASK]", "lstrip": True, "special": True,
                                                                              "normalized": False}}}):
            self.definition_row("PreTrainedTokenizerFast", value, lambda definition: None, fast | value)

        cased = json.loads(json.dumps(self.definition))
        cased["normalizer"]["lowercase"] = False
        for files in ({"vocab.txt": None}, {"vocab.txt": None, "added_tokens.json": {"newtok": len(VOCABULARY)}},
                      {"vocab.txt": None, "special_tokens_map.json": {"mask_token": "heron", "additional_special_tokens": ["<x>"]}}):
            self.add("tokenizer_config.json", "tokenizer_config.json", f"missing, {list(files)[-1]}",
                     {"tokenizer.json": cased, "tokenizer_config.json": None} | files, export=True)

    def piece_fields(self):
        """A SentencePiece model, which transformers' SentencePieceBackend reads."""
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(20 * LINES[:3] + 20 * LINES[6:7]), model_writer=model, vocab_size=100, hard_vocab_limit=False,
            pad_id=0, unk_id=1, bos_id=2, eos_id=3, pad_piece="[PAD]", unk_piece="[UNK]", bos_piece="[CLS]", eos_piece="[SEP]",
            control_symbols=["[MASK]", "<c>"], num_threads=1, minloglevel=2)
        config = {"tokenizer_class": "SentencePieceBackend", "special_tokens_pattern": "cls_sep", "cls_token": "[CLS]",
                  "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]", "bos_token": "[CLS]",
                  "eos_token": "[SEP]"}
        for field, value in {"tokenizer_class": "SentencePieceBackend", "special_tokens_pattern": None, "cls_token": "<c>",
                             "sep_token": "<c>", "legacy": False, "sp_model_kwargs": {"enable_sampling": True, "nbest_size": -1, "alpha": 0.1},
                             "token_type_ids_include_special_tokens": False}.items():
            changed = config | {field: value}
            self.add("tokenizer_config.json", field, {"pieces": value}, {
                "vocab.txt": None, "tokenizer.model": model.getvalue(),
                "tokenizer_config.json": {name: value for name, value in changed.items() if value is not None}}, always=True)

    def sentence_fields(self):
        row = self.sentence
        config, sentence = "sentence_bert_config.json", "config_sentence_transformers.json"
        row(config, "max_seq_length", 8, 16, None)
        row(config, "do_lower_case", True)
        self.add(config, "do_lower_case", "True, cased", SENTENCE | {
            config: {"max_seq_length": 30, "do_lower_case": True}, "tokenizer_config.json": CLASS | {"do_lower_case": False}})
        self.add(config, "max_seq_length", "absent, model_max_length 8", SENTENCE | {
            config: {"do_lower_case": False}, "tokenizer_config.json": CLASS | {"model_max_length": 8}})
        for field in ("config_args", "config_kwargs", "model_args", "model_kwargs"):
            row(config, field, {"layer_norm_eps": 0.1} if "config" in field else {"attn_implementation": "eager"})
        for field in ("tokenizer_args", "processor_kwargs"):
            row(config, field, {"do_lower_case": False})
        row(config, "processing_kwargs", {"text": {"max_length": 5}})
        row(config, "transformer_task", "feature-extraction", "fill-mask")
        row(config, "module_output_name", "token_embeddings")
        row(config, "modality_config", {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
            {"text": {"method": "forward", "method_output_name": "pooler_output"}})
        for field, value in {"query_length": 5, "document_length": 5, "query_expansion": None, "unpad_inputs": False}.items():
            row(config, field, value)
        row(config, "an_unknown_field", 3)
        for field in ("cls_token", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"):
            row("1_Pooling/config.json", "pooling_mode_" + field, True)
            self.add("Pooling", "pooling_mode_" + field, "True, mean False", SENTENCE | {
                "1_Pooling/config.json": POOLING | {"pooling_mode_mean_tokens": False, "pooling_mode_" + field: True}})
        row("1_Pooling/config.json", "pooling_mode_mean_tokens", False)
        row("1_Pooling/config.json", "pooling_mode", "cls", "mean", ["cls"], ["cls", "mean"], "max",
            base={"word_embedding_dimension": 16})
        row("1_Pooling/config.json", "embedding_dimension", 16, base={"pooling_mode": "mean"})
        row("1_Pooling/config.json", "word_embedding_dimension", 16)
        row("1_Pooling/config.json", "include_prompt", False)
        row("1_Pooling/config.json", "an_unknown_field", 3)
        prompts = {"prompts": {"query": "the old: "}}
        row(sentence, "prompts", {"query": "the old: "}, base={})
        row(sentence, "default_prompt_name", "query", "nonsense", base=prompts)
        self.add("Pooling", "include_prompt", "False, with a prompt", SENTENCE | {
            sentence: prompts | {"default_prompt_name": "query"}, "1_Pooling/config.json": POOLING | {"include_prompt": False}})
        row(sentence, "similarity_fn_name", "dot", base={})
        row(sentence, "__version__", {"sentence_transformers": "2.0.0"}, base={})
        row(sentence, "model_type", "SparseEncoder", base={})
        row(sentence, "truncate_dim", 4, base={})
        row(sentence, "an_unknown_field", 3, base={})
        for name, modules in {"Normalize": MODULES + [NORMALIZE],
                              "Dense": MODULES + [{"idx": 2, "name": "2", "path": "2", "type": "sentence_transformers.models.Dense"}],
                              "Dropout": MODULES + [{"idx": 2, "name": "2", "path": "1_Pooling",
                                                     "type": "sentence_transformers.models.Dropout"}],
                              "no Pooling": MODULES[:1]}.items():
            self.add("modules.json", "modules.json", name, SENTENCE | {"modules.json": modules})

    def theirs(self, place, masked):
        """Returns the vectors, the guesses (ids and probabilities by masked token), or the error of transformers."""
        if (place / "modules.json").exists():
            return SentenceTransformer(str(place), device="cpu").encode(LINES, batch_size=4), None
        tokenizer, model = AutoTokenizer.from_pretrained(place), AutoModel.from_pretrained(place, dtype=torch.float32).eval()
        longest = min(tokenizer.model_max_length, model.config.max_position_embeddings)
        vectors = []
        for line in LINES:  # one by one, because some tokenizers have no token for padding
            batch = tokenizer([line], truncation=True, max_length=longest, return_tensors="pt")
            with torch.inference_mode():
                vectors.append(model(**batch, return_dict=True).last_hidden_state[0].mean(0).numpy())
        vectors = numpy.stack(vectors)
        if not masked:
            return vectors, None
        if tokenizer.mask_token_id is None:
            return vectors, None
        model, guesses = AutoModelForMaskedLM.from_pretrained(place, dtype=torch.float32).eval(), []
        for line in MASKED:
            line = line.replace("[MASK]", str(tokenizer.mask_token))
            batch = tokenizer([line], return_tensors="pt")
            with torch.inference_mode():
                found = model(**batch, return_dict=True).logits.softmax(2)[0]
            guesses += [found[i].numpy() for i in (batch["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()]
        return vectors, (str(tokenizer.mask_token), guesses)

    def run(self, *arguments, **options):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True,
                              env=os.environ | {"OMP_NUM_THREADS": "1"}, **options)

    def ours(self, place, masked, mask):
        text, output = place.with_suffix(".txt"), place.with_suffix(".npy")
        text.write_text("".join(line + "\n" for line in LINES))
        embedded = self.run("embed", place, text, "--output", output)
        if embedded.returncode != 0:
            return embedded, None, None
        if not masked:
            return embedded, numpy.load(output), None
        predicted = self.run("predict", place, "--top", "1000", "--json", input="".join(line.replace("[MASK]", mask) + "\n" for line in MASKED))
        if predicted.returncode != 0:
            return predicted, None, None
        masks = [mask for line in predicted.stdout.splitlines() for mask in json.loads(line)["masks"]]
        return embedded, numpy.load(output), [{g["id"]: g["probability"] for g in m["guesses"]} for m in masks]

    def reference(self, number):
        """Returns the vectors, guesses and error of transformers."""
        _, _, _, place, masked = self.rows[number]
        try:
            vectors, guesses = self.theirs(place, masked)
            if number in self.exported:
                self.exported[number] = self.difference_of_export(place, vectors)
            return vectors, guesses, ""
        except Exception as refusal:  # transformers raises many kinds
            return None, None, f"transformers: {type(refusal).__name__}: {str(refusal).splitlines()[0] if str(refusal) else ''}"

    def judge(self, number, reference):
        """Returns the row's verdict and a reason."""
        file, field, value, place, masked = self.rows[number]
        vectors, guesses, error = reference
        done, our_vectors, our_guesses = self.ours(place, guesses is not None, guesses[0] if guesses else "[MASK]")
        if done.returncode == 0 and vectors is None:
            return "no reference", error
        words = done.stderr.replace(str(place), "")
        name = {"Pooling": "[Pp]ool", "modules.json": "modules.json"}.get(file, field.split(".")[-1])
        if done.returncode != 0:
            message = next((line for line in reversed(words.splitlines()) if " error: " in line), words)
            named = re.search(self.NAMED.get(field, re.escape(name)) if file == "config.json" else name if file == "Pooling" else re.escape(name), words)
            return ("refused" if named else "refused without its name"), message.strip()[:150] + (f" ({error[:60]})" if error else "")
        if our_vectors.shape != vectors.shape:
            return "different", f"shape {our_vectors.shape}, theirs {vectors.shape}"
        far = numpy.abs(our_vectors - vectors).max(1)
        if far.max() > 1e-4:
            return "different", f"lines {[i for i in range(len(far)) if far[i] > 1e-4]} differ by up to {far.max():.2g}"
        if guesses:
            if len(our_guesses) != len(guesses[1]):
                return "different", f"{len(our_guesses)} guesses, theirs {len(guesses[1])}"
            for ours, theirs in zip(our_guesses, guesses[1]):
                if max(abs(ours.get(i, 0) - p) for i, p in enumerate(theirs)) > 1e-4:
                    return "different", "guesses"
        if self.exported.get(number):
            return "different", self.exported[number]
        warned = [line for line in words.splitlines() if "warning" in line.lower() and "truncated" not in line]
        return "equal", "; ".join(warned)[:150]

    def difference_of_export(self, place, vectors):
        """Returns how transformers' vectors of an export differ from those of the folder; "": they do not."""
        output = place.with_suffix(".export")
        exported = self.run("export", place, "--format", "hf", "--output", output)
        if exported.returncode != 0:
            return exported.stderr
        far = numpy.abs(self.theirs(output, False)[0] - vectors).max(1)
        return f"lines {[i for i in range(len(far)) if far[i] > 1e-4]} of the export" if far.max() > 1e-4 else ""

    def missing(self):
        """Returns the fields of our tables, and of transformers' class, that have no row."""
        root, fields = Path(__file__).resolve().parents[2] / "lib", set()
        for source, file in {"model/bert/hugging_face.cpp": "config.json", "model/config_json.cpp": "config.json",
                             "tokens/definition/tokenizer_config_fields.cpp": "tokenizer_config.json"}.items():
            fields |= {(file, name) for name in re.findall(r'^ +\{"(\w+)", (?:obeyed|nothing|refused)', (root / source).read_text(), re.M)}
        tables = (root / "inference/sentence_settings.cpp").read_text().split("ForeignField> ")[1:]
        for table in tables:
            file = {"transformer_module_fields": "sentence_bert_config.json", "pooling_module_fields": "Pooling",
                    "sentence_model_fields": "config_sentence_transformers.json"}.get(table.split("(")[0])
            fields |= {(file, name) for name in re.findall(r'^ +\{"(\w+)", (?:obeyed|nothing|refused)', table, re.M) if file}
        return sorted((fields | fields_of_class(BertConfig, transformers.models.bert.modeling_bert)) - self.swept)


def fields_of_class(configuration, modeling):
    """Returns all that a config.json can set in a class: its fields and attributes, and what the model's code reads."""
    names = {field.name for field in dataclasses.fields(configuration)}
    names |= {name for name in dir(configuration) if not name.startswith("__") and not callable(getattr(configuration, name))}
    source = inspect.getsource(modeling)
    names |= set(re.findall(r"\bconfig\.([a-z]\w*)\b(?!\()", source)) | set(re.findall(r'getattr\([\w.]*config, "(\w+)"', source))
    return {("config.json", name) for name in names}


def main(program, folder, step):
    return judged(Sweep(program, Path(folder)), step)


def judged(sweep, step):
    sweep.fields()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        numbers = sorted(sweep.always | set(range(0, len(sweep.rows), step)))  # transformers loads models in one thread only
        verdicts = list(pool.map(sweep.judge, numbers, map(sweep.reference, numbers)))
    counts = {}
    for (file, field, value, _, _), (verdict, reason) in zip((sweep.rows[number] for number in numbers), verdicts):
        counts[verdict] = counts.get(verdict, 0) + 1
        print(f"{file} | {field} | {json.dumps(value, ensure_ascii=False)[:70]} | {verdict} | {reason}")
    print("in all:", ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    for file, field in sweep.missing():
        print(f"no row for {field} of {file}")
    return 0 if set(counts) <= {"equal", "refused", "no reference"} and not sweep.missing() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
