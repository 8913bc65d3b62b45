#pragma once
// Addresses of objects in a store: s3://BUCKET/KEY or http(s)://HOST/PATH.

#include <string>
#include <string_view>

namespace bertpretrain {

/// An object, or a folder of objects.
struct ObjectUrl {
    enum class Kind { s3, http };

    Kind kind = Kind::s3;
    std::string root;  ///< the bucket of s3://, or "https://host:port"
    std::string key;   ///< without a slash at either end; of http, percent-encoded as the user wrote it

    /// Returns the address of `name` in this folder.
    ObjectUrl operator/(std::string_view name) const;
    /// "s3://bucket/key"
    std::string text() const;
    bool operator==(const ObjectUrl&) const = default;
};

/// Whether a path in the settings names an object store instead of a folder.
bool is_object_url(std::string_view path);

/// @param setting the beginning of an error message, such as "data.training_shards"
/// @throws ConfigError for another scheme, an invalid bucket or host, a user name, a password or a query. Credentials are not
/// accepted here, because settings are written into the run's folder.
ObjectUrl parse_object_url(std::string_view text, std::string_view setting);

/// Percent-encodes all bytes but unreserved characters. @param kept other characters that stay as they are
std::string percent_encoded(std::string_view text, std::string_view kept = "");

}  // namespace bertpretrain
