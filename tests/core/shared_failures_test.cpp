#include "core/output/shared_failures.h"

#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;

namespace {

/// What a program finds whose environment names this descriptor.
std::unique_ptr<SharedFailures> found_at(int descriptor) {
    ::setenv(shared_failures_variable, std::to_string(descriptor).c_str(), 1);
    auto found = SharedFailures::of_parent();
    ::unsetenv(shared_failures_variable);
    return found;
}

}  // namespace

TEST_CASE("processes that share their failures count equal ones, be they their own or another rank's") {
    SharedFailures parent;
    const auto one = found_at(parent.descriptor()), other = found_at(parent.descriptor());
    REQUIRE((one && other));
    CHECK(parent.most() == 0);
    CHECK(one->add("data error: FILE: does not exist") == 1);
    CHECK(other->add("data error: rank 0: FILE: does not exist") == 2);
    CHECK(other->add("data error: rank 12: FILE: does not exist") == 3);
    CHECK(other->add("data error: FILE: is damaged") == 1);
    CHECK(parent.most() == 3);
    CHECK((::fcntl(parent.descriptor(), F_GETFD) & FD_CLOEXEC) != 0);  // a rank's own children print all of theirs
}

TEST_CASE("a descriptor of another file than the shared failures is left alone") {
    const testing::TemporaryFolder folder;
    testing::write_text(folder / "file", "content");
    const int handle = ::open((folder / "file").c_str(), O_RDWR | O_CLOEXEC);
    CHECK(found_at(handle) == nullptr);
    ::close(handle);
    CHECK(found_at(handle) == nullptr);
    CHECK(SharedFailures::of_parent() == nullptr);
}

TEST_CASE("an error names its rank once") {
    CHECK(with_rank("data error: FILE: is damaged", "3") == "data error: rank 3: FILE: is damaged");
    CHECK(with_rank("data error: rank 12: FILE: is damaged", "3") == "data error: rank 12: FILE: is damaged");
    CHECK(with_rank("data error: rank order is wrong", "3") == "data error: rank 3: rank order is wrong");
    CHECK(with_rank("out of memory", "3") == "rank 3: out of memory");
}
