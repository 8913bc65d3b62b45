#include "archive/row_ids.h"

#include "archive/text_ids.h"
#include "archive/vector_file.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Creates a file of vectors with ids, as `embed --id-field` does.
void write_with_ids(const fs::path& file, const std::vector<std::string>& ids) {
    const fs::path lines = file.string() + ".lines";
    {
        std::ofstream out(lines, std::ios::binary);
        for (const std::string& id : ids) write_as_json_line(out, id);
    }
    const MatrixShape shape{static_cast<std::int64_t>(ids.size()), 2};
    create_vector_file(file, vector_format_of(file), shape, "mean", {}, lines);
    if (vector_format_of(file) == VectorFormat::npy) write_ids_as_text(lines, ids_beside(file));
}

}  // namespace

TEST_CASE("ids of any rows are read from .npy and .h5, and their first difference is found") {
    const TemporaryFolder folder;
    std::vector<std::string> ids;
    for (int i = 0; i < 5000; ++i) ids.push_back("id " + std::to_string(i));
    write_with_ids(folder / "a.npy", ids);
    write_with_ids(folder / "a.h5", ids);
    std::swap(ids[4500], ids[4700]);
    write_with_ids(folder / "order.h5", ids);
    ids[4600] = "other";
    write_with_ids(folder / "other.npy", ids);
    for (const char* name : {"a.npy", "a.h5"}) {
        CAPTURE(name);
        CHECK(ids_of_rows(folder / name, 5000, {0, 17, 4999}) ==
              std::map<std::int64_t, std::string>{{0, "id 0"}, {17, "id 17"}, {4999, "id 4999"}});
        CHECK_FALSE(first_id_difference(folder / name, folder / "a.h5", 5000));
        const auto order = first_id_difference(folder / name, folder / "order.h5", 5000);
        REQUIRE(order);
        CHECK(order->row == 4500);
        CHECK(order->a == "id 4500");
        CHECK(order->b == "id 4700");
        CHECK(order->is_other_order);
        const auto other = first_id_difference(folder / name, folder / "other.npy", 5000);
        REQUIRE(other);
        CHECK(other->row == 4500);
        CHECK_FALSE(other->is_other_order);
        CHECK_THROWS_AS(ids_of_rows(folder / name, 4999, {0}), DataError);
        CHECK_THROWS_AS(ids_of_rows(folder / name, 5001, {0}), DataError);
    }
    fs::remove(folder / "a.ids.txt");
    CHECK(ids_of_rows(folder / "a.npy", 5000, {0}).empty());
    CHECK_FALSE(first_id_difference(folder / "a.npy", folder / "order.h5", 5000));
}

TEST_CASE("an id with a NUL is refused where it would be cut, in an h5 file, and kept as it is elsewhere") {
    const TemporaryFolder folder;
    const std::vector<std::string> ids{std::string("a\0b", 3), std::string("a\0c", 3)};
    CHECK_THROWS_WITH(write_with_ids(folder / "a.h5", ids), Catch::Contains("the id \"a\\x00b\" has a NUL"));
    write_with_ids(folder / "a.npy", ids);
    CHECK(ids_of_rows(folder / "a.npy", 2, {1}).at(1) == ids[1]);
}
