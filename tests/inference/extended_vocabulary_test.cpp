// What a model that continues with new tokens computes before its first update.

#include <sstream>

#include <ATen/ATen.h>

#include "inference/loaded_model.h"
#include "inference/whole_texts.h"
#include "support/catch.h"
#include "system/small_run.h"
#include "tokens/models/wordpiece.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

WordPiece tokenizer_of(const fs::path& vocabulary) {
    return {std::make_shared<const Vocabulary>(Vocabulary::read(vocabulary)), Casing::uncased};
}

/// The lines of a text, as ids of the old vocabulary, that have no token of the new one; and how many others there are.
struct OldLines {
    std::vector<std::vector<std::int32_t>> ids;
    int others = 0;
};

OldLines lines_without_new_tokens(const fs::path& text, const fs::path& old_vocabulary, const fs::path& vocabulary) {
    const WordPiece old_tokenizer = tokenizer_of(old_vocabulary), tokenizer = tokenizer_of(vocabulary);
    OldLines kept;
    std::istringstream stream(read_text(text));
    for (std::string line; std::getline(stream, line);) {
        std::vector<std::int32_t> ids = ids_of(old_tokenizer, line);
        if (line.empty() || ids.size() > 64) continue;
        if (ids_of(tokenizer, line) == ids) kept.ids.push_back(std::move(ids));
        else ++kept.others;
    }
    return kept;
}

}  // namespace

TEST_CASE("with an extended vocabulary, text without new tokens has bit-equal logits before the first update", "[system]") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path vocabulary = folder / "vocab.txt", shards = folder / "shards";
    const std::string text = sample_data().text.string(), old_vocabulary = sample_data().vocabulary.string();
    REQUIRE(run_command(data_program + " vocabulary " + text + " --output " + vocabulary.string() + " --extend " +
                        old_vocabulary + " --add 60")
                .exit_code == 0);
    REQUIRE(run_command(data_program + " shard " + text + " --vocabulary " + vocabulary.string() + " --output " +
                        shards.string() + " --sequence-length 64 --shards 2 --held-out-shards 1")
                .exit_code == 0);
    const fs::path before = finished_run().run / "checkpoints/step_00000020";
    const fs::path config = write_experiment(folder, {{"model", {{"vocab_size", "auto"}}},
                                                      {"data", {{"training_shards", shards.string()}}},
                                                      {"initialization", {{"init_from", before.string()}}}});
    // The learning rate of a linear schedule's last step is 0, so a run of one step saves the weights that it began with.
    REQUIRE(train(config, folder / "run", "--set schedule.total_steps=1").exit_code == 0);
    const OldLines lines = lines_without_new_tokens(text, old_vocabulary, vocabulary);
    CHECK(lines.ids.size() >= 10);
    CHECK(lines.others >= 10);
    const MicroBatch batch = batch_of_texts(lines.ids);
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16}) {
        CAPTURE(compute_dtype);
        const LoadedModel old_model = load_model(before, compute_dtype, at::kCPU),
                          model = load_model(folder / "run/checkpoints/step_00000001", compute_dtype, at::kCPU);
        REQUIRE(shape_of(model.config).vocab_size == 864);  // 860, as a multiple of 8
        const Logits old_logits = old_model.model->logits(batch), logits = model.model->logits(batch);
        CHECK(at::equal(logits.mlm_MV.narrow(1, 0, shape_of(old_model.config).vocab_size), old_logits.mlm_MV));
        CHECK(at::equal(logits.next_sentence_B2, old_logits.next_sentence_B2));
    }
}
