#include "shards/check/shard_verification.h"

#include "core/files/files.h"
#include "sample_rows.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

Manifest manifest_of(const std::filesystem::path& file) {
    Manifest manifest;
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
    manifest.shards.push_back(
        {.file = file.filename().string(), .rows = 30, .tokens = 1, .masked = 1, .bytes = bytes, .crc32 = crc32_of_file(file)});
    return manifest;
}

std::string problem_with(const std::filesystem::path& file, const std::optional<Manifest>& manifest) {
    const std::optional<DataError> problem = verify_shards({file}, manifest, 1).front().problem;
    return problem ? problem->what() : "";
}

}  // namespace

TEST_CASE("a flipped bit in any region of a shard is found by its checksum") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "a_training_0.h5";
    write_rows(file, made_up_rows(30));
    const Manifest manifest = manifest_of(file);
    const std::string good = read_text(file);
    REQUIRE(problem_with(file, manifest).empty());
    RandomSequence random(4, Purpose::document_order, 0);
    for (std::size_t begin = 0; begin < good.size(); begin += 64) {
        std::string bad = good;
        bad[std::min(begin + random.below(64), good.size() - 1)] ^= static_cast<char>(1 << random.below(8));
        write_text(file, bad);
        INFO("region from byte " << begin);
        CHECK(problem_with(file, manifest).find("a_training_0.h5: its checksum is") != std::string::npos);
    }
    write_text(file, good);
    CHECK(problem_with(file, manifest).empty());
}

TEST_CASE("a file of another size, a missing file, and one without a manifest get different results") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "a_training_0.h5";
    write_rows(file, made_up_rows(30));
    const Manifest manifest = manifest_of(file);
    write_text(file, read_text(file) + "more");
    CHECK(problem_with(file, manifest).find("the manifest says") != std::string::npos);
    CHECK(problem_with(folder / "absent.h5", manifest).find("cannot be read") != std::string::npos);
    CHECK(problem_with(file, std::nullopt).empty());  // another process read it without an error
    write_text(file, "no shard");
    CHECK(problem_with(file, std::nullopt).find("is not a readable HDF5 file") != std::string::npos);
}

TEST_CASE("many files without a manifest are read by several processes, and each result belongs to its file") {
    const TemporaryFolder folder;
    std::vector<std::filesystem::path> files;
    for (int i = 0; i < 9; ++i) {
        files.push_back(folder / ("a_training_" + std::to_string(i) + ".h5"));
        if (i % 4 == 1) write_text(files.back(), "no shard");
        else write_rows(files.back(), made_up_rows(10 + i));
    }
    for (const std::size_t threads : {std::size_t{1}, std::size_t{4}}) {
        const auto answers = verify_shards(files, std::nullopt, threads);
        for (std::size_t i = 0; i < files.size(); ++i) {
            CHECK(answers[i].problem.has_value() == (i % 4 == 1));
            if (answers[i].problem) CHECK(std::string(answers[i].problem->what()).find(files[i].string()) != std::string::npos);
        }
    }
}

TEST_CASE("a file that crashes its reader is a DataError for that file only, and its neighbours are sound") {
    const TemporaryFolder folder;
    const std::vector<std::filesystem::path> files = {folder / "a_training.h5", folder / "kills_its_reader_training.h5",
                                                      folder / "z_training.h5"};
    for (const auto& file : files) write_rows(file, made_up_rows(10));
    const auto answers = verify_shards(files, std::nullopt, 3);  // one process per file
    CHECK_FALSE(answers[0].problem);
    CHECK_FALSE(answers[2].problem);
    REQUIRE(answers[1].problem);
    const std::string message = answers[1].problem->what();
    CHECK(message.find(files[1].string() + ": is damaged, and reading it crashes the HDF5 library (signal 6)") !=
          std::string::npos);
}
