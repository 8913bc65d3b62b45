"""Times the way from text to ids on one core: our whole program (start, vocabulary, reading the file, printing the ids) against
Hugging Face's tokenizers on lines that are already in memory, one thread, ids read from the result. Then two of our threads
against one, on the text ten times over, so that the start counts little."""
import os
import tempfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tokenizers

from interleaved import DATA_PROGRAM, benchmark_text, compare, run_program, vocabulary_file

TEXT, VOCABULARY = benchmark_text(), vocabulary_file()
MEGABYTES = TEXT.stat().st_size / 1e6
LINES = TEXT.read_text(encoding="utf-8").split("\n")


def peer(lowercase, method):
    tokenizer = tokenizers.BertWordPieceTokenizer(str(VOCABULARY), lowercase=lowercase)
    encode = getattr(tokenizer._tokenizer, method)

    def take_ids():
        for encoding in encode(LINES, add_special_tokens=False):
            encoding.ids
    return take_ids


def ours(text, threads, *options):
    return run_program([DATA_PROGRAM, "tokenize", "--vocabulary", VOCABULARY, "--threads", threads, *options, text], cores=threads)


def main():
    for name, lowercase, options in (("uncased", True, ()), ("cased", False, ("--cased",))):
        compare(f"tokenizer, {name}, one thread, {MEGABYTES:.1f} MB of text",
                {"ours": lambda: ours(TEXT, 1, *options),
                 "tokenizers' encode_batch_fast": peer(lowercase, "encode_batch_fast"),
                 "tokenizers' encode_batch": peer(lowercase, "encode_batch")}, MEGABYTES, "MB", goal=8)
    with tempfile.NamedTemporaryFile() as tenfold:
        tenfold.write(TEXT.read_bytes() * 10)
        tenfold.flush()
        compare(f"tokenizer, two threads, {10 * MEGABYTES:.0f} MB of text",
                {"two threads": lambda: ours(tenfold.name, 2), "one thread": lambda: ours(tenfold.name, 1)}, 10 * MEGABYTES, "MB",
                goal=1.8)


if __name__ == "__main__":
    main()
