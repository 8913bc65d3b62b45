#pragma once
// Asks the HDF5 library where a dataset's chunks lie.

#include <cstdint>
#include <string>

#include "shards/chunked_dataset.h"
#include "shards/hdf5_handle.h"
#include "shards/shard_format.h"

namespace bertpretrain {

/// The chunks of a dataset that open_dataset() found good. Without chunks where only the library can read it: it is not
/// chunked, its integers are no plain little-endian ones, its chunks carry checksums (fletcher32), or some were never written.
/// Needs the Hdf5Lock.
/// @param what begins every message
/// @throws DataError for chunks that are outside the file, or more than it can hold
ChunkedDataset find_chunks(hid_t dataset, const DatasetShape& shape, std::uint64_t file_bytes, const std::string& what);

}  // namespace bertpretrain
