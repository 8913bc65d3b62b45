#include "shards/shard_reader.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/error.h"
#include "shards/shard_format.h"

namespace bertpretrain {
namespace {

/// Rows read together where no chunk says it.
constexpr std::int64_t default_band_rows = 1024;

Hdf5Handle open_file(const std::filesystem::path& file) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS));
#if H5_VERSION_GE(1, 10, 7)
    H5Pset_file_locking(access.get(), false, true);  // shards do not change, and many cluster file systems have no locks
#endif
    Hdf5Handle handle(H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.get()));
    if (!handle) throw DataError(concat(file.string(), ": is not a readable HDF5 file: ", hdf5_reason()));
    return handle;
}

/// Graphcore's and Habana's packed files share our datasets' names with another meaning.
void refuse_packed_file(hid_t file, const std::string& where) {
    if (H5Lexists(file, "next_sentence_positions", H5P_DEFAULT) > 0)
        throw DataError(concat(where, ": holds packed rows (several sequences in one); expected one sequence per row",
                               "\n  do: use the files from before packing"));
}

template <class Value>
hid_t memory_type() {
    if constexpr (std::is_same_v<Value, std::int32_t>) return H5T_NATIVE_INT32;
    else return H5T_NATIVE_INT8;
}

}  // namespace

struct ShardReader::Impl {
    std::filesystem::path file;
    Hdf5Handle handle;
    std::array<Hdf5Handle, dataset_formats.size()> datasets;
    std::array<DatasetShape, dataset_formats.size()> shapes;
    std::int64_t band_rows = 0;

    void require_agreement(std::size_t index, std::size_t with) const {
        const DatasetShape &found = shapes[index], &expected = shapes[with];
        const bool same_columns =
            dataset_formats[index].columns != dataset_formats[with].columns || found.columns == expected.columns;
        if (found.rows == expected.rows && same_columns) return;
        throw DataError(concat(file.string(), ": dataset \"", dataset_formats[index].name, "\" is ", found.rows, " x ",
                               found.columns, ", but \"", dataset_formats[with].name, "\" is ", expected.rows, " x ",
                               expected.columns));
    }
};

ShardReader::ShardReader(const std::filesystem::path& file) : impl_(std::make_unique<Impl>()) {
    std::error_code failure;
    const std::uint64_t file_bytes = std::filesystem::file_size(file, failure);
    if (failure) throw DataError(concat(file.string(), ": cannot be read (", failure.message(), ")"));
    const Hdf5Lock lock;
    impl_->file = file;
    impl_->handle = open_file(file);
    refuse_packed_file(impl_->handle.get(), file.string());
    for (std::size_t i = 0; i < dataset_formats.size(); ++i) {
        DatasetShape& shape = impl_->shapes[i];
        impl_->datasets[i] = open_dataset(impl_->handle.get(), dataset_formats[i], file_bytes, file.string(), shape);
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
std::int64_t ShardReader::rows() const { return impl_->shapes[0].rows; }
std::int64_t ShardReader::sequence_length() const { return impl_->shapes[0].columns; }
std::int64_t ShardReader::max_predictions() const { return impl_->shapes[3].columns; }
std::int64_t ShardReader::band_rows() const { return impl_->band_rows; }

ShardRows ShardReader::read(std::int64_t first, std::int64_t count) const {
    check(first >= 0 && count >= 0 && first <= rows() && count <= rows() - first, "rows [", first, ", ", first + count, ") of ",
          rows(), " in ", file().string());
    ShardRows result;
    result.rows = count;
    result.sequence_length = sequence_length();
    result.max_predictions = max_predictions();
    if (count == 0) return result;
    for_each_dataset(result, [&](std::size_t index, auto& values) {
        using Value = typename std::remove_cvref_t<decltype(values)>::value_type;
        const std::int64_t columns = impl_->shapes[index].columns;
        values.resize(static_cast<std::size_t>(count * columns));
        const std::array start{static_cast<hsize_t>(first), hsize_t{0}};
        const std::array extent{static_cast<hsize_t>(count), static_cast<hsize_t>(columns)};
        const int rank = dataset_formats[index].columns == Columns::none ? 1 : 2;

        const Hdf5Lock lock;
        const hid_t dataset = impl_->datasets[index].get();
        const Hdf5Handle in_file(H5Dget_space(dataset)), in_memory(H5Screate_simple(rank, extent.data(), nullptr));
        H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
        // A wider integer type is narrowed by clamping, so a value out of range stays out of range for check_rows.
        if (H5Dread(dataset, memory_type<Value>(), in_memory.get(), in_file.get(), H5P_DEFAULT, values.data()) < 0)
            throw DataError(concat(file().string(), ": dataset \"", dataset_formats[index].name, "\": rows ", first, " to ",
                                   first + count - 1, " cannot be read: ", hdf5_reason(),
                                   "\n  do: copy or build this shard again"));
    });
    return result;
}

}  // namespace bertpretrain
