"""Shards of the sample encyclopaedia, for the stages that train on text."""
from programs import PROJECT, program


def make(stage, name):
    """Makes them once per output folder. Returns the settings, as options of `bertpretrain train`, that read them."""
    folder = stage.shared_folder / "data"
    data, text, vocabulary, shards = program("bertpretrain_data"), folder / "text.txt", folder / "vocab.txt", folder / "shards"
    folder.mkdir(exist_ok=True)
    if not (shards / "manifest.json").exists():
        for command in ([data, "extract", PROJECT / "data_tools/sample/encyclopaedia.xml", "--output", text],
                        [data, "vocabulary", text, "--size", 2000, "--output", vocabulary],
                        [data, "shard", text, "--vocabulary", vocabulary, "--output", shards, "--name", "sample", "--overwrite",
                         "--sequence-length", 128, "--max-predictions", 20, "--duplicate-factor", 5, "--shards", 2,
                         "--held-out-shards", 1, "--held-out-fraction", 0.1]):
            done = stage.run(command, f"{name}_data")
            if done.code != 0:
                raise RuntimeError(f"bertpretrain_data {command[1]}: {done.status}: {done.tail(5)}")
    rows = len(vocabulary.read_text().splitlines())
    return ["--set", f"data.training_shards={shards}", "--set", f"model.vocab_size={(rows + 7) // 8 * 8}"]
