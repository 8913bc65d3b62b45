#include "system/refusal.h"

#include "support/catch.h"
#include "system/small_run.h"

namespace bertpretrain::testing {
namespace {

int occurrences(const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace

void check_refusal(const CommandResult& result, int exit_code, const std::vector<std::string>& words,
                   const std::string& request) {
    INFO(request << "\n" << result.err);
    CHECK(result.exit_code == exit_code);
    CHECK(missing_words(result.err, words) == "");
    CHECK(result.out == "");
    // Messages of the option parser do not begin with a kind of error.
    const std::string kind = exit_code == config_exit ? "config error: "
                             : exit_code == data_exit ? "data error: "
                                                      : "checkpoint error: ";
    CHECK(occurrences(result.err, " error: ") == occurrences(result.err, kind));
    CHECK(occurrences(result.err, kind) <= 1);
    CHECK(occurrences(result.err, "internal error") == 0);
    CHECK(occurrences(result.err, "frame #") == 0);
}

void check_refused_before_training(const CommandResult& result, int exit_code, const std::vector<std::string>& words,
                                   const std::string& request, const std::filesystem::path& run) {
    check_refusal(result, exit_code, words, request);
    INFO(request);
    CHECK(read_text(run / "metrics.jsonl") == "");
    CHECK_FALSE(std::filesystem::exists(run / "checkpoints"));
}

CommandResult successful(const std::string& command) {
    CommandResult result = run_command("export OMP_NUM_THREADS=1; " + command);
    INFO(command << "\n" << result.err);
    REQUIRE(result.exit_code == 0);
    return result;
}

}  // namespace bertpretrain::testing
