#pragma once
// Files that several tests read and none changes: they are made by the first test that needs them.

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "support/files.h"

namespace bertpretrain::testing {

/// Returns a folder that `make(folder)` has filled. All processes of one ctest run share it (BERTPRETRAIN_TEST_SCRATCH names
/// their folder, which ctest empties first); without that variable, the tests of this process do. Blocks while another process
/// fills it. If `make` throws, the next caller tries again. Two uses of a name must make the same files.
inline std::filesystem::path made_once(const std::string& name, const std::function<void(const std::filesystem::path&)>& make) {
    namespace fs = std::filesystem;
    const char* const scratch = std::getenv("BERTPRETRAIN_TEST_SCRATCH");
    if (scratch == nullptr || *scratch == '\0') {
        static std::map<std::string, TemporaryFolder> folders;
        if (const auto found = folders.find(name); found != folders.end()) return found->second.path();
        try {
            make(folders[name].path());
        } catch (...) {
            folders.erase(name);
            throw;
        }
        return folders[name].path();
    }
    fs::create_directories(scratch);
    const fs::path folder = fs::path(scratch) / name, done = fs::path(scratch) / (name + ".done");
    const int lock = ::open((folder.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock < 0) throw std::runtime_error(folder.string() + ".lock cannot be opened");
    struct Closed {
        int descriptor;
        ~Closed() { ::close(descriptor); }
    } const closed{lock};
    while (::flock(lock, LOCK_EX) != 0)
        if (errno != EINTR) throw std::runtime_error(folder.string() + ".lock cannot be locked");
    if (!fs::exists(done)) {
        fs::remove_all(folder);  // of a process that was killed
        fs::create_directories(folder);
        make(folder);
        write_text(done, "");
    }
    return folder;
}

}  // namespace bertpretrain::testing
