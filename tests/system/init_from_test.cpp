// Runs that initialize the model from another checkpoint.

#include <algorithm>
#include <cmath>
#include <sstream>

#include "support/catch.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Trains on other samples with another schedule, from the weights of `source`.
fs::path write_second_experiment(const TemporaryFolder& folder, const fs::path& source, const json& patch = json::object()) {
    json changes = {{"initialization", {{"init_from", source.string()}}},
                    {"training", {{"seed", 8}}},
                    {"schedule", {{"total_steps", 6}}},
                    {"checkpoint", {{"save_every_steps", 3}}},
                    {"evaluation", {{"every_steps", 0}}}};
    changes.merge_patch(patch);
    return write_experiment(folder, changes);
}

/// Returns the lines of a second run, which must succeed and log the weights that it began with.
std::vector<std::string> second_run(const fs::path& source, const std::string& options = "", const json& patch = json::object()) {
    const TemporaryFolder folder;
    const fs::path config = write_second_experiment(folder, source, patch);
    const CommandResult result = train(config, folder / "run", options);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(missing_words(result.err, {"weights from " + source.string().substr(0, 20)}) == "");
    return numbers_of(folder / "run");
}

/// Returns the largest difference of the losses of two runs with equally many steps.
double loss_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest =
            std::max(largest, std::fabs(json::parse(a[i]).at("loss").get<double>() - json::parse(b[i]).at("loss").get<double>()));
    return largest;
}

/// Trains a run, then trains from its weights in every format, and checks that all formats give the same losses.
void check_every_way(const fs::path& run, const std::string& step) {
    const fs::path checkpoint = run / "checkpoints" / step;
    const std::vector<std::string> expected = second_run(run);
    REQUIRE(expected.size() == 6);
    CHECK(first_difference(second_run(checkpoint / "model.pt"), expected) == "");
    CHECK(loss_difference(second_run(checkpoint, "--local-ranks 2 --set batch.global_batch_size=8"), expected) < 1e-5);
    const TemporaryFolder folder;
    const CommandResult python = run_command(
        WARM_PYTHON " -c \"import sys, torch; torch.save(torch.load(sys.argv[1], weights_only=True), sys.argv[2])\" " +
        (checkpoint / "model.pt").string() + " " + (folder / "trip.bin").string());
    REQUIRE(python.err == "");
    CHECK(first_difference(second_run(folder / "trip.bin"), expected) == "");
    const double trained = json::parse(expected.front()).at("loss").get<double>();
    CHECK(trained < std::log(800) + std::log(2) - 0.1);  // below a random model's loss
}

}  // namespace

TEST_CASE("a run's dropout of 0 is taken without a warning by a run that begins with its weights") {
    NEEDS_TRAIN();
    const TemporaryFolder folder, other;
    const auto dropout = [](const json& value) {
        return json{{"model", {{"hidden_dropout_prob", value}, {"attention_probs_dropout_prob", value}}},
                    {"schedule", {{"total_steps", 1}}}};
    };
    REQUIRE(train(write_experiment(folder, dropout(0)), folder / "run").exit_code == 0);
    const fs::path config = write_second_experiment(other, folder / "run", dropout(nullptr));
    const CommandResult resolved = run_command(train_program + " config resolve " + config.string());
    CHECK(resolved.exit_code == 0);
    CHECK(missing_words(resolved.out, {"model.hidden_dropout_prob", "init_from"}) == "");
    CHECK(resolved.err.find("dropout") == std::string::npos);
}

TEST_CASE("a run that begins with another's weights has the same losses from its file, from Python's copy and on two ranks") {
    NEEDS_TRAIN();
    check_every_way(finished_run().run, "step_00000020");
}

TEST_CASE("runs from the weights of a run of 200 steps have the same losses from its file, Python's copy and on two ranks",
          "[.long]") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(
        folder,
        {{"schedule", {{"total_steps", 200}}}, {"evaluation", {{"every_steps", 0}}}, {"checkpoint", {{"save_every_steps", 0}}}});
    REQUIRE(train(config, folder / "run").exit_code == 0);
    check_every_way(folder / "run", "step_00000200");
}

TEST_CASE("a new run with a run's weights, moments and their count continues as the run itself does") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    if (!make_one_batch(folder / "shards")) SKIP_TEST(skip::no_oracle, "no Python with h5py");
    const auto losses = [&](const std::string& run, std::int64_t steps, const json& initialization) {
        const fs::path config =
            write_experiment(folder, {{"model", {{"hidden_dropout_prob", 0}, {"attention_probs_dropout_prob", 0}}},
                                      {"data", {{"training_shards", (folder / "shards").string()}}},
                                      {"initialization", initialization},
                                      {"batch", {{"micro_batch_size", 8}}},
                                      {"schedule", {{"name", "constant"}, {"warmup_ratio", 0}, {"total_steps", steps}}},
                                      {"evaluation", {{"every_steps", 0}}}});
        const CommandResult result = train(config, folder / run);
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
        return numbers_of(folder / run);
    };
    const auto whole = losses("whole", 12, json::object());
    const std::string source = (folder / "whole/checkpoints/step_00000006").string();
    const std::vector<std::string> expected(whole.begin() + 6, whole.end());
    losses("kept", 3, {{"init_from", source}, {"init_moments", true}});  // stopped, then resumed
    CHECK(loss_difference(losses("kept", 6, {{"init_from", source}, {"init_moments", true}}), expected) < 1e-5);
    CHECK(loss_difference(losses("fresh", 6, {{"init_from", source}}), expected) > 1e-3);
}

TEST_CASE("a randomly initialized Hugging Face model has the same training losses here as in PyTorch") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    if (!make_one_batch(folder / "shards")) SKIP_TEST(skip::no_oracle, "no Python with h5py");
    fs::create_directory(folder / "oracle");
    const CommandResult saved = run_command(WARM_PYTHON " - " + folder.path().string() + R"( <<'END'
import sys
import torch
from transformers import BertConfig, BertForPreTraining
folder = sys.argv[1]
torch.manual_seed(2)
model = BertForPreTraining(BertConfig(vocab_size=800, hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=256,
                                      max_position_embeddings=64))
model.save_pretrained(folder + "/hf")
torch.save(model.state_dict(), folder + "/oracle/model.pt")
END)");
    INFO(saved.err);
    REQUIRE(saved.exit_code == 0);
    const fs::path config = write_second_experiment(folder, folder / "hf",
                                                    {{"model", {{"hidden_dropout_prob", 0}, {"attention_probs_dropout_prob", 0}}},
                                                     {"data", {{"training_shards", (folder / "shards").string()}}},
                                                     {"batch", {{"micro_batch_size", 8}}}});
    const CommandResult trained = train(config, folder / "run");
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    fs::copy_file(folder / "run/settings.json", folder / "oracle/settings.json");
    const CommandResult oracle =
        run_command("OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/torch_training.py " + (folder / "oracle").string() + " " +
                    (folder / "shards/part_training_0000.h5").string() + " 6");
    INFO(oracle.err);
    REQUIRE(oracle.exit_code == 0);
    std::istringstream lines(oracle.out);
    std::vector<std::string> theirs;
    for (std::string line; std::getline(lines, line);) theirs.push_back(line);
    const double difference = loss_difference(numbers_of(folder / "run"), theirs);
    INFO("largest difference: " << difference);
    CHECK(difference < 1e-4);
}

TEST_CASE("a run from a RoBERTa has the losses of a run from its export, which is a BERT, and logs the added token type") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path roberta = folder / "roberta", bert = folder / "bert";
    const CommandResult saved = run_command(
        WARM_PYTHON
        " -c 'import sys, torch; from transformers import RobertaConfig, RobertaForMaskedLM; torch.manual_seed(3); "
        "RobertaForMaskedLM(RobertaConfig(vocab_size=800, hidden_size=64, num_hidden_layers=2, num_attention_heads=2, "
        "intermediate_size=256, max_position_embeddings=66, type_vocab_size=1)).save_pretrained(sys.argv[1])' " +
        roberta.string());
    if (saved.exit_code != 0) SKIP_TEST(skip::no_oracle, "no Python with torch and transformers");
    const CommandResult exported =
        run_command(train_program + " export " + roberta.string() + " --format hf --output " + bert.string());
    INFO(exported.err);
    REQUIRE(exported.exit_code == 0);
    const json masked_words{{"data", {{"objective", "mlm"}}}};
    const std::vector<std::string> expected = second_run(bert, "", masked_words);
    CHECK(expected.size() == 6);
    CHECK(first_difference(second_run(roberta, "", masked_words), expected) == "");
    const CommandResult logged = train(write_second_experiment(folder, roberta, masked_words), folder / "run");
    CHECK(missing_words(logged.err, {"token_type_embeddings.weight: 1 row, expected 2: zeros for the other 1"}) == "");
}

TEST_CASE("weights that do not fit the model are refused before any training") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path model = finished_run().run / "checkpoints/step_00000020/model.pt";
    const auto refused = [&](const fs::path& source, const json& patch, int code, const std::vector<std::string>& words) {
        const fs::path config = write_second_experiment(folder, source, patch);
        check_refusal(train(config, folder / "run"), code, words, patch.dump());
        CHECK_FALSE(fs::exists(folder / "run/checkpoints"));
        fs::remove_all(folder / "run");
    };
    refused(model, {{"model", {{"hidden_size", 128}}}}, config_exit, {"misshapen:", "[800, 64], expected [800, 128]"});
    refused(model, {{"model", {{"num_hidden_layers", 3}}}}, config_exit,
            {"missing:    \"bert.encoder.layer.2.output.dense.weight\""});
    refused(finished_run().run, {{"model", {{"num_attention_heads", 4}}}}, config_exit,
            {"model.num_attention_heads: 2 in the file, 4"});
    refused(model, {{"initialization", {{"init_moments", true}}}}, config_exit, {"init_moments", "checkpoints of this program"});
    refused(folder / "none", json::object(), checkpoint_exit, {"none: there is no such file or folder"});
    std::string damaged = read_text(model);
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
    write_text(folder / "damaged.pt", damaged);
    refused(folder / "damaged.pt", json::object(), checkpoint_exit, {"damaged.pt: damaged: tensor"});
    check_refusal(train(write_experiment(folder), folder / "run", "--set initialization.init_missing=random"), config_exit,
                  {"initialization have no effect"}, "init_missing without init_from");
}

TEST_CASE("weights without a tokenizer are taken with a warning of both sizes, and refused if the shards have more tokens") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    fs::create_directory(folder / "weights");
    const fs::path model = finished_run().run / "checkpoints/step_00000020/model.pt", alone = folder / "weights/alone.pt",
                   few = folder / "weights/few.pt";
    fs::copy_file(model, alone);
    const CommandResult taken = train(write_second_experiment(folder, alone), folder / "taken");
    INFO(taken.err);
    CHECK(taken.exit_code == 0);
    CHECK(missing_words(taken.err, {"alone.pt: has no tokenizer beside it, and rows for 800 tokens", "of the shards has",
                                    "could not be compared"}) == "");
    const CommandResult python =
        run_command(WARM_PYTHON
                    " -c \"import sys, torch; torch.save({name: value[:700].clone() if value.shape[0] == 800 else value "
                    "for name, value in torch.load(sys.argv[1], weights_only=True).items()}, sys.argv[2])\" " +
                    model.string() + " " + few.string());
    REQUIRE(python.err == "");
    check_refusal(train(write_second_experiment(folder, few), folder / "run"), config_exit,
                  {"rows for 700 tokens", "so it is not the weights' vocabulary", "do: make the shards with"}, "few.pt");
}

TEST_CASE("a run from weights whose tokenizer keeps accents, on shards without them, is warned of the other normalizer") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    REQUIRE(run_command(train_program + " export " + finished_run().run.string() + " --format hf --output " +
                        (folder / "hf").string())
                .exit_code == 0);
    const auto warning_of = [&](const std::string& run) {
        const CommandResult result = train(write_second_experiment(folder, folder / "hf"), folder / run);
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
        return missing_words(result.err, {"another normalizer", "strip_accents"}) == "";
    };
    CHECK_FALSE(warning_of("same"));
    json config = json::parse(read_text(folder / "hf/tokenizer_config.json"));
    config["strip_accents"] = false;
    write_text(folder / "hf/tokenizer_config.json", config.dump());
    CHECK(warning_of("other"));
}

TEST_CASE("a run without a model section takes that of its weights, and keeps it when their folder is gone") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::vector<std::string> expected = second_run(finished_run().run);
    CHECK(first_difference(second_run(finished_run().run, "", {{"model", nullptr}}), expected) == "");
    const fs::path hf = folder / "hf";
    REQUIRE(run_command(train_program + " export " + finished_run().run.string() + " --format hf --output " + hf.string())
                .exit_code == 0);
    const fs::path config = write_second_experiment(folder, hf, {{"model", nullptr}});
    REQUIRE(train(config, folder / "run").exit_code == 0);
    CHECK(first_difference(numbers_of(folder / "run"), expected) == "");
    fs::remove_all(hf);
    fs::remove_all(folder / "run/checkpoints/step_00000006");
    const CommandResult resumed = train(config, folder / "run");
    INFO(resumed.err);
    REQUIRE(resumed.exit_code == 0);
    CHECK(missing_words(resumed.err, {"weights from"}) != "");
    CHECK(first_difference(numbers_of(folder / "run"), expected) == "");
    check_refusal(train(config, folder / "other"), checkpoint_exit, {"hf: there is no such file or folder"}, "no folder");
}

TEST_CASE("a model section that contradicts the weights is refused by one short list of settings") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const json model{{"hidden_size", 128}, {"num_hidden_layers", 12}};
    const CommandResult result = train(write_second_experiment(folder, finished_run().run, {{"model", model}}), folder / "run");
    check_refusal(
        result, config_exit,
        {"model.hidden_size: 64 in the file, 128", "model.num_hidden_layers: 2 in the file, 12", "leave these settings out"},
        "shape");
    CHECK(std::ranges::count(result.err.substr(result.err.find("config error")), '\n') < 12);
}

TEST_CASE("inspect verifies every checkpoint of a run, and names the damaged ones") {
    NEEDS_TRAIN();
    const auto inspect = [](const fs::path& path, const std::string& options) {
        return run_command(train_program + " inspect " + path.string() + " " + options);
    };
    const CommandResult whole = inspect(finished_run().run, "--verify");
    CHECK(whole.exit_code == 0);
    CHECK(missing_words(whole.out, {"step_00000003", "step_00000020", "whole"}) == "");
    CHECK(missing_words(inspect(finished_run().run, "").out,
                        {"step        20 of 20", "2 layers, hidden size 64", "exp_avg, exp_avg_sq", "model.pt",
                         "other settings have their defaults"}) == "");
    CHECK(missing_words(inspect(finished_run().run, "--tensors").out, {"bert.embeddings.word_embeddings.weight", "[800, 64]"}) ==
          "");
    const json all = json::parse(inspect(finished_run().run, "--json").out);
    CHECK(all.at("step") == 20);
    CHECK(all.at("settings").at("model").at("hidden_size") == 64);
    CHECK(all.at("progress").at("global_batch_sequences") == 8);
    CHECK(all.at("tensors")[0].at("type") == "float32");
    const fs::path model = finished_run().run / "checkpoints/step_00000020/model.pt";
    // The file also names the tied weights.
    CHECK(json::parse(inspect(model, "--json").out).at("tensors").size() >= all.at("tensors").size());
    const TemporaryFolder folder;
    for (const std::string file :
         {"model.pt", "optimizer.pt", "training_state.json", "settings.json", "vocab.txt", "COMPLETE.json"}) {
        INFO(file);
        fs::remove_all(folder / "run");
        copy_finished_run(folder / "run");
        const fs::path damaged = folder / "run/checkpoints/step_00000018" / file;
        std::string content = read_text(damaged);
        content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
        write_text(damaged, content);
        const CommandResult result = inspect(folder / "run", "--verify");
        CHECK(result.exit_code == checkpoint_exit);
        CHECK(missing_words(result.err, {"step_00000018", file == "COMPLETE.json" ? "" : file}) == "");
        CHECK(missing_words(result.err, {"step_00000015"}) != "");
        CHECK(inspect(folder / "run/checkpoints/step_00000020/", "--verify").exit_code == 0);
    }
    const CommandResult file = inspect(finished_run().run / "checkpoints/step_00000020/optimizer.pt", "");
    CHECK(missing_words(file.out, {"state.exp_avg_sq.cls.predictions.bias", "float32", "[800]", "step", "20"}) == "");
    CHECK(inspect(finished_run().run / "checkpoints/step_00000020/optimizer.pt", "--verify").exit_code == 0);
    CHECK(inspect(folder / "none", "").exit_code == checkpoint_exit);
    const fs::path named = folder / "a\x7f\xc2\x85z";
    copy_finished_run(named);
    CHECK(json::parse(inspect(named, "--json").out).at("checkpoint") == (named / "checkpoints/step_00000020").string());
    CHECK(json::parse(inspect(named, "--lineage --json").out).at("files").size() > 3);
    const CommandResult shards = inspect(sample_data().shards, "");
    CHECK(shards.exit_code == 2);
    CHECK(missing_words(shards.err, {"is a folder of shards", "`bertpretrain_data check " + sample_data().shards.string()}) ==
          "");
}

TEST_CASE("a larger model begins with a smaller one's weights where the settings ask for it, alike on one rank and on two") {
    NEEDS_TRAIN();
    const json larger{{"hidden_size", 128}, {"num_hidden_layers", 3}, {"num_attention_heads", 4}};
    const json patch{{"model", larger}, {"initialization", {{"init_smaller", "tile"}}}};
    const std::vector<std::string> alone = second_run(finished_run().run, "", patch);
    CHECK(loss_difference(second_run(finished_run().run, "--local-ranks 2 --set batch.global_batch_size=8", patch), alone) <
          1e-5);
    const TemporaryFolder folder;
    const fs::path config = write_second_experiment(folder, finished_run().run, patch);
    const CommandResult result = train(config, folder / "run", "--set schedule.total_steps=1");
    CHECK(missing_words(result.err, {"tiled: 2 layers become 3"}) == "");
    check_refusal(train(config, folder / "moments", "--set initialization.init_moments=true"), config_exit,
                  {"moments need a model of the same shape", "tiled: 2 layers become 3"}, "moments");
    check_refusal(train(config, folder / "heads", "--set model.num_attention_heads=8"), config_exit,
                  {"heads of 16 features cannot be made from heads of 32"}, "heads");
}
