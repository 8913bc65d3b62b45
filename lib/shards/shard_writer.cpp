#include "shards/shard_writer.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <zlib.h>

#include "core/error.h"
#include "core/files.h"
#include "core/threads.h"
#include "shards/shard_format.h"

namespace bertpretrain {
namespace {

using Bytes = std::vector<unsigned char>;
/// The compressed chunk of each dataset.
using Band = std::array<Bytes, dataset_formats.size()>;

/// What HDF5's own deflate filter would make of a chunk; done here so that it runs on all cores.
template <class Value>
Bytes compress_chunk(const std::vector<Value>& values) {
    const auto raw_bytes = static_cast<uLong>(values.size() * sizeof(Value));
    uLongf bytes = ::compressBound(raw_bytes);
    Bytes chunk(bytes);
    const int result =
        ::compress2(chunk.data(), &bytes, reinterpret_cast<const Bytef*>(values.data()), raw_bytes, int{deflate_level});
    check(result == Z_OK, "zlib's compress2 returned ", result);
    chunk.resize(bytes);
    chunk.shrink_to_fit();
    return chunk;
}

Band compress_band(ShardRows rows, const ShardSize& size, std::int64_t band_rows) {
    Band band;
    for_each_dataset(rows, [&](std::size_t index, auto& values) {
        const std::int64_t columns = columns_of(dataset_formats[index].columns, size.sequence_length, size.max_predictions);
        check(static_cast<std::int64_t>(values.size()) == rows.rows * columns, "rows of another shape than the shard's");
        values.resize(static_cast<std::size_t>(band_rows * columns));  // the last chunk is filled up
        band[index] = compress_chunk(values);
    });
    return band;
}

void require(bool succeeded, const std::filesystem::path& file) {
    if (!succeeded) throw DataError(concat(file.string(), ": cannot be written: ", hdf5_reason()));
}

/// The bytes of the HDF5 file, made in memory: a full disk then cannot leave the library in the middle of something.
std::string file_image(const std::filesystem::path& file, const ShardSize& size, std::int64_t band_rows,
                       std::vector<Band> bands) {
    const Hdf5Lock lock;
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS)), creation(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_fapl_core(access.get(), std::size_t{16} << 20, false);
    H5Pset_obj_track_times(creation.get(), false);
    const Hdf5Handle image(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
    require(static_cast<bool>(image), file);
    for (std::size_t d = 0; d < dataset_formats.size(); ++d) {
        const std::int64_t columns = columns_of(dataset_formats[d].columns, size.sequence_length, size.max_predictions);
        const Hdf5Handle dataset = create_dataset(image.get(), dataset_formats[d], size.rows, columns, band_rows);
        require(static_cast<bool>(dataset), file);
        for (std::size_t b = 0; b < bands.size(); ++b) {
            const std::array offset{static_cast<hsize_t>(b) * static_cast<hsize_t>(band_rows), hsize_t{0}};
            const Bytes chunk = std::move(bands[b][d]);
            require(H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, offset.data(), chunk.size(), chunk.data()) >= 0, file);
        }
    }
    require(H5Fflush(image.get(), H5F_SCOPE_GLOBAL) >= 0, file);
    const ssize_t bytes = H5Fget_file_image(image.get(), nullptr, 0);
    require(bytes > 0, file);
    std::string content(static_cast<std::size_t>(bytes), '\0');
    require(H5Fget_file_image(image.get(), content.data(), content.size()) == bytes, file);
    return content;
}

}  // namespace

void write_shard(const std::filesystem::path& file, const ShardSize& size,
                 const std::function<ShardRows(std::int64_t first, std::int64_t count)>& rows_of, std::size_t threads) {
    check(size.rows > 0 && size.sequence_length > 0 && size.max_predictions > 0, "a shard has at least one row");
    const std::int64_t band_rows = band_rows_to_write(size.rows, size.sequence_length);
    std::vector<Band> bands(static_cast<std::size_t>((size.rows + band_rows - 1) / band_rows));
    for_each_index(bands.size(), threads, [&](std::size_t b) {
        const std::int64_t first = static_cast<std::int64_t>(b) * band_rows;
        bands[b] = compress_band(rows_of(first, std::min(band_rows, size.rows - first)), size, band_rows);
    });
    write_atomically(file, file_image(file, size, band_rows, std::move(bands)));
}

}  // namespace bertpretrain
