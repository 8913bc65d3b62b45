#include "batches/shard_files.h"

#include "batches/refusal.h"
#include "batches/sample_shards.h"
#include "core/error.h"
#include "shards/manifest.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

Manifest manifest_of(const SampleShards& shards, const std::vector<std::int64_t>& rows) {
    Manifest manifest;
    manifest.vocabulary.size = sample_vocabulary;
    for (std::size_t s = 0; s < rows.size(); ++s)
        manifest.shards.push_back(
            {shards.files[s].filename().string(), rows[s], 10 * rows[s], rows[s], 111 + static_cast<int>(s)});
    return manifest;
}

}  // namespace

TEST_CASE("the survey sorts by name, whatever the order given") {
    const SampleShards shards({4, 5, 6});
    const std::vector<ShardFile> found = survey_shards({shards.files[2], shards.files[0], shards.files[1]}, sample_format());
    REQUIRE(found.size() == 3);
    for (std::size_t s = 0; s < 3; ++s) {
        CHECK(found[s].file == shards.files[s]);
        CHECK(found[s].rows == static_cast<std::int64_t>(4 + s));
        CHECK(found[s].max_predictions == sample_predictions);
        CHECK_FALSE(found[s].crc32);
    }
}

TEST_CASE("a shard of another sequence length is refused with both lengths and a way out") {
    SampleShards shards({4});
    shards.add(4, 2 * sample_length);
    const std::string refusal = refusal_of<DataError>([&] { survey_shards(shards.files, sample_format()); });
    CHECK(missing_in(refusal, "wiki_training_0001.h5", "32 tokens long, expected 16", "--sequence-length 16").empty());
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

TEST_CASE("checksums come from the manifest, and a file that is not as it says is refused") {
    SampleShards shards({4, 5, 6});
    write_manifest(shards.folder.path(), manifest_of(shards, {4, 5}));
    const std::vector<ShardFile> found = survey_shards(shards.files, sample_format());
    CHECK(found[0].crc32 == 111);
    CHECK(found[1].crc32 == 112);
    CHECK_FALSE(found[2].crc32);
    write_manifest(shards.folder.path(), manifest_of(shards, {4, 50}));
    CHECK(missing_in(refusal_of<DataError>([&] { survey_shards(shards.files, sample_format()); }), "wiki_training_0001.h5",
                     "5 rows, expected 50")
              .empty());
}

TEST_CASE("an id out of the vocabulary is refused with file, row and value") {
    const SampleShards shards({4, 9});
    shards.spoil(1, 9, 6);
    const std::vector<ShardFile> found = survey_shards(shards.files, sample_format());
    CHECK(read_checked_rows(found[1], 0, 6, sample_format()).rows == 6);
    CHECK(missing_in(refusal_of<DataError>([&] { read_checked_rows(found[1], 5, 3, sample_format()); }), "wiki_training_0001.h5",
                     "6", "2000")
              .empty());
}

TEST_CASE("a shard replaced while a run reads it is noticed") {
    SampleShards shards({9});
    const std::vector<ShardFile> found = survey_shards(shards.files, sample_format());
    shards.files.clear();
    shards.add(8);
    CHECK(missing_in(refusal_of<DataError>([&] { read_checked_rows(found[0], 0, 5, sample_format()); }),
                     "changed since the run began")
              .empty());
}
