// Shards by other writers: which ones are read, and which ones are refused before any of their content is used.

#include <map>

#include "core/error.h"
#include "sample_rows.h"
#include "shards/check/row_check.h"
#include "shards/shard_reader.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// A Python script that writes valid and invalid shards of 40 x 16 (5 predictions) to the folder argv[1].
constexpr const char* writer = R"(
import sys
try:
    import h5py, numpy as np
except ImportError:
    print("no h5py")
    sys.exit(0)
folder = sys.argv[1] + "/"
N, S, P = 40, 16, 5
good = {"input_ids": np.arange(N * S, dtype="i4").reshape(N, S) % 100, "input_mask": np.ones((N, S), "i1"),
        "segment_ids": np.zeros((N, S), "i1"), "masked_lm_positions": np.tile(np.array([1, 3, 0, 0, 0], "i4"), (N, 1)),
        "masked_lm_ids": np.tile(np.array([7, 8, 0, 0, 0], "i4"), (N, 1)), "next_sentence_labels": np.arange(N, dtype="i1") % 2}
def write(name, change=lambda data: None, make=lambda f, name, values: f.create_dataset(name, data=values, compression="gzip")):
    data = dict(good)
    change(data)
    with h5py.File(folder + name + ".h5", "w") as f:
        for key, values in data.items():
            make(f, key, values)
def but(key, values):
    return lambda data: data.update({key: values})
def special(wanted, make_it):
    plain = lambda f, name, values: f.create_dataset(name, data=values, compression="gzip")
    return lambda f, name, values: make_it(f, name, values) if name == wanted else plain(f, name, values)
def late(f, name, values):
    f.create_dataset(name, shape=(1 << 38, S), dtype="i4", chunks=(1 << 14, S), compression="gzip")
def virtual(f, name, values):
    layout = h5py.VirtualLayout(shape=values.shape, dtype="i4")
    layout[:] = h5py.VirtualSource("good_gzip.h5", "input_ids", shape=values.shape)
    f.create_virtual_dataset(name, layout)
def external_link(f, name, values): f[name] = h5py.ExternalLink("good_gzip.h5", "/input_ids")
def soft_link(f, name, values): f[name] = h5py.SoftLink("/input_mask")
def external_data(f, name, values):
    open(folder + "secret", "wb").write(bytes(N * S * 4))
    f.create_dataset(name, shape=values.shape, dtype="i4", external=[(folder + "secret", 0, N * S * 4)])
def group(f, name, values): f.create_group(name)
def unlimited(f, name, values):
    f.create_dataset(name, shape=values.shape, dtype="i4", chunks=(1 << 25, S), maxshape=(None, S), compression="gzip")

def twice(f, name, values):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk(values.shape)
    plist.set_deflate(4)
    plist.set_deflate(4)
    h5py.h5d.create(f.id, name.encode(), h5py.h5t.STD_I32LE, h5py.h5s.create_simple(values.shape), plist)
def fewer_predictions(data):
    data.update({name: data[name][:-1] for name in ("masked_lm_positions", "masked_lm_ids")})

write("good_gzip")
write("good_contiguous", make=lambda f, name, values: f.create_dataset(name, data=values))
write("good_filters", make=lambda f, name, values: f.create_dataset(name, data=values, compression="gzip", shuffle=True, fletcher32=True))
write("good_wide", make=lambda f, name, values: f.create_dataset(name, data=values.astype("i8"), compression="gzip"))
write("good_big_endian", make=lambda f, name, values: f.create_dataset(name, data=values.astype(">i4")))
write("good_small", make=lambda f, name, values: f.create_dataset(name, data=values.astype("u1"), chunks=True))
def chunked(chunk_rows, chunk_columns, change=lambda values: values, **options):
    return lambda f, name, values: f.create_dataset(
        name, data=change(values), chunks=(chunk_rows, chunk_columns)[:values.ndim] if values.ndim == 1 or chunk_columns <= values.shape[1] else True, **options)
write("good_columns", make=chunked(15, 2, compression="gzip"))
write("good_tiles", make=chunked(7, 3, compression="gzip", shuffle=True))
write("good_shuffled_wide", make=chunked(11, 5, lambda values: values.astype("i8"), shuffle=True))
write("good_raw_unsigned", make=chunked(40, 1, lambda values: values.astype("u2")))
write("good_rows", make=chunked(9, 5, lambda values: values.astype("u4"), compression="gzip"))
def half_written(f, name, values):
    dataset = f.create_dataset(name, shape=values.shape, dtype=values.dtype, chunks=(10,) + values.shape[1:], compression="gzip")
    dataset[:10] = values[:10]  # the rest are zeros anyway
write("good_half_written", make=special("segment_ids", half_written))
write("good_bool", but("input_mask", np.ones((N, S), "bool")))
write("good_bool_contiguous", but("input_mask", np.ones((N, S), "bool")), lambda f, name, values: f.create_dataset(name, data=values))
write("good_extra", but("special_tokens", np.zeros(3)))
write("wide_overflow", but("input_ids", np.full((N, S), 1 << 40, "i8")))
if h5py.version.hdf5_version_tuple >= (2, 0, 0):
    with h5py.File(folder + "newer.h5", "w", libver="latest") as f:
        for key, values in good.items():
            f.create_dataset(key, data=values, compression="gzip")
write("bad_missing", lambda data: data.pop("masked_lm_ids"))
write("bad_rank", but("input_mask", np.ones(N, "i1")))
write("bad_label_rank", but("next_sentence_labels", np.zeros((N, 1), "i1")))
write("bad_float", but("input_ids", good["input_ids"].astype("f4")))
write("bad_rows", but("segment_ids", np.zeros((N - 1, S), "i1")))
write("bad_columns", but("segment_ids", np.zeros((N, S + 1), "i1")))
write("bad_predictions", but("masked_lm_ids", np.zeros((N, P + 1), "i4")))
write("bad_empty", lambda data: data.update({key: values[:0] for key, values in good.items()}),
      lambda f, name, values: f.create_dataset(name, data=values))
write("bad_lzf", make=lambda f, name, values: f.create_dataset(name, data=values, compression="lzf"))
write("bad_huge", make=special("input_ids", late))
write("bad_chunk", make=special("input_ids", unlimited))
write("bad_virtual", make=special("input_ids", virtual))
write("bad_external_link", make=special("input_ids", external_link))
write("bad_soft_link", make=special("input_ids", soft_link))
write("bad_external_data", make=special("input_ids", external_data))
write("bad_group", make=special("input_ids", group))
write("bad_twice", make=special("input_ids", twice))
write("bad_prediction_rows", fewer_predictions)
write("bad_packed", but("next_sentence_positions", np.zeros((N, 3), "i4")))
print("written")
)";

std::string refusal(const std::filesystem::path& file) {
    try {
        const ShardReader reader(file);
    } catch (const DataError& error) { return error.what(); }
    return "accepted";
}

}  // namespace

TEST_CASE("shards of other writers are read with any integers, filters and chunks, and hostile ones are refused") {
    const TemporaryFolder folder;
    write_text(folder / "writer.py", writer);
    const CommandResult written = run_command(PYTHON " " + (folder / "writer.py").string() + " " + folder.path().string());
    if (written.out == "no h5py\n" || written.exit_code == 127) SKIP_TEST(skip::no_oracle, "no Python with h5py");
    INFO(written.err);
    REQUIRE(written.out == "written\n");

    const ShardRows good = ShardReader(folder / "good_gzip.h5").read(0, 40);
    check_rows(good, 100, "good_gzip");
    CHECK(good.input_ids_RS[17] == 17);
    for (const std::string name : {"contiguous", "filters", "bool", "bool_contiguous", "wide", "big_endian", "small", "extra",
                                   "columns", "tiles", "shuffled_wide", "raw_unsigned", "rows", "half_written"}) {
        INFO(name);
        const ShardReader reader(folder / ("good_" + name + ".h5"));
        CHECK(same_rows(reader.read(0, 40), good));
        CHECK(same_rows(reader.read(0, 40, 3), good));
        for (const auto& [first, count] : {std::pair{0, 1}, {13, 3}, {14, 20}, {39, 1}, {5, 0}})
            CHECK(same_rows(reader.read(first, count, 2), slice(good, first, count)));
        CHECK(reader.band_rows() <= 40);
    }
    if (std::filesystem::exists(folder / "newer.h5") && refusal(folder / "newer.h5") != "accepted") {
        const std::string message = refusal(folder / "newer.h5");
        INFO(message);
        CHECK(message.find("a newer version of HDF5 than this program's (") != std::string::npos);
        std::string command = message.substr(message.find('`') + 1);
        command.resize(command.find(" OLD NEW`"));
        command.replace(0, std::string_view("python3").size(), PYTHON);
        const CommandResult converted =
            run_command(command + " " + (folder / "newer.h5").string() + " " + (folder / "converted.h5").string());
        INFO(converted.err);
        CHECK(same_rows(ShardReader(folder / "converted.h5").read(0, 40), good));
    }
    // A value too large for 32 bits must not come back as a small one.
    const ShardReader wide(folder / "wide_overflow.h5");
    CHECK_THROWS_AS(check_rows(wide.read(0, 40), 2'000'000'000, "wide"), DataError);

    const std::map<std::string, std::string> reasons = {
        {"missing", "\"masked_lm_ids\" is missing"},
        {"rank", "\"input_mask\" has 1 dimensions, expected 2"},
        {"label_rank", "\"next_sentence_labels\" has 2 dimensions, expected 1"},
        {"float", "\"input_ids\" contains floating-point numbers, expected integers"},
        {"rows", "\"segment_ids\" is 39 x 16, but \"input_ids\" is 40 x 16"},
        {"columns", "\"segment_ids\" is 40 x 17, but \"input_ids\" is 40 x 16"},
        {"predictions", "\"masked_lm_ids\" is 40 x 6, but \"masked_lm_positions\" is 40 x 5"},
        {"empty", "\"input_ids\" is empty"},
        {"lzf", "uses HDF5 filter 32000"},
        {"huge", "claims 274877906944 x 16 values, but 0 B are stored"},
        {"chunk", "has chunks of 33554432 x 16 values"},
        {"virtual", "is not stored in this file"},
        {"external_link", "is a link to somewhere else"},
        {"soft_link", "is a link to somewhere else"},
        {"external_data", "keeps its values in another file"},
        {"group", "cannot be opened"},
        {"packed", "packed rows"},
        {"twice", "is compressed 2 times"},
        {"prediction_rows", "\"masked_lm_positions\" is 39 x 5, but \"input_ids\" is 40 x 16"},
    };
    for (const auto& [name, reason] : reasons) {
        const std::string message = refusal(folder / ("bad_" + name + ".h5"));
        INFO(name << ": " << message);
        CHECK(message.find(reason) != std::string::npos);
        CHECK(message.find("bad_" + name + ".h5") != std::string::npos);
    }
}
