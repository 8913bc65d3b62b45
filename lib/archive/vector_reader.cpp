#include "archive/vector_reader.h"

#include <cstring>
#include <limits>
#include <regex>
#include <vector>

#include "archive/mapped_file.h"
#include "core/error.h"
#include "core/files/input_file.h"
#include "core/output/displayable.h"
#include "shards/hdf5_handle.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse_vectors(const fs::path& file, const std::string& found, const std::string& expected) {
    throw DataError(concat(file.string(), ": ", found, "; expected ", expected));
}

std::int64_t dimension_of(const fs::path& file, const std::string& digits) {
    constexpr std::size_t most_digits = 15;  // a product of two then fits into a double, which check_size() uses
    if (digits.size() > most_digits) refuse_vectors(file, concat("its shape has the number ", digits), "a smaller matrix");
    return std::stoll(digits);
}

/// The rows of a file that has them as plain fp32 at some offset.
class MappedRows {
public:
    MappedRows() = default;
    MappedRows(const fs::path& file, std::uint64_t offset, const MatrixShape& shape)
        : file_(std::make_unique<MappedFile>(file)),
          offset_(offset),
          size_(static_cast<std::size_t>(shape.rows * shape.columns)) {}

    std::span<const float> all() const {
        if (!file_ || offset_ % alignof(float) != 0 || file_->bytes().size() < offset_ + size_ * sizeof(float)) return {};
        return {reinterpret_cast<const float*>(file_->bytes().data() + offset_), size_};
    }

private:
    std::unique_ptr<MappedFile> file_;
    std::uint64_t offset_ = 0;
    std::size_t size_ = 0;
};

class NpyReader final : public VectorReader {
public:
    explicit NpyReader(const fs::path& file) : file_(file) {
        parse(header());
        check_size(fs::file_size(file));
        if (width_ == sizeof(float)) rows_ = MappedRows(file, begin_, shape_);
    }

    void read(std::int64_t first, std::span<float> rows) const override {
        std::vector<char> bytes(rows.size() * width_);
        const std::uint64_t offset = begin_ + static_cast<std::uint64_t>(first * shape_.columns) * width_;
        if (file_.read_at(offset, bytes.data(), bytes.size()) != bytes.size())
            throw DataError(concat(file_.path().string(), ": became shorter while it was read"));
        if (width_ == sizeof(float)) {
            std::memcpy(rows.data(), bytes.data(), bytes.size());
            return;
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            double value = 0;
            std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
            rows[i] = static_cast<float>(value);
        }
    }

    std::span<const float> mapped() const override { return rows_.all(); }

private:
    /// Returns the header's dictionary, and sets begin_ to the offset after it.
    std::string header() {
        constexpr std::size_t fixed_bytes = 12, longest = 4096;  // a longer one describes no matrix of numbers
        unsigned char start[fixed_bytes] = {};
        const std::size_t got = file_.read_at(0, reinterpret_cast<char*>(start), fixed_bytes);
        if (got < fixed_bytes || std::memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3)
            refuse_vectors(file_.path(), "is not an .npy file", "one that embed or NumPy wrote");
        const bool is_short = start[6] == 1;
        const std::size_t length = start[8] + 256U * start[9] + (is_short ? 0 : 65536U * start[10] + 16777216U * start[11]);
        const std::size_t from = is_short ? 10 : fixed_bytes;
        if (length > longest) refuse_vectors(file_.path(), concat("has a header of ", length, " bytes"), "a matrix of numbers");
        std::string text(length, '\0');
        if (file_.read_at(from, text.data(), length) != length)
            refuse_vectors(file_.path(), "ends within its header", "a whole file");
        begin_ = from + length;
        return text;
    }

    void parse(const std::string& text) {
        const std::regex type("'descr': *'([^']*)'"), order("'fortran_order': *(True|False)"),
            shape("'shape': *\\(([0-9]+), *([0-9]+),? *\\)");
        std::smatch found_type, found_order, found_shape;
        if (!std::regex_search(text, found_type, type) || !std::regex_search(text, found_order, order) ||
            !std::regex_search(text, found_shape, shape))
            refuse_vectors(file_.path(), concat("has the header ", displayable(text)), "a matrix, a row per text");
        if (found_type[1] != "<f4" && found_type[1] != "<f8")
            refuse_vectors(file_.path(), concat("has numbers of type ", displayable(found_type[1].str())),
                           "float32 (<f4) or float64 (<f8)");
        if (found_order[1] == "True") refuse_vectors(file_.path(), "is stored by columns", "fortran_order False");
        width_ = found_type[1] == "<f4" ? sizeof(float) : sizeof(double);
        shape_ = {dimension_of(file_.path(), found_shape[1]), dimension_of(file_.path(), found_shape[2])};
    }

    void check_size(std::uint64_t size) const {
        const double needed = static_cast<double>(begin_) + static_cast<double>(shape_.rows) *
                                                                static_cast<double>(shape_.columns) * static_cast<double>(width_);
        if (static_cast<double>(size) != needed)
            refuse_vectors(file_.path(), concat("has ", size, " bytes"),
                           concat("those of ", shape_.rows, " x ", shape_.columns, " numbers\n  do: write it again"));
    }

    InputFile file_;
    MappedRows rows_;
    std::uint64_t begin_ = 0;
    std::size_t width_ = sizeof(float);
};

class H5Reader final : public VectorReader {
public:
    explicit H5Reader(fs::path file) : file_(std::move(file)) {
        const Hdf5Lock lock;
        const Hdf5Handle access = file_access();
        hdf5_ = Hdf5Handle(H5Fopen(file_.c_str(), H5F_ACC_RDONLY, access.get()));
        if (!hdf5_) refuse_vectors(file_, concat("cannot be read (", hdf5_reason(), ")"), "an h5 file");
        const std::string name = name_of_matrix();
        data_ = Hdf5Handle(H5Dopen2(hdf5_.get(), name.c_str(), H5P_DEFAULT));
        if (!data_) refuse_vectors(file_, "has no dataset at its root", "one dataset");
        const Hdf5Handle space(H5Dget_space(data_.get())), type(H5Dget_type(data_.get()));
        hsize_t extent[H5S_MAX_RANK] = {};
        if (H5Sget_simple_extent_dims(space.get(), extent, nullptr) != 2 || H5Tget_class(type.get()) != H5T_FLOAT)
            refuse_vectors(file_, concat("the dataset \"", displayable(name), "\" is no matrix of floating-point numbers"),
                           "a row per text");
        shape_ = {static_cast<std::int64_t>(extent[0]), static_cast<std::int64_t>(extent[1])};
        const haddr_t offset = H5Dget_offset(data_.get());  // undefined for chunks
        if (offset != HADDR_UNDEF && H5Tequal(type.get(), H5T_IEEE_F32LE) > 0) rows_ = MappedRows(file_, offset, shape_);
    }

    std::span<const float> mapped() const override { return rows_.all(); }

    std::map<std::string, std::string> attributes() const override {
        const Hdf5Lock lock;
        std::map<std::string, std::string> all;
        H5Aiterate2(data_.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add_attribute, &all);
        return all;
    }

    void read(std::int64_t first, std::span<float> rows) const override {
        const Hdf5Lock lock;
        const hsize_t start[] = {static_cast<hsize_t>(first), 0};
        const hsize_t count[] = {rows.size() / static_cast<hsize_t>(shape_.columns), static_cast<hsize_t>(shape_.columns)};
        const Hdf5Handle space(H5Dget_space(data_.get())), memory(H5Screate_simple(2, count, nullptr));
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, nullptr, count, nullptr);
        if (H5Dread(data_.get(), H5T_NATIVE_FLOAT, memory.get(), space.get(), H5P_DEFAULT, rows.data()) < 0)
            throw DataError(concat(file_.string(), ": cannot be read (", hdf5_reason(), ")"));
    }

private:
    static herr_t add_attribute(hid_t object, const char* name, const H5A_info_t*, void* all) {
        const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT)), type(H5Aget_type(attribute.get())),
            space(H5Aget_space(attribute.get()));
        if (H5Tis_variable_str(type.get()) <= 0 || H5Sget_simple_extent_npoints(space.get()) != 1) return 0;
        char* text = nullptr;
        if (H5Aread(attribute.get(), type.get(), &text) < 0 || text == nullptr) return 0;
        (*static_cast<std::map<std::string, std::string>*>(all))[name] = text;
        H5free_memory(text);
        return 0;
    }

    /// Returns the name of the only object at the root, besides the ids.
    std::string name_of_matrix() const {
        H5G_info_t root{};
        H5Gget_info(hdf5_.get(), &root);
        const bool has_ids = root.nlinks == 2 && H5Lexists(hdf5_.get(), ids_dataset, H5P_DEFAULT) > 0;
        if (root.nlinks != 1 && !has_ids)
            refuse_vectors(file_, concat("has ", root.nlinks, " objects at its root"), "one dataset");
        std::vector<char> name(static_cast<std::size_t>(std::numeric_limits<unsigned short>::max()));
        for (hsize_t i = 0; i < root.nlinks; ++i) {
            H5Lget_name_by_idx(hdf5_.get(), ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
            if (!has_ids || std::string_view(name.data()) != ids_dataset) break;
        }
        return name.data();
    }

    fs::path file_;
    Hdf5Handle hdf5_, data_;
    MappedRows rows_;
};

}  // namespace

std::unique_ptr<VectorReader> VectorReader::open_npy(const fs::path& file) { return std::make_unique<NpyReader>(file); }

std::unique_ptr<VectorReader> VectorReader::open(const fs::path& file) {
    std::unique_ptr<VectorReader> reader;
    const std::string ending = file.extension().string();
    if (ending == ".h5" || ending == ".hdf5") reader = std::make_unique<H5Reader>(file);
    else if (ending == ".npy") reader = open_npy(file);
    else throw ConfigError(concat(file.string(), ": expected a file of vectors whose name ends in .npy, .h5 or .hdf5"));
    if (reader->shape().rows == 0 || reader->shape().columns == 0)
        refuse_vectors(file, concat("has ", reader->shape().rows, " x ", reader->shape().columns, " numbers"), "a row per text");
    return reader;
}

}  // namespace bertpretrain
