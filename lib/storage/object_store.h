#pragma once
// A folder of objects in a store: S3 or one that speaks its protocol, or an HTTP server (which has no lists; whether it accepts
// PUT and DELETE is its own decision).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "storage/object_requests.h"

namespace bertpretrain {

class RandomAccessFile;

struct ListedObject {
    std::string name;  ///< relative to the store's folder
    std::uint64_t bytes = 0;
};

/// Names are relative to the folder. Failures that may pass are repeated (ObjectRequests::repeat). Thread-safe. All members throw
/// ConfigError where access is refused or there is no libcurl, and DistributedError where the store cannot be reached or `stop`
/// is requested.
class ObjectStore {
public:
    /// Parts in which files are uploaded; a larger file gets larger parts, as a store accepts 10,000 at most.
    static constexpr std::uint64_t default_part_bytes = std::uint64_t{32} << 20U;

    /// @param credentials as ObjectRequests
    explicit ObjectStore(ObjectUrl folder, std::shared_ptr<AwsCredentialSource> credentials = AwsCredentialSource::of_process(),
                         StorageSettings settings = {}, std::uint64_t part_bytes = default_part_bytes);

    /// Returns the content of a small object; nullopt if it does not exist.
    std::optional<std::string> read(const std::string& name, const std::stop_token& stop = {});
    /// Completes a file: asks for the bytes after those that it already has, also after each interruption. The content is not
    /// verified. @param bytes the object's size  @throws DataError if the object is missing or has another size
    void download(const std::string& name, const std::filesystem::path& file, std::uint64_t bytes,
                  const std::stop_token& stop = {});
    /// Reads an object from its beginning, without storing it. @param take gets the bytes in order
    /// @throws DataError if the object is missing or has another size
    void scan(const std::string& name, std::uint64_t bytes, const std::function<void(std::string_view)>& take,
              const std::stop_token& stop = {});
    /// Creates or replaces an object.
    void write(const std::string& name, std::string_view content, const std::stop_token& stop = {});
    /// Creates or replaces an object with a file's content: on S3 in parts, on an HTTP server by one PUT. An upload in parts is
    /// complete when the store says so in words (its answer may be 200 and an error); else its parts are deleted.
    /// @throws DataError when the file cannot be read
    void upload(const std::string& name, const std::filesystem::path& file, const std::stop_token& stop = {});
    /// Returns the objects whose names begin with `prefix`, sorted by name. S3 only.
    std::vector<ListedObject> list(const std::string& prefix = "");
    /// Deletes an object, if it exists.
    void remove(const std::string& name, const std::stop_token& stop = {});

    const ObjectUrl& folder() const { return folder_; }

private:
    HttpAnswer send(const ObjectRequest& request);
    /// Reads [position, bytes) of an object and continues after interruptions.
    void read_range(const std::string& name, std::uint64_t position, std::uint64_t bytes,
                    const std::function<void(std::string_view)>& take, const std::stop_token& stop);
    /// @returns false if the store does not know whether the upload is complete, so that it must be repeated
    bool upload_parts(const std::string& key, const RandomAccessFile& file, const std::stop_token& stop);
    bool complete_upload(const std::string& key, const std::string& id, const std::string& parts, const std::stop_token& stop);
    void abort_upload(const std::string& key, const std::string& id);
    std::string key_of(const std::string& name) const { return (folder_ / name).key; }

    ObjectUrl folder_;
    std::uint64_t part_bytes_;
    ObjectRequests requests_;
};

}  // namespace bertpretrain
