#include "archive/row_ids.h"

#include <fstream>
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

std::map<std::int64_t, std::string> of_h5(const fs::path& file, std::int64_t rows, const std::set<std::int64_t>& wanted) {
    const Hdf5Lock lock;
    const Hdf5Handle access = file_access(), hdf5(H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.get()));
    if (!hdf5) throw DataError(concat(file.string(), ": cannot be read (", hdf5_reason(), ")"));
    if (H5Lexists(hdf5.get(), ids_dataset, H5P_DEFAULT) <= 0) return {};
    const Hdf5Handle data(H5Dopen2(hdf5.get(), ids_dataset, H5P_DEFAULT)), space(H5Dget_space(data.get())),
        type(H5Dget_type(data.get()));
    if (H5Tis_variable_str(type.get()) <= 0)
        throw DataError(concat(file.string(), ": its dataset \"", ids_dataset, "\" holds no texts of variable length"));
    if (H5Sget_simple_extent_npoints(space.get()) != rows) refuse_count(file, H5Sget_simple_extent_npoints(space.get()), rows);
    std::map<std::int64_t, std::string> ids;
    for (const std::int64_t row : wanted) {
        const hsize_t start[] = {static_cast<hsize_t>(row)}, count[] = {1};
        const Hdf5Handle one(H5Screate_simple(1, count, nullptr));
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, nullptr, count, nullptr);
        char* text = nullptr;
        if (H5Dread(data.get(), type.get(), one.get(), space.get(), H5P_DEFAULT, &text) < 0 || text == nullptr)
            throw DataError(concat(file.string(), ": its ids cannot be read (", hdf5_reason(), ")"));
        ids[row] = text;
        H5free_memory(text);
    }
    return ids;
}

std::map<std::int64_t, std::string> of_lines(const fs::path& file, std::int64_t rows, const std::set<std::int64_t>& wanted) {
    std::map<std::int64_t, std::string> ids;
    std::ifstream in(file, std::ios::binary);
    if (!in) return ids;
    std::int64_t row = 0;
    for (std::string line; std::getline(in, line); ++row)
        if (wanted.contains(row)) ids[row] = line;
    if (row != rows) refuse_count(file, row, rows);
    return ids;
}

}  // namespace

std::map<std::int64_t, std::string> ids_of_rows(const fs::path& vectors, std::int64_t rows,
                                                const std::set<std::int64_t>& wanted) {
    return vector_format_of(vectors) == VectorFormat::h5 ? of_h5(vectors, rows, wanted)
                                                         : of_lines(ids_beside(vectors), rows, wanted);
}

}  // namespace bertpretrain
