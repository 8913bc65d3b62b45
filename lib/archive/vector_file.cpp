#include "archive/vector_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "archive/text_ids.h"
#include "core/error.h"
#include "core/files/disk.h"
#include "core/output/displayable.h"
#include "shards/hdf5_handle.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const fs::path& file, const std::string& reason) {
    throw DataError(concat(file.string(), ": cannot be written (", reason, ")", advice_by_text(reason)));
}

/// Returns a header of NumPy's format version 1.0, a multiple of 64 bytes long.
std::string npy_header(const MatrixShape& shape) {
    std::string text = concat("{'descr': '<f4', 'fortran_order': False, 'shape': (", shape.rows, ", ", shape.columns, "), }");
    constexpr std::size_t before = 10, multiple = 64;
    text.append(multiple - (before + text.size() + 1) % multiple, ' ');
    text.push_back('\n');
    std::string header("\x93NUMPY\x01\x00", 8);
    header.push_back(static_cast<char>(text.size() & 255));
    header.push_back(static_cast<char>(text.size() >> 8));
    return header + text;
}

void write_attribute(hid_t object, const std::string& name, const std::string& value) {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1)), space(H5Screate(H5S_SCALAR));
    H5Tset_size(type.get(), H5T_VARIABLE);  // h5py reads it as str
    H5Tset_cset(type.get(), H5T_CSET_UTF8);
    const Hdf5Handle attribute(H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT));
    const char* text = value.c_str();
    H5Awrite(attribute.get(), type.get(), &text);
}

/// Writes the dataset of ids, some at a time. @returns false if HDF5 failed
bool write_ids(hid_t hdf5, std::int64_t rows, const fs::path& ids) {
    constexpr std::size_t ids_per_write = 4096;
    const Hdf5Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.get(), H5T_VARIABLE);
    H5Tset_cset(type.get(), H5T_CSET_UTF8);
    const hsize_t extent[] = {static_cast<hsize_t>(rows)};
    const Hdf5Handle space(H5Screate_simple(1, extent, nullptr)), creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_obj_track_times(creation.get(), false);
    const Hdf5Handle data(H5Dcreate2(hdf5, ids_dataset, type.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT));
    if (!data) return false;
    TextIds in(ids);
    hsize_t start[] = {0};
    for (std::vector<std::string> some = in.next(ids_per_write); !some.empty(); some = in.next(ids_per_write)) {
        std::vector<const char*> texts;
        for (const std::string& id : some) {
            if (id.find('\0') != std::string::npos)
                throw DataError(concat("the id \"", displayable(id),
                                       "\" has a NUL, at which texts in an h5 file end\n  do: write ",
                                       ".npy, or name another --id-field"));
            texts.push_back(id.c_str());
        }
        const hsize_t count[] = {texts.size()};
        const Hdf5Handle memory(H5Screate_simple(1, count, nullptr));
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, nullptr, count, nullptr);
        if (H5Dwrite(data.get(), type.get(), memory.get(), space.get(), H5P_DEFAULT, texts.data()) < 0) return false;
        start[0] += count[0];
    }
    return true;
}

/// Creates a contiguous dataset that is allocated at once, so that the rows' offset is known. @returns that offset
std::uint64_t create_h5(const fs::path& file, const MatrixShape& shape, const std::string& dataset,
                        const std::map<std::string, std::string>& attributes, const fs::path& ids) {
    const Hdf5Lock lock;
    const Hdf5Handle access = file_access();
    Hdf5Handle hdf5(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
    if (!hdf5) refuse(file, hdf5_reason());
    const hsize_t extent[] = {static_cast<hsize_t>(shape.rows), static_cast<hsize_t>(shape.columns)};
    haddr_t offset = HADDR_UNDEF;
    {
        const Hdf5Handle space(H5Screate_simple(2, extent, nullptr)), creation(H5Pcreate(H5P_DATASET_CREATE));
        H5Pset_layout(creation.get(), H5D_CONTIGUOUS);
        H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY);
        H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
        H5Pset_obj_track_times(creation.get(), false);
        const Hdf5Handle data(
            H5Dcreate2(hdf5.get(), dataset.c_str(), H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT));
        if (!data) refuse(file, hdf5_reason());
        for (const auto& [name, value] : attributes) write_attribute(data.get(), name, value);
        offset = H5Dget_offset(data.get());
        if (offset == HADDR_UNDEF) refuse(file, hdf5_reason());
        if (!ids.empty() && !write_ids(hdf5.get(), shape.rows, ids)) refuse(file, hdf5_reason());
    }
    if (!hdf5.close()) refuse(file, hdf5_reason());  // the dataset was closed before, so this closes the file
    return offset;
}

void reserve(const fs::path& file, std::uint64_t bytes) {
    const int handle = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (handle < 0) refuse(file, std::strerror(errno));
    const int failure = ::posix_fallocate(handle, 0, static_cast<off_t>(bytes));
    ::close(handle);
    if (failure != 0) refuse(file, std::strerror(failure));
}

}  // namespace

VectorFormat vector_format_of(const fs::path& file) {
    const std::string ending = file.extension().string();
    if (ending == ".npy") return VectorFormat::npy;
    if (ending == ".h5" || ending == ".hdf5") return VectorFormat::h5;
    if (ending == ".parquet") return VectorFormat::parquet;
    throw ConfigError(concat("--output ", file.string(), ": expected a name that ends in .npy, .h5, .hdf5 or .parquet"));
}

fs::path ids_beside(const fs::path& npy) { return fs::path(npy).replace_extension(".ids.txt"); }

std::uint64_t create_vector_file(const fs::path& file, VectorFormat format, const MatrixShape& shape, const std::string& dataset,
                                 const std::map<std::string, std::string>& attributes, const fs::path& ids) {
    std::uint64_t offset = 0;
    if (format == VectorFormat::h5) {
        offset = create_h5(file, shape, dataset, attributes, ids);
    } else {
        const std::string header = npy_header(shape);
        if (!(std::ofstream(file, std::ios::binary) << header << std::flush)) refuse(file, std::strerror(errno));
        offset = header.size();
    }
    reserve(file, offset + static_cast<std::uint64_t>(shape.rows * shape.columns) * sizeof(float));
    return offset;
}

PlacedWrites::PlacedWrites(fs::path file) : file_(std::move(file)), handle_(::open(file_.c_str(), O_RDWR | O_CLOEXEC)) {
    if (handle_ < 0) fail("opened");
}

PlacedWrites::~PlacedWrites() { ::close(handle_); }

void PlacedWrites::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (!write_fully(handle_, offset, bytes.data(), bytes.size())) fail("written");
}

void PlacedWrites::read(std::uint64_t offset, std::span<std::byte> bytes) const {
    if (read_fully(handle_, offset, bytes.data(), bytes.size()) == bytes.size()) return;
    if (errno == 0) errno = EIO;  // the file ends there
    fail("read");
}

void PlacedWrites::flush() {
    if (::fdatasync(handle_) != 0) fail("flushed to the disk");
}

void PlacedWrites::fail(const char* what) const {
    throw DataError(concat(file_.string(), ": cannot be ", what, " (", std::strerror(errno), ")", disk_advice(errno)));
}

}  // namespace bertpretrain
