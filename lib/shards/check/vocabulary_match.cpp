#include "shards/check/vocabulary_match.h"

#include "core/error.h"

namespace bertpretrain {

void refuse_other_vocabulary(const std::filesystem::path& shards, const Manifest& manifest, const std::filesystem::path& file,
                             const Vocabulary& vocabulary) {
    const std::int64_t found = vocabulary.crc32();
    if (found != manifest.vocabulary.crc32)
        throw DataError(concat(file.string(), ": is not the vocabulary that the shards of ", shards.string(),
                               " were made with (checksum ", found, ", the manifest says ", manifest.vocabulary.crc32,
                               ")\n  do: use the vocabulary file in the shards' folder"));
}

void refuse_other_vocabulary(const std::filesystem::path& shards, const std::filesystem::path& vocabulary) {
    if (const std::optional<Manifest> manifest = read_manifest(shards))
        refuse_other_vocabulary(shards, *manifest, vocabulary, Vocabulary::read(vocabulary));
}

}  // namespace bertpretrain
