#pragma once

#include <string>

namespace bertpretrain {

/// The HDF5 library that runs, as in "1.10.8".
std::string hdf5_version();

}  // namespace bertpretrain
