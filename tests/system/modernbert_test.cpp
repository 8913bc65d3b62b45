// ModernBERT through the program: what BERT's tests promise of runs holds for the other architecture.
#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "system/modern_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

TEST_CASE("a ModernBERT or a NeoBERT resumes to the same bits, audits to the bit, and learns the same on two ranks") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string precision = GENERATE("fp32", "bf16");
    const bool is_neobert = GENERATE(false, true);
    CAPTURE(precision, is_neobert);
    const json of_precision{{"training", {{"precision", precision}}}};
    const fs::path config = is_neobert ? neobert_experiment(folder, of_precision) : modern_experiment(folder, of_precision);
    REQUIRE(train(config, folder / "whole").exit_code == 0);
    fs::copy(folder / "whole", folder / "resumed", fs::copy_options::recursive);
    for (const char* step : {"step_00000012", "step_00000015", "step_00000018", "step_00000020"})
        fs::remove_all(folder / "resumed" / "checkpoints" / step);
    REQUIRE(train(config, folder / "resumed").exit_code == 0);
    CHECK(first_difference(numbers_of(folder / "resumed"), numbers_of(folder / "whole")) == "");
    CHECK((read_text(folder / "resumed/checkpoints/step_00000020/model.pt") ==
           read_text(folder / "whole/checkpoints/step_00000020/model.pt")));
    const CommandResult audit = run_command("env OMP_NUM_THREADS=1 " + train_program + " audit " + (folder / "whole").string());
    INFO(audit.out << audit.err);
    CHECK(audit.exit_code == 0);
    CHECK(audit.out.find("equal to the bit") != std::string::npos);

    const double bound = precision == "fp32" ? 1e-4 : 2e-2;
    for (const char* options : {"--local-ranks 2 --set parallel.zero_stage=0", "--local-ranks 2 --set parallel.zero_stage=1"}) {
        CAPTURE(options);
        const fs::path run = folder / ("ranks" + std::string(1, std::string(options).back()));
        REQUIRE(train(config, run, std::string(options) + " --set batch.gradient_accumulation_steps=1").exit_code == 0);
        CHECK(largest_difference(numbers_of(run), numbers_of(folder / "whole")) < bound);
    }
    CHECK((read_text(folder / "ranks0/checkpoints/step_00000020/model.pt") ==
           read_text(folder / "ranks1/checkpoints/step_00000020/model.pt")));
}

TEST_CASE("on packed rows, a run resumes to the same bits within an epoch and is the same for any ranks and micro-batches") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string shards = (folder / "packed").string();
    REQUIRE(run_command(data_program + " shard " + sample_data().text.string() + " --vocabulary " +
                        sample_data().vocabulary.string() + " --output " + shards +
                        " --documents lines --objective mlm --best-fit --sequence-length 256 --name sample --shards 2" +
                        " --held-out-shards 1")
                .exit_code == 0);
    const CommandResult checked = run_command(data_program + " check " + shards);
    CHECK(checked.exit_code == 0);
    CHECK(missing_words(checked.out, {"packed:", "documents per training row"}) == "");
    const std::string masking = GENERATE("dynamic", "as_stored");
    CAPTURE(masking);
    json changes{{"data", {{"training_shards", shards}, {"sequence_length", 256}, {"masking", masking}}},
                 {"model", {{"max_position_embeddings", 256}}},
                 {"evaluation", {{"max_sequences", 0}}}};
    if (masking == "as_stored") changes["data"]["masked_lm_prob"] = nullptr;
    const fs::path config = modern_experiment(folder, changes);
    const CommandResult whole = train(config, folder / "whole");
    INFO(whole.err);
    REQUIRE(whole.exit_code == 0);
    const std::vector<std::string> expected = numbers_of(folder / "whole");
    fs::copy(folder / "whole", folder / "resumed", fs::copy_options::recursive);
    for (const char* step : {"step_00000009", "step_00000012", "step_00000015", "step_00000018", "step_00000020"})
        fs::remove_all(folder / "resumed" / "checkpoints" / step);
    REQUIRE(train(config, folder / "resumed").exit_code == 0);
    CHECK(first_difference(numbers_of(folder / "resumed"), expected) == "");
    CHECK((read_text(folder / "resumed/checkpoints/step_00000020/model.pt") ==
           read_text(folder / "whole/checkpoints/step_00000020/model.pt")));
    int runs = 0;
    for (const char* options : {"--local-ranks 2 --set parallel.zero_stage=1 --set batch.gradient_accumulation_steps=1",
                                "--set batch.micro_batch_size=2 --set batch.gradient_accumulation_steps=4"}) {
        CAPTURE(options);
        const fs::path run = folder / ("run" + std::to_string(++runs));
        REQUIRE(train(config, run, options).exit_code == 0);
        CHECK(largest_difference(numbers_of(run), expected) < 1e-4);
    }
    REQUIRE(train(config, folder / "divided", "--set data.block_diagonal=true").exit_code == 0);
    CHECK(first_difference(numbers_of(folder / "divided"), expected) == "");

    const std::string evaluate = "OMP_NUM_THREADS=1 " + train_program + " evaluate ",
                      of_shards = " --shards " + shards + " --json";
    const CommandResult measured = run_command(evaluate + (folder / "whole").string() + of_shards);
    INFO(measured.err);
    REQUIRE(measured.exit_code == 0);
    CHECK(json::parse(measured.out).at("mlm_loss").get<double>() ==
          Approx(json::parse(expected.back()).at("held_out_mlm_loss").get<double>()).epsilon(1e-6));
    const std::string pairs = write_experiment(folder, {{"data", {{"training_shards", shards}, {"sequence_length", 256}}},
                                                        {"model", {{"max_position_embeddings", 256}}}})
                                  .string();
    const CommandResult refused = train(pairs, folder / "pairs");
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"data.objective = \"mlm_nsp\"", shards, "packed"}) == "");
}

TEST_CASE("an exported ModernBERT is loaded strictly by transformers and sentence-transformers, with our vectors") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = modern_experiment(folder, {{"schedule", {{"total_steps", 3}}}});
    REQUIRE(train(config, folder / "run").exit_code == 0);
    const std::string run = (folder / "run").string(), hf = (folder / "hf").string(), text = (folder / "text").string();
    write_text(text, "the sun is a star.\na\nwater freezes at zero degrees, and boils at a hundred; both depend on pressure.\n");
    REQUIRE(run_command(train_program + " export " + run + " --format hf --output " + hf).exit_code == 0);
    REQUIRE(run_command(train_program + " export " + run + " --format torchscript --output " + (folder / "ts.pt").string())
                .exit_code == 0);
    REQUIRE(run_command(train_program + " embed " + run + " " + text + " --output " + (folder / "run.npy").string()).exit_code ==
            0);
    REQUIRE(run_command(train_program + " embed " + hf + " " + text + " --output " + (folder / "hf.npy").string()).exit_code ==
            0);
    CHECK((read_text(folder / "hf.npy") == read_text(folder / "run.npy")));
    const CommandResult compared = run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/modernbert_embeddings.py " +
                                               hf + " " + text + " " + (folder / "run.npy").string());
    if (lacks_package(compared)) SKIP_TEST(skip::no_oracle, "no Python with transformers and sentence-transformers");
    INFO(compared.err);
    REQUIRE(compared.exit_code == 0);
    const json differences = json::parse(compared.out);
    CHECK(differences.size() == 2);
    for (const auto& [oracle, difference] : differences.items()) {
        CAPTURE(oracle, difference.dump());
        CHECK(difference.get<double>() < 1e-5);
    }

    // the export is what another run may start from
    const fs::path next =
        modern_experiment(folder, {{"schedule", {{"total_steps", 2}}}, {"initialization", {{"init_from", hf}}}});
    CHECK(train(next, folder / "next").exit_code == 0);
    const CommandResult other = train(next, folder / "other", "--set model.local_rope_theta=500");
    CHECK(other.exit_code == 2);
    CHECK(missing_words(other.err, {"model.local_rope_theta", "initialization.init_changes"}) == "");
    CHECK(train(next, folder / "changed",
                "--set model.local_rope_theta=500 --set 'initialization.init_changes=[\"local_rope_theta\"]'")
              .exit_code == 0);
}

TEST_CASE("a NeoBERT's export is in its authors' form, and another run starts from it with the same weights") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = neobert_experiment(folder, {{"schedule", {{"total_steps", 3}}}});
    REQUIRE(train(config, folder / "run").exit_code == 0);
    const std::string run = (folder / "run").string(), hf = (folder / "hf").string(), text = (folder / "text").string();
    write_text(text, "the sun is a star.\na\nwater freezes at zero degrees, and boils at a hundred.\n");
    REQUIRE(run_command(train_program + " export " + run + " --format hf --output " + hf).exit_code == 0);
    CHECK(read_text(folder / "hf/model.safetensors").find("model.transformer_encoder.2.ffn.w12.weight") != std::string::npos);
    for (const std::string& of : {run, hf})
        REQUIRE(run_command(train_program + " embed " + of + " " + text + " --output " + of + ".npy").exit_code == 0);
    CHECK((read_text(run + ".npy") == read_text(hf + ".npy")));
    REQUIRE(run_command(train_program + " export " + run + " --format torchscript --output " + (folder / "ts.pt").string())
                .exit_code == 0);
    const fs::path next =
        neobert_experiment(folder, {{"schedule", {{"total_steps", 2}}}, {"initialization", {{"init_from", hf}}}});
    const CommandResult second = train(next, folder / "next");
    INFO(second.err);
    CHECK(second.exit_code == 0);
}

TEST_CASE("a setting of the other architecture is refused by name, and next sentences need one that has them") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult setting = train(modern_experiment(folder), folder / "run", "--set model.norm_placement=pre_ln");
    CHECK(setting.exit_code == 2);
    CHECK(missing_words(setting.err, {"model.norm_placement", "model_type \"bert\"", "this is \"modernbert\""}) == "");
    const CommandResult objective = train(modern_experiment(folder), folder / "run", "--set data.objective=mlm_nsp");
    CHECK(objective.exit_code == 2);
    CHECK(missing_words(objective.err, {"data.objective", "no head for next sentences"}) == "");
}
