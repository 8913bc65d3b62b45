#include "plan/shared_text.h"

#include "support/catch.h"

using namespace bertpretrain;

namespace {

FolderManifest folder_of(const std::string& name, std::vector<std::string> files, std::uint64_t seed, double fraction) {
    Manifest manifest;
    for (const std::string& file : files)
        manifest.corpus.push_back({.file = file, .bytes = 1, .sha256 = "digest of " + file, .made_from = {}});
    manifest.settings.seed = seed;
    manifest.settings.held_out_fraction = fraction;
    manifest.shards = {{.file = "x_training_0000.h5", .rows = 10}};
    if (fraction > 0) manifest.shards.push_back({.file = "x_test_0000.h5", .rows = 10});
    return {name, manifest};
}

std::size_t warnings(const FolderManifest& training, const FolderManifest& held_out) {
    return warn_of_shared_text({training}, {held_out}).size();
}

}  // namespace

TEST_CASE("held-out rows of text that other shards may train on are named, and rows that are surely apart are not") {
    const FolderManifest shards = folder_of("shards", {"a", "b"}, 1, 0.1);
    CHECK(warnings(shards, shards) == 0);
    CHECK(warnings(shards, folder_of("longer rows", {"b", "a"}, 1, 0.1)) == 0);
    CHECK(warnings(shards, folder_of("fewer held out", {"a", "b"}, 1, 0.05)) == 0);
    CHECK(warnings(shards, folder_of("other text", {"c"}, 2, 0.5)) == 0);
    CHECK(warnings(shards, folder_of("older", {}, 2, 0.1)) == 0);
    CHECK(warnings(shards, folder_of("none held out", {"a", "b"}, 2, 0)) == 0);
    CHECK(warnings(shards, folder_of("other seed", {"a", "b"}, 2, 0.1)) == 1);
    CHECK(warnings(shards, folder_of("more held out", {"a", "b"}, 1, 0.2)) == 1);
    CHECK(warnings(folder_of("all of it", {"a", "b"}, 1, 0), shards) == 1);
    CHECK(warnings(shards, folder_of("one file more", {"a", "b", "c"}, 1, 0.1)) == 1);
    FolderManifest extracted = folder_of("extracted again", {"text"}, 1, 0.1);
    extracted.manifest.corpus[0].made_from = shards.manifest.corpus;
    CHECK(warnings(shards, extracted) == 1);
    FolderManifest unknown = shards, other_unknown = folder_of("unknown", {"c"}, 2, 0.1);
    unknown.manifest.corpus[0].sha256 = unknown.manifest.corpus[1].sha256 = other_unknown.manifest.corpus[0].sha256 = "";
    CHECK(warnings(unknown, other_unknown) == 0);
    FolderManifest empty = shards, other_empty = folder_of("with an empty file", {"c"}, 2, 0.1);
    for (Manifest* manifest : {&empty.manifest, &other_empty.manifest})
        manifest->corpus.push_back({.file = "empty", .bytes = 0, .sha256 = "digest of nothing", .made_from = {}});
    CHECK(warnings(empty, other_empty) == 0);
    const auto texts = warn_of_shared_text({shards, folder_of("second", {"b"}, 1, 0.1)}, {shards});
    REQUIRE(texts.size() == 1);
    CHECK_THAT(texts[0], Catch::Contains("held-out rows of shards") && Catch::Contains("training rows of second") &&
                             Catch::Contains("(b)") && Catch::Contains("do: "));
}
