#pragma once
// Real text, dumps and golden outputs beside the checkout; absent on most machines. scripts/list_skips.sh names the tests that
// need them.

#include <filesystem>

#include "support/folders.h"
#include "support/skip.h"

namespace bertpretrain::testing {

inline std::filesystem::path shared_data() { return std::filesystem::path(project_folder()) / ".." / "shared" / "data"; }

}  // namespace bertpretrain::testing

/// Skips the test where the shared data is absent.
#define NEEDS_SHARED_DATA()                                             \
    if (!std::filesystem::exists(bertpretrain::testing::shared_data())) \
    SKIP_TEST(bertpretrain::testing::skip::no_shared_data, "this checkout has no ../shared/data")
