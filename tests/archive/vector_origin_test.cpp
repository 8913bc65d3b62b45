#include "archive/vector_origin.h"

#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

constexpr MatrixShape small_shape{3, 2};
const nlohmann::ordered_json some_identity = {
    {"text_bytes", 17}, {"text_crc32", 4294967295U}, {"weights_crc32", 5}, {"vectors", "cls"},   {"encoder_crc32", 7},
    {"max_length", 64}, {"normalize", true},         {"cased", false},     {"settings_crc32", 9}};

/// Writes a matrix whose numbers are all `value`.
void write_vectors(const fs::path& file, const MatrixShape& shape, float value, const nlohmann::ordered_json& identity = {}) {
    const std::uint64_t offset = create_vector_file(file, vector_format_of(file), shape, "cls", attributes_of(identity));
    const std::vector<float> values(static_cast<std::size_t>(shape.rows * shape.columns), value);
    PlacedWrites(file).write(offset, std::as_bytes(std::span(values)));
}

VectorOrigin read_origin(const fs::path& file) { return origin_of(file, *VectorReader::open(file)); }

}  // namespace

TEST_CASE("an .npy file has the origin that was written beside it, and an .h5 file that of its attributes") {
    const TemporaryFolder folder;
    write_vectors(folder / "a.npy", small_shape, 1);
    write_origin_beside(folder / "a.npy", folder / "a.npy", small_shape, some_identity);
    write_vectors(folder / "a.h5", small_shape, 1, some_identity);
    for (const char* name : {"a.npy", "a.h5"}) {
        CAPTURE(name);
        const VectorOrigin origin = read_origin(folder / name);
        CHECK(origin.vectors == "cls");
        CHECK(origin.encoder_crc32 == 7U);
        CHECK(origin.text_crc32 == 4294967295U);
        CHECK(origin.text_bytes == 17U);
        CHECK(origin.max_length == 64);
        CHECK(origin.normalize == true);
        CHECK(origin.cased == false);
        CHECK(origin.settings_crc32 == 9U);
        CHECK(origin.prompt == "");
        CHECK_FALSE(origin.is_of_earlier_version);
    }
}

TEST_CASE("an origin beside other vectors is not believed, whether shape, size or numbers differ") {
    const TemporaryFolder folder;
    const fs::path file = folder / "a.npy";
    write_vectors(file, small_shape, 1);
    write_origin_beside(file, file, small_shape, some_identity);
    for (const auto& [shape, value] :
         {std::pair(MatrixShape{2, 3}, 1.F), std::pair(MatrixShape{4, 2}, 1.F), std::pair(small_shape, 2.F)}) {
        write_vectors(file, shape, value);
        CHECK_FALSE(read_origin(file).encoder_crc32);
    }
    write_vectors(file, small_shape, 1);
    CHECK(read_origin(file).encoder_crc32);
}

TEST_CASE("an origin is not believed where the vectors of a large file differ") {
    const TemporaryFolder folder;
    const fs::path file = folder / "a.npy";
    const MatrixShape shape{3000, 512};  // 6 MB: more than what is read of a file
    write_vectors(file, shape, 1);
    write_origin_beside(file, file, shape, some_identity);
    CHECK(read_origin(file).encoder_crc32 == 7U);
    write_vectors(file, shape, 2);
    CHECK_FALSE(read_origin(file).encoder_crc32);
}

TEST_CASE("a damaged origin is not used") {
    const TemporaryFolder folder;
    const fs::path file = folder / "a.npy";
    write_vectors(file, small_shape, 1);
    for (const char* content : {"", "[]", "{\"file\": 1, \"origin\": {}}", "{\"origin\": {\"encoder_crc32\": 7}}"}) {
        CAPTURE(content);
        write_text(origin_beside(file), content);
        CHECK_FALSE(read_origin(file).encoder_crc32);
    }
}

TEST_CASE("vectors that embed did not write have no origin, and those of its earlier versions have one without the encoder") {
    const TemporaryFolder folder;
    write_vectors(folder / "a.npy", small_shape, 1);
    write_vectors(folder / "a.h5", small_shape, 1, {{"vectors", "of a shop"}});
    write_vectors(folder / "old.h5", small_shape, 1, {{"vectors", "mean"}, {"weights_crc32", 5}});
    for (const char* name : {"a.npy", "a.h5"}) {
        const VectorOrigin origin = read_origin(folder / name);
        CHECK(origin.vectors.empty());
        CHECK_FALSE(origin.encoder_crc32);
        CHECK_FALSE(origin.is_of_earlier_version);
    }
    const VectorOrigin old = read_origin(folder / "old.h5");
    CHECK(old.vectors == "mean");
    CHECK(old.is_of_earlier_version);
}
