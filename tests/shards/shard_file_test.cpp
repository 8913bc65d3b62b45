#include <chrono>
#include <ctime>
#include <thread>

#include "core/error.h"
#include "sample_rows.h"
#include "shards/build/shard_writer.h"
#include "shards/check/row_check.h"
#include "shards/hdf5_handle.h"
#include "shards/shard_reader.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("a shard returns the rows that were written, all at once and in parts") {
    const TemporaryFolder folder;
    for (const std::int64_t count : {1, 7, 2048, 2100}) {
        const ShardRows rows = made_up_rows(count);
        write_rows(folder / "x_training_0.h5", rows);
        const ShardReader reader(folder / "x_training_0.h5");
        CHECK(reader.rows() == count);
        CHECK(reader.sequence_length() == 64);
        CHECK(reader.max_predictions() == 10);
        CHECK(reader.band_rows() == std::min<std::int64_t>(count, 2048));
        CHECK(same_rows(reader.read(0, count), rows));
        CHECK(same_rows(reader.read(count / 2, count - count / 2), slice(rows, count / 2, count - count / 2)));
        CHECK(reader.read(count, 0).rows == 0);
        check_rows(rows, vocabulary_size, "rows");
    }
}

TEST_CASE("a shard of rows without labels lacks the dataset next_sentence_labels") {
    const TemporaryFolder folder;
    const SampleGroup group(documents_of(made_up_documents(900, 5)), packing_rules(/*across_documents=*/false), 0, 1);
    const ShardRows rows = group.rows(0, group.size());
    REQUIRE(rows.rows > 2048);
    write_rows(folder / "x_training_0.h5", rows, 2);
    const ShardReader reader(folder / "x_training_0.h5");
    CHECK_FALSE(reader.has_labels());
    CHECK(same_rows(reader.read(0, rows.rows), rows));
    CHECK(same_rows(reader.read(2000, 100), slice(rows, 2000, 100)));
    const Hdf5Handle file(H5Fopen((folder / "x_training_0.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    CHECK(H5Lexists(file.get(), "next_sentence_labels", H5P_DEFAULT) == 0);
    CHECK(H5Lexists(file.get(), "masked_lm_ids", H5P_DEFAULT) > 0);
    write_rows(folder / "y_training_0.h5", made_up_rows(3));
    CHECK(ShardReader(folder / "y_training_0.h5").has_labels());
}

TEST_CASE("the same rows give the same file, for any number of threads and at any time") {
    const TemporaryFolder folder;
    const ShardRows rows = made_up_rows(5000);
    write_rows(folder / "a.h5", rows, 1);
    const std::string first = read_text(folder / "a.h5");
    for (const std::time_t second = std::time(nullptr); std::time(nullptr) == second;)  // HDF5 stores times in whole seconds
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    write_rows(folder / "a.h5", rows, 3);
    CHECK(read_text(folder / "a.h5") == first);
    CHECK_FALSE(std::filesystem::exists(folder / "a.h5.partial"));
}

TEST_CASE("several threads can read one shard or several shards at once") {
    const TemporaryFolder folder;
    const ShardRows rows = made_up_rows(3000);
    write_rows(folder / "a.h5", rows);
    const ShardReader shared(folder / "a.h5");
    std::vector<int> good(4);
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < good.size(); ++t)
            threads.emplace_back([&, t] {
                for (int i = 0; i < 5; ++i) {
                    const ShardReader own(folder / "a.h5");
                    const std::int64_t first = static_cast<std::int64_t>(t) * 700;
                    good[t] += same_rows(own.read(first, 700), slice(rows, first, 700)) ? 1 : 0;
                    good[t] += same_rows(shared.read(first, 700), slice(rows, first, 700)) ? 1 : 0;
                }
            });
    }
    CHECK(good == std::vector<int>{10, 10, 10, 10});
}

TEST_CASE("reading and writing shards leaves no HDF5 object open") {
    const TemporaryFolder folder;
    write_rows(folder / "a.h5", made_up_rows(50));
    {
        ShardReader reader(folder / "a.h5");
        reader.read(0, 50);
        ShardReader moved = std::move(reader);
        moved = ShardReader(folder / "a.h5");
    }
    CHECK(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
    hsize_t spaces = 0, lists = 0;
    H5Inmembers(H5I_DATASPACE, &spaces);
    H5Inmembers(H5I_GENPROP_LST, &lists);
    const ShardReader reader(folder / "a.h5");
    hsize_t spaces_later = 0, lists_later = 0;
    for (int i = 0; i < 3; ++i) reader.read(0, 50);
    H5Inmembers(H5I_DATASPACE, &spaces_later);
    H5Inmembers(H5I_GENPROP_LST, &lists_later);
    CHECK(spaces_later == spaces);
    CHECK(lists_later == lists);
}

TEST_CASE("a shard that cannot be written is a DataError and leaves no file") {
    const TemporaryFolder folder;
    CHECK_THROWS_AS(write_rows(folder / "missing" / "a.h5", made_up_rows(5)), DataError);
    CHECK_FALSE(std::filesystem::exists(folder / "missing"));
}

TEST_CASE("rows appended in parts, shorter and longer than a band, give the same file as all at once") {
    const TemporaryFolder folder;
    const ShardRows rows = made_up_rows(7000);
    write_rows(folder / "whole.h5", rows);
    for (const std::vector<std::int64_t>& parts :
         {std::vector<std::int64_t>{7000}, {2048, 2048, 2048, 856}, {1, 2047, 4951, 1}, {500, 500, 500, 500, 5000}}) {
        ShardWriter writer(folder / "parts.h5", {7000, 64, 10});
        std::int64_t written = 0;
        for (const std::int64_t part : parts) {
            const auto rows_of = [&](std::int64_t first, std::int64_t count) { return slice(rows, written + first, count); };
            writer.append(part, rows_of, 3);
            written += part;
        }
        writer.finish();
        CHECK(read_text(folder / "parts.h5") == read_text(folder / "whole.h5"));
    }
}

TEST_CASE("h5py reads our shards with NVIDIA's names, types and compression, and the same values") {
    const TemporaryFolder folder;
    const ShardRows rows = made_up_rows(2100);
    write_rows(folder / "a.h5", rows);
    const auto raw = [&](const std::string& name, const auto& values) {
        write_text(folder / name, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])});
    };
    raw("input_ids", rows.input_ids_RS);
    raw("input_mask", rows.input_mask_RS);
    raw("segment_ids", rows.segment_ids_RS);
    raw("masked_lm_positions", rows.masked_lm_positions_RP);
    raw("masked_lm_ids", rows.masked_lm_ids_RP);
    raw("next_sentence_labels", rows.next_sentence_labels_R);
    write_text(folder / "script.py", R"(
import sys
try:
    import h5py
except ImportError:
    print("no h5py")
    sys.exit(0)
folder = sys.argv[1]
types = {"input_ids": "<i4", "input_mask": "|i1", "segment_ids": "|i1", "masked_lm_positions": "<i4", "masked_lm_ids": "<i4",
         "next_sentence_labels": "|i1"}
with h5py.File(folder + "/a.h5", "r") as f:
    assert sorted(f) == sorted(types), sorted(f)
    for name, type_ in types.items():
        d = f[name]
        assert d.dtype.str == type_, (name, d.dtype.str)
        assert d.compression == "gzip" and d.compression_opts == 4 and d.shuffle == (type_ == "<i4"), name
        assert d.chunks[0] == 2048 and d.chunks[1:] == d.shape[1:], (name, d.chunks)
        assert d[()].tobytes() == open(folder + "/" + name, "rb").read(), name
    assert f["next_sentence_labels"].shape == (2100,)
print("equal")
)");
    const CommandResult result = run_command(PYTHON " " + (folder / "script.py").string() + " " + folder.path().string());
    if (result.out == "no h5py\n" || result.exit_code == 127) SKIP_TEST(skip::no_oracle, "no Python with h5py");
    INFO(result.err);
    CHECK(result.out == "equal\n");
}
