#pragma once
// The shard file format: dataset names, types and chunks are defined only here. The layout is NVIDIA's (DeepLearningExamples,
// PyTorch/LanguageModeling/BERT, create_pretraining_data.py), except that our chunks are bands of whole rows.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "shards/hdf5_handle.h"
#include "shards/shard_rows.h"

namespace bertpretrain {

enum class Columns { none, sequence, predictions };

/// One dataset. We write little-endian signed integers of `value_bytes` bytes.
struct DatasetFormat {
    const char* name;
    Columns columns;
    std::size_t value_bytes;
};

/// In the order of the members of ShardRows.
inline constexpr std::array<DatasetFormat, 6> dataset_formats{{
    {"input_ids", Columns::sequence, 4},
    {"input_mask", Columns::sequence, 1},
    {"segment_ids", Columns::sequence, 1},
    {"masked_lm_positions", Columns::predictions, 4},
    {"masked_lm_ids", Columns::predictions, 4},
    {"next_sentence_labels", Columns::none, 1},
}};

/// The dataset that shards for masked words alone lack.
inline constexpr std::size_t label_index = 5;

inline constexpr unsigned deflate_level = 4;  ///< recorded in the file; readers do not need it
inline constexpr std::int64_t longest_sequence = 65'536;

/// Returns the number of rows in a chunk that we write: about 512 KiB of token ids, which fit the library's default cache.
std::int64_t band_rows_to_write(std::int64_t rows, std::int64_t sequence_length);

/// Returns the number of values per row.
constexpr std::int64_t columns_of(Columns columns, std::int64_t sequence_length, std::int64_t max_predictions) {
    return columns == Columns::none ? 1 : columns == Columns::sequence ? sequence_length : max_predictions;
}

/// Calls visit(dataset index, values) for each member of a ShardRows.
template <class Rows, class Visit>
void for_each_dataset(Rows& rows, Visit&& visit) {
    visit(std::size_t{0}, rows.input_ids_RS);
    visit(std::size_t{1}, rows.input_mask_RS);
    visit(std::size_t{2}, rows.segment_ids_RS);
    visit(std::size_t{3}, rows.masked_lm_positions_RP);
    visit(std::size_t{4}, rows.masked_lm_ids_RP);
    visit(std::size_t{5}, rows.next_sentence_labels_R);
}

/// Returns the type of a dataset's values, of an enumeration the type of its integers: h5py stores NumPy's bool as one, with
/// FALSE = 0 and TRUE = 1. The caller must hold the Hdf5Lock.
Hdf5Handle integer_type(hid_t dataset);

/// Creates a dataset in a new file for compressed chunks of `band_rows` rows. The caller must hold the Hdf5Lock.
Hdf5Handle create_dataset(hid_t file, const DatasetFormat& format, std::int64_t rows, std::int64_t columns,
                          std::int64_t band_rows);

/// The shape of a dataset as the file declares it.
struct DatasetShape {
    std::int64_t rows = 0, columns = 1;
    std::int64_t chunk_rows = 0, chunk_columns = 1;  ///< chunk_rows is 0 if the dataset is not chunked
};

/// Opens a dataset and checks all that is possible without reading values: that it is stored in this file, its rank, type and
/// filters, and that the file is large enough for it. Sets `shape`. The caller must hold the Hdf5Lock.
/// @param where the file's name, prefix of every message
/// @throws DataError if a check fails
Hdf5Handle open_dataset(hid_t file, const DatasetFormat& format, std::uint64_t file_bytes, const std::string& where,
                        DatasetShape& shape);

}  // namespace bertpretrain
