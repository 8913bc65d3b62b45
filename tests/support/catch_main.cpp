// Tests that try unknown shards start their own program again, as the two programs do (shards/shard_probe.h).
#define CATCH_CONFIG_RUNNER
#include "support/catch.h"

#include <cstdlib>
#include <string_view>

#include "shards/shard_probe.h"

int main(int argc, char** argv) {
    // What a damaged file can do to the library, for tests of the process that reads it.
    if (argc > 2 && std::string_view(argv[2]).ends_with("kills_its_reader_training.h5")) std::abort();
    if (const std::optional<int> answered = bertpretrain::answer_probe(argc, argv)) return *answered;
    return Catch::Session().run(argc, argv);
}
