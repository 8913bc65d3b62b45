// From a SentencePiece model to a trained model: `tokenize`, `shard`, `train`, `export`, `predict`, `embed`.

#include <optional>
#include <sstream>

#include "support/catch.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

const std::string piece_oracle = PYTHON " tests/system/sentence_piece_oracle.py ";

/// Trains PREFIX.model on the sample's text. Returns nullopt if there is no Python with sentencepiece.
std::optional<fs::path> model_of_pieces(const fs::path& prefix, const std::string& type) {
    const CommandResult trained =
        run_command(piece_oracle + "train " + sample_data().text.string() + " " + prefix.string() + " 600 " + type);
    if (trained.exit_code == 77) return std::nullopt;
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    return prefix.string() + ".model";
}

#define NEEDS_MODEL(model) \
    if (!(model)) SKIP_TEST(skip::no_oracle, "no Python with the package sentencepiece")

}  // namespace

TEST_CASE("every Unicode scalar value and random text give the ids of Python's sentencepiece, by Unigram and by BPE with bytes") {
    const TemporaryFolder folder;
    for (const std::string type : {"unigram", "bpe"}) {
        const auto trained = model_of_pieces(folder / type, type);
        NEEDS_MODEL(trained);
        const std::string model = trained->string();
        for (const std::string& arguments :
             {"scalars " + (folder / "text").string(), "random " + (folder / "text").string() + " 1"}) {
            successful(PYTHON " tests/system/tokenizer_oracle.py " + arguments);
            successful("sed -i -e 's/\\[[A-Z]*\\]//g' " + (folder / "text").string());  // transformers finds them, see below
            successful(piece_oracle + "ids " + model + " " + (folder / "text").string() + " " + (folder / "theirs").string());
            successful(data_program + " tokenize --vocabulary " + model + " " + (folder / "text").string() + " > " +
                       (folder / "ours").string());
            INFO(type << ", " << arguments);
            CHECK(run_command("cmp " + (folder / "ours").string() + " " + (folder / "theirs").string()).out == "");
        }
    }
}

TEST_CASE("a run on a SentencePiece model carries it, and transformers loads the export with the same ids and guesses") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto given = model_of_pieces(folder / "pieces", "unigram");
    NEEDS_MODEL(given);
    const fs::path& pieces = *given;
    const std::string text = sample_data().text.string(), shards = (folder / "shards").string();
    successful(data_program + " shard " + text + " --vocabulary " + pieces.string() + " --output " + shards +
               " --objective mlm --name sample --sequence-length 64 --shards 2 --held-out-shards 1 --whole-word-masking");
    CHECK(read_text(folder / "shards/tokenizer.model") == read_text(pieces));
    CHECK(run_command(data_program + " check " + shards).exit_code == 0);
    const json patch = {{"model", {{"vocab_size", "auto"}}}, {"data", {{"objective", "mlm"}, {"training_shards", shards}}}};
    const fs::path config = write_experiment(folder, patch), run = folder / "run";
    const CommandResult trained = train(config, run, "--set data.masking=dynamic --set data.whole_word_masking=true");
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    CHECK(read_text(run / "checkpoints/step_00000020/tokenizer.model") == read_text(pieces));
    successful(train_program + " evaluate " + run.string() + " --shards " + shards);

    write_text(folder / "texts", "The [MASK] of the sample.\nZo\u00e9 [MASK] [MASK] 42 \u65e5\u672c!\nIt is[MASK], too\n");
    const std::string texts = (folder / "texts").string(), hf = (folder / "hf").string();
    successful(train_program + " predict " + run.string() + " --json < " + texts + " > " + (folder / "predicted").string());
    successful("cat " + texts + " | " + train_program + " embed " + run.string() + " - --output " +
               (folder / "ours.npy").string());
    successful(train_program + " export " + run.string() + " --format hf --output " + hf);
    successful("cat " + texts + " | " + train_program + " embed " + hf + " - --output " + (folder / "hf.npy").string());
    CHECK(read_text(folder / "ours.npy") == read_text(folder / "hf.npy"));

    const CommandResult loaded =
        successful(WARM_PYTHON " tests/system/hf_tokenizer_ids.py " + hf + " " + text + " " + (folder / "theirs").string());
    CHECK(json::parse(loaded.out) == json{{"class", "BertForMaskedLM"},
                                          {"pad_token_id", 0},
                                          {"mask_token_id", 4},
                                          {"config_pad_token_id", 0},
                                          {"largest_length", 64}});
    std::istringstream lines(successful(data_program + " tokenize --vocabulary " + hf + "/tokenizer.model " + text).out);
    std::string ids;
    for (std::string line; std::getline(lines, line);) ids += "2 " + line + (line.empty() ? "3\n" : " 3\n");
    CHECK(read_text(folder / "theirs") == ids);
    const CommandResult compared = successful("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/hf_fill_mask.py " + hf + " " +
                                              (folder / "predicted").string());
    CHECK(json::parse(compared.out).at("masks") == 4);
    CHECK(json::parse(compared.out).at("largest_difference").get<double>() < 1e-5);
}

TEST_CASE("a SentencePiece model without a mask, and options that contradict a model, are refused by one message") {
    const TemporaryFolder folder;
    const auto given = model_of_pieces(folder / "pieces", "bpe");
    NEEDS_MODEL(given);
    const std::string text = sample_data().text.string(), pieces = given->string();
    for (const std::string option : {"--cased", "--rules google", "--compatible-with nvidia"}) {
        const CommandResult refused = run_command(data_program + " shard " + text + " --vocabulary " + pieces + " --output " +
                                                  (folder / "shards").string() + " " + option);
        CHECK(refused.exit_code == 2);
        CHECK(missing_words(refused.err, {option.substr(0, option.find(' ')), "is a SentencePiece model"}) == "");
    }
    const CommandResult extended = run_command(data_program + " vocabulary " + text + " --extend " + pieces +
                                               " --add 5 --output " + (folder / "x").string());
    CHECK(extended.exit_code == 2);
    CHECK(missing_words(extended.err, {"--extend", "is a SentencePiece model"}) == "");
    write_text(folder / "cut.model", read_text(pieces).substr(0, 3000));
    const CommandResult cut = run_command(data_program + " shard " + text + " --vocabulary " + (folder / "cut.model").string() +
                                          " --output " + (folder / "shards").string());
    CHECK(cut.exit_code == 3);
    CHECK(missing_words(cut.err, {"cut.model: is no SentencePiece model that the library can read"}) == "");
    CHECK_FALSE(fs::exists(folder / "shards"));
}
