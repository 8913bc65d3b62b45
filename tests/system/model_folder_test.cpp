// `embed` and `predict` on the folders of other programs.

#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;

namespace {

/// @param script of the sweep  @param step every how many-th value is tried
void sweep(const std::string& script, int step) {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult swept = run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/" + script + " " + train_program +
                                            " " + folder.path().string() + " " + std::to_string(step));
    if (lacks_package(swept)) SKIP_TEST(skip::no_oracle, "no Python with transformers and sentence-transformers");
    INFO(swept.out << swept.err);
    CHECK(swept.exit_code == 0);
}

}  // namespace

TEST_CASE("fields of a model's folder have the effect that transformers and sentence-transformers give them, or are refused") {
    sweep("model_folder_sweep.py", 5);
}

TEST_CASE("fields of a ModernBERT's config.json have the effect that transformers gives them, or are refused") {
    sweep("modernbert_sweep.py", 7);
}

TEST_CASE("every known field of a model's folder has the effect that it has in transformers, or is refused", "[.long]") {
    sweep("model_folder_sweep.py", 1);
}

TEST_CASE("every known field of a ModernBERT's config.json has the effect that it has in transformers, or is refused",
          "[.long]") {
    sweep("modernbert_sweep.py", 1);
}
