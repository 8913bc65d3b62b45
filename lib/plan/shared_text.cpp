#include "plan/shared_text.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/concat.h"

namespace bertpretrain {
namespace {

/// The files, with those that they were made from, whose content is recorded: {digest, name}.
std::map<std::string, std::string> sources_of(const std::vector<FileDigest>& files) {
    std::map<std::string, std::string> sources;
    for (const FileDigest& one : files) {
        if (!one.sha256.empty() && one.bytes > 0) sources.emplace(one.sha256, one.file);
        sources.merge(sources_of(one.made_from));
    }
    return sources;
}

/// A file of text of which both were made; nullopt: none.
std::optional<std::string> shared_file(const Manifest& a, const Manifest& b) {
    const std::map<std::string, std::string> of_b = sources_of(b.corpus);
    for (const auto& [digest, file] : sources_of(a.corpus))
        if (of_b.contains(digest)) return file;
    return std::nullopt;
}

bool are_same_files(const Manifest& a, const Manifest& b) {
    const auto digests = [](const Manifest& manifest) {
        std::vector<std::string> all;
        for (const FileDigest& one : manifest.corpus) all.push_back(one.sha256);
        std::ranges::sort(all);
        return all;
    };
    return digests(a) == digests(b);
}

/// Whether no article is among the training rows of one and the held-out rows of the other (shards/build/article_split.h).
bool sets_same_aside(const SampleSettings& training, const SampleSettings& held_out) {
    return training.seed == held_out.seed && training.held_out_fraction >= held_out.held_out_fraction;
}

}  // namespace

std::vector<std::string> warn_of_shared_text(const std::vector<FolderManifest>& training,
                                             const std::vector<FolderManifest>& held_out) {
    std::vector<std::string> warnings;
    for (const FolderManifest& measured : held_out)
        for (const FolderManifest& trained : training) {
            if (trained.folder.lexically_normal() == measured.folder.lexically_normal()) continue;
            if (shard_totals(measured.manifest, ShardKind::held_out).rows == 0) continue;
            const auto file = shared_file(trained.manifest, measured.manifest);
            if (!file || (are_same_files(trained.manifest, measured.manifest) &&
                          sets_same_aside(trained.manifest.settings, measured.manifest.settings)))
                continue;
            warnings.push_back(concat(
                "the held-out rows of ", measured.folder.string(), " and the training rows of ", trained.folder.string(),
                " were made of the same text (", *file, "), divided in different ways: held-out losses can be too low, because ",
                "the model may train on that text\n  do: make both folders of the same files with the same --seed and ",
                "--held-out-fraction, or measure on text of its own"));
        }
    return warnings;
}

}  // namespace bertpretrain
