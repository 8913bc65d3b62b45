#include "shards/manifest.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/contains.h"
#include "support/files.h"

using namespace bertpretrain;
using testing::contains;
using namespace bertpretrain::testing;

namespace {

Manifest example() {
    Manifest manifest;
    manifest.settings.seed = 18'446'744'073'709'551'615U;
    manifest.settings.casing = "cased";
    manifest.vocabulary = {"vocab.txt", 30522, 4'000'000'000, {}};
    manifest.shards = {{"w_test_0000.h5", 10, 1000, 150, 2000, 7},
                       {"w_training_0000.h5", 100, 10'000, 1500, 20'000, 4'294'967'295, std::string(64, 'a')}};
    manifest.corpus = {{"text.txt", 12, std::string(64, 'b'), {{"dump.xml", 34, std::string(64, 'c'), {}}}}};
    manifest.unigram_cross_entropy = 6.123456789012345;
    return manifest;
}

/// Returns the message of reading a folder with this manifest.
std::string answer(const std::string& text) {
    const TemporaryFolder folder;
    write_text(folder / "manifest.json", text);
    try {
        read_manifest(folder.path());
    } catch (const DataError& error) { return error.what(); }
    return "accepted";
}

}  // namespace

TEST_CASE("every field of a manifest is described") {
    CHECK(fully_described<SampleSettings>());
    CHECK(fully_described<VocabularyRecord>());
    CHECK(fully_described<ShardRecord>());
}

TEST_CASE("a written manifest reads back equal") {
    const TemporaryFolder folder;
    CHECK_FALSE(read_manifest(folder.path()));
    const Manifest written = example();
    write_manifest(folder.path(), written);
    const std::optional<Manifest> read = read_manifest(folder.path());
    REQUIRE(read);
    CHECK(read->settings.seed == written.settings.seed);
    CHECK(read->settings.casing == "cased");
    CHECK(read->settings.masked_lm_prob == 0.15);
    CHECK(read->vocabulary.crc32 == 4'000'000'000);
    CHECK(read->unigram_cross_entropy == written.unigram_cross_entropy);
    REQUIRE(read->shards.size() == 2);
    REQUIRE(read->find("w_training_0000.h5") != nullptr);
    CHECK(read->find("w_training_0000.h5")->masked == 1500);
    CHECK(read->find("w_training_0000.h5")->crc32 == 4'294'967'295);
    CHECK(read->find("other.h5") == nullptr);
    CHECK(read->find("w_training_0000.h5")->sha256 == std::string(64, 'a'));
    CHECK(read->find("w_test_0000.h5")->sha256.empty());
    REQUIRE(read->corpus.size() == 1);
    CHECK(read->corpus[0].made_from[0].file == "dump.xml");
    CHECK(read->rules_version == 1);
    CHECK_FALSE(contains(read_text(folder / "manifest.json"), "rules_version"));  // as in manifests of older versions
    Manifest newer = written;
    newer.rules_version = current_rules_version;
    write_manifest(folder.path(), newer);
    CHECK(read_manifest(folder.path())->rules_version == current_rules_version);
    write_manifest(folder.path(), *read);
    const std::string again = read_text(folder / "manifest.json");
    write_manifest(folder.path(), written);
    CHECK(read_text(folder / "manifest.json") == again);
}

TEST_CASE("a manifest that was edited, damaged or made by a newer program is a DataError that names the place") {
    const TemporaryFolder folder;
    write_manifest(folder.path(), example());
    const std::string good = read_text(folder / "manifest.json");
    REQUIRE(answer(good) == "accepted");
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        return answer(text.replace(at, from.size(), to));
    };
    CHECK(contains(changed("\"format_version\": 1", "\"format_version\": 2"), "up to 1"));
    CHECK(contains(changed("\"rows\": 100,", "\"rows\": 101,"), "\"totals\" are not the sums"));
    CHECK(contains(changed("\"w_test_0000.h5\"", "\"../w_test_0000.h5\""), "refers to another folder"));
    CHECK(contains(changed("\"vocab.txt\"", "\"/etc/passwd\""), "refers to another folder"));
    CHECK(contains(changed("\"w_test_0000.h5\"", "\"x_test_0000.h5\""), "not sorted"));
    CHECK(contains(changed("\"w_test_0000.h5\"", "\"w.h5\""), "not the name of a training or held-out shard"));
    CHECK(contains(changed("\"seed\"", "\"sed\""), "did you mean "));
    CHECK(contains(changed("\"crc32\": 7", "\"crc32\": 4294967296"), "shards[0]: crc32"));
    CHECK(contains(changed("\"crc32\": 7", "\"crc32\": 7, \"crc32\": 8"), "set twice"));
    CHECK(contains(changed("\"rows\": 10,", "\"rows\": 10.5,"), "integer"));
    CHECK(contains(changed("\"shards\": [", "\"shards\": [[],"), "shards[0]"));
    CHECK(contains(changed("\"casing\": \"cased\"", "\"casing\": \"both\""), "casing"));
    CHECK(contains(answer("[]"), "not a JSON object"));
    CHECK(contains(answer("{}"), "\"shards\""));
    CHECK(contains(answer(std::string(100'000, '[')), "nested deeper"));
    CHECK(contains(answer(""), "manifest.json"));
    for (std::size_t bytes = 0; bytes + 3 < good.size(); bytes += 7) CHECK(answer(good.substr(0, bytes)) != "accepted");
}

TEST_CASE("training and held-out files of both references are recognized by their names") {
    CHECK(shard_kind("wikicorpus_en_training_0.hdf5") == ShardKind::training);
    CHECK(shard_kind("a/wikicorpus_en_test_12.hdf5") == ShardKind::held_out);
    CHECK_FALSE(shard_kind("a/._wikicorpus_en_training_0.hdf5").has_value());  // macOS's own
    CHECK(shard_kind("latest_training_0.h5") == ShardKind::training);          // "test" is in "latest"
    CHECK_FALSE(shard_kind("training.txt"));
    CHECK_FALSE(shard_kind("test/other.h5"));
    CHECK_FALSE(shard_kind("w_training_0000.h5.partial"));
}

TEST_CASE("shards are returned sorted, and the message for a folder without any names what was expected") {
    const TemporaryFolder folder;
    for (const std::string name : {"b_training_1.h5", "a_training_0.hdf5", "a_test_0.h5", "notes.txt"})
        write_text(folder / name, "");
    CHECK(find_shards(folder.path(), ShardKind::training) ==
          std::vector<std::filesystem::path>{folder / "a_training_0.hdf5", folder / "b_training_1.h5"});
    CHECK(find_shards(folder.path(), ShardKind::held_out).size() == 1);
    std::filesystem::remove(folder / "a_test_0.h5");
    const auto reason = [](const std::filesystem::path& where) {
        try {
            find_shards(where, ShardKind::held_out);
        } catch (const DataError& error) { return std::string(error.what()); }
        return std::string();
    };
    for (const char* words : {"none of its shards has \"test\" in its name", "--held-out-fraction", "data.held_out_shards",
                              "evaluation.every_steps=0"})
        CHECK(contains(reason(folder.path()), words));
    CHECK(contains(reason(folder / "absent"), "does not exist"));
    CHECK(contains(reason(folder / "notes.txt"), "is not a folder"));
}

TEST_CASE("a folder that lacks a listed shard, or has one that is not listed, is refused with the shard's name") {
    const TemporaryFolder folder;
    write_manifest(folder.path(), example());
    const auto refusal = [&](ShardKind kind) {
        try {
            find_shards(folder.path(), kind);
        } catch (const DataError& error) { return std::string(error.what()); }
        return std::string("accepted");
    };
    const auto check = [&](ShardKind kind, const char* name) {
        CHECK(contains(refusal(kind), (folder / name).string() + ": is missing, but manifest.json lists it"));
        write_text(folder / name, "");
        CHECK(find_shards(folder.path(), kind).size() == 1);
    };
    check(ShardKind::training, "w_training_0000.h5");
    check(ShardKind::held_out, "w_test_0000.h5");
    write_text(folder / "more_training_0000.h5", "");
    CHECK(
        contains(refusal(ShardKind::training), (folder / "more_training_0000.h5").string() + ": is not listed in manifest.json"));
    CHECK(find_shards(folder.path(), ShardKind::held_out).size() == 1);
}
