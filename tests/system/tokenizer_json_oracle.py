"""Writes definitions of Hugging Face's tokenizers and runs them, for tokenizer_json_parity_test.cpp.

  tokenizer_json_oracle.py definitions FOLDER        NAME.json for each pipeline below, trained on random words
  tokenizer_json_oracle.py unigrams FOLDER           the same for those of unigram_pipelines()
  tokenizer_json_oracle.py others FOLDER             the same for those of other_pipelines(), and prints their names
  tokenizer_json_oracle.py text FILE MEGABYTES       random text, with the definitions' added tokens and runs of spaces
  tokenizer_json_oracle.py scalars FILE              every Unicode scalar value among letters and digits, and what is assigned also alone
  tokenizer_json_oracle.py train TEXT SIZE FILE      a definition with SIZE tokens, as `vocabulary --model bpe` trains it on TEXT
  tokenizer_json_oracle.py ids DEFINITION TEXT FILE  a line of ids per line, without special tokens around them"""
import io
import json
import os
import random
import sys
import unicodedata

import tokenizer_oracle

os.environ["TOKENIZERS_PARALLELISM"] = "false"
try:
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
except ImportError:
    sys.exit(77)

LLAMA = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
            r"\s*[\r\n]+|\s+(?!\S)|\s+")
ADDED = ["<s>", "</s>", "<pad>", "<mask>", "wort", "<|x|>", "  ", "    ", "W\u00fcrt", "wu\u0308Rt", "WORT", "\u65e5\u672c"]


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level(prefix=False, regex=True):
    return pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=regex)


def pipelines():
    """Returns {name: (normalizer, pre-tokenizer, options of BPE, whether all bytes are tokens)}."""
    steps, forms = pre_tokenizers.Sequence, normalizers.Sequence
    return {
        "gpt2": (None, byte_level(), {}, True),
        "roberta": (None, byte_level(prefix=True), {}, True),
        "modernbert": (normalizers.NFC(), byte_level(), {}, True),
        "llama": (None, steps([split(LLAMA), byte_level(regex=False)]), {"ignore_merges": True}, True),
        "o200k": (normalizers.NFD(), steps([split(O200K), byte_level(regex=False)]), {}, True),
        "deepseek": (None, steps([split(r"\p{N}{1,3}"), split("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"), split(DEEPSEEK),
                                  byte_level(regex=False)]), {}, True),
        "lower": (forms([normalizers.NFKC(), normalizers.Lowercase(), normalizers.Replace("a", "ee"), normalizers.Prepend("_")]),
                  steps([pre_tokenizers.Digits(individual_digits=True), byte_level(prefix=True)]), {}, True),
        "digits": (normalizers.NFKD(), steps([pre_tokenizers.Digits(), pre_tokenizers.WhitespaceSplit(), byte_level()]), {}, True),
        "merged": (None, steps([split(r"\p{P}+", "merged_with_previous"), split(r"[ _]\w", "merged_with_next"),
                                split(r"\d++|\W", "contiguous", True), split("[aeiou]", "removed"), byte_level(regex=False)]), {}, True),
        "accents": (forms([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]), byte_level(), {}, True),
        "whitespace": (None, steps([pre_tokenizers.Whitespace(), byte_level(prefix=True)]), {}, True),
        "unknown": (None, byte_level(), {"unk_token": "<pad>", "fuse_unk": True}, False),
        "unfused": (None, byte_level(), {"unk_token": "<pad>"}, False),
        "dropped": (None, byte_level(), {}, False),
    }


def write_definitions(folder):
    words = tokenizer_oracle.random_words(random.Random(3), 8000)
    for number, (name, (normalizer, splitter, options, is_complete)) in enumerate(pipelines().items()):
        alphabet = pre_tokenizers.ByteLevel.alphabet() if is_complete else []
        trainer = trainers.BpeTrainer(vocab_size=900 + 100 * number, special_tokens=["<s>", "</s>", "<pad>"], initial_alphabet=alphabet,
                                      limit_alphabet=1000 if is_complete else 120, show_progress=False)
        tokenizer = Tokenizer(models.BPE(**{key: value for key, value in options.items() if key != "unk_token"}))
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, splitter
        tokenizer.train_from_iterator([" ".join(words[i:i + 10]) for i in range(0, len(words), 10)], trainer)
        if "unk_token" in options:
            tokenizer.model.unk_token = options["unk_token"]
        tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=number % 2 == 0), AddedToken("<|x|>", rstrip=True)])
        tokenizer.add_tokens([AddedToken("wort", single_word=True), AddedToken("  ", normalized=False), AddedToken("    ", normalized=True)])
        if name == "roberta":
            tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
        tokenizer.save(os.path.join(folder, name + ".json"))
    write_word_pieces(folder, words)


def trained_pieces(lines, rule):
    """Returns the tokens with their scores of a SentencePiece model, and its table of characters."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=1500, hard_vocab_limit=False,
                                             normalization_rule_name=rule, character_coverage=1.0, num_threads=1,
                                             minloglevel=2)
    parsed = sentencepiece_model_pb2.ModelProto()
    parsed.ParseFromString(model.getvalue())
    return [(piece.piece, piece.score) for piece in parsed.pieces], parsed.normalizer_spec.precompiled_charsmap


def unigram_pipelines(table, folding):
    """Returns {name: (normalizer, pre-tokenizer)}. xlm_roberta is that of the published files, converted that of later ones."""
    steps, forms, sign = pre_tokenizers.Sequence, normalizers.Sequence, pre_tokenizers.Metaspace
    precompiled, folded = normalizers.Precompiled(table), normalizers.Precompiled(folding)
    return {
        "xlm_roberta": (precompiled, steps([pre_tokenizers.WhitespaceSplit(), sign()])),
        "converted": (forms([precompiled, normalizers.Strip(left=False), normalizers.Replace(Regex(" {2,}"), "\u2581")]), sign()),
        "folded": (forms([folded, normalizers.Lowercase()]), sign(split=False)),
        "first": (None, steps([pre_tokenizers.Digits(), sign(prepend_scheme="first")])),
        "never": (forms([normalizers.NFKC(), normalizers.Strip(), normalizers.Replace("x", "\u2581")]), sign(prepend_scheme="never")),
        "alone": (forms([precompiled, normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]), None),
    }


def write_unigrams(folder):
    words = tokenizer_oracle.random_words(random.Random(5), 8000)
    words = [word for word in words if max(word) < "\u0530"] + 20 * ["\u65e5\u672c", "\u65e5"]  # SentencePiece keeps all letters
    lines = [" ".join(words[i:i + 10]) for i in range(0, len(words), 10)]
    (pieces, table), (_, folding) = trained_pieces(lines, "nmt_nfkc"), trained_pieces(lines, "nmt_nfkc_cf")
    vocab = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *pieces[3:], ("<mask>", 0.0)]
    spelled = vocab + [(f"<0x{byte:02X}>", -20.0) for byte in range(256)]
    for name, (normalizer, splitter) in unigram_pipelines(table, folding).items():
        falls_back = name in ("first", "alone")
        tokenizer = Tokenizer(models.Unigram(spelled if falls_back else vocab, 3, falls_back))
        tokenizer.normalizer = normalizer
        if splitter is not None:
            tokenizer.pre_tokenizer = splitter
        tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, normalized=False)])
        tokenizer.add_tokens([AddedToken("wort", single_word=True), AddedToken("<|x|>", rstrip=True, normalized=False)])
        tokenizer.save(os.path.join(folder, name + ".json"))


def other_pipelines():
    """Returns {name: (model, normalizer, pre-tokenizer, options of the model's trainer, tokens of bytes)}."""
    steps, forms, sign = pre_tokenizers.Sequence, normalizers.Sequence, pre_tokenizers.Metaspace
    bert, bert_words = normalizers.BertNormalizer, pre_tokenizers.BertPreTokenizer()
    unk, spaces = {"unk_token": "[UNK]"}, pre_tokenizers.WhitespaceSplit()
    pairs, level, pieces = models.BPE, models.WordLevel(**unk), models.WordPiece(**unk)
    to_signs = forms([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    return {
        "dnabert": (level, None, spaces, {}, []),
        "esm": (level, None, steps([spaces, split(r"[\s\S]")]), {}, []),
        "level_bert": (level, bert(strip_accents=False), steps([bert_words, pre_tokenizers.Digits(individual_digits=True)]), {}, []),
        "level_none": (level, normalizers.NFC(), None, {}, []),
        "delimiter": (level, None, steps([pre_tokenizers.CharDelimiterSplit("e"), spaces]), {}, []),
        "pieces_lower": (pieces, forms([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]),
                         pre_tokenizers.Whitespace(), {}, []),
        "pieces_plain": (pieces, None, bert_words, {}, []),
        "pieces_spaces": (pieces, bert(lowercase=False), steps([spaces, pre_tokenizers.Punctuation("merged_with_previous")]), {}, []),
        "dnabert2": (pairs(**unk), None, pre_tokenizers.Whitespace(), {}, []),
        "gpt": (pairs(end_of_word_suffix="</w>", **unk), bert(), bert_words, {"end_of_word_suffix": "</w>"}, []),
        "prefixed": (pairs(continuing_subword_prefix="##", fuse_unk=True, **unk), bert(lowercase=False), bert_words,
                     {"continuing_subword_prefix": "##"}, []),
        "both_marks": (pairs(continuing_subword_prefix="@", end_of_word_suffix="#", **unk), None,
                       steps([spaces, pre_tokenizers.Punctuation("contiguous")]),
                       {"continuing_subword_prefix": "@", "end_of_word_suffix": "#"}, []),
        "llama2": (pairs(byte_fallback=True, fuse_unk=True, **unk), to_signs, None, {}, range(256)),
        "llama2_first": (pairs(byte_fallback=True, fuse_unk=True, **unk), None, sign(prepend_scheme="first", split=False), {}, range(256)),
        "some_bytes": (pairs(byte_fallback=True, **unk), normalizers.NFKC(), sign(), {}, range(160, 230)),
        "some_bytes_fused": (pairs(byte_fallback=True, fuse_unk=True, **unk), None, sign(prepend_scheme="never"), {}, range(130, 250)),
        "no_unknown": (pairs(ignore_merges=True), None, steps([pre_tokenizers.Punctuation("removed"), spaces]), {}, []),
    }


def write_others(folder):
    words = tokenizer_oracle.random_words(random.Random(7), 8000)
    lines = [" ".join(words[i:i + 10]) for i in range(0, len(words), 10)]
    for name, (model, normalizer, splitter, options, spelled) in other_pipelines().items():
        tokenizer = Tokenizer(model)
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"<0x{byte:02X}>" for byte in spelled)]
        if isinstance(model, models.BPE):
            trainer = trainers.BpeTrainer(vocab_size=1500, special_tokens=special, limit_alphabet=200, show_progress=False, **options)
        elif isinstance(model, models.WordPiece):
            trainer = trainers.WordPieceTrainer(vocab_size=3000, special_tokens=special, show_progress=False)
        else:
            trainer = trainers.WordLevelTrainer(vocab_size=4000, special_tokens=special, show_progress=False)
        if splitter is not None or not isinstance(model, models.BPE):
            tokenizer.pre_tokenizer = splitter or pre_tokenizers.WhitespaceSplit()
        else:
            tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        tokenizer.train_from_iterator(lines, trainer)
        tokenizer.add_tokens([AddedToken("wort", single_word=True), AddedToken("<|x|>", rstrip=True, normalized=False)])
        definition = json.loads(tokenizer.to_str())
        if splitter is None:
            definition["pre_tokenizer"] = None
        byte_tokens = {token["content"] for token in definition["added_tokens"] if token["content"].startswith("<0x")}
        definition["added_tokens"] = [token for token in definition["added_tokens"] if token["content"] not in byte_tokens]
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(definition, file)
        print(name)


def write_word_pieces(folder, words):
    """WordPiece with added tokens that are looked for in the normalized text, by each kind of casing."""
    for name, options in {"pieces": {}, "pieces_cased": {"lowercase": False}, "pieces_accents": {"strip_accents": False},
                          "pieces_stripped": {"lowercase": False, "strip_accents": True}}.items():
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(**options), pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=3000, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                            show_progress=False)
        tokenizer.train_from_iterator([" ".join(words[i:i + 10]) for i in range(0, len(words), 10)], trainer)
        tokenizer.add_tokens([AddedToken("W\u00fcrT", normalized=True), AddedToken("wort", single_word=True, normalized=True),
                              AddedToken("  ", normalized=True), AddedToken("\u65e5\u672c", normalized=True),
                              AddedToken("<|x|>", normalized=True, rstrip=True), AddedToken("x1", normalized=True, lstrip=True)])
        tokenizer.save(os.path.join(folder, name + ".json"))


def write_trained(text, size, file):
    """Each line counts with a space before it. Merges are written as texts "LEFT RIGHT"."""
    with open(text, encoding="utf-8", newline="\n") as source:
        lines = [" " + line.strip() for line in source]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(" [MASK]", "[MASK]"), normalizers.NFC()])
    tokenizer.pre_tokenizer = byte_level()
    trainer = trainers.BpeTrainer(vocab_size=int(size), min_frequency=2, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator([line for line in lines if line != " "], trainer)
    definition = json.loads(tokenizer.to_str())
    definition["model"]["merges"] = [" ".join(merge) for merge in definition["model"]["merges"]]
    file.write(json.dumps(definition).encode())


def write_text(file, megabytes):
    draw = random.Random(4)
    words = tokenizer_oracle.random_words(draw, 50000) + (ADDED + [" <mask>", "<|x|> ", "'s", "'LL", "don't", "1234567", "##a", "###", "####", "\r\n"]) * 250
    separators = [" "] * 60 + ["\n"] * 6 + ["", "", ", ", "  ", "     ", " \t ", "\r", "\u3000", "\u0085", "\u200d", "_"]
    written = 0
    while written < megabytes * 1e6:
        parts = (part for pair in zip(draw.choices(words, k=20000), draw.choices(separators, k=20000)) for part in pair)
        written += file.write("".join(parts).replace("\r", "").encode())  # it would end a line


def write_scalars(file):
    characters = [chr(c) for c in filter(tokenizer_oracle.is_scalar, range(0x110000)) if c != 0x0D]
    for begin in range(0, len(characters), 32):
        file.write(("".join(map(in_contexts, characters[begin:begin + 32])) + "\n").encode())


def in_contexts(c):
    """Seven of eight scalar values are private or assigned nowhere; no step knows them apart, so that one context is enough."""
    return f"x{c}1 " if unicodedata.category(c) in ("Cn", "Co") else f"{c} x{c}1{c}'s\u0301 "


def write_ids(definition, text, file):
    tokenizer = Tokenizer.from_file(definition)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    with open(text, "rb") as source:
        lines = source.read().decode(errors="ignore").removesuffix("\n").split("\n")
    for begin in range(0, len(lines), 4096):
        for encoding in tokenizer.encode_batch_fast(lines[begin:begin + 4096], add_special_tokens=False):
            file.write((" ".join(map(str, encoding.ids)) + "\n").encode())


def main():
    command, *arguments = sys.argv[1:]
    writers = {"definitions": write_definitions, "unigrams": write_unigrams, "others": write_others}
    if command in writers:
        writers[command](arguments[0])
        return
    with open(arguments[-1 if command in ("ids", "train") else 0], "wb") as file:
        if command == "text":
            write_text(file, float(arguments[1]))
        elif command == "train":
            write_trained(*arguments[:-1], file)
        elif command == "scalars":
            write_scalars(file)
        else:
            write_ids(*arguments[:-1], file)


if __name__ == "__main__":
    main()
