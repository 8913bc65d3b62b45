// Training continues with a vocabulary that has new tokens.

#include <cmath>
#include <functional>
#include <memory>

#include "archive/pt_reader.h"
#include "support/catch.h"
#include "system/small_run.h"
#include "tokens/models/open_tokenizer.h"
#include "tokens/training/vocabulary_extension.h"
#include "tokens/vocabulary/byte_alphabet.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using bertpretrain::PtReader;
using bertpretrain::Vocabulary;
using nlohmann::json;

namespace {

constexpr int added = 60;

std::vector<float> values_of(const fs::path& model, const std::string& name) {
    const PtReader file(model);
    const bertpretrain::PtTensor& tensor = *file.root().find(name)->tensor();
    std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
    file.read_as_float(tensor, 0, tensor.elements(), values.data());
    return values;
}

/// Extends sample_data()'s vocabulary by tokens of its own text.
CommandResult extend(const fs::path& output, const std::string& options) {
    return run_command(data_program + " vocabulary " + sample_data().text.string() + " --output " + output.string() + " " +
                       options);
}

using PiecesOf = std::function<std::vector<std::int32_t>(const std::string& token)>;

/// Compares the rows of the first checkpoint with those that it began from.
/// @param old_pieces_of returns the old ids of a new token  @param columns elements of a row
void check_rows(const fs::path& before, const fs::path& after, const Vocabulary& old_words, const Vocabulary& words,
                const PiecesOf& old_pieces_of, const std::string& name, std::size_t columns) {
    const std::vector<float> old_rows = values_of(before, name), rows = values_of(after, name);
    CAPTURE(name);
    CHECK(rows.size() == static_cast<std::size_t>(words.size() + 7) / 8 * 8 * columns);
    CHECK(std::equal(old_rows.begin(), old_rows.begin() + old_words.size() * static_cast<std::ptrdiff_t>(columns), rows.begin()));
    for (std::int32_t id = old_words.size(); id < words.size(); ++id) {
        const std::vector<std::int32_t> pieces = old_pieces_of(words.token(id));
        REQUIRE(pieces.size() >= 2);
        for (std::size_t c = 0; c < columns; ++c) {
            double sum = 0;
            for (const std::int32_t piece : pieces) sum += double{old_rows[static_cast<std::size_t>(piece) * columns + c]};
            CHECK(rows[static_cast<std::size_t>(id) * columns + c] ==
                  Approx(sum / static_cast<double>(pieces.size())).epsilon(1e-6).margin(1e-9));
        }
    }
}

}  // namespace

TEST_CASE("with an extended vocabulary, a run begins with all old rows, and new rows that are the mean of their pieces'") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path vocabulary = folder / "vocab.txt", shards = folder / "shards";
    const std::string options = "--extend " + sample_data().vocabulary.string() + " --add " + std::to_string(added);
    const CommandResult extended = extend(vocabulary, options);
    INFO(extended.err);
    REQUIRE(extended.exit_code == 0);
    REQUIRE(run_command(data_program + " shard " + sample_data().text.string() + " --vocabulary " + vocabulary.string() +
                        " --output " + shards.string() + " --name sample --sequence-length 64 --shards 2 --held-out-shards 1")
                .exit_code == 0);
    const fs::path before = finished_run().run / "checkpoints/step_00000020";
    const fs::path config = write_experiment(folder, {{"model", {{"vocab_size", "auto"}}},
                                                      {"data", {{"training_shards", shards.string()}}},
                                                      {"initialization", {{"init_from", before.string()}}}});
    const CommandResult alone =
        train(config, folder / "run", "--set schedule.total_steps=1");  // the learning rate of the last step is 0
    INFO(alone.err);
    REQUIRE(alone.exit_code == 0);
    CHECK(missing_words(alone.err, {"60 new tokens: 60 begin with the mean of their pieces' rows"}) == "");
    const Vocabulary old_words = Vocabulary::read(sample_data().vocabulary), words = Vocabulary::read(vocabulary);
    const fs::path after = folder / "run/checkpoints/step_00000001/model.pt";
    const auto pieces = [&](const std::string& token) { return bertpretrain::pieces_of(old_words, token); };
    check_rows(before / "model.pt", after, old_words, words, pieces, "bert.embeddings.word_embeddings.weight", 64);
    check_rows(before / "model.pt", after, old_words, words, pieces, "cls.predictions.bias", 1);
    CHECK(values_of(before / "model.pt", "bert.encoder.layer.1.output.dense.weight") ==
          values_of(after, "bert.encoder.layer.1.output.dense.weight"));

    REQUIRE(train(config, folder / "ranks", "--local-ranks 3 --set schedule.total_steps=1").exit_code == 0);
    CHECK(values_of(folder / "ranks/checkpoints/step_00000001/model.pt", "bert.embeddings.word_embeddings.weight") ==
          values_of(after, "bert.embeddings.word_embeddings.weight"));
    const CommandResult moments = train(config, folder / "moments", "--set initialization.init_moments=true");
    CHECK(moments.exit_code == 2);
    CHECK(missing_words(moments.err, {"initialization.init_moments", "new tokens"}) == "");
}

TEST_CASE(
    "with more merges of a byte-level BPE, a run begins with all old rows, and new rows that are the mean of their pieces'") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto run_on_bpe = [&](const std::string& name, int size, json patch) {
        const std::string tokenizer = (folder / (name + ".json")).string(), shards = (folder / (name + "_shards")).string();
        REQUIRE(extend(tokenizer, "--model bpe --size " + std::to_string(size)).exit_code == 0);
        REQUIRE(run_command(data_program + " shard " + sample_data().text.string() + " --vocabulary " + tokenizer + " --output " +
                            shards + " --objective mlm --name sample --sequence-length 64 --shards 2 --held-out-shards 1")
                    .exit_code == 0);
        patch["model"]["vocab_size"] = "auto";
        patch["data"] = {{"objective", "mlm"}, {"training_shards", shards}};
        const CommandResult run = train(write_experiment(folder, patch), folder / name, "--set schedule.total_steps=1");
        INFO(run.err);
        REQUIRE(run.exit_code == 0);
        return run.err;
    };
    run_on_bpe("few", 600, json::object());
    const std::string said = run_on_bpe("more", 660, {{"initialization", {{"init_from", (folder / "few").string()}}}});
    CHECK(missing_words(said, {"60 new tokens: 60 begin with the mean of their pieces' rows"}) == "");
    const auto few = bertpretrain::open_tokenizer(folder / "few.json", false, std::nullopt);
    const Vocabulary words = Vocabulary::read(folder / "more.json");
    const auto pieces = [&](const std::string& token) { return few->encode(bertpretrain::bytes_of_token(token).value()); };
    const fs::path before = folder / "few/checkpoints/step_00000001/model.pt",
                   after = folder / "more/checkpoints/step_00000001/model.pt";
    check_rows(before, after, few->vocabulary(), words, pieces, "bert.embeddings.word_embeddings.weight", 64);
    check_rows(before, after, few->vocabulary(), words, pieces, "cls.predictions.bias", 1);
}

TEST_CASE("shards of a vocabulary that does not extend the weights' are refused with the first token that differs") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    REQUIRE(extend(folder / "other.txt", "--size 700").exit_code == 0);
    const fs::path config = write_experiment(folder, {{"initialization", {{"init_from", finished_run().run.string()}}},
                                                      {"data", {{"training_shards", (folder / "shards").string()}}}});
    REQUIRE(run_command(data_program + " shard " + sample_data().text.string() + " --vocabulary " +
                        (folder / "other.txt").string() + " --output " + (folder / "shards").string() +
                        " --sequence-length 64 --shards 2 --held-out-shards 1")
                .exit_code == 0);
    const CommandResult refused = train(config, folder / "run");
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"token 700 is \"", "vocabulary --extend"}) == "");
}

TEST_CASE("options of training and of extending a vocabulary exclude each other") {
    const TemporaryFolder folder;
    const std::string extends = "--extend " + sample_data().vocabulary.string();
    for (const std::string& options : {std::string(), "--size 900 " + extends + " --add 5", extends,
                                       std::string("--size 900 --add 5"), std::string("--size 900 --reuse-unused")}) {
        CAPTURE(options);
        const CommandResult refused = extend(folder / "v.txt", options);
        CHECK(refused.exit_code == 2);
        CHECK_FALSE(fs::exists(folder / "v.txt"));
    }
}
