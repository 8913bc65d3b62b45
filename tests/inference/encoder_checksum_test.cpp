// The checksum by which vectors are compared with the model that is to search them.
#include <ATen/ATen.h>

#include "inference/embed.h"
#include "inference/hf_folder.h"
#include "inference/loaded_model.h"
#include "inference/sentence_folder.h"
#include "support/catch.h"
#include "support/files.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

std::uint32_t checksum_of(const fs::path& model, Pooling pooling = Pooling::mean, at::ScalarType dtype = at::kFloat) {
    return encoder_crc32(*load_model(model, dtype, at::kCPU).parameters, pooling);
}

}  // namespace

TEST_CASE("a run and its exports have one encoder checksum, in either precision, and another checkpoint another", "[system]") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = finished_run().run;
    const LoadedModel model = load_model(run, at::kFloat, at::kCPU);
    write_hf_folder(model, folder / "hf");
    SentenceSettings settings;
    settings.max_length = 64;
    write_sentence_folder(model, settings, folder / "sentences");
    const std::uint32_t expected = checksum_of(run), pooled = checksum_of(run, Pooling::pooled);
    CHECK(checksum_of(run, Pooling::cls) == expected);
    CHECK(checksum_of(run, Pooling::mean, at::kBFloat16) == expected);
    CHECK(pooled != expected);
    CHECK(checksum_of(run / "checkpoints/step_00000003") != expected);
    for (const char* exported : {"hf", "sentences"}) {
        CAPTURE(exported);
        CHECK(checksum_of(folder / exported) == expected);
        CHECK(checksum_of(folder / exported, Pooling::mean, at::kBFloat16) == expected);
        CHECK(checksum_of(folder / exported, Pooling::pooled) == pooled);
    }
}

TEST_CASE("the encoder checksum leaves the heads out, and has the pooler for pooled vectors alone", "[system]") {
    NEEDS_TRAIN();
    const LoadedModel model = load_model(finished_run().run, at::kFloat, at::kCPU);
    const std::uint32_t mean = encoder_crc32(*model.parameters, Pooling::mean),
                        pooled = encoder_crc32(*model.parameters, Pooling::pooled);
    const auto differs_with = [&](const std::string& name, Pooling pooling, std::uint32_t before) {
        at::Tensor weight = model.parameters->weight(name);
        const at::Tensor kept = weight.clone();
        weight.add_(1);
        const bool differs = encoder_crc32(*model.parameters, pooling) != before;
        weight.copy_(kept);
        return differs;
    };
    CHECK(differs_with("bert.embeddings.LayerNorm.bias", Pooling::mean, mean));
    CHECK(differs_with("bert.encoder.layer.1.output.dense.weight", Pooling::mean, mean));
    CHECK_FALSE(differs_with("cls.predictions.transform.dense.weight", Pooling::mean, mean));
    CHECK_FALSE(differs_with("bert.pooler.dense.weight", Pooling::mean, mean));
    CHECK(differs_with("bert.pooler.dense.weight", Pooling::pooled, pooled));
}
