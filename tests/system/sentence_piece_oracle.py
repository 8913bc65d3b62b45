"""Trains SentencePiece models and runs the Python packages on them, for sentence_piece_run_test.cpp.

  sentence_piece_oracle.py train TEXT PREFIX SIZE TYPE     writes PREFIX.model with BERT's special tokens, their ids 0 to 4
  sentence_piece_oracle.py ids MODEL TEXT FILE             a line of ids per line, by the package sentencepiece

Exits with 77 if the package is missing."""
import sys

try:
    import sentencepiece
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


def train(text, prefix, size, kind):
    sentencepiece.SentencePieceTrainer.train(
        input=text, model_prefix=prefix, vocab_size=int(size), model_type=kind, pad_id=0, unk_id=1, bos_id=2, eos_id=3,
        pad_piece="[PAD]", unk_piece="[UNK]", bos_piece="[CLS]", eos_piece="[SEP]", control_symbols="[MASK]", num_threads=1,
        max_sentence_length=1 << 20, byte_fallback=kind == "bpe", hard_vocab_limit=False, minloglevel=2)


def write_ids(model, text, file):
    processor = sentencepiece.SentencePieceProcessor(model_file=model)
    with open(text, "rb") as source, open(file, "w") as out:
        for line in source.read().decode(errors="ignore").removesuffix("\n").split("\n"):
            out.write(" ".join(map(str, processor.encode(line))) + "\n")


command, *rest = sys.argv[1:]
{"train": train, "ids": write_ids}[command](*rest)
