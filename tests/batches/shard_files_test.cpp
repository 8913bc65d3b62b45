#include "batches/shard_files.h"

#include "batches/refusal.h"
#include "batches/sample_shards.h"
#include "core/error.h"
#include "core/files/files.h"
#include "shards/manifest.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

Manifest manifest_of(const SampleShards& shards, const std::vector<std::int64_t>& rows) {
    Manifest manifest;
    manifest.vocabulary.size = sample_vocabulary;
    for (std::size_t s = 0; s < rows.size(); ++s) {
        const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(shards.files[s]));
        manifest.shards.push_back({.file = shards.files[s].filename().string(),
                                   .rows = rows[s],
                                   .tokens = 10 * rows[s],
                                   .masked = rows[s],
                                   .bytes = bytes,
                                   .crc32 = crc32_of_file(shards.files[s])});
    }
    return manifest;
}

}  // namespace

TEST_CASE("the survey sorts the shards by name") {
    const SampleShards shards({4, 5, 6});
    const std::vector<ShardFile> found = survey_shards({shards.files[2], shards.files[0], shards.files[1]}, sample_format());
    REQUIRE(found.size() == 3);
    for (std::size_t s = 0; s < 3; ++s) {
        CHECK(found[s].file == shards.files[s]);
        CHECK(found[s].rows == static_cast<std::int64_t>(4 + s));
        CHECK(found[s].max_predictions == sample_predictions);
        CHECK_FALSE(found[s].is_in_manifest);
    }
}

TEST_CASE("a shard of another sequence length is refused with both lengths and advice") {
    SampleShards shards({4});
    shards.add(4, 2 * sample_length);
    const std::string refusal = refusal_of<DataError>([&] { survey_shards(shards.files, sample_format()); });
    CHECK(missing_in(refusal, "wiki_training_0001.h5", "32 tokens long, expected 16", "--sequence-length 16").empty());
}

TEST_CASE("shards without labels are refused by a model that predicts next sentences, and only by that") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "wiki_training_0000.h5";
    const ShardRows rows = empty_rows(4, sample_length, sample_predictions, /*has_labels=*/false);
    write_shard(
        file, {4, sample_length, sample_predictions, /*has_labels=*/false}, [&](std::int64_t, std::int64_t) { return rows; }, 1);
    RowFormat format = sample_format();
    CHECK(missing_in(refusal_of<DataError>([&] { survey_shards({file}, format); }), "wiki_training_0000.h5",
                     "no next_sentence_labels", "data.objective")
              .empty());
    format.needs_labels = false;
    CHECK(survey_shards({file}, format).size() == 1);
    CHECK(survey_shards(SampleShards({4}).files, format).size() == 1);
}

TEST_CASE("sequences longer than the model's positions are refused before any file is opened") {
    RowFormat format = sample_format();
    format.max_position_embeddings = 8;
    CHECK(missing_in(refusal_of<ConfigError>([&] { survey_shards({"nowhere.h5"}, format); }), "16", "8 positions").empty());
}

TEST_CASE("missing shards are refused by name") {
    SampleShards shards({4});
    CHECK(missing_in(refusal_of<DataError>([&] { survey_shards({}, sample_format()); }), "no shard files").empty());
    shards.files.push_back(shards.folder / "wiki_training_0009.h5");
    CHECK(missing_in(refusal_of<DataError>([&] { survey_shards(shards.files, sample_format()); }), "wiki_training_0009.h5")
              .empty());
}

TEST_CASE("checksums come from the manifest, and a file that differs from it is refused") {
    SampleShards shards({4, 5, 6});
    write_manifest(shards.folder.path(), manifest_of(shards, {4, 5}));
    const std::vector<ShardFile> found = survey_shards(shards.files, sample_format());
    CHECK(found[0].crc32 == crc32_of_file(shards.files[0]));
    CHECK(found[1].crc32 == crc32_of_file(shards.files[1]));
    CHECK(found[1].is_in_manifest);
    CHECK_FALSE(found[2].is_in_manifest);
    write_manifest(shards.folder.path(), manifest_of(shards, {4, 50}));
    CHECK(missing_in(refusal_of<DataError>([&] { survey_shards(shards.files, sample_format()); }), "wiki_training_0001.h5",
                     "5 rows, expected 50")
              .empty());
}

TEST_CASE("a flipped bit is found by the manifest's checksum before the HDF5 library opens the file") {
    const SampleShards shards({40});
    write_manifest(shards.folder.path(), manifest_of(shards, {40}));
    std::string bytes = read_text(shards.files[0]);
    bytes[bytes.size() / 2] ^= 4;
    write_text(shards.files[0], bytes);
    CHECK(missing_in(refusal_of<DataError>([&] { survey_shards(shards.files, sample_format()); }), "wiki_training_0000.h5",
                     "its checksum is", "copy or build")
              .empty());
    write_text(shards.files[0], bytes + "x");
    CHECK(missing_in(refusal_of<DataError>([&] { survey_shards(shards.files, sample_format()); }), "the manifest says", "bytes")
              .empty());
}

TEST_CASE("an id outside the vocabulary is refused with file, row and value") {
    const SampleShards shards({4, 9});
    shards.spoil(1, 9, 6);
    const std::vector<ShardFile> found = survey_shards(shards.files, sample_format());
    CHECK(read_checked_rows(found[1], 0, 6, sample_format()).rows == 6);
    CHECK(missing_in(refusal_of<DataError>([&] { read_checked_rows(found[1], 5, 3, sample_format()); }), "wiki_training_0001.h5",
                     "6", "2000")
              .empty());
}

TEST_CASE("shards without a manifest are identified by the checksum of their bytes") {
    const SampleShards shards({4, 5});
    const std::vector<ShardFile> found = survey_shards(shards.files, sample_format());
    for (std::size_t s = 0; s < 2; ++s) CHECK(found[s].crc32 == crc32_of_file(shards.files[s]));
}

namespace {

/// Replaces a file by a copy with the same name and modification time, but another inode, as after a new mount.
void store_again(const std::filesystem::path& file, const std::string& bytes) {
    const auto time = std::filesystem::last_write_time(file);
    const std::filesystem::path copy = file.string() + ".copy";
    write_text(copy, bytes);
    std::filesystem::last_write_time(copy, time);
    std::filesystem::rename(copy, file);
}

}  // namespace

TEST_CASE("a shard with another inode and device is still read if its bytes are unchanged, and refused if they changed") {
    const SampleShards shards({9});
    const std::filesystem::path& file = shards.files[0];
    const std::vector<ShardFile> found = survey_shards(shards.files, sample_format());
    const std::string bytes = read_text(file);
    for (int time = 0; time < 2; ++time) {
        store_again(file, bytes);
        CHECK(read_checked_rows(found[0], 0, 5, sample_format()).rows == 5);
    }
    std::string other = bytes;
    other[other.size() / 2] ^= 1;
    store_again(file, other);
    CHECK(missing_in(refusal_of<DataError>([&] { read_checked_rows(found[0], 0, 5, sample_format()); }),
                     "changed since it was opened")
              .empty());
}

TEST_CASE("a shard that is replaced while a run reads it is refused") {
    SampleShards shards({9});
    const std::vector<ShardFile> found = survey_shards(shards.files, sample_format());
    shards.files.clear();
    shards.add(8);
    CHECK(missing_in(refusal_of<DataError>([&] { read_checked_rows(found[0], 0, 5, sample_format()); }),
                     "changed since it was opened")
              .empty());
}
