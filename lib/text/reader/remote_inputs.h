#pragma once
// The objects that an address names as inputs.

#include <filesystem>
#include <string>
#include <vector>

namespace bertpretrain {

/// Returns the addresses of the objects that an address names: s3://BUCKET/KEY and https://HOST/PATH itself; for
/// s3://BUCKET/FOLDER/ all objects below it; for hf://datasets/OWNER/NAME/PATH the file, or all files below the folder, of the
/// dataset without its README.md. Those of folders are sorted as paths are, and have the same names left out as files of local
/// folders. Learns their sizes.
/// @throws DataError when an object is missing or a folder has none
/// @throws ConfigError for an invalid address, and for a folder of an http server, which has no lists
/// @throws ConfigError, DistributedError as RemoteObject
std::vector<std::filesystem::path> remote_inputs(const std::string& address);

}  // namespace bertpretrain
