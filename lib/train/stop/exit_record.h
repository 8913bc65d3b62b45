#pragma once
// Records why a run ended, so that launchers can decide whether to restart it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "parallel/launch_environment.h"
#include "train/stop/hardware_error.h"

namespace bertpretrain {

/// RUN/exit.json: {"code", "cause", "rank", "attempt", "time"}, and after a HardwareError "suspects". The first rank that fails
/// in an attempt writes it.
struct ExitRecord {
    int code = 0;  ///< exit code; 128 + n: stopped by signal n
    std::string cause;
    std::int64_t rank = 0, attempt = 0;
};

/// Writes RUN/exit.json, unless another rank of this attempt has written it, and torchrun's error file (TORCHELASTIC_ERROR_FILE),
/// from which torchrun reports the cause. If this process holds the run's folder, it writes into it even after a rename; if
/// another process trains in the folder, it writes no exit.json (core/files/held_folder.h). Where there is no folder yet, it is
/// made only under torchrun, whose own exit code is 1 for everything. Never throws, because the program is already ending.
void record_exit(const std::filesystem::path& file, const Launch& launch, int code, const std::string& cause,
                 const std::vector<SuspectRank>& suspects = {}) noexcept;
void record_exit(const std::filesystem::path& file, const Launch& launch, const Error& error) noexcept;

/// The same for a rank that was killed, as --local-ranks knows after all have ended: it replaces the record of a rank that lost
/// this one, but not that of a rank that failed by itself. @param cause names the rank and the signal
void record_killed_rank(const std::filesystem::path& file, std::int64_t rank, std::int64_t attempt,
                        const std::string& cause) noexcept;

/// Returns nullopt where the file is missing or damaged.
std::optional<ExitRecord> read_exit_record(const std::filesystem::path& file);

/// Throws again the previous attempt's error if a restart cannot fix it: settings, data, checkpoints or numbers. At the first
/// attempt, rank 0 removes the record instead: it is from an earlier launch, whose error may have been fixed since.
/// @throws Error with the previous attempt's code and cause
void refuse_hopeless_restart(const std::filesystem::path& file, const Launch& launch);

}  // namespace bertpretrain
