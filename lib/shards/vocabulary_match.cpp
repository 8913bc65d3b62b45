#include "shards/vocabulary_match.h"

#include "core/error.h"
#include "shards/manifest.h"
#include "tokens/vocabulary.h"

namespace bertpretrain {

void refuse_other_vocabulary(const std::filesystem::path& shards, const std::filesystem::path& vocabulary) {
    const std::optional<Manifest> manifest = read_manifest(shards);
    if (!manifest) return;
    const std::int64_t found = Vocabulary::read(vocabulary).crc32();
    if (found != manifest->vocabulary.crc32)
        throw DataError(concat(vocabulary.string(), ": is not the vocabulary that the shards of ", shards.string(),
                               " were made with (checksum ", found, ", the manifest says ", manifest->vocabulary.crc32,
                               ")\n  do: use the vocabulary file in the shards' folder"));
}

}  // namespace bertpretrain
