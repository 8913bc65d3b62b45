#include "checkpoint/training_progress.h"

#include "checkpoint/example_state.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

using nlohmann::json;
using testing::Says;

TrainingProgress example() {
    TrainingProgress progress;
    progress.step = 20;
    progress.samples = 160;
    progress.global_batch_sequences = 8;
    progress.world_size = 3;
    progress.data_fingerprint = "order 1";
    progress.resume = "never";
    progress.step_evaluated = 10;
    progress.updates_before = 5;
    progress.skipped_updates = 2;
    progress.skipped_updates_in_a_row = 1;
    progress.casing = "cased";
    progress.kernels = "avx2";
    progress.held_out_mlm_loss = 4.5;
    progress.device_micro_batch = 32;
    progress.mixture = {{0, {3, 1}}, {80, {1, 1}}};
    progress.cpu_products = {{"forward 4x4", "mkl"}};
    progress.gpu_kernels = {{"attention", "reference"}};
    return progress;
}

/// Returns the error for the example with one member changed; null: removed.
std::string complaint(const char* key, const json& value) {
    json changed = example().to_json();
    if (value.is_null()) changed.erase(key);
    else changed[key] = value;
    try {
        TrainingProgress::read(changed, "training_state.json");
    } catch (const CheckpointError& error) { return error.what(); }
    return "";
}

}  // namespace

TEST_CASE("skipped updates do not count for the moments") { CHECK(example().moment_updates() == 5 + 20 - 2); }

TEST_CASE("a run's progress is read as it was written, with any optional members") {
    CHECK(TrainingProgress::read(example().to_json(), "file").to_json() == example().to_json());
    const TrainingProgress least =
        TrainingProgress::read({{"step", 7}, {"global_batch_sequences", 8}, {"data_fingerprint", "order 1"}}, "file");
    CHECK((least.step == 7 && least.step_evaluated == 7 && least.updates_before == 0));
    CHECK((TrainingProgress::read(example().to_json(), "file").mixture == example().mixture));
    CHECK(least.mixture.empty());
    CHECK(!least.to_json().contains("mixture"));
    CHECK((!least.held_out_mlm_loss && !least.device_micro_batch && least.cpu_products.is_null() && least.gpu_kernels.is_null()));
}

TEST_CASE("a member of the wrong type or out of range is refused with file, key, found and expected value") {
    for (const char* key : {"step", "samples", "global_batch_sequences", "world_size", "step_evaluated", "updates_before",
                            "skipped_updates", "skipped_updates_in_a_row", "device_micro_batch"}) {
        CAPTURE(key);
        for (const json& wrong : {json("8"), json(1.5), json(-2), json(UINT64_MAX), json(true), json::array()})
            CHECK_THAT(complaint(key, wrong), Says(concat("training_state.json: damaged: \"", key, "\" is ", wrong.dump(),
                                                          ", expected an integer of at least ")));
    }
    for (const char* key : {"data_fingerprint", "resume", "casing", "kernels"})
        CHECK_THAT(complaint(key, 3), Says(concat("\"", key, "\" is 3, expected a string")));
    CHECK_THAT(complaint("global_batch_sequences", 0), Says("expected an integer of at least 1"));
    CHECK_THAT(complaint("casing", "mixed"), Says("expected \"cased\" or \"uncased\""));
    CHECK_THAT(complaint("held_out_mlm_loss", "low"), Says("expected a number"));
    for (const char* key : {"cpu_products", "gpu_kernels"}) CHECK_THAT(complaint(key, 3), Says("expected an object"));
    for (const json& wrong : {json(3), json::array(), json::parse(R"([{"first_sample": 1, "shares": [1]}])"),
                              json::parse(R"([{"first_sample": 0, "shares": "all"}])")})
        CHECK_THAT(complaint("mixture", wrong), Says(concat("\"mixture\" is ", wrong.dump(), ", expected a list of")));
    CHECK_THAT(complaint("data_fingerprint", nullptr), Says("has no \"data_fingerprint\""));
    CHECK_THROWS_WITH(TrainingProgress::read(json::array(), "file"), Says("is not a JSON object"));
}

}  // namespace bertpretrain
