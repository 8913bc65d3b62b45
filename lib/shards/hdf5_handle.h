#pragma once
// The HDF5 library, made safe to use: one caller at a time, handles that close themselves, and no printing of its own.

#include <hdf5.h>

#include <string>
#include <utility>

namespace bertpretrain {

/// While it lives, its thread alone may call HDF5 (most builds of the library are not safe to call concurrently). Nests.
class Hdf5Lock {
public:
    Hdf5Lock();
    ~Hdf5Lock();
    Hdf5Lock(const Hdf5Lock&) = delete;
    Hdf5Lock& operator=(const Hdf5Lock&) = delete;
};

/// An HDF5 identifier of any kind, given back at the end of its scope.
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
    /// False when the call that gave the identifier failed.
    explicit operator bool() const { return id_ >= 0; }
    hid_t get() const { return id_; }

private:
    hid_t id_ = -1;
};

/// Why this thread's last HDF5 call failed, in the library's words. Call it before any other HDF5 function.
std::string hdf5_reason();

}  // namespace bertpretrain
