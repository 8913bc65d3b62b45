"""Times the way from text to a vocabulary of 30,522 tokens on one core: our whole program against Hugging Face's
BertWordPieceTokenizer.train on the same file, one thread. Prints the tokens per word of both vocabularies on text held out from
both. Then two of our threads against one, on the text forty times over, because real vocabularies are built from gigabytes (the
threads share the counting of words, not the merging of pieces)."""
import os
import pathlib
import tempfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tokenizers

from interleaved import DATA_PROGRAM, benchmark_text, compare, run_program

SIZE, TIMES = 30522, 40


def train_ours(text, output, threads=1):
    return run_program([DATA_PROGRAM, "vocabulary", text, "--size", SIZE, "--output", output, "--threads", threads], cores=threads)


def train_theirs(text, folder):
    tokenizer = tokenizers.BertWordPieceTokenizer(lowercase=True)
    tokenizer.train([str(text)], vocab_size=SIZE, show_progress=False)
    tokenizer.save_model(str(folder), "theirs")


def tokens_per_word(vocabulary, lines):
    encode = tokenizers.BertWordPieceTokenizer(str(vocabulary), lowercase=True)._tokenizer.encode_batch
    encodings = encode(lines, add_special_tokens=False)
    return sum(len(one.ids) for one in encodings) / sum(len(set(one.word_ids)) for one in encodings)


def main():
    whole = benchmark_text().read_bytes()
    border = whole.rindex(b"\n", 0, len(whole) * 19 // 20) + 1
    held_out = whole[border:].decode(errors="ignore").split("\n")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text, repeated = folder / "text.txt", folder / "repeated.txt"
        text.write_bytes(whole[:border])
        repeated.write_bytes(whole[:border] * TIMES)
        megabytes = border / 1e6
        compare(f"vocabulary, one thread, {megabytes:.1f} MB of text",
                {"ours": lambda: train_ours(text, folder / "ours-vocab.txt"),
                 "tokenizers' trainer": lambda: train_theirs(text, folder)}, megabytes, "MB", goal=3)
        ours, theirs = (tokens_per_word(folder / f"{side}-vocab.txt", held_out) for side in ("ours", "theirs"))
        print(f"  tokens per word on held-out text: ours {ours:.4f}, theirs {theirs:.4f}, {100 * (ours / theirs - 1):+.2f} % (goal 1 %)")
        compare(f"vocabulary, two threads, {TIMES * megabytes:.0f} MB of text",
                {"two threads": lambda: train_ours(repeated, folder / "two.txt", 2),
                 "one thread": lambda: train_ours(repeated, folder / "one.txt")}, TIMES * megabytes, "MB", goal=1.8)


if __name__ == "__main__":
    main()
