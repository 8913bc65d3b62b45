#pragma once
// A run's folder: where everything of one run lies, and that only one process writes there.

#include <filesystem>

namespace bertpretrain {

class RunFolder {
public:
    /// Makes the folder and takes it for this process until destroyed.
    /// @throws ConfigError when one cannot write there, or another process trains there now
    explicit RunFolder(std::filesystem::path path);
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;
    ~RunFolder();

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path settings() const { return path_ / "settings.json"; }
    std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
    std::filesystem::path events() const { return path_ / "events.jsonl"; }
    std::filesystem::path log() const { return path_ / "log.txt"; }
    std::filesystem::path loss_picture() const { return path_ / "loss.svg"; }
    std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

private:
    std::filesystem::path path_;
    int lock_ = -1;
};

}  // namespace bertpretrain
