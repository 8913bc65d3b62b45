#include "shards/hdf5_version.h"

#include "core/concat.h"
#include "shards/hdf5_handle.h"

namespace bertpretrain {

std::string hdf5_version() {
    const Hdf5Lock lock;
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return concat(major, ".", minor, ".", release);
}

}  // namespace bertpretrain
