// telemetry.command: a program that reads a run's records.
#include "telemetry/line_command.h"

#include <chrono>
#include <thread>

#include "core/error.h"
#include "core/signals.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/folders.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

bool appears(const std::filesystem::path& file) {
    for (int i = 0; i < 2000 && !std::filesystem::exists(file); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return std::filesystem::exists(file);
}

}  // namespace

TEST_CASE("the command reads every line, gets the run's folder, and sees the end of its input") {
    const TemporaryFolder folder;
    {
        LineCommand command("cat >$1/lines; mv $1/lines $1/all", folder.path());
        command.send("{\"step\":1}");
        command.send("{\"step\":2}");
    }
    REQUIRE(appears(folder / "all"));
    CHECK(read_text(folder / "all") == "{\"step\":1}\n{\"step\":2}\n");
}

TEST_CASE("a command that does not read is not waited for; what it reads later are whole lines") {
    const TemporaryFolder folder;
    constexpr std::size_t lines = 20'000, length = 1'000;  // 20 MB: more than pipe and memory keep
    {
        LineCommand command("while [ ! -e $1/go ]; do sleep 0.01; done; cat >$1/lines; mv $1/lines $1/all", folder.path());
        for (std::size_t i = 0; i < lines; ++i) command.send(std::string(length, 'x'));
    }
    write_text(folder / "go", "");
    REQUIRE(appears(folder / "all"));
    const std::string all = read_text(folder / "all");
    CHECK(all.size() < lines * length / 2);
    CHECK(all.size() > length);
    CHECK(all.substr(0, length + 1) == std::string(length, 'x') + "\n");
}

TEST_CASE("a command that ends, and one that cannot be started, do not stop the caller") {
    const TemporaryFolder folder;
    prepare_signals();  // ignores SIGPIPE, as the programs do
    LineCommand ends("touch $1/ended; exit 3", folder.path());
    REQUIRE(appears(folder / "ended"));
    for (int i = 0; i < 100; ++i) {
        ends.send("{}");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    LineCommand missing("no-such-program-7", folder.path());
    for (int i = 0; i < 10; ++i) missing.send("{}");
    LineCommand none("", folder.path());
    none.send("{}");
}
