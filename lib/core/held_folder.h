#pragma once
// A folder that stays the same one for this process when it is renamed.

#include <filesystem>
#include <optional>
#include <string>

namespace bertpretrain {

/// An open folder, and the path by which it was opened.
class HeldFolder {
public:
    /// @throws ConfigError when there is no such folder, or it cannot be opened
    explicit HeldFolder(std::filesystem::path path);
    HeldFolder(const HeldFolder&) = delete;
    HeldFolder& operator=(const HeldFolder&) = delete;
    ~HeldFolder();

    const std::filesystem::path& path() const { return path_; }
    int descriptor() const { return descriptor_; }

    /// A path that leads to this folder, however it is named now: "/proc/self/fd/7". It is for this process only. path() where
    /// /proc is not mounted.
    std::filesystem::path by_descriptor() const;

    /// Where path() does not lead to this folder any more: what became of it, as the end of a sentence. Empty while it does, and
    /// where the file system does not answer.
    std::string lost() const;

private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

/// A path through by_descriptor() as other processes and people can use it; another path as it is.
std::filesystem::path name_now(const std::filesystem::path& path);

/// Remembers until the process ends that what it writes into `folder`.path() belongs into `folder`.
void write_own_files_in(const HeldFolder& folder);

/// Where this process writes `file` of a run's folder: in the folder that write_own_files_in() named for that path, however it is
/// named now; else at `file`. Nothing where another process has locked the folder, whose file it is then.
std::optional<std::filesystem::path> own_place_of(const std::filesystem::path& file);

}  // namespace bertpretrain
