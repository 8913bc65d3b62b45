// Real shards with random damage: `check` either finds them sound or ends with a message, and never crashes.

#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "core/random.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

const std::string program = PROGRAM_FOLDER "/bertpretrain_data";
constexpr int files_of_a_run = 100;

/// Makes a small shard of text with our own tool. Being small, it consists of metadata to a large part.
std::string small_shard(const TemporaryFolder& folder) {
    std::string text, vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    RandomSequence random(9, Purpose::document_order, 0);
    for (char c = 'a'; c <= 'z'; ++c) vocabulary += std::string(1, c) + "\n";
    for (int sentence = 0; sentence < 120; ++sentence) {
        for (int word = 0; word < 9; ++word) text += std::string(1, static_cast<char>('a' + random.below(26))) + " ";
        text += sentence % 4 == 3 ? "\n\n" : "\n";
    }
    write_text(folder / "text.txt", text);
    write_text(folder / "vocab.txt", vocabulary);
    const CommandResult made = run_command(program + " shard " + (folder / "text.txt").string() + " --vocabulary " +
                                           (folder / "vocab.txt").string() + " --output " + (folder / "shards").string() +
                                           " --name good --shards 1 --held-out-shards 0 --held-out-fraction 0 "
                                           "--sequence-length 32 --max-predictions 5 --duplicate-factor 1");
    REQUIRE(made.exit_code == 0);
    return read_text(folder / "shards" / "good_training_0000.h5");
}

std::string mutated(const std::string& good, std::uint64_t number) {
    RandomSequence random(1, Purpose::document_order, number);
    std::string bad = good;
    const auto place = [&] { return random.below(static_cast<std::uint32_t>(bad.size())); };
    switch (random.below(6)) {
        case 0:
            bad[place()] ^= static_cast<char>(1 << random.below(8));
            break;
        case 1:
            for (std::uint32_t k = 1 + random.below(8); k > 0; --k) bad[place()] = static_cast<char>(random.below(256));
            break;
        case 2:
            bad.resize(1 + place());
            break;
        case 3:
        case 4: {  // a run of equal bytes; short runs damage a single field
            const std::uint32_t begin = place(), length = 1 + random.below(16);
            const char value = random.below(2) == 0 ? '\xff' : '\0';
            std::fill(bad.begin() + begin, bad.begin() + std::min<std::ptrdiff_t>(begin + length, std::ssize(bad)), value);
            break;
        }
        default: {  // copies one piece over another
            const std::uint32_t from = place(), to = place(), length = 1 + random.below(200);
            bad.replace(to, length, good.substr(from, length));
        }
    }
    return bad;
}

struct Outcome {
    std::int64_t bad = 0, crashes = 0;  ///< refused files, and those among them that crashed the child process
};

/// Checks mutations [first, first + files_of_a_run) in one run of the program.
Outcome outcome_of(const std::string& good, std::uint64_t first) {
    const TemporaryFolder folder;
    for (int i = 0; i < files_of_a_run; ++i)
        write_text(folder / ("mutated_training_" + std::to_string(first + static_cast<std::uint64_t>(i)) + ".h5"),
                   mutated(good, first + static_cast<std::uint64_t>(i)));
    const CommandResult result = run_command(program + " check " + folder.path().string() + " --json");
    INFO("mutations from " << first << ": exit code " << result.exit_code << "\n" << result.err);
    REQUIRE((result.exit_code == 3 || result.exit_code == 0));
    const auto report = nlohmann::json::parse(result.out);
    Outcome outcome;
    for (const std::string problem : report["problems"]) outcome.crashes += problem.find("crashes") != std::string::npos ? 1 : 0;
    for (const auto& shard : report["shards"]) {
        if (shard["is_sound"].get<bool>()) continue;
        ++outcome.bad;
        const std::string name = shard["file"];
        CHECK(std::count_if(report["problems"].begin(), report["problems"].end(),
                            [&](const std::string& problem) { return problem.find(name) != std::string::npos; }) == 1);
    }
    CHECK((result.exit_code == 3) == (outcome.bad > 0 || !report["problems"].empty()));
    return outcome;
}

}  // namespace

TEST_CASE("300 random mutations of a real shard are found sound or refused one by one, with exit code 3") {
    const TemporaryFolder folder;
    const std::string good = small_shard(folder);
    std::int64_t bad = 0;
    for (std::uint64_t first = 0; first < 300; first += files_of_a_run) bad += outcome_of(good, first).bad;
    CHECK(bad > 100);
}

TEST_CASE("20,000 random mutations of a real shard only ever end the program with exit code 3", "[.long]") {
    const TemporaryFolder folder;
    const std::string good = small_shard(folder);
    Outcome all;
    for (std::uint64_t first = 0; first < 20'000; first += files_of_a_run) {
        const Outcome outcome = outcome_of(good, 1000 + first);
        all.bad += outcome.bad;
        all.crashes += outcome.crashes;
    }
    std::cout << all.bad << " refused, " << all.crashes << " of them crashed the child process\n";
    CHECK(all.bad > 5'000);
}
