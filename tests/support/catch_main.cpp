// Tests that try unknown shards start their own program again, as the two programs do (shards/shard_probe.h).
#define CATCH_CONFIG_RUNNER
#include "support/catch.h"

#include "shards/shard_probe.h"

int main(int argc, char** argv) {
    if (const std::optional<int> answered = bertpretrain::answer_probe(argc, argv)) return *answered;
    return Catch::Session().run(argc, argv);
}
