#include "archive/vector_reader.h"

#include <cstring>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t vector_rows = 5, vector_columns = 3;

/// Writes 0, 1, 2, ... as `embed` writes vectors.
void write_counting_vectors(const fs::path& file) {
    const std::uint64_t offset =
        create_vector_file(file, vector_format_of(file), {vector_rows, vector_columns}, "mean", {{"model", "counting"}});
    std::vector<float> values(vector_rows * vector_columns);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    PlacedWrites(file).write(offset, std::as_bytes(std::span(values)));
}

std::string refused_vectors(const fs::path& file) {
    try {
        VectorReader::open(file);
    } catch (const DataError& error) { return error.what(); }
    return "no refusal";
}

}  // namespace

TEST_CASE("the vectors of embed are read back, any range of rows, from npy and h5") {
    const TemporaryFolder folder;
    for (const char* name : {"vectors.npy", "vectors.h5"}) {
        CAPTURE(name);
        write_counting_vectors(folder / name);
        const auto reader = VectorReader::open(folder / name);
        CHECK(reader->shape().rows == vector_rows);
        CHECK(reader->shape().columns == vector_columns);
        std::vector<float> two(2 * vector_columns);
        reader->read(2, two);
        CHECK(two == std::vector<float>{6, 7, 8, 9, 10, 11});
    }
}

TEST_CASE("matrices that NumPy and h5py wrote are read, and others are refused with what was found") {
    const TemporaryFolder folder;
    const CommandResult written = run_command(python() + " - " + folder.path().string() + R"( <<'END'
import sys
import h5py
import numpy as np
folder = sys.argv[1]
numbers = np.arange(6, dtype=np.float64).reshape(3, 2)
np.save(folder + "/double.npy", numbers)
np.save(folder + "/columns.npy", np.asfortranarray(numbers))
np.save(folder + "/whole.npy", numbers.astype(np.int64))
np.save(folder + "/cube.npy", numbers.reshape(3, 2, 1))
np.save(folder + "/none.npy", np.zeros((0, 4), np.float32))
with h5py.File(folder + "/double.h5", "w") as file:
    file.create_dataset("mean", data=numbers, chunks=(1, 2), compression="gzip")
with h5py.File(folder + "/two.h5", "w") as file:
    file["a"] = numbers
    file["b"] = numbers
with h5py.File(folder + "/words.h5", "w") as file:
    file["a"] = numbers.astype(np.int32)
END)");
    if (written.exit_code != 0) SKIP_TEST(skip::no_oracle, "no Python with NumPy and h5py");
    for (const char* name : {"double.npy", "double.h5"}) {
        std::vector<float> last(2);
        VectorReader::open(folder / name)->read(2, last);
        CHECK(last == std::vector<float>{4, 5});
    }
    const auto says = [&](const char* name, const std::string& what) {
        INFO(refused_vectors(folder / name));
        CHECK(refused_vectors(folder / name).find(what) != std::string::npos);
    };
    says("columns.npy", "is stored by columns");
    says("whole.npy", "has numbers of type <i8; expected float32 (<f4) or float64 (<f8)");
    says("cube.npy", "expected a matrix, a row per text");
    says("none.npy", "has 0 x 4 numbers");
    says("two.h5", "has 2 objects at its root; expected one dataset");
    says("words.h5", "the dataset \"a\" is no matrix of floating-point numbers");
}

TEST_CASE("a damaged file of vectors is refused by its name") {
    const TemporaryFolder folder;
    write_counting_vectors(folder / "vectors.npy");
    const std::string whole = read_text(folder / "vectors.npy");
    for (std::size_t size = 0; size < whole.size(); size += 3) {
        write_text(folder / "cut.npy", whole.substr(0, size));
        CHECK(refused_vectors(folder / "cut.npy").find("cut.npy") != std::string::npos);
    }
    std::string huge = whole;
    huge.replace(huge.find("(5, 3)"), 6, "(5,99)");
    write_text(folder / "huge.npy", huge);
    CHECK(refused_vectors(folder / "huge.npy").find("expected those of 5 x 99 numbers") != std::string::npos);
    const std::string long_header(60'000, '{');
    write_text(folder / "header.npy", std::string("\x93NUMPY\x01\x00\x60\xea", 10) + long_header);
    CHECK(refused_vectors(folder / "header.npy").find("has a header of 60000 bytes") != std::string::npos);
    write_text(folder / "text.h5", "no h5");
    CHECK(refused_vectors(folder / "text.h5").find("text.h5: cannot be read") != std::string::npos);
    CHECK(refused_vectors(folder / "missing.npy").find("missing.npy") != std::string::npos);
    CHECK_THROWS_AS(VectorReader::open(folder / "vectors.txt"), ConfigError);
}
