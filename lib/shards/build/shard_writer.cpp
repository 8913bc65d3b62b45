#include "shards/build/shard_writer.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files/disk.h"
#include "core/files/files.h"
#include "core/threads/threads.h"
#include "shards/build/sample.h"
#include "shards/chunk_compression.h"
#include "shards/hdf5_handle.h"
#include "shards/shard_format.h"

namespace bertpretrain {
namespace {

/// The compressed chunk of each dataset.
using Band = std::array<std::vector<std::byte>, dataset_formats.size()>;

constexpr std::uint64_t reserved_at_once = std::uint64_t{8} << 20;
/// Upper limit of what HDF5 itself adds (headers, index nodes) per band and at the end.
constexpr std::uint64_t library_bytes = std::uint64_t{256} << 10;

bool has_dataset(const ShardSize& size, std::size_t index) { return index != label_index || size.has_labels; }

Band compress_band(ShardRows rows, std::int64_t band_rows, const ShardSize& size) {
    Band band;
    for_each_dataset(rows, [&](std::size_t index, auto& values) {
        if (!has_dataset(size, index)) return;
        const std::int64_t columns = columns_of(dataset_formats[index].columns, rows.sequence_length, rows.max_predictions);
        check(static_cast<std::int64_t>(values.size()) == rows.rows * columns, "appended rows have the shard's shape");
        values.resize(static_cast<std::size_t>(band_rows * columns));  // the last chunk is zero-padded
        band[index] = compress_chunk(std::span(std::as_const(values)));
    });
    return band;
}

void require(bool succeeded, const std::filesystem::path& file) {
    if (succeeded) return;
    const std::string reason = hdf5_reason();
    throw DataError(concat(file.string(), ": cannot be written: ", reason, advice_by_text(reason)));
}

[[noreturn]] void refuse(const std::filesystem::path& file, int reason) { throw DataError(failed_write(file, reason)); }

}  // namespace

struct ShardWriter::State {
    State(const std::filesystem::path& new_file, const ShardSize& new_size)
        : file(new_file), size(new_size), band_rows(band_rows_to_write(size.rows, size.sequence_length)) {}
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void begin();
    void append(std::int64_t count, const RowsOf& rows_of, std::size_t threads);
    void write_bands(std::int64_t count, const RowsOf& rows_of, std::size_t threads);
    void finish();
    void reserve(std::size_t bytes);
    ShardRows no_rows() const { return empty_rows(0, size.sequence_length, size.max_predictions, size.has_labels); }

    std::filesystem::path file;
    ShardSize size;
    std::int64_t band_rows;
    int descriptor = -1;
    std::uint64_t reserved = 0;  // bytes of disk space allocated to the file
    Hdf5Handle hdf5;
    std::array<Hdf5Handle, dataset_formats.size()> datasets;
    std::int64_t written = 0;  // rows in whole bands
    ShardRows rest;            // appended rows after those, less than a band
};

void ShardWriter::State::begin() {
    check(size.rows > 0 && size.sequence_length > 0 && size.max_predictions > 0, "a shard has at least one row");
    rest = no_rows();
    const Hdf5Lock lock;
    const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE)), access = file_access();
    H5Pset_obj_track_times(creation.get(), false);
    hdf5 = Hdf5Handle(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
    require(static_cast<bool>(hdf5), file);
    descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) refuse(file, errno);
    reserve(0);
    for (std::size_t d = 0; d < dataset_formats.size(); ++d) {
        if (!has_dataset(size, d)) continue;
        const std::int64_t columns = columns_of(dataset_formats[d].columns, size.sequence_length, size.max_predictions);
        datasets[d] = create_dataset(hdf5.get(), dataset_formats[d], size.rows, columns, band_rows);
        require(static_cast<bool>(datasets[d]), file);
    }
}

ShardWriter::State::~State() {
    if (descriptor >= 0) ::close(descriptor);
}

/// Allocates disk space before HDF5 writes, so that a full disk fails here. The library cannot recover from a failed write.
/// The caller must hold the Hdf5Lock.
void ShardWriter::State::reserve(std::size_t bytes) {
    hsize_t used = 0;
    require(H5Fget_filesize(hdf5.get(), &used) >= 0, file);
    const std::uint64_t wanted = used + bytes + library_bytes;
    if (wanted <= reserved) return;
    const std::uint64_t needed = wanted - reserved, generous = std::max(needed, std::min(reserved_at_once, reserved));
    int failure = 0;
    for (const std::uint64_t more : {generous, needed}) {
        failure = ::posix_fallocate(descriptor, static_cast<off_t>(reserved), static_cast<off_t>(more));
        if (failure != 0) continue;
        reserved += more;
        return;
    }
    refuse(file, failure);
}

void ShardWriter::State::append(std::int64_t count, const RowsOf& rows_of, std::size_t threads) {
    check(written + rest.rows + count <= size.rows, "no more rows are appended than the shard's size");
    const std::int64_t in_bands = (rest.rows + count) / band_rows * band_rows - rest.rows;  // of the new rows
    if (in_bands <= 0) {
        rest = joined_rows(std::move(rest), rows_of(0, count));
        return;
    }
    write_bands(in_bands, rows_of, threads);
    rest = count > in_bands ? rows_of(in_bands, count - in_bands) : no_rows();
}

/// Writes `rest` and `count` new rows, which together are whole bands.
void ShardWriter::State::write_bands(std::int64_t count, const RowsOf& rows_of, std::size_t threads) {
    const std::int64_t before = rest.rows;
    const auto produce = [&](std::size_t b) {
        const std::int64_t first = static_cast<std::int64_t>(b) * band_rows - before;
        if (b > 0 || before == 0) return compress_band(rows_of(first, band_rows), band_rows, size);
        return compress_band(joined_rows(std::move(rest), rows_of(0, first + band_rows)), band_rows, size);
    };
    const auto write = [&](std::size_t, const Band& band) {
        const Hdf5Lock lock;
        std::size_t bytes = 0;
        for (const auto& chunk : band) bytes += chunk.size();
        reserve(bytes);
        const std::array offset{static_cast<hsize_t>(written), hsize_t{0}};
        for (std::size_t d = 0; d < band.size(); ++d)
            if (has_dataset(size, d))
                require(H5Dwrite_chunk(datasets[d].get(), H5P_DEFAULT, 0, offset.data(), band[d].size(), band[d].data()) >= 0,
                        file);
        written += band_rows;
    };
    for_each_in_order(static_cast<std::size_t>((before + count) / band_rows), threads, produce, write);
}

void ShardWriter::State::finish() {
    check(written + rest.rows == size.rows, "all rows are appended before finish()");
    if (rest.rows > 0) {
        ShardRows last = std::exchange(rest, no_rows());
        write_bands(
            band_rows, [&](std::int64_t, std::int64_t) { return std::move(last); }, 1);
    }
    const Hdf5Lock lock;
    hsize_t bytes = 0;
    require(H5Fflush(hdf5.get(), H5F_SCOPE_GLOBAL) >= 0, file);
    require(H5Fget_filesize(hdf5.get(), &bytes) >= 0, file);
    datasets = {};
    require(hdf5.close(), file);
    if (::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) refuse(file, errno);  // frees the unused reservation
}

ShardWriter::ShardWriter(const std::filesystem::path& file, const ShardSize& size) : state_(std::make_unique<State>(file, size)) {
    state_->begin();
}

ShardWriter::~ShardWriter() = default;

void ShardWriter::append(std::int64_t count, const RowsOf& rows_of, std::size_t threads) {
    state_->append(count, rows_of, threads);
}

void ShardWriter::finish() { state_->finish(); }

void write_shard(const std::filesystem::path& file, const ShardSize& size, const RowsOf& rows_of, std::size_t threads) {
    write_atomically_at(file, [&](const std::filesystem::path& partial) {
        ShardWriter writer(partial, size);
        writer.append(size.rows, rows_of, threads);
        writer.finish();
    });
}

}  // namespace bertpretrain
