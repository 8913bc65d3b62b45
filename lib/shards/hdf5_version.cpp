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

std::string advice_on_newer_hdf5(std::string_view reason) {
    if (reason.find("version") == std::string_view::npos) return {};
    return concat("; a newer version of HDF5 than this program's (", hdf5_version(), ") wrote it, or it is damaged",
                  "\n  do: write it again for older versions, with the Python package h5py: ",
                  "`python3 -c \"import h5py, sys; old = h5py.File(sys.argv[1]); ",
                  "new = h5py.File(sys.argv[2], 'w', libver=('earliest', 'v110')); ",
                  "[new.create_dataset(n, data=d[...], compression='gzip') for n, d in old.items()]\" OLD NEW`");
}

}  // namespace bertpretrain
