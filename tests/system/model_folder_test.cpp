// `embed` and `predict` on the folders of other programs.

#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;

TEST_CASE(
    "each known field of a model's folder has the effect that transformers and sentence-transformers give it, or is refused") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult swept = run_command("env OMP_NUM_THREADS=1 " PYTHON " tests/system/model_folder_sweep.py " +
                                            train_program + " " + folder.path().string());
    if (lacks_package(swept)) SKIP_TEST(skip::no_oracle, "no Python with transformers and sentence-transformers");
    INFO(swept.out << swept.err);
    CHECK(swept.exit_code == 0);
}
