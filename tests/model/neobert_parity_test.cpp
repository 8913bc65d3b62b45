// NeoBERTs in their authors' form compute what the authors' formula does, and an export returns the same file.
#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

#include "archive/pt_reader.h"
#include "archive/safetensors_reader.h"
#include "batches/build_batch.h"
#include "checkpoint/described_model.h"
#include "core/error.h"
#include "inference/export_model.h"
#include "inference/loaded_model.h"
#include "model/oracle_case.h"
#include "model/small_model.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// The folder that neobert_oracle.py filled; an empty one if Python lacks a package.
const fs::path& models() {
    static const fs::path made = made_once("neobert_models", [](const fs::path& folder) {
        const CommandResult result =
            run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/model/neobert_oracle.py '" + folder.string() + "'");
        constexpr int package_missing = 77;
        if (result.exit_code != 0 && result.exit_code != package_missing) FAIL("neobert_oracle.py: " << result.err);
    });
    return made;
}

/// right.pt of a case.
class Right {
public:
    explicit Right(const fs::path& folder) : file_(folder / "right.pt") {}
    bool has(const std::string& name) const { return file_.root().find(name) != nullptr; }
    at::Tensor operator[](const std::string& name) const { return read_tensor(file_, *at_key(file_.root(), name).tensor()); }
    std::vector<std::int64_t> numbers(const std::string& name) const { return values_of((*this)[name].to(at::kLong)); }

    MicroBatch batch() const {
        UnpaddedSamples samples;
        samples.lengths_B = numbers("lengths");
        samples.numbers_B.resize(samples.lengths_B.size());
        samples.next_sentence_labels_B.resize(samples.lengths_B.size());
        samples.input_ids_T = numbers("ids");
        samples.token_type_ids_T.resize(samples.input_ids_T.size());
        samples.masked_rows_M = numbers("masked_rows");
        samples.masked_labels_M = numbers("masked_labels");
        return build_batch(samples);
    }

private:
    PtReader file_;
};

/// The gradient of a tensor of the file, in its rows, from ours.
at::Tensor in_rows_of_the_file(const NamingRules& form, const std::string& ours, const at::Tensor& gradient, std::int64_t heads) {
    for (const StoredRows& rows : form.rows)
        if (ours.ends_with(rows.parameter)) {
            const at::Tensor theirs = at::full_like(gradient, std::nan(""));
            for (std::int64_t i = 0; i < gradient.size(0); ++i) theirs[rows.place(i, gradient.size(0), heads)].copy_(gradient[i]);
            return theirs;
        }
    return gradient;
}

}  // namespace

#define NEEDS_NEOBERT() \
    if (fs::is_empty(models())) SKIP_TEST(skip::no_oracle, "no Python with the package safetensors")

TEST_CASE("a NeoBERT of its authors' form computes their formula's hidden states, logits, loss and gradients to 1e-5",
          "[system]") {
    NEEDS_NEOBERT();
    for (const char* name : {"heads_of_8", "heads_of_32", "encoder"}) {
        CAPTURE(name);
        const LoadedModel loaded = load_model(models() / name, at::kFloat, at::kCPU);
        const Right right(models() / name);
        const MicroBatch batch = right.batch();
        CHECK(relative_error(loaded.model->encode(batch), right["hidden"]) <= 1e-5);
        if (!right.has("mlm_loss")) continue;

        const FlatParameters parameters(layout_of(loaded.config, 1, 1), at::kFloat, at::kCPU);
        for (const PlacedParameter& parameter : parameters.layout().parameters())
            parameters.weight(parameter.spec.name).copy_(loaded.parameters->weight(parameter.spec.name));
        const auto model = make_model(loaded.config, parameters);
        CHECK(relative_error(model->logits(batch).mlm_MV, right["mlm_logits"]) <= 1e-5);
        const LossScale scale = mean_over(batch);
        const LossSums sums(at::kCPU);
        model->forward_backward(batch, scale, sums, {});
        CHECK(sums.values().mlm_loss * scale.mlm == Approx(right["mlm_loss"].item<double>()).epsilon(1e-5));
        const NamingRules& form = exported_form(loaded.config);
        const SafetensorsReader file(models() / name / "model.safetensors");
        CHECK(file.tensors().size() == parameters.layout().parameters().size());
        for (const SafetensorsEntry& entry : file.tensors()) {
            CAPTURE(entry.name);
            const std::string ours = our_name(form, entry.name, {"", true});
            const at::Tensor gradient =
                in_rows_of_the_file(form, ours, parameters.gradient(ours), shape_of(loaded.config).num_attention_heads);
            CHECK(relative_error(gradient, right["d." + entry.name]) <= 1e-5);
        }
    }
}

TEST_CASE("an exported NeoBERT has the names, rows and fields of its authors' files, and reads as before", "[system]") {
    NEEDS_NEOBERT();
    for (const char* name : {"heads_of_8", "heads_of_32", "encoder"}) {
        CAPTURE(name);
        const TemporaryFolder folder;
        export_model(load_model(models() / name, at::kFloat, at::kCPU), "hf", folder / "exported");
        const SafetensorsReader before(models() / name / "model.safetensors"), after(folder / "exported/model.safetensors");
        CHECK(before.tensors().size() == after.tensors().size());
        for (const SafetensorsEntry& entry : before.tensors()) {
            CAPTURE(entry.name);
            const SafetensorsEntry* found = after.find(entry.name);
            REQUIRE(found != nullptr);
            CHECK(found->shape == entry.shape);
            CHECK(std::ranges::equal(before.bytes(entry), after.bytes(*found)));
        }
        const json theirs = json::parse(read_text(models() / name / "config.json")),
                   ours = json::parse(read_text(folder / "exported/config.json"));
        for (const char* field : {"architectures", "model_type", "hidden_size", "num_hidden_layers", "num_attention_heads",
                                  "intermediate_size", "vocab_size", "max_length", "norm_eps"}) {
            CAPTURE(field);
            CHECK(ours[field] == theirs[field]);
        }
    }
}

TEST_CASE("a NeoBERT's config.json is refused by the name of the field that changes what is computed", "[system]") {
    NEEDS_NEOBERT();
    const auto refusal = [](const json& changes) -> std::string {
        json config = json::parse(read_text(models() / "heads_of_8/config.json"));
        config.merge_patch(changes);
        const TemporaryFolder folder;
        write_text(folder / "config.json", config.dump());
        try {
            described_model(folder / "config.json");
        } catch (const CheckpointError& error) { return error.what(); }
        return "";
    };
    CHECK(refusal(json::object()).empty());
    CHECK_THAT(refusal({{"hidden_act", "gelu"}}), Catch::Contains("hidden_act is \"gelu\"") && Catch::Contains("SwiGLU"));
    CHECK_THAT(refusal({{"rope", false}}), Catch::Contains("rope is false"));
    CHECK_THAT(refusal({{"rms_norm", false}}), Catch::Contains("rms_norm is false"));
    CHECK_THAT(refusal({{"ngpt", true}}), Catch::Contains("ngpt is true"));
}
