#pragma once
// Gets the file positions of a dataset's chunks from the HDF5 library.

#include <cstdint>
#include <string>

#include "shards/chunked_dataset.h"
#include "shards/hdf5_handle.h"
#include "shards/shard_format.h"

namespace bertpretrain {

/// Returns the chunks of a dataset that open_dataset() accepted. The list is empty if only the library can read the dataset:
/// it is not chunked, has other values than plain little-endian integers, uses fletcher32 checksums, or some chunks were never
/// written. The caller must hold the Hdf5Lock.
/// @param what prefix of every error message
/// @throws DataError if chunks lie outside the file, or there are more than the file can hold
ChunkedDataset find_chunks(hid_t dataset, const DatasetShape& shape, std::uint64_t file_bytes, const std::string& what);

}  // namespace bertpretrain
