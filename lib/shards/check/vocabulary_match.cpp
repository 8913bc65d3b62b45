#include "shards/check/vocabulary_match.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files/sha256.h"
#include "core/output/displayable.h"
#include "core/strings.h"
#include "tokens/models/open_tokenizer.h"
#include "tokens/models/tokenizer_difference.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {

namespace {

/// Returns how many tokens two vocabularies have, and the first one that differs.
std::string difference_of(const Vocabulary& vocabulary, const Manifest& manifest, const std::filesystem::path& shards) {
    const std::int64_t size = vocabulary.size(), theirs = manifest.vocabulary.size;
    const std::string sizes = concat("it has ", with_thousands(size), " tokens, theirs ", with_thousands(theirs));
    const std::filesystem::path file = tokenizer_in_folder(shards);
    if (file.empty()) return sizes;
    const Vocabulary of_shards = Vocabulary::read(file);
    if (of_shards.crc32() != manifest.vocabulary.crc32) return sizes + "; that in their folder is not it either";
    const std::vector<std::string>&ours = vocabulary.tokens(), &others = of_shards.tokens();
    const auto [here, there] = std::ranges::mismatch(ours, others);
    if (here == ours.end() || there == others.end())
        return concat(sizes, ", of which the first ", with_thousands(here - ours.begin()), " are the same");
    return concat(sizes, "; token ", here - ours.begin(), " is \"", displayable(*here), "\", theirs \"", displayable(*there),
                  "\"");
}

/// Compares what the tokens do not say: normalizer, splits and merges of a tokenizer with rules of its own.
void refuse_other_rules(const std::filesystem::path& shards, const Manifest& manifest, const std::filesystem::path& file) {
    const std::filesystem::path own = tokenizer_in_folder(shards);
    const std::string& recorded = manifest.vocabulary.sha256;
    if (recorded.empty() || own.empty()) return;
    const auto digest = [](const std::filesystem::path& of) { return hexadecimal(sha256(read_tokenizer_file(of))); };
    const std::string found = digest(own);
    if (found != recorded)
        throw DataError(concat(own.string(), ": was changed after the shards were made: its SHA-256 is ", found,
                               ", the manifest says ", recorded, "\n  do: copy the file again, or make the shards again"));
    if (digest(file) == recorded) return;
    const auto text = text_read_differently(*open_tokenizer(file, Casing::cased), *open_tokenizer(own, Casing::cased));
    if (text)
        throw DataError(
            concat(file.string(), ": has the tokens of the shards of ", shards.string(), ", but reads text in another ",
                   "way than ", own.filename().string(), " there, such as \"", displayable(*text),
                   "\"\n  do: make shards of the text with it: bertpretrain_data shard TEXT --vocabulary ", file.string()));
}

}  // namespace

void refuse_other_vocabulary(const std::filesystem::path& shards, const Manifest& manifest, const std::filesystem::path& file,
                             const Vocabulary& vocabulary) {
    const std::int64_t found = vocabulary.crc32();
    const bool is_own = file.lexically_normal() == (shards / manifest.vocabulary.file).lexically_normal();
    if (found != manifest.vocabulary.crc32)
        throw DataError(concat(
            file.string(), ": is not the vocabulary that the shards of ", shards.string(), " were made with (checksum ", found,
            ", the manifest says ", manifest.vocabulary.crc32, "): ", difference_of(vocabulary, manifest, shards),
            is_own ? "\n  do: it was changed after the shards were made: copy it, or the folder, again"
                   : concat("\n  do: use the vocabulary in the shards' folder, or, where it is a model's own, ",
                            "make shards of the text with it: bertpretrain_data shard TEXT --vocabulary ", file.string())));
    refuse_other_rules(shards, manifest, file);
}

void refuse_other_vocabulary(const std::filesystem::path& shards, const std::filesystem::path& vocabulary) {
    if (const std::optional<Manifest> manifest = read_manifest(shards))
        refuse_other_vocabulary(shards, *manifest, vocabulary, Vocabulary::read(vocabulary));
}

}  // namespace bertpretrain
