#pragma once
// Addresses of objects that are read as input files: s3://BUCKET/KEY, http(s)://HOST/PATH and hf://datasets/OWNER/NAME/PATH.

#include <string>
#include <string_view>

#include "storage/object_requests.h"

namespace bertpretrain {

/// Whether an input's path is such an address.
bool is_remote_address(std::string_view path);

/// @throws ConfigError for another scheme, an invalid bucket or host, a user name, a password, or the query of an http address,
/// because addresses are written into records of lineage; and for hf:// without OWNER/NAME, or with an unusable token
RemoteAddress parse_remote_address(const std::string& text);

}  // namespace bertpretrain
