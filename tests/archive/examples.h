#pragma once
// .pt files saved by Python for the tests in this folder, and helpers.

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "archive/pt_reader.h"
#include "archive/pt_writer.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"

namespace bertpretrain::testing {

/// Matches a message that contains `part`. Works with both major versions of Catch2.
inline auto Says(const std::string& part) {
#if __has_include(<catch2/catch_all.hpp>)
    return Catch::Matchers::ContainsSubstring(part);
#else
    return Catch::Matchers::Contains(part);
#endif
}

/// The folder that save_examples.py fills, once for all tests of this program.
inline const TemporaryFolder& python_examples() {
    static const TemporaryFolder folder;
    static const CommandResult result =
        run_command(WARM_PYTHON " tests/archive/save_examples.py '" + folder.path().string() + "'");
    if (result.exit_code != 0) FAIL("save_examples.py: " << result.err);
    return folder;
}

/// The content of tensors that the tests write themselves: 0.5, 1.5, ...
inline std::vector<float> counting(std::size_t count) {
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i) + 0.5F;
    return numbers;
}

/// Writes counting(count) as the whole content of a storage.
inline WrittenPiece write_counting(PtWriter& writer, const std::string& storage, std::size_t count) {
    const std::vector<float> numbers = counting(count);
    return writer.write_piece(writer.layout().record_of(storage), 0, std::as_bytes(std::span(numbers)));
}

/// Returns the message of the CheckpointError from reading all of a file; "" when there is none.
inline std::string refusal(const std::filesystem::path& file) {
    try {
        PtReader(file).verify();
    } catch (const CheckpointError& error) { return error.what(); }
    return "";
}

}  // namespace bertpretrain::testing
