// The main function of all test programs.
#define CATCH_CONFIG_RUNNER
#include "support/catch.h"

#include <cstdlib>
#include <string_view>

#include "core/signals.h"
#include "shards/check/shard_probe.h"
#include "support/ctest_cases.h"

namespace {

#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR == 2
using Listener = Catch::TestEventListenerBase;
#else
using Listener = Catch::EventListenerBase;
#endif

/// Prints each case's name before it runs, where ctest asks for it: a program that is killed then names the case.
struct NameCases final : Listener {
    using Listener::Listener;
    void testCaseStarting(const Catch::TestCaseInfo& info) override {
        static const bool asked = std::getenv("BERTPRETRAIN_NAME_CASES") != nullptr;
        if (asked) std::cout << "case: " << info.name << std::endl;
    }
};
CATCH_REGISTER_LISTENER(NameCases)

}  // namespace

int main(int argc, char** argv) {
    using namespace bertpretrain;
    // Imitates a damaged file that crashes the library, for tests of the process that reads shards.
    if (argc > 2 && std::string_view(argv[2]).ends_with("kills_its_reader_training.h5")) std::abort();
    // Reading unknown shards starts this program again in another process, as in the two programs (shards/check/shard_probe.h).
    if (const std::optional<int> answered = answer_probe(argc, argv)) return *answered;
    if (argc == 5 && std::string_view(argv[1]) == "--ctest-cases") {  // FOLDER LABEL PROPERTIES
        testing::print_ctest_cases(argv[0], argv[2], argv[3], argv[4]);
        return 0;
    }
    prepare_signals();  // as the programs do: a peer that closes its connection early must not end the tests
    Catch::Session session;
    if (const int wrong = session.applyCommandLine(argc, argv)) return wrong;
#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR == 2
    // A name that fits no case is an error, as in Catch2 3.
    session.configData().warnings =
        static_cast<Catch::WarnAbout::What>(session.configData().warnings | Catch::WarnAbout::NoTests);
#endif
    return session.run();
}
