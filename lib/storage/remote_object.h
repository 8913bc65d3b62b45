#pragma once
// One object that is read as an input file, always in the same version.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "storage/object_requests.h"
#include "storage/remote_address.h"

namespace bertpretrain {

/// What distinguishes the versions of an object.
struct ObjectVersion {
    std::optional<std::uint64_t> bytes{};
    std::string tag{};  ///< its ETag, else the date of its last change; empty: not known
};

/// The process keeps size and version (ETag, else the date of the last change) of each object that it has seen, for all
/// RemoteObjects of the same address. Requests name the version in If-Match, and an answer of another version is refused, so an
/// object that changes while it is read is never mixed. Thread-safe. All members throw ConfigError where access is refused, the
/// server does not send parts of a file or does not say its size, or there is no libcurl; DataError when the object is missing or
/// has changed; and DistributedError where the store cannot be reached or `stop` is requested.
class RemoteObject {
public:
    explicit RemoteObject(RemoteAddress address, StorageSettings settings = {});

    /// The address as the user gave it, for messages.
    const std::string& name() const { return address_.text; }
    /// Asks the store, unless the size is known.
    bool exists();
    /// Returns the object's size in bytes. Asks the store, unless it is known.
    std::uint64_t bytes();
    /// Returns `size` bytes from `first` on, fewer only at the object's end. Continues after interruptions.
    std::string read(std::uint64_t first, std::uint64_t size, const std::stop_token& stop = {});

private:
    class Part;

    ObjectVersion version() const;
    /// Keeps what an answer says of the object, or refuses it where that differs from what earlier ones said.
    void keep_version(const HttpAnswer& answer, std::optional<std::uint64_t> bytes);
    ObjectRequest request() const;

    RemoteAddress address_;
    ObjectRequests requests_;
};

/// Keeps an object's size, which a list of objects has.
void learn_object_size(const std::string& address, std::uint64_t bytes);

/// Returns an object's size in bytes, without a request where it is known. @throws as RemoteObject
std::uint64_t object_size(const std::string& address);

}  // namespace bertpretrain
