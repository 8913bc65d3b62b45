#pragma once
// A file as a record of lineage names it: by its SHA-256.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/files/sha256.h"

namespace bertpretrain {

struct FileDigest {
    std::string file;  ///< a path as the user gave it, or a name in a known folder
    std::uint64_t bytes = 0;
    std::string sha256;                 ///< 64 hex digits; empty: not recorded
    std::vector<FileDigest> made_from;  ///< the inputs of the command that wrote the file; empty: not recorded
};

/// Hashes a file. @param name FileDigest::file; empty: the path  @param sign_of_life called after each MiB; may be empty
/// @throws DataError when the file cannot be read
FileDigest digest_of_file(const std::filesystem::path& file, const std::string& name = {},
                          const std::function<void()>& sign_of_life = {});

/// {"file", "bytes", "sha256", "made_from"}, the last only where it is not empty.
nlohmann::ordered_json to_json(const FileDigest& digest);
nlohmann::ordered_json to_json(const std::vector<FileDigest>& digests);

/// @param where named in messages  @throws DataError when the JSON is not a digest, or not a list of digests
FileDigest read_digest(const nlohmann::json& json, const std::string& where);
std::vector<FileDigest> read_digests(const nlohmann::json& json, const std::string& where);

/// The digest of a file that is read from its beginning, part by part.
class RunningDigest {
public:
    void add(std::string_view bytes);
    std::uint64_t bytes() const { return bytes_; }
    FileDigest so_far(const std::string& name) const;
    /// Must be the last call.
    FileDigest finish(const std::string& name);

private:
    Sha256 hash_;
    std::uint64_t bytes_ = 0;
};

}  // namespace bertpretrain
