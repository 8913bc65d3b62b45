// Every export of a trained model computes in Python, and in C++ without this program's code, what the model computes here.
#include <cmath>
#include <cstring>
#include <sstream>

#include <ATen/ATen.h>

#include "inference/loaded_model.h"
#include "inference/text_encoder.h"
#include "inference/whole_texts.h"
#include "support/catch.h"
#include "support/shared_data.h"
#include "support/skip.h"
#include "system/small_run.h"
#include "tokens/models/wordpiece.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int package_missing = 77, program_missing = 127;
const std::vector<std::string> lines{"The river is long, and its water is cold.", "", "A city of the north",
                                     "In 1871 the town had 2,340 people; its mill was built by a family of carpenters."};

/// Writes this program's results for `lines` in the form that exported_models.py expects.
void write_ours(const fs::path& checkpoint, const fs::path& folder) {
    const LoadedModel model = load_model(checkpoint, at::kFloat, at::kCPU);
    const WordPiece tokenizer(std::make_shared<const Vocabulary>(Vocabulary::read(model.vocabulary)), Casing::uncased);
    json texts = {{"lines", lines}, {"ids", json::array()}};
    std::vector<std::vector<std::int32_t>> ids;
    for (const std::string& line : lines) texts["ids"].push_back(ids.emplace_back(ids_of(tokenizer, line)));
    const MicroBatch batch = batch_of_texts(ids);
    const Logits logits = model.model->logits(batch);
    write_text(folder / "texts.json", texts.dump());
    const auto write = [&](const char* name, const at::Tensor& values) {
        const at::Tensor plain = values.contiguous();
        write_text(folder / name, {static_cast<const char*>(plain.data_ptr()), plain.nbytes()});
    };
    write("hidden.f32", model.model->encode(batch));
    write("pooled.f32", model.model->pool(model.model->encode_first(batch)));
    write("mlm.f32", logits.mlm_MV);
    write("nsp.f32", logits.next_sentence_B2);
}

CommandResult export_as(const std::string& format, const fs::path& checkpoint, const fs::path& folder) {
    return run_command("env OMP_NUM_THREADS=1 " + train_program + " export " + checkpoint.string() + " --format " + format +
                       " --output " + (folder / format).string());
}

bool python_is_missing(const CommandResult& result) {
    return result.exit_code == package_missing || result.exit_code == program_missing;
}

const char* const missing_python = "no Python with torch, transformers and h5py";

/// Exports `checkpoint` in all these formats and compares. @returns false where there is no Python to compare with
bool exports_equal_ours(const fs::path& checkpoint, const std::vector<std::string>& formats, const fs::path& folder) {
    write_ours(checkpoint, folder);
    for (const std::string& format : formats) {
        const CommandResult made = export_as(format, checkpoint, folder);
        INFO(made.err);
        REQUIRE(made.exit_code == 0);
    }
    const CommandResult compared =
        run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/inference/exported_models.py " + folder.string());
    if (python_is_missing(compared)) return false;
    INFO(compared.err);
    REQUIRE(compared.exit_code == 0);
    const json differences = json::parse(compared.out);
    CHECK(differences.size() == formats.size());
    for (const auto& [format, results] : differences.items())
        for (const auto& [name, difference] : results.items()) {
            INFO(format << ": " << name << " differ by " << difference);
            CHECK(difference.get<double>() < 1e-4);
        }
    return true;
}

/// Checks that held-out results by transformers' own class, loaded from an exported folder, equal those of `evaluate`: losses to
/// 0.1 %, and at most four predictions per sequence differ, because ties between logits depend on rounding.
void check_held_out(const fs::path& checkpoint, const fs::path& hf_folder, const fs::path& shards, const std::string& shard) {
    const CommandResult theirs = run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/hf_evaluation.py " +
                                             hf_folder.string() + " " + (shards / shard).string());
    INFO(theirs.err);
    REQUIRE(theirs.exit_code == 0);
    const CommandResult ours = run_command("env OMP_NUM_THREADS=1 " + train_program + " evaluate " + checkpoint.string() +
                                           " --shards " + shards.string() + " --json");
    INFO(ours.err);
    REQUIRE(ours.exit_code == 0);
    const json here = json::parse(ours.out), there = json::parse(theirs.out);
    for (const char* name : {"mlm_loss", "mlm_accuracy"}) {
        const bool accuracy = std::string_view(name).ends_with("accuracy");
        INFO(name << ": " << here.at(name) << ", transformers: " << there.at(name));
        const double value = there.at(name), bound = accuracy ? 4 / here.at("sequences").get<double>() : 0.001 * value;
        CHECK(std::fabs(here.at(name).get<double>() - value) <= bound);
    }
}

}  // namespace

TEST_CASE("a trained model's four exports compute in Python what it computes here, and transformers measures the same loss",
          "[system]") {
    const TemporaryFolder folder;
    const fs::path checkpoint = finished_run().run / "checkpoints/step_00000020";
    if (!exports_equal_ours(checkpoint, {"hf", "state_dict", "nvidia", "torchscript"}, folder.path()))
        SKIP_TEST(skip::no_oracle, missing_python);
    check_held_out(checkpoint, folder / "hf", sample_data().shards, "sample_test_0000.h5");
}

TEST_CASE("300 steps on Wikipedia text: four exports compute what the model does, with transformers' held-out loss", "[.long]") {
    NEEDS_SHARED_DATA();
    const TemporaryFolder folder;
    const fs::path text = shared_data() / "plain/wiki_2021_sentences.txt", shards = folder / "shards";
    const std::string part = (folder / "text").string(), vocabulary = (folder / "vocab.txt").string();
    const CommandResult prepared = run_command(
        "head -c 2000000 " + text.string() + " >" + part + " && " + data_program + " vocabulary " + part +
        " --size 2000 --output " + vocabulary + " && " + data_program + " shard " + part + " --vocabulary " + vocabulary +
        " --output " + shards.string() +
        " --name wiki --sequence-length 128 --max-predictions 20 --duplicate-factor 1 --shards 2 --held-out-shards 1" +
        " --held-out-fraction 0.03");
    INFO(prepared.err);
    REQUIRE(prepared.exit_code == 0);
    const fs::path config =
        write_experiment(folder, {{"model", {{"hidden_size", 128}, {"vocab_size", 2000}, {"max_position_embeddings", 128}}},
                                  {"data", {{"training_shards", shards.string()}, {"sequence_length", 128}}},
                                  {"schedule", {{"total_steps", 300}}},
                                  {"training", {{"precision", "bf16"}}},
                                  {"checkpoint", {{"save_every_steps", 0}}}});
    REQUIRE(train(config, folder / "run").exit_code == 0);
    const fs::path checkpoint = folder / "run/checkpoints/step_00000300";
    if (!exports_equal_ours(checkpoint, {"hf", "state_dict", "nvidia", "torchscript"}, folder.path()))
        SKIP_TEST(skip::no_oracle, missing_python);
    check_held_out(checkpoint, folder / "hf", shards, "wiki_test_0000.h5");
}

TEST_CASE("a pre-LN model is transformers' MegatronBert, and one without a class there is refused with the way out", "[system]") {
    const TemporaryFolder folder;
    const std::string steps = " --set schedule.total_steps=3 --set model.norm_placement=";
    const fs::path config = write_experiment(folder);
    REQUIRE(train(config, folder / "pre", steps + "pre_ln").exit_code == 0);
    REQUIRE(train(config, folder / "zero", steps + "pre_ln_zero_residual").exit_code == 0);
    const CommandResult nvidia = export_as("nvidia", folder / "pre", folder.path());
    CHECK(nvidia.exit_code == 2);
    CHECK(missing_words(nvidia.err, {"pre_ln", "--format hf"}) == "");
    if (!exports_equal_ours(folder / "pre", {"hf", "state_dict", "torchscript"}, folder.path()))
        SKIP_TEST(skip::no_oracle, missing_python);

    fs::create_directory(folder / "of_zero");
    const CommandResult refused = export_as("hf", folder / "zero", folder / "of_zero");
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"pre_ln_zero_residual", "--format torchscript"}) == "");
    CHECK(fs::is_empty(folder / "of_zero"));
    exports_equal_ours(folder / "zero", {"torchscript"}, folder / "of_zero");
}

TEST_CASE("a program of twenty lines that uses only torch computes the model's pooled vectors of ragged texts", "[system]") {
    const TemporaryFolder folder;
    const fs::path checkpoint = finished_run().run / "checkpoints/step_00000020";
    REQUIRE(export_as("torchscript", checkpoint, folder.path()).exit_code == 0);
    write_ours(checkpoint, folder.path());
    std::string input;
    const json texts = json::parse(read_text(folder / "texts.json"));
    for (const json& ids : texts.at("ids")) {
        for (const json& id : ids) input += id.dump() + " ";
        input += "\n";
    }
    write_text(folder / "ids", input);
    const CommandResult used = run_command("env OMP_NUM_THREADS=1 " PROGRAM_FOLDER "/torchscript_user " +
                                           (folder / "torchscript").string() + " <" + (folder / "ids").string());
    INFO(used.err);
    REQUIRE(used.exit_code == 0);
    const std::string raw = read_text(folder / "pooled.f32");
    std::vector<float> ours(raw.size() / sizeof(float));
    std::memcpy(ours.data(), raw.data(), raw.size());
    std::istringstream theirs(used.out);
    for (const float right : ours) {
        float value = 0;
        REQUIRE(theirs >> value);
        CHECK(std::fabs(value - right) < 1e-4F);
    }
    float more = 0;
    CHECK_FALSE(theirs >> more);
}

TEST_CASE("an export that exists is not replaced, and one that fails leaves nothing", "[system]") {
    const TemporaryFolder folder;
    const fs::path checkpoint = finished_run().run / "checkpoints/step_00000020";
    write_text(folder / "state_dict", "mine");
    const CommandResult refused = export_as("state_dict", checkpoint, folder.path());
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"state_dict", "exists"}) == "");
    CHECK(read_text(folder / "state_dict") == "mine");
    write_text(folder / "nvidia.partial", "mine too");
    const CommandResult beside = export_as("nvidia", checkpoint, folder.path());
    CHECK(beside.exit_code == 2);
    CHECK(missing_words(beside.err, {"nvidia.partial: already exists"}) == "");
    CHECK(read_text(folder / "nvidia.partial") == "mine too");
    fs::remove(folder / "nvidia.partial");
    CHECK(run_command("ulimit -f 100; " + train_program + " export " + checkpoint.string() + " --format nvidia --output " +
                      (folder / "nvidia").string())
              .exit_code != 0);
    for (const auto& entry : fs::directory_iterator(folder.path())) CHECK(entry.path().filename() == "state_dict");
}
