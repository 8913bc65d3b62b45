// The subcommands `shard` and `check` as a user runs them.

#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "shards/sample_rows.h"
#include "shards/shard_reader.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/contains.h"
#include "support/files.h"
#include "support/golden.h"
#include "support/skip.h"

using namespace bertpretrain;
using testing::contains;
using namespace bertpretrain::testing;

namespace {

const std::string program = PROGRAM_FOLDER "/bertpretrain_data";

/// A folder with text.txt (30 different articles of 8 sentences) and vocabulary.txt.
class Corpus {
public:
    Corpus() {
        std::string text;
        for (int line = 0; line < 30 * 9; ++line)
            if (line % 9 == 8) text += "\n";
            else if (line % 9 == 7)
                text += "it slept on " + std::string(static_cast<std::size_t>(1 + line / 9), 'a') + " .\n";  // names the article
            else text += line % 2 == 0 ? "the cat sat on a mat .\n" : "it slept .\n";
        write_text(folder / "text.txt", text);
        write_text(folder / "vocabulary.txt",
                   "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nsat\non\na\nmat\n.\nit\nslept\n##a\n");
    }
    std::string shard(const std::string& options, const std::string& vocabulary = "vocabulary.txt") const {
        return program + " shard " + path("text.txt") + " --vocabulary " + path(vocabulary) + " --output " + path("out") +
               " --sequence-length 32 " + (options.find("--max-predictions") == std::string::npos ? "--max-predictions 5 " : "") +
               options;
    }
    std::string check(const std::string& options = "") const { return program + " check " + path("out") + " " + options; }
    std::string path(const std::string& name) const { return (folder / name).string(); }

    TemporaryFolder folder;
};

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

}  // namespace

TEST_CASE("shard writes named shards that check finds sound, and prints a summary to standard output") {
    const Corpus corpus;
    const auto made = run_command(corpus.shard("--shards 2 --held-out-shards 1 --name tiny --threads 2"));
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    CHECK(contains(made.out, "training"));
    CHECK(contains(made.out, "held out"));
    for (const std::string name :
         {"tiny_training_0000.h5", "tiny_training_0001.h5", "tiny_test_0000.h5", "vocab.txt", "manifest.json"})
        CHECK(std::filesystem::exists(corpus.folder / "out" / name));
    const auto checked = run_command(corpus.check());
    CHECK(checked.exit_code == 0);
    CHECK(contains(checked.out, "tiny_training_0001.h5"));
    CHECK(contains(checked.out, "sound"));
    CHECK(contains(checked.out, "more than half of them in "));
    CHECK(contains(checked.out, "made by version 2 of the rules"));
    CHECK(checked.err.empty());
}

TEST_CASE("shard reads text as cased where the vocabulary was trained on cased text, also if few of its tokens show it") {
    const Corpus corpus;
    const auto made_with = [&](const std::string& options) {
        REQUIRE(run_command(program + " vocabulary " + corpus.path("text.txt") + " --size 60 --output " + corpus.path("own.txt") +
                            options)
                    .exit_code == 0);
        const auto made = run_command(corpus.shard("--overwrite", "own.txt"));
        INFO(made.err);
        REQUIRE(made.exit_code == 0);
        return nlohmann::json::parse(read_text(corpus.folder / "out" / "manifest.json"))["settings"]["casing"];
    };
    CHECK(made_with(" --cased") == "cased");
    CHECK(made_with("") == "uncased");
    CHECK(run_command(corpus.shard("--overwrite --cased", "own.txt")).exit_code == 2);
}

TEST_CASE("shard warns where a tokenizer that keeps white space gets indented text, whose white space the rows lack") {
    const Corpus corpus;
    write_text(corpus.folder / "code.txt", "def f(x):\n    return x\n\ndef g(x):\n    y = x\n    return y\n\n");
    const std::string made = program + " shard " + corpus.path("code.txt") + " --held-out-fraction 0 --output ";
    REQUIRE(run_command(program + " vocabulary " + corpus.path("code.txt") + " --model bpe --size 280 --output " +
                        corpus.path("bpe.json"))
                .exit_code == 0);
    const auto of_bytes = run_command(made + corpus.path("bytes") + " --vocabulary " + corpus.path("bpe.json"));
    CHECK(of_bytes.exit_code == 0);
    CHECK(contains(of_bytes.err, "60 % of the lines are indented, as code is"));
    const auto of_words =
        run_command(made + corpus.path("words") + " --max-unknown 1 --vocabulary " + corpus.path("vocabulary.txt"));
    CHECK(of_words.exit_code == 0);
    CHECK_FALSE(contains(of_words.err, "are indented"));
    const std::string keeping = made + corpus.path("kept") + " --keep-white-space --objective mlm --documents empty-lines ";
    const auto kept = run_command(keeping + "--vocabulary " + corpus.path("bpe.json"));
    INFO(kept.err);
    CHECK(kept.exit_code == 0);
    CHECK_FALSE(contains(kept.err, "are indented"));
}

TEST_CASE("shard --keep-white-space refuses a vocabulary that drops white space, next sentences, and lines of another kind") {
    const Corpus corpus;
    const auto refusal_of = [&](const std::string& options) {
        const auto refused = run_command(corpus.shard("--keep-white-space " + options));
        CHECK(refused.exit_code == 2);
        CHECK_FALSE(std::filesystem::exists(corpus.folder / "out"));
        return refused.err;
    };
    CHECK(contains(refusal_of("--objective mlm"), "gives text the same tokens with its line ends and indentation as without"));
    CHECK(contains(refusal_of(""), "--keep-white-space: needs --objective mlm"));
    CHECK(contains(refusal_of("--objective mlm --lines wrapped"), "--keep-white-space: cannot be combined with --lines"));
    CHECK(contains(refusal_of("--objective mlm --letters apart"), "--letters apart, which adds spaces"));
    CHECK(contains(refusal_of("--compatible-with nvidia"), "--keep-white-space: needs --objective mlm"));
}

TEST_CASE("parts of shards with and without white space are not joined") {
    const Corpus corpus;
    REQUIRE(run_command(program + " vocabulary " + corpus.path("text.txt") + " --model bpe --size 280 --output " +
                        corpus.path("bpe.json"))
                .exit_code == 0);
    const std::string part = "--objective mlm --documents empty-lines --shards 2 --held-out-shards 1 --part ";
    REQUIRE(run_command(corpus.shard(part + "1/2 --keep-white-space", "bpe.json")).exit_code == 0);
    const auto other = run_command(corpus.shard(part + "2/2", "bpe.json"));
    CHECK(other.exit_code == 2);
    CHECK(contains(other.err, "settings.keep_white_space is null, expected true"));
}

TEST_CASE("shard --allow-empty makes no shards of inputs without a document and ends with 0, but refuses damaged ones") {
    const Corpus corpus;
    for (const std::string text : {"\n\n", ""}) {
        write_text(corpus.folder / "text.txt", text);
        CHECK(run_command(corpus.shard("")).exit_code == 3);
        const auto empty = run_command(corpus.shard("--allow-empty"));
        CHECK(empty.exit_code == 0);
        CHECK(contains(empty.err, "no shards were made"));
        CHECK_FALSE(std::filesystem::exists(corpus.folder / "out"));
    }
    write_text(corpus.folder / "text.txt", "the cat sat .\n");
    CHECK(run_command(corpus.shard("")).exit_code == 2);
    const auto single = run_command(corpus.shard("--allow-empty"));
    CHECK(single.exit_code == 0);
    CHECK(contains(single.err, "leaves none of 1 articles for training"));
    write_text(corpus.folder / "text.txt", "One text.\n\n\xff\n");
    CHECK(run_command(corpus.shard("--allow-empty")).exit_code == 3);
}

TEST_CASE("a small text becomes one training and one held-out shard, and one warning counts shards with a single article") {
    const Corpus corpus;
    REQUIRE(run_command(corpus.shard("")).exit_code == 0);
    CHECK(std::filesystem::exists(corpus.folder / "out" / "corpus_training_0000.h5"));
    CHECK(std::filesystem::exists(corpus.folder / "out" / "corpus_test_0000.h5"));
    CHECK(nlohmann::json::parse(read_text(corpus.folder / "out" / "manifest.json"))["shards"].size() == 2);
    const auto lonely = run_command(corpus.shard("--shards 2 --held-out-shards 3 --overwrite"));
    CHECK(contains(
        lonely.err,
        "3 of 5 shards contain only one article, so they have no random next sentences; the first is corpus_test_0000.h5"));
    CHECK(lonely.err.find("only one article") == lonely.err.rfind("only one article"));
}

TEST_CASE("check --json prints one object with the sums and the problems, and bad shards give exit code 3") {
    const Corpus corpus;
    REQUIRE(run_command(corpus.shard("--shards 2 --held-out-shards 1")).exit_code == 0);
    const auto sound = run_command(corpus.check("--json"));
    REQUIRE(sound.exit_code == 0);
    const auto document = nlohmann::json::parse(sound.out);
    CHECK(document["problems"].empty());
    CHECK(document["shards"].size() == 3);
    CHECK(document["vocabulary_size"] == 15);
    CHECK(document["training"]["rows"].get<int>() > document["held_out"]["rows"].get<int>());
    CHECK(document["unigram_cross_entropy"].get<double>() > 1);
    CHECK(document["rules_version"] == 2);
    CHECK(document["held_out_in_training"]["passage_tokens"] == 13);
    CHECK(document["held_out_in_training"]["rows_examined"].get<int>() > 0);
    CHECK(document["held_out_in_training"]["share_with_more_than_half"].get<double>() > 0.5);  // all articles say the same
    std::int64_t rows = 0, tokens = 0;
    for (const auto& [length, count] : document["training"]["rows_by_length"].items()) {
        rows += count.get<std::int64_t>();
        tokens += count.get<std::int64_t>() * std::stoll(length);
    }
    CHECK(document["training"]["rows"] == rows);
    CHECK(document["training"]["tokens"] == tokens);

    const std::filesystem::path shard = corpus.folder / "out" / "corpus_training_0001.h5";
    write_text(shard, read_text(shard).substr(0, 3000));
    const auto damaged = run_command(corpus.check("--json"));
    CHECK(damaged.exit_code == 3);
    CHECK(nlohmann::json::parse(damaged.out)["problems"].size() == 1);
    CHECK(contains(damaged.err, "corpus_training_0001.h5"));
    CHECK_FALSE(contains(damaged.err, "HDF5-DIAG"));
    std::filesystem::remove(corpus.folder / "out" / "manifest.json");
    const auto unlisted = run_command(corpus.check());
    CHECK(unlisted.exit_code == 3);
    CHECK_FALSE(contains(unlisted.err, "HDF5-DIAG"));
    CHECK(run_command(program + " check " + corpus.path("absent")).exit_code == 3);
    CHECK(run_command(corpus.check("--vocabulary " + corpus.path("absent"))).exit_code == 3);
}

TEST_CASE("invalid requests to shard end with exit code 2 and a message with values that work, and write nothing") {
    const Corpus corpus;
    const auto too_many = run_command(corpus.shard("--shards 256"));
    CHECK(too_many.exit_code == 2);
    CHECK(contains(too_many.err, "at most --shards 27 --held-out-shards 3"));
    CHECK(run_command(corpus.shard("--shards 2 --held-out-shards 1 --sequence-length 0")).exit_code == 2);
    CHECK(run_command(corpus.shard("--shards two")).exit_code == 2);
    const auto absent = run_command(program + " shard " + corpus.path("absent.txt") + " --vocabulary " +
                                    corpus.path("vocabulary.txt") + " --output " + corpus.path("out"));
    CHECK(absent.exit_code == 3);  // as for a missing file in every command
    CHECK(contains(absent.err, "absent.txt"));
    CHECK_FALSE(std::filesystem::exists(corpus.folder / "out"));
    REQUIRE(run_command(corpus.shard("--shards 2 --held-out-fraction 0")).exit_code == 0);
    CHECK(run_command(corpus.shard("--shards 2 --held-out-fraction 0")).exit_code == 2);
    CHECK(run_command(corpus.shard("--shards 1 --held-out-fraction 0 --overwrite")).exit_code == 0);
}

TEST_CASE("the number of masked tokens per row follows the row's length, and too few of them are warned of") {
    const Corpus corpus;
    for (const auto& [length, predictions] : std::vector<std::pair<std::string, std::string>>{{"128", "20"}, {"512", "80"}}) {
        const auto made =
            run_command(program + " shard " + corpus.path("text.txt") + " --vocabulary " + corpus.path("vocabulary.txt") +
                        " --output " + corpus.path(length) + " --shards 1 --held-out-shards 1 --sequence-length " + length);
        CAPTURE(made.err);
        REQUIRE(made.exit_code == 0);
        CHECK(contains(read_text(corpus.folder / length / "manifest.json"), "\"max_predictions\": " + predictions));
        CHECK_FALSE(contains(made.err, "warning"));
    }
    const auto few = run_command(corpus.shard("--shards 1 --held-out-shards 1 --max-predictions 2 --overwrite"));
    CHECK(contains(few.err, "masks at most 6.2 % of 32 tokens"));
}

TEST_CASE("shard takes the casing from the vocabulary, and check finds shards of another casing or with many unknown words") {
    const Corpus corpus;
    const std::string manifest = (corpus.folder / "out/manifest.json").string();
    const auto refused = run_command(corpus.shard("--shards 1 --held-out-shards 1 --cased"));
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, "vocabulary.txt: is an uncased vocabulary"));
    REQUIRE(run_command(corpus.shard("--shards 1 --held-out-shards 1")).exit_code == 0);
    CHECK(contains(read_text(manifest), "\"casing\": \"uncased\""));
    CHECK(run_command(corpus.check()).err.empty());

    std::string other = read_text(manifest);  // as an older version made it
    other.replace(other.find("\"uncased\""), 9, "\"cased\"");
    write_text(manifest, other);
    const auto contradicting = run_command(corpus.check());
    CHECK(contradicting.exit_code == 3);
    CHECK(contains(contradicting.err, "the vocabulary is uncased (0 of its 10 tokens"));

    write_text(corpus.folder / "vocabulary.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nThe\ncat\nsat\n.\nIt\n");
    const auto too_many = run_command(corpus.shard("--shards 1 --held-out-shards 1 --overwrite"));
    CHECK(too_many.exit_code == 3);
    CHECK(contains(too_many.err,
                   "of the text's tokens are [UNK], for example in \"the cat sat on a mat .\": the vocabulary does not fit"));
    CHECK(contains(read_text(manifest), "\"casing\": \"cased\""));  // nothing was replaced
    REQUIRE(run_command(corpus.shard("--shards 1 --held-out-shards 1 --overwrite --max-unknown 1")).exit_code == 0);
    CHECK(contains(read_text(manifest), "\"casing\": \"cased\""));
    const auto unknown = run_command(corpus.check("--json"));
    CHECK(unknown.exit_code == 0);
    CHECK(contains(unknown.err, "of the tokens of the training rows are [UNK]"));
    const auto report = nlohmann::json::parse(unknown.out);
    CHECK(report["training"]["unknown_share"].get<double>() > 0.3);
    CHECK(report["warnings"].size() == 2);
}

TEST_CASE("words that a vocabulary of letters does not know are refused, and nothing is written") {
    const Corpus corpus;
    write_text(corpus.folder / "text.txt", "MKVRRAA\n\nMKVV\n\nAAKV\n");
    write_text(corpus.folder / "letters.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nk\nm\nr\nv\n");
    const std::string options = "--objective mlm --shards 1 --held-out-fraction 0 ";
    const auto refused = run_command(corpus.shard(options, "letters.txt"));
    CHECK(refused.exit_code == 3);
    CHECK(contains(refused.err,
                   "100.0 % of the text's tokens are [UNK], for example in \"MKVRRAA\": the vocabulary's tokens are single "
                   "letters, but the text's words are longer\n  do: put a space after each letter (`--letters apart`"));
    CHECK_FALSE(std::filesystem::exists(corpus.folder / "out"));
    std::filesystem::create_directory(corpus.folder / "out");  // the user's own folder stays
    CHECK(run_command(corpus.shard(options, "letters.txt")).exit_code == 3);
    CHECK(std::filesystem::exists(corpus.folder / "out"));
    write_text(corpus.folder / "text.txt", "M K V R R A A X\n\nM K V V\n\nA A K V\n");
    const auto made = run_command(corpus.shard(options, "letters.txt"));
    CHECK(made.exit_code == 0);
    CHECK(contains(made.err, "6.2 % of the text's tokens are [UNK]"));  // 1 of 16
    const auto checked = run_command(corpus.check());
    CHECK(contains(checked.err, "6.2 % of the tokens of the training rows are [UNK]"));  // without [CLS] and [SEP]
    CHECK(run_command(corpus.shard(options + "--max-unknown 0.05 --overwrite", "letters.txt")).exit_code == 3);
    CHECK(run_command(corpus.shard(options + "--max-unknown 2", "letters.txt")).exit_code == 2);
}

TEST_CASE("rows for next sentences that cut long sentences off are reported, and rows of the MLM objective hold all of them") {
    const Corpus corpus;
    std::string text;
    for (int article = 0; article < 40; ++article) {
        for (int word = 0; word < 100; ++word) text += word % 3 == article % 3 ? "cat " : "mat ";
        text += "\n\n";
    }
    write_text(corpus.folder / "text.txt", text);
    const auto cut = run_command(corpus.shard("--shards 1 --held-out-fraction 0"));
    CHECK(cut.exit_code == 0);
    CHECK(contains(
        cut.err,
        "71.0 % of the text's tokens are cut off, because their sentences are longer than a row of 32 tokens"));  // 71 of 100
    const auto whole = run_command(corpus.shard("--shards 1 --held-out-fraction 0 --objective mlm --overwrite"));
    CHECK_FALSE(contains(whole.err, "cut off"));
    const auto rows = nlohmann::json::parse(run_command(corpus.check("--json")).out)["training"];
    CHECK(rows["tokens"] == 40 * 100 + 2 * rows["rows"].get<int>());
}

TEST_CASE("shard takes the tokenizer of a model's folder as transformers reads it, and refuses what shards do not record") {
    const Corpus corpus;
    const auto refused = [&](const std::string& folder, const std::string& words) {
        const auto result = run_command(corpus.shard("--shards 1 --held-out-shards 1", folder));
        CHECK(result.exit_code == 2);
        CHECK(contains(result.err, words));
    };
    refused("", "has no tokenizer.json, vocab.txt or tokenizer.model");
    const std::filesystem::path model = corpus.folder / "model", config = model / "tokenizer_config.json";
    std::filesystem::create_directory(model);
    const std::string tokens = read_text(corpus.folder / "vocabulary.txt");
    write_text(model / "vocab.txt", tokens + "e\né\n");
    write_text(config, R"({"do_lower_case": true, "strip_accents": false})");
    refused("model", "its other files change how vocab.txt reads text");
    write_text(model / "vocab.txt", tokens);
    for (const auto& [lowers, casing] : {std::pair("true", "uncased"), std::pair("false", "cased")}) {
        write_text(config, "{\"do_lower_case\": " + std::string(lowers) + "}");
        REQUIRE(run_command(corpus.shard("--shards 1 --held-out-shards 1 --overwrite", "model")).exit_code == 0);
        const auto manifest = nlohmann::json::parse(read_text(corpus.folder / "out/manifest.json"));
        CHECK(manifest.at("settings").at("casing") == casing);
        CHECK((read_text(corpus.folder / "out/vocab.txt") == read_text(model / "vocab.txt")));
    }
}

TEST_CASE("--compatible-with makes the same shard from each text as NVIDIA's script, and follows that script's tokenizer") {
    const TemporaryFolder folder;
    const std::string text = golden_sample("text.txt").string(), again = (folder / "again.txt").string();
    std::filesystem::copy_file(text, again);
    const auto made = run_command(program + " shard " + text + " " + again + " --vocabulary " +
                                  golden_sample("vocab.txt").string() + " --output " + (folder / "out").string() +
                                  " --compatible-with nvidia --duplicate-factor 1 --seed 1 --threads 2");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const ShardReader theirs(golden_sample("nvidia_seq128_pred20_dupe1_seed1.hdf5"));
    for (const char* name : {"text_training.hdf5", "again_training.hdf5"}) {
        const ShardReader ours(folder / "out" / name);
        REQUIRE(ours.rows() == theirs.rows());
        CHECK(same_rows(ours.read(0, ours.rows()), theirs.read(0, theirs.rows())));
    }
    CHECK(run_command(program + " check " + (folder / "out").string()).exit_code == 0);
    const auto manifest = nlohmann::json::parse(read_text(folder / "out/manifest.json"));
    CHECK(manifest["settings"]["compatible_with"] == "nvidia");
    CHECK(manifest["settings"]["token_rules"] == "nvidia");
    CHECK_FALSE(manifest.contains("rules_version"));  // the script's rules, which do not change
}

TEST_CASE("the benchmarks' Python reference gives the same rows as --compatible-with nvidia, also at 512 tokens") {
    const TemporaryFolder folder;
    write_text(folder / "text_training.txt", read_text(golden_sample("text.txt")));
    const std::string vocabulary = golden_sample("vocab.txt").string();
    const std::string input = (folder / "text_training.txt").string(), peer = (folder / "peer.hdf5").string();
    const std::string peer_program = PYTHON " " PROJECT_FOLDER "/scripts/benchmark/python_text_to_h5.py ";
    const auto made =
        run_command(program + " shard " + input + " --vocabulary " + vocabulary + " --output " + (folder / "out").string() +
                    " --compatible-with nvidia --sequence-length 512 " + "--max-predictions 80 --duplicate-factor 2");
    REQUIRE(made.exit_code == 0);
    const auto python = run_command(peer_program + input + " " + vocabulary + " " + peer + " 512 80 2");
    if (contains(python.err, "No module named") || python.exit_code == 127)
        SKIP_TEST(skip::no_oracle, "no Python with tokenizers and h5py");
    INFO(python.err);
    REQUIRE(python.exit_code == 0);
    const ShardReader ours(folder / "out" / "text_training.hdf5"), theirs(peer);
    REQUIRE(ours.rows() == theirs.rows());
    CHECK(same_rows(ours.read(0, ours.rows()), theirs.read(0, theirs.rows())));
}

TEST_CASE("--compatible-with refuses options that the script does not support") {
    const Corpus corpus;
    const auto refusal = [&](const std::string& options) {
        const auto result = run_command(corpus.shard(options));
        CHECK(result.exit_code == 2);
        CHECK_FALSE(std::filesystem::exists(corpus.folder / "out"));
        return result.err;
    };
    CHECK(contains(refusal("--compatible-with nvidia --shards 2"), "--shards"));
    CHECK(contains(refusal("--compatible-with nvidia --held-out-fraction 0.1"), "--held-out-fraction"));
    CHECK(contains(refusal("--compatible-with nvidia --rules google"), "--rules nvidia"));
    CHECK(contains(refusal("--compatible-with nvidia --whole-word-masking"), "--compatible-with google"));
    CHECK(contains(refusal("--compatible-with google --mask-span 3"), "--mask-span 3"));
    CHECK(contains(refusal("--compatible-with tensorflow"), "tensorflow"));
    CHECK(contains(refusal("--compatible-with nvidia " + corpus.path("text.txt")), "the same name"));
    CHECK(run_command(corpus.shard("--compatible-with google --whole-word-masking")).exit_code == 0);
}

TEST_CASE("shard --mask-span masks neighbours together, which the manifest records; without it the manifest is as before") {
    const Corpus corpus;
    const std::string shards =
        "--objective mlm --shards 1 --held-out-fraction 0 --max-predictions 8 --masked-lm-probability 0.25 ";
    REQUIRE(run_command(corpus.shard(shards)).exit_code == 0);
    CHECK_FALSE(contains(read_text(corpus.folder / "out/manifest.json"), "mask_span"));
    REQUIRE(run_command(corpus.shard(shards + "--overwrite --mask-span 4")).exit_code == 0);
    CHECK(contains(read_text(corpus.folder / "out/manifest.json"), "\"mask_span\": 4"));
    CHECK(run_command(corpus.check()).exit_code == 0);
    const ShardReader reader(corpus.folder / "out/corpus_training_0000.h5");
    const ShardRows rows = reader.read(0, reader.rows());
    std::int64_t together = 0, masked = 0;
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const auto* const positions = rows.masked_lm_positions_RP.data() + r * rows.max_predictions;
        for (std::int64_t p = 0; p < rows.max_predictions && positions[p] != 0; ++p, ++masked)
            together += p + 1 < rows.max_predictions && positions[p + 1] == positions[p] + 1 ? 1 : 0;
    }
    CHECK(masked > 0);
    CHECK(2 * together > masked);  // three of a span's four tokens; of single masks about a quarter
    const auto refused = [&](const std::string& options) { return run_command(corpus.shard(shards + options)).err; };
    CHECK(contains(refused("--mask-span-lengths geometric"), "has no effect without --mask-span"));
    CHECK(contains(refused("--mask-span 40"), "--mask-span 40: is longer than the 8 tokens"));
}

TEST_CASE("check --html writes one self-contained page with histograms and problems") {
    const Corpus corpus;
    REQUIRE(run_command(corpus.shard("--shards 2 --held-out-shards 1")).exit_code == 0);
    const std::string page_file = corpus.path("page.html");
    REQUIRE(run_command(corpus.check("--html " + page_file)).exit_code == 0);
    const std::string page = read_text(page_file);
    for (const char* part :
         {"<!DOCTYPE html>", "Training rows by length", "Held-out rows by percent", "<rect", "No problems found"})
        CHECK(contains(page, part));
    for (const char* part : {"http", "src=", "href=", "@import"}) CHECK_FALSE(contains(page, part));

    write_text(corpus.folder / "out" / "<b>_training_.h5", "no HDF5");
    CHECK(run_command(corpus.check("--html " + page_file)).exit_code == 3);
    CHECK(contains(read_text(page_file), "&lt;b&gt;_training_.h5: "));
    CHECK_FALSE(contains(read_text(page_file), "<b>"));
    CHECK(run_command(corpus.check("--html " + corpus.path("absent/page.html"))).exit_code == 3);
}

TEST_CASE("show prints a shard's rows as tokens with what is masked, as text and as JSON") {
    const Corpus corpus;
    REQUIRE(run_command(corpus.shard("--shards 1 --held-out-fraction 0 --name tiny")).exit_code == 0);
    const std::string show = program + " show " + corpus.path("out");
    const std::vector<std::string> names = lines_of(read_text(corpus.folder / "vocabulary.txt"));
    const ShardRows rows = ShardReader(corpus.folder / "out/tiny_training_0000.h5").read(0, 4);
    const auto printed = run_command(show + "/tiny_training_0000.h5 --row 1 --rows 3 --json");
    REQUIRE(printed.exit_code == 0);
    const std::vector<std::string> objects = lines_of(printed.out);
    REQUIRE(objects.size() == 3);
    for (std::size_t row = 1; row < 4; ++row) {
        const auto json = nlohmann::json::parse(objects[row - 1]);
        CHECK(json["row"] == row);
        CHECK(json["is_random_next"] == (rows.next_sentence_labels_R[row] == 1));
        for (std::size_t t = 0; t < json["tokens"].size(); ++t)
            CHECK(json["tokens"][t] == names.at(static_cast<std::size_t>(rows.input_ids_RS[row * 32 + t])));
        std::size_t masked = 0;
        while (masked < 5 && rows.masked_lm_positions_RP[row * 5 + masked] > 0) ++masked;
        REQUIRE(json["masked"].size() == masked);
        for (std::size_t m = 0; m < masked; ++m) {
            CHECK(json["masked"][m]["position"] == rows.masked_lm_positions_RP[row * 5 + m]);
            CHECK(json["masked"][m]["token"] == names.at(static_cast<std::size_t>(rows.masked_lm_ids_RP[row * 5 + m])));
        }
    }
    const auto text = run_command(show);
    CHECK(text.exit_code == 0);
    CHECK(contains(text.out, "tiny_training_0000.h5 row 0: "));
    CHECK(contains(text.out, " -> [MASK]}"));
    CHECK(contains(text.out, "\n[CLS] "));
}

TEST_CASE("show prints ids without a vocabulary, one line per packed document, and refuses rows and folders that are not there") {
    const Corpus corpus;
    REQUIRE(run_command(corpus.shard("--objective mlm --best-fit --shards 1 --held-out-fraction 0")).exit_code == 0);
    const std::string show = program + " show " + corpus.path("out");
    const auto packed = run_command(show + " --rows 1 --json");
    CHECK(nlohmann::json::parse(packed.out)["documents"].size() >= 1);
    std::filesystem::remove(corpus.folder / "out/vocab.txt");
    CHECK(contains(run_command(show).out, "\n2 "));  // the id of [CLS]
    const auto beyond = run_command(show + " --row 100000");
    CHECK(beyond.exit_code == 2);
    CHECK(contains(beyond.err, "has rows 0 to "));
    CHECK(run_command(program + " show " + corpus.path("gone")).exit_code == 3);
    std::filesystem::create_directory(corpus.folder / "empty");
    CHECK(contains(run_command(program + " show " + corpus.path("empty")).err, "is a folder without shards"));
}
