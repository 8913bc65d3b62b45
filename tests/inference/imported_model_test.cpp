// Weights of other programs, used for inference.

#include <ATen/ATen.h>
#include <algorithm>

#include "checkpoint/checkpoint_files.h"
#include "core/error.h"
#include "inference/export_model.h"
#include "inference/loaded_model.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/made_once.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// The folder that save_models.py filled, with the model's config.json next to the weights of every kind.
const fs::path& models() {
    static const fs::path made = made_once("saved_models_with_config", [](const fs::path& folder) {
        const CommandResult saved =
            run_command("OMP_NUM_THREADS=1 " WARM_PYTHON " tests/checkpoint/save_models.py '" + folder.string() + "'");
        if (saved.exit_code != 0) FAIL("save_models.py: " << saved.err);
        for (const char* place : {"hf_bin", "hf_bin_shards", "nvidia", "deepspeed/3400", "parallel"})
            fs::copy(folder / "hf/config.json", folder / place);
    });
    return made;
}

at::Tensor words_of(const fs::path& path) {
    const LoadedModel model = load_model(path, at::kFloat, at::kCPU);
    CHECK(model.missing.empty());
    return model.parameters->weight("bert.embeddings.word_embeddings.weight").clone();
}

std::string refusal(const fs::path& path) {
    try {
        load_model(path, at::kFloat, at::kCPU);
    } catch (const CheckpointError& error) { return error.what(); }
    return "";
}

}  // namespace

TEST_CASE("whole, sharded, pickled, NVIDIA's and DeepSpeed's weights with a config.json are the same model", "[system]") {
    const at::Tensor words = words_of(models() / "hf");
    for (const char* name : {"hf_shards", "hf_bin", "hf_bin_shards", "nvidia", "hf/model.safetensors"})
        CHECK(at::equal(words_of(models() / name), words));
    CHECK(at::equal(words_of(models() / "deepspeed"), words.to(at::kBFloat16).to(at::kFloat)));
}

TEST_CASE("an encoder alone can be used; missing heads are named when they are needed", "[system]") {
    const LoadedModel model = load_model(models() / "encoder", at::kFloat, at::kCPU);
    CHECK(model.missing.size() == 7);
    CHECK_NOTHROW(require_part(model, ModelPart::pooler, "--pool pooled"));
    CHECK_THROWS_WITH(require_all(model, "evaluate"), Catch::Contains("cls.predictions.bias"));
}

TEST_CASE("an encoder without heads is exported in every format, and read back as the same encoder", "[system]") {
    const TemporaryFolder folder;
    const LoadedModel model = load_model(models() / "encoder", at::kFloat, at::kCPU);
    for (const char* format : {"hf", "state_dict", "nvidia", "torchscript"}) {
        CAPTURE(format);
        fs::create_directories(folder / "of" / format);
        const fs::path output = folder / "of" / format / (std::string(format) == "hf" ? "model" : "pytorch_model.bin");
        CHECK_NOTHROW(export_model(model, format, output));  // compares what it wrote, TorchScript's results included
    }
    CHECK(read_json(folder / "of/hf/model/config.json").at("architectures").at(0) == "BertModel");
    fs::copy(folder / "of/hf/model/config.json", folder / "of/state_dict");
    for (const char* place : {"of/hf/model", "of/state_dict"}) {
        const LoadedModel again = load_model(folder / place, at::kFloat, at::kCPU);
        CHECK(std::ranges::equal(again.missing, model.missing, {}, &ParameterSpec::name, &ParameterSpec::name));
        for (const char* name : {"bert.embeddings.word_embeddings.weight", "bert.pooler.dense.weight"})
            CHECK(at::equal(again.parameters->weight(name), model.parameters->weight(name)));
    }
}

TEST_CASE("weights that do not fit their config.json are refused with the list of differences", "[system]") {
    const TemporaryFolder folder;
    CHECK_THAT(refusal(folder / "none"), Catch::Contains("no such file"));
    CHECK_THAT(refusal(folder.path()), Catch::Contains("looked for"));
    write_text(folder / "text", "a line\n");
    CHECK_THAT(refusal(folder / "text"), !Catch::Contains("config.json"));
    fs::copy(models() / "hf/model.safetensors", folder.path());
    CHECK_THAT(refusal(folder.path()), Catch::Contains("its folder has no config.json"));
    const std::string config = read_text(models() / "hf/config.json");
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string changed = config;
        changed.replace(changed.find(from), from.size(), to);
        write_text(folder / "config.json", changed);
        return refusal(folder.path());
    };
    CHECK_THAT(with("\"intermediate_size\": 32", "\"intermediate_size\": 48"),
               Catch::Contains("intermediate.dense.weight") && Catch::Contains("[48, 16]") && Catch::Contains("config.json"));
    CHECK_THAT(with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3"), Catch::Contains("encoder.layer.2."));
    CHECK_THAT(with("\"hidden_size\": 16", "\"hidden_size\": 17"), Catch::Contains("num_attention_heads"));
    CHECK_THAT(with("\"vocab_size\": 50", "\"vocab_size\": 57"),
               Catch::Contains("fewer rows in bert.embeddings.word_embeddings.weight than vocab_size of"));
    CHECK_THAT(with("{", "["), Catch::Contains("config.json"));
}
