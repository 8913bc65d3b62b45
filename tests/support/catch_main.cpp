// Reading unknown shards starts this program again in another process, as in the two programs (shards/shard_probe.h).
#define CATCH_CONFIG_RUNNER
#include "support/catch.h"

#include <cstdlib>
#include <string_view>

#include "core/signals.h"
#include "shards/shard_probe.h"

int main(int argc, char** argv) {
    // Imitates a damaged file that crashes the library, for tests of the process that reads shards.
    if (argc > 2 && std::string_view(argv[2]).ends_with("kills_its_reader_training.h5")) std::abort();
    if (const std::optional<int> answered = bertpretrain::answer_probe(argc, argv)) return *answered;
    bertpretrain::prepare_signals();  // as the programs do: a peer that closes its connection early must not end the tests
    return Catch::Session().run(argc, argv);
}
