#pragma once

#include <string>
#include <string_view>

namespace bertpretrain {

/// Returns the version of the loaded HDF5 library, e.g. "1.10.8".
std::string hdf5_version();

/// Returns what to add to the library's reason for not opening something, if a newer library may have written it: the version of
/// this one, and how to convert the file. Empty for other reasons.
std::string advice_on_newer_hdf5(std::string_view reason);

}  // namespace bertpretrain
