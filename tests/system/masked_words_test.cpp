// Runs that learn masked words alone: data.objective = "mlm".

#include <cmath>

#include "archive/pt_reader.h"
#include "support/catch.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

json learns_masked_words(const fs::path& shards) {
    return {{"data", {{"objective", "mlm"}, {"training_shards", shards.string()}}}};
}

CommandResult evaluated(const fs::path& model, const fs::path& shards) {
    return run_command("OMP_NUM_THREADS=1 " + train_program + " evaluate " + model.string() + " --shards " + shards.string() +
                       " --json");
}

bool mentions_next_sentences(const fs::path& file) { return read_text(file).find("nsp") != std::string::npos; }

}  // namespace

TEST_CASE("a run that learns masked words alone has no head and no numbers of next sentences, and exports as BertForMaskedLM") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, learns_masked_words(shards_without_labels())), run = folder / "run";
    const CommandResult trained = train(config, run);
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    CHECK(trained.err.find("| nsp") == std::string::npos);
    CHECK_FALSE(mentions_next_sentences(run / "metrics.jsonl"));
    const json first = json::parse(numbers_of(run).front());
    CHECK(first.at("loss") == first.at("mlm_loss"));
    const bertpretrain::PtReader model(run / "checkpoints/step_00000020/model.pt");
    CHECK(model.root().find("cls.predictions.bias") != nullptr);
    CHECK(model.root().find("bert.pooler.dense.weight") == nullptr);
    CHECK(model.root().find("cls.seq_relationship.weight") == nullptr);
    const CommandResult ours = evaluated(run, shards_without_labels());
    INFO(ours.err);
    REQUIRE(ours.exit_code == 0);
    CHECK_FALSE(json::parse(ours.out).contains("nsp_loss"));
    for (const std::string format : {"hf", "state_dict", "torchscript"}) {
        CAPTURE(format);
        CHECK(run_command(train_program + " export " + run.string() + " --format " + format + " --output " +
                          (folder / format).string())
                  .exit_code == 0);
    }
    CHECK(json::parse(read_text(folder / "hf/config.json")).at("architectures") == json{"BertForMaskedLM"});
    const CommandResult of_export = evaluated(folder / "hf", shards_without_labels());
    CHECK(json::parse(of_export.out).at("mlm_loss") == json::parse(ours.out).at("mlm_loss"));
}

TEST_CASE("learning masked words alone, a run is the same after a resume, on two ranks and with merged micro-batches") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, learns_masked_words(shards_without_labels()));
    REQUIRE(train(config, folder / "whole").exit_code == 0);
    const auto whole = numbers_of(folder / "whole");
    fs::copy(folder / "whole", folder / "resumed", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    REQUIRE(train(config, folder / "resumed", "--resume 9").exit_code == 0);
    CHECK(first_difference(numbers_of(folder / "resumed"), whole) == "");
    REQUIRE(train(config, folder / "ranks", "--local-ranks 2 --set batch.gradient_accumulation_steps=1").exit_code == 0);
    CHECK(largest_difference(numbers_of(folder / "ranks"), whole) < 1e-4);
    REQUIRE(train(config, folder / "merged", "--set batch.device_micro_batch=8").exit_code == 0);
    CHECK(largest_difference(numbers_of(folder / "merged"), whole) < 1e-4);
}

TEST_CASE(
    "labels in the shards are ignored where masked words alone are learned, and missing ones are refused where they are needed") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, learns_masked_words(sample_data().shards));
    const CommandResult ignoring = train(config, folder / "run");
    INFO(ignoring.err);
    CHECK(ignoring.exit_code == 0);
    const CommandResult resumed = train(config, folder / "run", "--set data.objective=mlm_nsp");
    CHECK(resumed.exit_code == 2);
    CHECK(missing_words(resumed.err, {"data.objective", "\"mlm\" in the checkpoint"}) == "");
    const fs::path needing = write_experiment(folder, {{"data", {{"training_shards", shards_without_labels().string()}}}});
    const CommandResult refused = train(needing, folder / "other");
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"data.objective", "--objective mlm", "set data.objective to \"mlm\""}) == "");
}

TEST_CASE("a run that learns masked words alone begins with the encoder of a run that also learned next sentences") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    json patch = learns_masked_words(shards_without_labels());
    patch["initialization"] = {{"init_from", (finished_run().run / "checkpoints/step_00000020").string()}};
    const CommandResult trained = train(write_experiment(folder, patch), folder / "run", "--set schedule.total_steps=1");
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    const double first = json::parse(numbers_of(folder / "run").front()).at("mlm_loss").get<double>();
    const double last = json::parse(numbers_of(finished_run().run)[19]).at("mlm_loss").get<double>();
    CHECK(std::fabs(first - last) < 0.5);
    patch["data"]["objective"] = "mlm_nsp";
    patch["data"]["training_shards"] = sample_data().shards.string();
    patch["initialization"]["init_from"] = (folder / "run/checkpoints/step_00000001").string();
    const CommandResult refused = train(write_experiment(folder, patch), folder / "back");
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"missing:", "bert.pooler.dense.weight", "init_missing"}) == "");
}

TEST_CASE("with data.block_diagonal, attention stays inside each document of a row, in training and in evaluation") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto numbers = [&](const fs::path& shards, const std::string& name, const std::string& options) {
        const fs::path run = folder / name;
        const CommandResult trained = train(write_experiment(folder, learns_masked_words(shards)), run,
                                            "--set schedule.total_steps=10 --set evaluation.max_sequences=0 " + options);
        INFO(trained.err);
        REQUIRE(trained.exit_code == 0);
        return numbers_of(run);
    };
    const std::string divided = "--set data.block_diagonal=true";
    CHECK(numbers(shards_without_labels(), "one", "") == numbers(shards_without_labels(), "one_divided", divided));
    const fs::path packed = folder / "packed";
    REQUIRE(run_command(data_program + " shard " + sample_data().text.string() + " --vocabulary " +
                        sample_data().vocabulary.string() + " --output " + packed.string() +
                        " --objective mlm --across-documents --sequence-length 256 --shards 2 --held-out-shards 1")
                .exit_code == 0);
    const std::string longer = " --set data.sequence_length=256 --set model.max_position_embeddings=256 ";
    const auto within = numbers(packed, "divided", divided + longer);
    CHECK(within != numbers(packed, "whole", longer));
    CHECK(largest_difference(
              within, numbers(packed, "ranks", divided + longer + "--local-ranks 2 --set batch.gradient_accumulation_steps=1")) <
          1e-4);
    const CommandResult measured = evaluated(folder / "divided", packed);
    INFO(measured.err);
    REQUIRE(measured.exit_code == 0);
    CHECK(json::parse(measured.out).at("mlm_loss").get<double>() ==
          Approx(json::parse(within.back()).at("held_out_mlm_loss").get<double>()).epsilon(1e-6));
    const CommandResult refused = train(write_experiment(folder), folder / "pairs", divided);
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"data.block_diagonal", "data.objective = \"mlm\""}) == "");
}

TEST_CASE("what masked words alone cannot give is refused") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    REQUIRE(train(write_experiment(folder, learns_masked_words(shards_without_labels())), folder / "run",
                  "--set schedule.total_steps=1")
                .exit_code == 0);
    const CommandResult exported = run_command(train_program + " export " + (folder / "run").string() +
                                               " --format nvidia --output " + (folder / "x.pt").string());
    CHECK(exported.exit_code == 2);
    CHECK(missing_words(exported.err, {"--format nvidia", "pooler", "--format hf"}) == "");
    const CommandResult embedded = run_command("echo text | " + train_program + " embed " + (folder / "run").string() +
                                               " - --vectors pooled --output " + (folder / "e.npy").string());
    CHECK(embedded.exit_code == 4);
    CHECK(missing_words(embedded.err, {"--vectors pooled", "no pooler"}) == "");
    const std::string shard = data_program + " shard " + sample_data().text.string() + " --vocabulary " +
                              sample_data().vocabulary.string() + " --output " + (folder / "s").string();
    const CommandResult across = run_command(shard + " --across-documents");
    CHECK(across.exit_code == 2);
    CHECK(missing_words(across.err, {"--across-documents", "--objective mlm"}) == "");
    CHECK(run_command(shard + " --objective mlm --compatible-with nvidia").exit_code == 2);
    CHECK(run_command(shard + " --objective mlm --short-sequence-probability 0.1").exit_code == 2);
    CHECK_FALSE(fs::exists(folder / "s"));
}
