#include "shards/hdf5_handle.h"

#include <mutex>

namespace bertpretrain {
namespace {

std::mutex library_mutex;
// Counted here instead of by a recursive mutex, so that a child of fork() still holds the lock that its parent's thread held.
thread_local int lock_depth = 0;

/// Keeps the description of the innermost failure, which is the specific one.
herr_t keep_first(unsigned number, const H5E_error2_t* error, void* reason) {
    if (number == 0 && error->desc != nullptr) *static_cast<std::string*>(reason) = error->desc;
    return 0;
}

}  // namespace

Hdf5Lock::Hdf5Lock() {
    if (lock_depth++ > 0) return;
    library_mutex.lock();
    // Before any other call: at the program's end the library would close again what failed to close, and crash.
    [[maybe_unused]] static const herr_t not_at_exit = H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // per thread in thread-safe builds
    H5PLset_loading_state(0);                     // a file must not make the library load plugins
}

Hdf5Lock::~Hdf5Lock() {
    if (--lock_depth == 0) library_mutex.unlock();
}

Hdf5Handle::~Hdf5Handle() {
    if (id_ >= 0) close();
}

bool Hdf5Handle::close() {
    const Hdf5Lock lock;
    return id_ < 0 || H5Idec_ref(std::exchange(id_, -1)) >= 0;
}

Hdf5Handle file_access() {
    Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS));
#if H5_VERSION_GE(1, 10, 7)
    H5Pset_file_locking(access.get(), false, true);
#endif
    return access;
}

std::string hdf5_reason() {
    std::string reason;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
    return reason.empty() ? "HDF5 reports no reason" : reason;
}

}  // namespace bertpretrain
