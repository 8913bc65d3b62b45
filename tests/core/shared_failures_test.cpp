#include "core/output/shared_failures.h"

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("processes that share their failures count equal ones, be they their own or another rank's") {
    SharedFailures parent;
    SharedFailures one(parent.descriptor()), other(parent.descriptor());
    CHECK(parent.most() == 0);
    CHECK(one.add("data error: FILE: does not exist") == 1);
    CHECK(other.add("data error: rank 0: FILE: does not exist") == 2);
    CHECK(other.add("data error: rank 12: FILE: does not exist") == 3);
    CHECK(other.add("data error: FILE: is damaged") == 1);
    CHECK(parent.most() == 3);
    CHECK(SharedFailures(-1).add("data error: FILE: does not exist") == 1);  // without memory all are printed
}

TEST_CASE("an error names its rank once") {
    CHECK(with_rank("data error: FILE: is damaged", "3") == "data error: rank 3: FILE: is damaged");
    CHECK(with_rank("data error: rank 12: FILE: is damaged", "3") == "data error: rank 12: FILE: is damaged");
    CHECK(with_rank("data error: rank order is wrong", "3") == "data error: rank 3: rank order is wrong");
    CHECK(with_rank("out of memory", "3") == "rank 3: out of memory");
}
