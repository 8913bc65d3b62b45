#pragma once
// An open folder that this process can still reach after the folder was renamed.

#include <filesystem>
#include <optional>
#include <string>

namespace bertpretrain {

/// An open folder, and the path by which it was opened.
class HeldFolder {
public:
    /// @throws ConfigError when the folder does not exist or cannot be opened
    explicit HeldFolder(std::filesystem::path path);
    HeldFolder(const HeldFolder&) = delete;
    HeldFolder& operator=(const HeldFolder&) = delete;
    ~HeldFolder();

    const std::filesystem::path& path() const { return path_; }
    int descriptor() const { return descriptor_; }

    /// Returns a path such as "/proc/self/fd/7", which leads to this folder even after a rename, in this process only. Returns
    /// path() when /proc is not mounted.
    std::filesystem::path by_descriptor() const;

    /// Returns what happened to the folder when path() no longer leads to it, as the end of a sentence ("was deleted"). Returns
    /// "" while path() leads to it, and when the file system does not answer.
    std::string lost() const;

private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

/// Turns a path through by_descriptor() into one that other processes and people can use. Returns other paths unchanged.
std::filesystem::path name_now(const std::filesystem::path& path);

/// Registers `folder` for own_place_of() until the process ends: what this process writes to folder.path() goes into `folder`.
void write_own_files_in(const HeldFolder& folder);

/// Returns where this process may write `file` of a run's folder: in the folder registered for that path by write_own_files_in(),
/// even if it has been renamed; otherwise at `file`. Returns nullopt when another process has locked the folder.
std::optional<std::filesystem::path> own_place_of(const std::filesystem::path& file);

}  // namespace bertpretrain
