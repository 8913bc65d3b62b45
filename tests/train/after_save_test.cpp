#include "train/save/after_save.h"

#include <chrono>
#include <limits>
#include <string>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "core/concat.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/process.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Looks until no command runs; a minute at most.
void look_until_done(AfterSave& after_save) {
    for (int i = 0; i < 6000 && !after_save.look().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(after_save.look().empty());
}

}  // namespace

TEST_CASE("the command gets the checkpoint's folder as its argument and in its environment") {
    const TemporaryFolder folder;
    AfterSave after_save("printf '%s %s' \"$1\" \"$BERTPRETRAIN_CHECKPOINT\" > '" + (folder / "said").string() + "'");
    after_save.start(7, "/runs/with space/step_00000007");
    look_until_done(after_save);
    CHECK(read_text(folder / "said") == "/runs/with space/step_00000007 /runs/with space/step_00000007");
}

TEST_CASE("training does not wait for a command, and the steps whose commands run are known") {
    const TemporaryFolder folder;
    const auto begin = std::chrono::steady_clock::now();
    AfterSave after_save("while [ ! -e '" + (folder / "go").string() + "' ]; do sleep 0.01; done; exit 3");
    after_save.start(7, "a");
    after_save.start(9, "b");
    CHECK(after_save.look() == std::set<std::int64_t>{7, 9});
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
    write_text(folder / "go", "");
    look_until_done(after_save);
}

TEST_CASE("without a command nothing is started, and a command that fails is no error") {
    AfterSave nothing(""), failing("exit 7"), nonsense("/no/such/program");
    for (AfterSave* after_save : {&nothing, &failing, &nonsense}) {
        CHECK_NOTHROW(after_save->start(1, "a"));
        look_until_done(*after_save);
    }
}

TEST_CASE("a command has none of the program's open files: a connection that it held would not be seen to close") {
    const TemporaryFolder folder;
    const int like_a_socket = ::fcntl(STDIN_FILENO, F_DUPFD, 100);  // as Gloo's, it would stay open over exec
    REQUIRE(like_a_socket >= 100);
    AfterSave after_save(concat("ls /proc/self/fd > '", (folder / "open").string(), "'"));
    after_save.start(7, "a");
    look_until_done(after_save);
    ::close(like_a_socket);
    const std::string open = concat("\n", read_text(folder / "open"));
    CHECK(open.find("\n0\n1\n2\n") == 0);
    CHECK(open.find(concat("\n", like_a_socket, "\n")) == open.npos);
}

TEST_CASE("no more than two commands run at a time, and the newest checkpoint's command runs when one of them has ended") {
    const TemporaryFolder folder;
    AfterSave after_save("printf '%s ' $1 >> '" + (folder / "ran").string() + "'; while [ -e '" + (folder / "ran").string() +
                         "' ] && [ ! -e '" + (folder / "go").string() + "' ]; do sleep 0.01; done");
    for (const std::int64_t step : {1, 2, 3, 4}) after_save.start(step, std::to_string(step));
    CHECK(children_of(::getpid()).size() == 2);
    CHECK(after_save.look() == std::set<std::int64_t>{1, 2, 4});  // 3 gave way to 4
    write_text(folder / "go", "");
    look_until_done(after_save);
    const std::string ran = read_text(folder / "ran");
    CHECK(ran.ends_with("4 "));
    CHECK(ran.find('3') == ran.npos);
}

TEST_CASE("a command that runs for too long is ended with all that it has started") {
    const TemporaryFolder folder;
    AfterSave after_save("sleep 1000 & sleep 1000", 0.05);
    after_save.start(1, folder / "step_00000001");
    CHECK(children_of(::getpid()).size() == 1);
    look_until_done(after_save);
    CHECK(children_of(::getpid()).empty());
}

TEST_CASE("a run that will move a checkpoint waits for the command on it, and not for those on earlier ones") {
    const TemporaryFolder folder;
    AfterSave after_save("while [ ! -e '" + (folder / "go").string() + "' ] && [ -e '" + folder.path().string() +
                         "' ]; do sleep 0.01; done");
    after_save.start(7, folder / "step_00000007");
    const auto no_limit = [] { return std::numeric_limits<double>::infinity(); };
    after_save.finish_after(7, no_limit);
    after_save.finish_after(6, [] { return 0; });  // a moment in the past
    CHECK(after_save.look() == std::set<std::int64_t>{7});
    std::thread opener([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        write_text(folder / "go", "");
    });
    after_save.finish_after(6, no_limit);
    CHECK(after_save.look().empty());
    opener.join();
}
