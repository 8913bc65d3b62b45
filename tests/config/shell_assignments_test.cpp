// Settings as bash reads them.
#include "config/shell_assignments.h"

#include "config/sample_config.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("bash reads every setting as it was written, with any characters in it") {
    SampleConfig config;
    config.about = "it's $HOME, `date`, \"quoted\" \\ and\na second line";
    config.shards = {"a b", "", "$(touch evil)"};
    config.optimizer.fused = true;
    config.optimizer.learning_rate = 4e-4;
    const TemporaryFolder folder;
    write_text(folder / "assignments", shell_assignments(config));
    const CommandResult read =
        run_command("bash -euc 'eval \"$(cat " + (folder / "assignments").string() +
                    ")\"; printf \"%s|\" \"$about\" \"${shards[@]}\" \"${#shards[@]}\" \"$init_from\" \"$batch_threads\" "
                    "\"$batch_micro_batch_size\" \"$optimizer_fused\" \"$optimizer_learning_rate\" \"${optimizer_betas[1]}\"'");
    CHECK(read.err == "");
    CHECK(read.out == config.about + "|a b||$(touch evil)|3|||16|true|0.0004|0.999|");
}

TEST_CASE("a text that no shell variable can hold is refused") {
    SampleConfig config;
    config.about = std::string("a\0b", 3);
    CHECK_THROWS_AS(shell_assignments(config), ConfigError);
}
