#include "shards/shard_reader.h"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <span>
#include <type_traits>

#include "core/error.h"
#include "core/files/random_access_file.h"
#include "core/output/log.h"
#include "core/threads/threads.h"
#include "shards/chunk_map.h"
#include "shards/hdf5_version.h"
#include "shards/shard_format.h"
#include "text/formats/foreign_file.h"

namespace bertpretrain {
namespace {

/// Rows to read at once if the datasets are not chunked.
constexpr std::int64_t default_band_rows = 1024;

Hdf5Handle open_file(const std::filesystem::path& file) {
    const Hdf5Handle access = file_access();  // closing it forgets the reason of a failure
    Hdf5Handle handle(H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.get()));
    if (handle) return handle;
    const std::string reason = hdf5_reason();
    constexpr std::string_view expected = "an HDF5 file";
    if (const auto found = known_file_at(file); found && found->name != expected)
        throw DataError(refusal_of(file.string(), *found, expected));
    throw DataError(concat(file.string(), ": is not a readable HDF5 file: ", reason, advice_on_newer_hdf5(reason)));
}

/// Refuses Graphcore's and Habana's packed files, whose datasets have our names but another meaning.
void refuse_packed_file(hid_t file, const std::string& where) {
    if (H5Lexists(file, "next_sentence_positions", H5P_DEFAULT) > 0)
        throw DataError(concat(where, ": contains packed rows (several sequences in one); expected one sequence per row",
                               "\n  do: use the unpacked files"));
}

std::string dataset_name(const std::filesystem::path& file, std::size_t index) {
    return concat(file.string(), ": dataset \"", dataset_formats[index].name, "\"");
}

constexpr std::size_t input_mask_index = 1;
static_assert(std::string_view(dataset_formats[input_mask_index].name) == "input_mask");
static_assert(std::string_view(dataset_formats[label_index].name) == "next_sentence_labels");

template <class Value>
hid_t memory_type() {
    if constexpr (std::is_same_v<Value, std::int32_t>) return H5T_NATIVE_INT32;
    else return H5T_NATIVE_INT8;
}

}  // namespace

struct ShardReader::Impl {
    std::filesystem::path file;
    std::optional<std::int64_t> crc32;
    std::uint64_t bytes = 0;
    std::mutex mutex;       // protects `identity`
    FileIdentity identity;  // last identity known to have the expected bytes
    std::array<ChunkedDataset, dataset_formats.size()> datasets;
    std::int64_t band_rows = 0;
    bool has_labels = true;

    void require_agreement(std::size_t index, std::size_t with) const {
        const ChunkedDataset &found = datasets[index], &expected = datasets[with];
        const bool same_columns =
            dataset_formats[index].columns != dataset_formats[with].columns || found.columns == expected.columns;
        if (found.rows == expected.rows && same_columns) return;
        throw DataError(concat(dataset_name(file, index), " is ", found.rows, " x ", found.columns, ", but \"",
                               dataset_formats[with].name, "\" is ", expected.rows, " x ", expected.columns));
    }

    /// Reads a dataset through the HDF5 library.
    template <class Value>
    void read_by_library(std::size_t index, std::int64_t first, std::span<Value> values) const {
        const ChunkedDataset& dataset = datasets[index];
        const auto rows = static_cast<hsize_t>(values.size()) / static_cast<hsize_t>(dataset.columns);
        const std::array start{static_cast<hsize_t>(first), hsize_t{0}};
        const std::array extent{rows, static_cast<hsize_t>(dataset.columns)};
        const int rank = dataset_formats[index].columns == Columns::none ? 1 : 2;

        const Hdf5Lock lock;
        const Hdf5Handle handle = open_file(file);
        DatasetShape shape;
        const Hdf5Handle opened = open_dataset(handle.get(), dataset_formats[index], bytes, file.string(), shape);
        if (shape.rows != dataset.rows || shape.columns != dataset.columns) refuse_changed();
        const Hdf5Handle in_file(H5Dget_space(opened.get())), in_memory(H5Screate_simple(rank, extent.data(), nullptr));
        H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
        // HDF5 clamps wider integers, so check_rows still finds a value that is out of range.
        if (H5Dread(opened.get(), memory_type<Value>(), in_memory.get(), in_file.get(), H5P_DEFAULT, values.data()) < 0)
            throw DataError(concat(dataset.what, ": rows ", start[0], " to ", start[0] + rows - 1,
                                   " cannot be read: ", hdf5_reason(), "\n  do: copy or build this shard again"));
    }

    /// Checks that the opened file still has the bytes that the constructor saw. If its identity changed, reads the whole file
    /// to compare the checksum, one caller at a time. @throws DataError if the bytes differ
    void require_same(const RandomAccessFile& opened) {
        const std::lock_guard lock(mutex);
        if (opened.identity() == identity) return;
        if (!crc32 || opened.identity().bytes != bytes || opened.crc32() != *crc32) refuse_changed();
        identity = opened.identity();
        log_info(concat(file.string(), ": was copied or mounted again; its checksum is unchanged, so reading continues"));
    }

    [[noreturn]] void refuse_changed() const {
        throw DataError(
            concat(file.string(), ": has changed since it was opened\n  do: do not modify shards while a run reads them"));
    }
};

ShardReader::ShardReader(const std::filesystem::path& file, std::optional<std::int64_t> crc32) : impl_(std::make_unique<Impl>()) {
    impl_->file = file;
    impl_->crc32 = crc32;
    impl_->identity = RandomAccessFile(file).identity();
    impl_->bytes = impl_->identity.bytes;
    const Hdf5Lock lock;
    const Hdf5Handle handle = open_file(file);
    refuse_packed_file(handle.get(), file.string());
    impl_->has_labels = H5Lexists(handle.get(), dataset_formats[label_index].name, H5P_DEFAULT) != 0;
    for (std::size_t i = 0; i < dataset_formats.size(); ++i) {
        if (i == label_index && !impl_->has_labels) continue;
        DatasetShape shape;
        const Hdf5Handle dataset = open_dataset(handle.get(), dataset_formats[i], impl_->bytes, file.string(), shape);
        impl_->datasets[i] = find_chunks(dataset.get(), shape, impl_->bytes, dataset_name(file, i));
        impl_->require_agreement(i, dataset_formats[i].columns == Columns::predictions ? 3 : 0);
        if (dataset_formats[i].columns != Columns::none) impl_->band_rows = std::max(impl_->band_rows, shape.chunk_rows);
    }
    impl_->require_agreement(3, 0);
    if (impl_->band_rows == 0) impl_->band_rows = default_band_rows;
    impl_->band_rows = std::min(impl_->band_rows, rows());
}

ShardReader::~ShardReader() = default;
ShardReader::ShardReader(ShardReader&&) noexcept = default;
ShardReader& ShardReader::operator=(ShardReader&&) noexcept = default;

const std::filesystem::path& ShardReader::file() const { return impl_->file; }
std::int64_t ShardReader::rows() const { return impl_->datasets[0].rows; }
std::int64_t ShardReader::sequence_length() const { return impl_->datasets[0].columns; }
std::int64_t ShardReader::max_predictions() const { return impl_->datasets[3].columns; }
bool ShardReader::has_labels() const { return impl_->has_labels; }
std::int64_t ShardReader::band_rows() const { return impl_->band_rows; }

ShardRows ShardReader::read(std::int64_t first, std::int64_t count, std::size_t threads, Part part) const {
    check(first >= 0 && count >= 0 && first <= rows() && count <= rows() - first, "rows [", first, ", ", first + count, ") of ",
          rows(), " in ", file().string());
    ShardRows result;
    result.rows = count;
    result.sequence_length = sequence_length();
    result.max_predictions = max_predictions();
    if (count == 0) return result;
    const RandomAccessFile bytes(file());
    impl_->require_same(bytes);
    const ReadAt read_at = [&](std::uint64_t offset, std::span<unsigned char> to) { bytes.read_at(offset, to); };

    std::vector<std::function<void()>> allocations, tasks;
    for_each_dataset(result, [&](std::size_t index, auto& values) {
        const ChunkedDataset& dataset = impl_->datasets[index];
        if (part == Part::input_mask && index != input_mask_index) return;
        if (index == label_index && !has_labels()) return;
        allocations.push_back([&, count] { values.resize(static_cast<std::size_t>(count * dataset.columns)); });
        if (dataset.chunks.empty())
            tasks.push_back([&, index, first] { impl_->read_by_library(index, first, std::span(values)); });
        else
            for (const ChunkGroup& group : groups_of(dataset, first, count))
                tasks.push_back([&, group, first] { read_group(dataset, group, read_at, first, std::span(values)); });
    });
    // Allocating costs about as much as inflating (page faults), so the threads share that work too.
    for_each_index(allocations.size(), threads, [&](std::size_t i) { allocations[i](); });
    for_each_index(tasks.size(), threads, [&](std::size_t i) { tasks[i](); });
    return result;
}

}  // namespace bertpretrain
