// Shards of code with its line ends and indentation, compared with the package tokenizers (kept_white_space.py).

#include "support/catch.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;

TEST_CASE(
    "shard --keep-white-space gives each file and record the ids of tokenizers, with line ends, empty lines and indentation") {
    const TemporaryFolder folder;
    const std::string oracle = PYTHON " tests/system/kept_white_space.py ", code = folder / "code", trained = folder / "own.json";
    const CommandResult made = run_command(oracle + "make " + folder.path().string());
    if (lacks_package(made)) SKIP_TEST(skip::no_oracle, "no Python with the packages tokenizers and h5py");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    successful(data_program + " vocabulary " + code + " --model bpe --keep-white-space --size 400 --output " + trained);
    CHECK(read_text(trained).find("\"\u010a\u0120\u0120\u0120\":") != std::string::npos);  // a line end with indentation
    for (const std::string& tokenizer : {trained, std::string(folder / "other.json")}) {
        const std::string shards = tokenizer + ".shards";
        successful(data_program + " shard " + code + " --vocabulary " + tokenizer + " --output " + shards +
                   " --keep-white-space --objective mlm --best-fit --sequence-length 512 --shards 2 --held-out-shards 1");
        CHECK(read_text(shards + "/manifest.json").find("\"keep_white_space\": true") != std::string::npos);
        successful(data_program + " check " + shards);
        const CommandResult compared = run_command(oracle + "compare " + folder.path().string() + " " + tokenizer + " " + shards);
        INFO(compared.err);
        CHECK(compared.out == "60\n");
    }
}
