#include "shards/chunk_map.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace bertpretrain {
namespace {

/// Minimum size of a chunk's entry in the file's chunk index.
constexpr std::uint64_t least_entry_bytes = 8;

bool describe_integers(hid_t dataset, ChunkedDataset& description) {
    const Hdf5Handle type = integer_type(dataset);
    const std::size_t bytes = H5Tget_size(type.get());
    if (H5Tget_order(type.get()) != H5T_ORDER_LE || H5Tget_precision(type.get()) != 8 * bytes || H5Tget_offset(type.get()) != 0)
        return false;
    description.value_bytes = static_cast<std::int64_t>(bytes);
    description.is_signed = H5Tget_sign(type.get()) == H5T_SGN_2;
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/// Records the filters. Returns false if they are anything but an optional shuffle followed by an optional deflate.
bool describe_filters(hid_t properties, ChunkedDataset& description) {
    const int filters = H5Pget_nfilters(properties);
    for (int i = 0; i < filters; ++i) {
        unsigned flags = 0, config = 0;
        std::size_t values = 0;
        const H5Z_filter_t filter =
            H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config);
        if (filter == H5Z_FILTER_SHUFFLE && i == 0) description.is_shuffled = true;
        else if (filter == H5Z_FILTER_DEFLATE && i == filters - 1) description.is_deflated = true;
        else return false;
    }
    return true;
}

/// Lists all chunks. Returns false if one was never written or skipped its filters.
bool list_chunks(hid_t dataset, ChunkedDataset& description) {
    for (std::int64_t row = 0; row < description.rows; row += description.chunk_rows)
        for (std::int64_t column = 0; column < description.columns; column += description.chunk_columns) {
            const std::array<hsize_t, 2> place{static_cast<hsize_t>(row), static_cast<hsize_t>(column)};
            unsigned skipped_filters = 0;
            haddr_t offset = HADDR_UNDEF;
            hsize_t bytes = 0;
            if (H5Dget_chunk_info_by_coord(dataset, place.data(), &skipped_filters, &offset, &bytes) < 0)
                throw DataError(concat(description.what, ": its chunk index cannot be read: ", hdf5_reason(),
                                       "\n  do: copy or build this shard again"));
            if (offset == HADDR_UNDEF || skipped_filters != 0) return false;
            description.chunks.push_back({offset, bytes});
        }
    return true;
}

bool has_user_block(hid_t dataset) {
    const Hdf5Handle file(H5Iget_file_id(dataset));
    const Hdf5Handle creation(H5Fget_create_plist(file.get()));
    hsize_t bytes = 0;
    return H5Pget_userblock(creation.get(), &bytes) < 0 || bytes != 0;  // HDF5 versions differ in whether offsets include it
}

}  // namespace

ChunkedDataset find_chunks(hid_t dataset, const DatasetShape& shape, std::uint64_t file_bytes, const std::string& what) {
    ChunkedDataset found;
    found.what = what;
    found.rows = shape.rows;
    found.columns = shape.columns;
    if (shape.chunk_rows == 0) return found;
    found.chunk_rows = shape.chunk_rows;
    found.chunk_columns = shape.chunk_columns;
    const Hdf5Handle properties(H5Dget_create_plist(dataset));
    if (has_user_block(dataset) || !describe_integers(dataset, found) || !describe_filters(properties.get(), found)) return found;
    const std::uint64_t most = 1 + file_bytes / least_entry_bytes;
    const auto down = static_cast<std::uint64_t>(found.chunks_down()), across = static_cast<std::uint64_t>(found.chunks_across());
    if (down > most || across > most / down)
        throw DataError(concat(what, " claims ", down, " x ", across, " chunks in a file of ", file_bytes,
                               " bytes; the file is cut short or damaged"));
    if (list_chunks(dataset, found)) require_plausible(found, file_bytes);
    else found.chunks.clear();
    return found;
}

}  // namespace bertpretrain
