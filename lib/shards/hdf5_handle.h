#pragma once
// Safe use of the HDF5 library: a global lock, RAII handles, and errors as text instead of prints to stderr.

#include <hdf5.h>

#include <string>
#include <utility>

namespace bertpretrain {

/// A global, recursive lock for all HDF5 calls, because most builds of the library are not thread-safe.
class Hdf5Lock {
public:
    Hdf5Lock();
    ~Hdf5Lock();
    Hdf5Lock(const Hdf5Lock&) = delete;
    Hdf5Lock& operator=(const Hdf5Lock&) = delete;
};

/// Owns an HDF5 identifier of any kind and closes it at the end of its scope.
class Hdf5Handle {
public:
    Hdf5Handle() = default;
    explicit Hdf5Handle(hid_t id) : id_(id) {}
    Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    ~Hdf5Handle();
    /// False if the call that returned the identifier failed.
    explicit operator bool() const { return id_ >= 0; }
    hid_t get() const { return id_; }
    /// Closes it now. False if that failed: some network file systems report a failed write only then.
    bool close();

private:
    hid_t id_ = -1;
};

/// Returns how files are opened and created: without the library's file locks, which many cluster file systems lack, and which
/// files of one writer do not need.
Hdf5Handle file_access();

/// Returns the library's description of why this thread's last HDF5 call failed. Call it before any other HDF5 function.
std::string hdf5_reason();

}  // namespace bertpretrain
