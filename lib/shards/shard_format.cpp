#include "shards/shard_format.h"

#include <algorithm>

#include "core/error.h"
#include "core/strings.h"
#include "shards/chunked_dataset.h"
#include "shards/hdf5_version.h"

namespace bertpretrain {
namespace {

constexpr std::uint64_t largest_chunk_bytes = std::uint64_t{1} << 30;
constexpr std::int64_t most_rows = std::int64_t{1} << 40;

/// Refuses links to other files. Otherwise a shard could make us read any file on this machine.
void refuse_foreign_storage(hid_t file, const DatasetFormat& format, const std::string& what) {
    if (H5Lexists(file, format.name, H5P_DEFAULT) <= 0)
        throw DataError(concat(what,
                               " is missing; a shard must contain input_ids, input_mask, segment_ids, masked_lm_positions, "
                               "masked_lm_ids, and next_sentence_labels unless it is for masked words alone"));
    H5L_info_t link;
    if (H5Lget_info(file, format.name, &link, H5P_DEFAULT) < 0) throw DataError(concat(what, " is damaged: ", hdf5_reason()));
    if (link.type != H5L_TYPE_HARD)
        throw DataError(concat(what, " is a link to somewhere else; a shard must contain its own data"));
}

void read_extent(hid_t dataset, const DatasetFormat& format, const std::string& what, DatasetShape& shape) {
    const Hdf5Handle space(H5Dget_space(dataset));
    const int expected_rank = format.columns == Columns::none ? 1 : 2;
    const int rank = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
    if (rank != expected_rank) throw DataError(concat(what, " has ", rank, " dimensions, expected ", expected_rank));
    std::array<hsize_t, 2> sizes{0, 1};
    H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
    if (sizes[0] == 0 || sizes[1] == 0) throw DataError(concat(what, " is empty; remove this shard or build it again"));
    if (sizes[0] > hsize_t{most_rows} || sizes[1] > hsize_t{longest_sequence})
        throw DataError(concat(what, " claims ", sizes[0], " x ", sizes[1], " values; expected at most ", most_rows, " x ",
                               longest_sequence));
    shape.rows = static_cast<std::int64_t>(sizes[0]);
    shape.columns = static_cast<std::int64_t>(sizes[1]);
}

std::string_view type_name(H5T_class_t type) {
    return type == H5T_FLOAT      ? "floating-point numbers"
           : type == H5T_STRING   ? "strings"
           : type == H5T_COMPOUND ? "records of several fields"
           : type == H5T_VLEN     ? "lists of different lengths"
                                  : "values of another type";
}

/// Returns the size of a stored value in bytes.
std::uint64_t stored_value_bytes(hid_t dataset, const std::string& what) {
    const Hdf5Handle type = integer_type(dataset);
    if (const H5T_class_t found = H5Tget_class(type.get()); found != H5T_INTEGER)
        throw DataError(concat(what, " contains ", type_name(found), ", expected integers"));
    const std::size_t bytes = H5Tget_size(type.get());
    if (bytes < 1 || bytes > 8) throw DataError(concat(what, " has integers of ", bytes, " bytes, expected 1 to 8"));
    return bytes;
}

/// @returns whether the chunks are deflated
bool check_filters(hid_t properties, const std::string& what) {
    int deflates = 0;
    for (int i = 0; i < H5Pget_nfilters(properties); ++i) {
        unsigned flags = 0, config = 0;
        std::size_t values = 0;
        const H5Z_filter_t filter =
            H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config);
        if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
            throw DataError(concat(what, " uses HDF5 filter ", filter, "; expected gzip (1), shuffle (2) or fletcher32 (3)",
                                   "\n  do: rewrite the file with `h5repack -f GZIP=4 OLD NEW`"));
        deflates += filter == H5Z_FILTER_DEFLATE ? 1 : 0;
    }
    if (deflates > 1) throw DataError(concat(what, " is compressed ", deflates, " times; expected at most once"));
    return deflates == 1;
}

void check_storage(hid_t dataset, std::uint64_t file_bytes, const std::string& what, DatasetShape& shape) {
    const Hdf5Handle properties(H5Dget_create_plist(dataset));
    const H5D_layout_t layout = properties ? H5Pget_layout(properties.get()) : H5D_LAYOUT_ERROR;
    if (layout != H5D_CHUNKED && layout != H5D_CONTIGUOUS && layout != H5D_COMPACT)
        throw DataError(concat(what, " is not stored in this file (a virtual dataset, or damaged)"));
    if (H5Pget_external_count(properties.get()) != 0)
        throw DataError(concat(what, " keeps its values in another file; a shard must contain its own data"));
    const bool deflated = check_filters(properties.get(), what);
    const std::uint64_t value_bytes = stored_value_bytes(dataset, what);
    if (layout == H5D_CHUNKED) {
        std::array<hsize_t, 2> chunk{1, 1};
        H5Pget_chunk(properties.get(), 2, chunk.data());
        const std::uint64_t limit = largest_chunk_bytes / value_bytes;
        if (chunk[0] == 0 || chunk[1] == 0 || chunk[0] > limit || chunk[1] > limit / chunk[0])
            throw DataError(concat(what, " has chunks of ", chunk[0], " x ", chunk[1], " values; at most 1 GiB is allowed"));
        shape.chunk_rows = static_cast<std::int64_t>(chunk[0]);
        shape.chunk_columns = static_cast<std::int64_t>(chunk[1]);
    }
    const std::uint64_t stored = H5Dget_storage_size(dataset);
    const std::uint64_t values = static_cast<std::uint64_t>(shape.rows) * static_cast<std::uint64_t>(shape.columns);
    if (stored > file_bytes || values > stored * (deflated ? largest_deflate_ratio : 1) / value_bytes)
        throw DataError(concat(what, " claims ", shape.rows, " x ", shape.columns, " values, but ", bytes_text(stored),
                               " are stored in a file of ", bytes_text(file_bytes), "; the file is cut short or damaged"));
}

}  // namespace

Hdf5Handle integer_type(hid_t dataset) {
    Hdf5Handle type(H5Dget_type(dataset));
    return H5Tget_class(type.get()) == H5T_ENUM ? Hdf5Handle(H5Tget_super(type.get())) : std::move(type);
}

std::int64_t band_rows_to_write(std::int64_t rows, std::int64_t sequence_length) {
    return std::min(rows, std::max<std::int64_t>(1, 131'072 / sequence_length));
}

Hdf5Handle create_dataset(hid_t file, const DatasetFormat& format, std::int64_t rows, std::int64_t columns,
                          std::int64_t band_rows) {
    const int rank = format.columns == Columns::none ? 1 : 2;
    const std::array sizes{static_cast<hsize_t>(rows), static_cast<hsize_t>(columns)};
    const std::array chunk{static_cast<hsize_t>(band_rows), static_cast<hsize_t>(columns)};
    const Hdf5Handle space(H5Screate_simple(rank, sizes.data(), nullptr));
    const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(properties.get(), rank, chunk.data());
    if (format.value_bytes > 1) H5Pset_shuffle(properties.get());
    H5Pset_deflate(properties.get(), deflate_level);
    H5Pset_obj_track_times(properties.get(), false);  // timestamps would make the bytes differ
    const hid_t type = format.value_bytes == 4 ? H5T_STD_I32LE : H5T_STD_I8LE;
    return Hdf5Handle(H5Dcreate2(file, format.name, type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT));
}

Hdf5Handle open_dataset(hid_t file, const DatasetFormat& format, std::uint64_t file_bytes, const std::string& where,
                        DatasetShape& shape) {
    const std::string what = concat(where, ": dataset \"", format.name, "\"");
    refuse_foreign_storage(file, format, what);
    Hdf5Handle dataset(H5Dopen2(file, format.name, H5P_DEFAULT));
    if (!dataset) {
        const std::string reason = hdf5_reason();
        throw DataError(concat(what, " cannot be opened: ", reason, advice_on_newer_hdf5(reason)));
    }
    read_extent(dataset.get(), format, what, shape);
    check_storage(dataset.get(), file_bytes, what, shape);
    return dataset;
}

}  // namespace bertpretrain
