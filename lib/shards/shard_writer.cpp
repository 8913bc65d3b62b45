#include "shards/shard_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files.h"
#include "core/threads.h"
#include "shards/chunk_compression.h"
#include "shards/sample.h"

namespace bertpretrain {
namespace {

/// The compressed chunk of each dataset.
using Band = std::array<std::vector<std::byte>, dataset_formats.size()>;

constexpr std::uint64_t reserved_at_once = std::uint64_t{8} << 20;
/// What HDF5 may add of its own (headers, index nodes) for one band, and at the end.
constexpr std::uint64_t library_bytes = std::uint64_t{256} << 10;

Band compress_band(ShardRows rows, std::int64_t band_rows) {
    Band band;
    for_each_dataset(rows, [&](std::size_t index, auto& values) {
        const std::int64_t columns = columns_of(dataset_formats[index].columns, rows.sequence_length, rows.max_predictions);
        check(static_cast<std::int64_t>(values.size()) == rows.rows * columns, "rows of another shape than the shard's");
        values.resize(static_cast<std::size_t>(band_rows * columns));  // the last chunk is filled up
        band[index] = compress_chunk(std::span(std::as_const(values)));
    });
    return band;
}

void require(bool succeeded, const std::filesystem::path& file) {
    if (!succeeded) throw DataError(concat(file.string(), ": cannot be written: ", hdf5_reason()));
}

[[noreturn]] void refuse(const std::filesystem::path& file, int reason) {
    throw DataError(concat(file.string(), ": cannot be written (", std::strerror(reason), ")",
                           reason == ENOSPC || reason == EDQUOT ? "\n  do: make room, then run the same command again" : ""));
}

}  // namespace

ShardWriter::ShardWriter(const std::filesystem::path& file, const ShardSize& size)
    : file_(file), size_(size), band_rows_(band_rows_to_write(size.rows, size.sequence_length)) {
    check(size.rows > 0 && size.sequence_length > 0 && size.max_predictions > 0, "a shard has at least one row");
    rest_ = blank_rows(0, size.sequence_length, size.max_predictions);
    const Hdf5Lock lock;
    const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_obj_track_times(creation.get(), false);
    hdf5_ = Hdf5Handle(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, creation.get(), H5P_DEFAULT));
    require(static_cast<bool>(hdf5_), file_);
    descriptor_ = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) refuse(file_, errno);
    reserve(0);
    for (std::size_t d = 0; d < dataset_formats.size(); ++d) {
        const std::int64_t columns = columns_of(dataset_formats[d].columns, size.sequence_length, size.max_predictions);
        datasets_[d] = create_dataset(hdf5_.get(), dataset_formats[d], size.rows, columns, band_rows_);
        require(static_cast<bool>(datasets_[d]), file_);
    }
}

ShardWriter::~ShardWriter() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

/// Takes the room on the disk before HDF5 writes: a full disk is then found here and not in the middle of the library, which
/// does not get over it. Needs the Hdf5Lock.
void ShardWriter::reserve(std::size_t bytes) {
    hsize_t used = 0;
    require(H5Fget_filesize(hdf5_.get(), &used) >= 0, file_);
    const std::uint64_t wanted = used + bytes + library_bytes;
    if (wanted <= reserved_) return;
    const std::uint64_t needed = wanted - reserved_, generous = std::max(needed, std::min(reserved_at_once, reserved_));
    int failure = 0;
    for (const std::uint64_t more : {generous, needed}) {
        failure = ::posix_fallocate(descriptor_, static_cast<off_t>(reserved_), static_cast<off_t>(more));
        if (failure != 0) continue;
        reserved_ += more;
        return;
    }
    refuse(file_, failure);
}

void ShardWriter::append(std::int64_t count, const RowsOf& rows_of, std::size_t threads) {
    check(written_ + rest_.rows + count <= size_.rows, "more rows than the shard was to have");
    const std::int64_t in_bands = (rest_.rows + count) / band_rows_ * band_rows_ - rest_.rows;  // of the new rows
    if (in_bands <= 0) {
        rest_ = joined_rows(std::move(rest_), rows_of(0, count));
        return;
    }
    write_bands(in_bands, rows_of, threads);
    rest_ = count > in_bands ? rows_of(in_bands, count - in_bands) : blank_rows(0, size_.sequence_length, size_.max_predictions);
}

/// The rest and `count` new rows are whole bands.
void ShardWriter::write_bands(std::int64_t count, const RowsOf& rows_of, std::size_t threads) {
    const std::int64_t before = rest_.rows;
    const auto produce = [&](std::size_t b) {
        const std::int64_t first = static_cast<std::int64_t>(b) * band_rows_ - before;
        if (b > 0 || before == 0) return compress_band(rows_of(first, band_rows_), band_rows_);
        return compress_band(joined_rows(std::move(rest_), rows_of(0, first + band_rows_)), band_rows_);
    };
    const auto write = [&](std::size_t, const Band& band) {
        const Hdf5Lock lock;
        std::size_t bytes = 0;
        for (const auto& chunk : band) bytes += chunk.size();
        reserve(bytes);
        const std::array offset{static_cast<hsize_t>(written_), hsize_t{0}};
        for (std::size_t d = 0; d < band.size(); ++d)
            require(H5Dwrite_chunk(datasets_[d].get(), H5P_DEFAULT, 0, offset.data(), band[d].size(), band[d].data()) >= 0,
                    file_);
        written_ += band_rows_;
    };
    for_each_in_order(static_cast<std::size_t>((before + count) / band_rows_), threads, produce, write);
}

void ShardWriter::finish() {
    check(written_ + rest_.rows == size_.rows, "fewer rows than the shard was to have");
    if (rest_.rows > 0) {
        ShardRows last = std::exchange(rest_, blank_rows(0, size_.sequence_length, size_.max_predictions));
        write_bands(
            band_rows_, [&](std::int64_t, std::int64_t) { return std::move(last); }, 1);
    }
    const Hdf5Lock lock;
    hsize_t bytes = 0;
    require(H5Fflush(hdf5_.get(), H5F_SCOPE_GLOBAL) >= 0, file_);
    require(H5Fget_filesize(hdf5_.get(), &bytes) >= 0, file_);
    datasets_ = {};
    hdf5_ = Hdf5Handle();
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) refuse(file_, errno);  // gives back what was reserved
}

void write_shard(const std::filesystem::path& file, const ShardSize& size, const RowsOf& rows_of, std::size_t threads) {
    write_atomically_at(file, [&](const std::filesystem::path& partial) {
        ShardWriter writer(partial, size);
        writer.append(size.rows, rows_of, threads);
        writer.finish();
    });
}

}  // namespace bertpretrain
