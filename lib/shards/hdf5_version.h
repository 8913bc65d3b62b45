#pragma once

#include <string>

namespace bertpretrain {

/// Returns the version of the loaded HDF5 library, e.g. "1.10.8".
std::string hdf5_version();

}  // namespace bertpretrain
