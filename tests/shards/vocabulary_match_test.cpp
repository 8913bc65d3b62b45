#include "shards/check/vocabulary_match.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/contains.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

const std::string tokens = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n";

/// Returns the refusal of vocab.txt by a folder of shards whose vocabulary is `theirs`.
std::string refusal(const TemporaryFolder& folder, const std::string& ours, const std::string& theirs,
                    const std::string& in_folder) {
    write_text(folder / "made.txt", theirs);
    write_text(folder / "vocab.txt", ours);
    write_text(folder / "shards/vocab.txt", in_folder);
    const Vocabulary made = Vocabulary::read(folder / "made.txt");
    Manifest manifest;
    manifest.vocabulary.size = made.size();
    manifest.vocabulary.crc32 = made.crc32();
    try {
        refuse_other_vocabulary(folder / "shards", manifest, folder / "vocab.txt", Vocabulary::read(folder / "vocab.txt"));
    } catch (const DataError& error) { return error.what(); }
    return "";
}

}  // namespace

TEST_CASE("a vocabulary other than that of the shards is refused with what differs") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "shards");
    const auto found = [&](const std::string& theirs) { return refusal(folder, tokens, theirs, theirs); };
    CHECK(found(tokens).empty());
    CHECK(contains(found(tokens + "mat\n"), "it has 7 tokens, theirs 8, of which the first 7 are the same\n  do: "));
    CHECK(contains(found(tokens.substr(0, tokens.size() - 4)), "it has 7 tokens, theirs 6, of which the first 6 are the same"));
    CHECK(contains(found("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ndog\n"), R"(theirs 7; token 6 is "cat", theirs "dog")"));
    CHECK(contains(refusal(folder, tokens, tokens + "mat\n", tokens), "that in their folder is not it either"));
    CHECK(contains(found(tokens + "mat\n"), "shard TEXT --vocabulary " + (folder / "vocab.txt").string()));
}
