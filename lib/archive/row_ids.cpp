#include "archive/row_ids.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "archive/vector_file.h"
#include "core/error.h"
#include "shards/hdf5_handle.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_count(const fs::path& file, std::int64_t found, std::int64_t rows) {
    throw DataError(concat(file.string(), ": has ", found, " ids, and the vectors have ", rows, " rows; expected as many",
                           "\n  do: make the vectors again"));
}

/// The ids of one file of vectors, if it has any.
class IdSource {
public:
    virtual ~IdSource() = default;
    /// Returns `count` ids from a row on. Rows must be asked for in ascending order. @throws DataError
    virtual std::vector<std::string> read(std::int64_t first, std::int64_t count) = 0;
};

class H5Ids final : public IdSource {
public:
    /// @param hdf5 the open file, which has ids
    H5Ids(const fs::path& file, Hdf5Handle hdf5, std::int64_t rows)
        : file_(file),
          hdf5_(std::move(hdf5)),
          data_(H5Dopen2(hdf5_.get(), ids_dataset, H5P_DEFAULT)),
          space_(H5Dget_space(data_.get())),
          type_(H5Dget_type(data_.get())) {
        if (H5Tis_variable_str(type_.get()) <= 0)
            throw DataError(concat(file.string(), ": its dataset \"", ids_dataset, "\" holds no texts of variable length"));
        const std::int64_t found = H5Sget_simple_extent_npoints(space_.get());
        if (found != rows) refuse_count(file, found, rows);
    }

    std::vector<std::string> read(std::int64_t first, std::int64_t count) override {
        const Hdf5Lock lock;
        const hsize_t start[] = {static_cast<hsize_t>(first)}, extent[] = {static_cast<hsize_t>(count)};
        const Hdf5Handle memory(H5Screate_simple(1, extent, nullptr));
        H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, start, nullptr, extent, nullptr);
        std::vector<char*> texts(static_cast<std::size_t>(count));
        const bool is_read = H5Dread(data_.get(), type_.get(), memory.get(), space_.get(), H5P_DEFAULT, texts.data()) >= 0;
        if (!is_read) throw DataError(concat(file_.string(), ": its ids cannot be read (", hdf5_reason(), ")"));
        std::vector<std::string> ids;
        for (char* text : texts) {
            ids.emplace_back(text == nullptr ? "" : text);
            H5free_memory(text);
        }
        return ids;
    }

private:
    fs::path file_;
    Hdf5Handle hdf5_, data_, space_, type_;
};

class LineIds final : public IdSource {
public:
    LineIds(fs::path file, std::int64_t rows) : file_(std::move(file)), in_(file_, std::ios::binary), rows_(rows) {}

    std::vector<std::string> read(std::int64_t first, std::int64_t count) override {
        std::vector<std::string> ids;
        for (std::string line; row_ < first + count && std::getline(in_, line); ++row_)
            if (row_ >= first) ids.push_back(std::move(line));
        if (row_ < first + count) refuse_count(file_, row_, rows_);
        return ids;
    }

    /// Checks that the file has no further lines than the rows that were read.
    void check_count() {
        for (std::string line; std::getline(in_, line);) ++row_;
        if (row_ != rows_) refuse_count(file_, row_, rows_);
    }

private:
    fs::path file_;
    std::ifstream in_;
    std::int64_t rows_, row_ = 0;
};

/// Returns the ids of a file of vectors; null: it has none.
std::unique_ptr<IdSource> source_of(const fs::path& vectors, std::int64_t rows) {
    if (vector_format_of(vectors) != VectorFormat::h5) {
        const fs::path file = ids_beside(vectors);
        if (!fs::exists(file)) return nullptr;
        LineIds(file, rows).check_count();
        return std::make_unique<LineIds>(file, rows);
    }
    const Hdf5Lock lock;
    const Hdf5Handle access = file_access();
    Hdf5Handle hdf5(H5Fopen(vectors.c_str(), H5F_ACC_RDONLY, access.get()));
    if (!hdf5) throw DataError(concat(vectors.string(), ": cannot be read (", hdf5_reason(), ")"));
    if (H5Lexists(hdf5.get(), ids_dataset, H5P_DEFAULT) <= 0) return nullptr;
    return std::make_unique<H5Ids>(vectors, std::move(hdf5), rows);
}

}  // namespace

std::map<std::int64_t, std::string> ids_of_rows(const fs::path& vectors, std::int64_t rows,
                                                const std::set<std::int64_t>& wanted) {
    const std::unique_ptr<IdSource> source = source_of(vectors, rows);
    std::map<std::int64_t, std::string> ids;
    if (source)
        for (const std::int64_t row : wanted) ids[row] = source->read(row, 1).front();
    return ids;
}

std::optional<IdDifference> first_id_difference(const fs::path& vectors_a, const fs::path& vectors_b, std::int64_t rows) {
    constexpr std::int64_t rows_at_once = 4096;
    const std::unique_ptr<IdSource> a = source_of(vectors_a, rows), b = source_of(vectors_b, rows);
    if (!a || !b) return std::nullopt;
    std::optional<IdDifference> difference;
    std::size_t sum_a = 0, sum_b = 0;  // of hashes, which do not depend on the order
    for (std::int64_t first = 0; first < rows; first += rows_at_once) {
        const std::int64_t count = std::min(rows_at_once, rows - first);
        const std::vector<std::string> ids_a = a->read(first, count), ids_b = b->read(first, count);
        for (std::size_t i = 0; i < ids_a.size(); ++i) {
            sum_a += std::hash<std::string>()(ids_a[i]);
            sum_b += std::hash<std::string>()(ids_b[i]);
            if (!difference && ids_a[i] != ids_b[i])
                difference = {first + static_cast<std::int64_t>(i), ids_a[i], ids_b[i], false};
        }
    }
    if (difference) difference->is_other_order = sum_a == sum_b;
    return difference;
}

}  // namespace bertpretrain
