#include "inference/embedding_store.h"

#include <cstring>
#include <numeric>
#include <vector>

#include "archive/vector_origin.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

EmbeddingRequest request_of(const fs::path& output) { return {output, {5, 3}, 2, "mean", {{"weights_crc32", 7}}}; }

std::vector<float> counting(std::size_t count, float first) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

std::string refusal_of_request(const EmbeddingRequest& request) {
    try {
        EmbeddingStore::prepare(request);
    } catch (const ConfigError& error) { return error.what(); }
    return "no refusal";
}

}  // namespace

TEST_CASE("parts may be written in any order and by a later start; the file appears when all are done") {
    const TemporaryFolder folder;
    const EmbeddingRequest request = request_of(folder / "vectors.npy");
    CHECK_FALSE(EmbeddingStore::prepare(request));
    {
        EmbeddingStore store(request);
        store.put(1, 3, counting(6, 9), 4);
        CHECK_FALSE(store.done(0));
    }
    CHECK_FALSE(fs::exists(request.output));
    CHECK(EmbeddingStore::prepare(request));
    EmbeddingStore store(request);
    CHECK(store.done(1));
    CHECK_THROWS_AS(store.complete(), std::logic_error);
    store.put(0, 0, counting(9, 0), 0);
    CHECK(store.progress().truncated == 4);
    store.complete();
    CHECK_FALSE(fs::exists(folder / "vectors.npy.partial"));

    const std::string file = read_text(request.output), begin("\x93NUMPY\x01\0", 8);
    CHECK((file.substr(0, 8) == begin));
    CHECK(file.find("'descr': '<f4', 'fortran_order': False, 'shape': (5, 3), }") != std::string::npos);
    const std::size_t header = 10 + static_cast<unsigned char>(file[8]) + 256U * static_cast<unsigned char>(file[9]);
    CHECK(header % 64 == 0);
    REQUIRE(file.size() == header + 15 * sizeof(float));
    std::vector<float> rows(15);
    std::memcpy(rows.data(), file.data() + header, 15 * sizeof(float));
    CHECK(rows == counting(15, 0));
}

TEST_CASE("work begun with other weights is not continued, and existing output is not replaced") {
    const TemporaryFolder folder;
    EmbeddingRequest request = request_of(folder / "vectors.h5");
    EmbeddingStore::prepare(request);
    request.identity["weights_crc32"] = 8;
    CHECK(refusal_of_request(request).find("begun with a different weights_crc32 (7, now 8)") != std::string::npos);
    write_text(folder / "vectors.npy", "mine");
    CHECK(refusal_of_request(request_of(folder / "vectors.npy")).find("exists") != std::string::npos);
}

TEST_CASE("finished vectors have the origin of their own request, not one that lay beside the file") {
    const TemporaryFolder folder;
    EmbeddingRequest request = request_of(folder / "vectors.npy");
    for (const std::uint32_t encoder : {1U, 2U}) {
        request.identity["encoder_crc32"] = encoder;
        EmbeddingStore::prepare(request);
        EmbeddingStore store(request);
        store.put(0, 0, counting(9, 0), 0);
        store.put(1, 3, counting(6, 9), 0);
        store.complete();
        CHECK(origin_of(request.output, *VectorReader::open(request.output)).encoder_crc32 == encoder);
        fs::remove(request.output);  // but not vectors.origin.json
    }
    CHECK(fs::exists(folder / "vectors.origin.json"));
}

TEST_CASE("work that failed or was killed while it was completed is completed by a later start, with its ids") {
    const TemporaryFolder folder;
    write_text(folder / "ids", "\"a\"\n\"b\"\n\"c\"\n\"d\"\n\"e\"\n");
    EmbeddingRequest request = request_of(folder / "vectors.npy");
    request.ids = folder / "ids";
    EmbeddingStore::prepare(request);
    {
        EmbeddingStore store(request);
        store.put(0, 0, counting(9, 0), 0);
        store.put(1, 3, counting(6, 9), 0);
        fs::create_directories(folder / "vectors.origin.json/in the way");
        CHECK_THROWS_AS(store.complete(), DataError);
        fs::remove_all(folder / "vectors.origin.json");
    }
    CHECK_FALSE(fs::exists(folder / "vectors.ids.txt"));
    CHECK_FALSE(fs::exists(folder / "vectors.origin.json.partial"));
    CHECK_FALSE(EmbeddingStore::has_placed_ids(request.output));
    fs::rename(folder / "vectors.npy.partial/ids.txt", folder / "vectors.ids.txt");  // as a kill leaves it
    CHECK(EmbeddingStore::has_placed_ids(request.output));
    CHECK(EmbeddingStore::prepare(request));
    EmbeddingStore(request).complete();
    CHECK(fs::exists(request.output));
    CHECK(read_text(folder / "vectors.ids.txt") == "a\nb\nc\nd\ne\n");
    CHECK_FALSE(fs::exists(folder / "vectors.npy.partial"));
}

TEST_CASE("a request without vectors, which a kill after the last step leaves, is begun again") {
    const TemporaryFolder folder;
    const EmbeddingRequest request = request_of(folder / "vectors.npy");
    EmbeddingStore::prepare(request);
    fs::remove(folder / "vectors.npy.partial/vectors");
    CHECK_FALSE(EmbeddingStore::prepare(request));
    CHECK(EmbeddingStore(request).progress().parts == 0);
}

TEST_CASE("NumPy and h5py read the files") {
    const TemporaryFolder folder;
    for (const char* name : {"vectors.npy", "vectors.h5"}) {
        const EmbeddingRequest request = request_of(folder / name);
        EmbeddingStore::prepare(request);
        EmbeddingStore store(request);
        store.put(0, 0, counting(9, 0), 0);
        store.put(1, 3, counting(6, 9), 0);
        store.complete();
    }
    const CommandResult python = run_command(
        PYTHON
        " -c 'import numpy, h5py, sys\n"
        "for rows in (numpy.load(sys.argv[1] + \"/vectors.npy\"), h5py.File(sys.argv[1] + \"/vectors.h5\")[\"mean\"]):\n"
        "    assert rows.dtype == \"<f4\" and (rows[:] == numpy.arange(15).reshape(5, 3)).all()\n"
        "assert rows.attrs[\"weights_crc32\"] == \"7\"' " +
        folder.path().string());
    if (python.exit_code == 127 || python.err.find("ModuleNotFoundError") != std::string::npos)
        SKIP_TEST(skip::no_oracle, "no Python with numpy and h5py");
    INFO(python.err);
    CHECK(python.exit_code == 0);
}

TEST_CASE("one process at a time works on an output") {
    const TemporaryFolder folder;
    const EmbeddingLock lock(folder / "vectors.npy");
    CHECK_THROWS_AS(EmbeddingLock(folder / "vectors.npy"), ConfigError);
}

TEST_CASE("files of the user's in the working folder stay when the vectors are complete") {
    const TemporaryFolder folder;
    const EmbeddingRequest request = request_of(folder / "vectors.npy");
    fs::create_directories(folder / "vectors.npy.partial");
    write_text(folder / "vectors.npy.partial/notes.txt", "the user's");
    EmbeddingStore::prepare(request);
    EmbeddingStore store(request);
    store.put(0, 0, counting(9, 0), 0);
    store.put(1, 3, counting(6, 9), 0);
    store.complete();
    CHECK(fs::exists(request.output));
    CHECK(read_text(folder / "vectors.npy.partial/notes.txt") == "the user's");
}
