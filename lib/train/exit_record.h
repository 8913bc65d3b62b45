#pragma once
// Why a run ended, for those who decide whether to start it again.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/error.h"
#include "parallel/launch_environment.h"

namespace bertpretrain {

/// RUN/exit.json: {"code", "cause", "rank", "attempt", "time"}. The first rank that fails in an attempt writes it.
struct ExitRecord {
    int code = 0;  ///< 128 + n: stopped as signal n asked
    std::string cause;
    std::int64_t rank = 0, attempt = 0;
};

/// Writes RUN/exit.json, unless a rank of this attempt has, and torchrun's own file (TORCHELASTIC_ERROR_FILE), which makes it
/// name the cause. Where this process holds the run's folder, it writes there, though the folder was renamed; where another
/// process trains in the folder, it writes no exit.json (core/held_folder.h). Never throws: the program is ending already.
void record_exit(const std::filesystem::path& file, const Launch& launch, int code, const std::string& cause) noexcept;
void record_exit(const std::filesystem::path& file, const Launch& launch, const Error& error) noexcept;

std::optional<ExitRecord> read_exit_record(const std::filesystem::path& file);

/// A launcher's restart does not mend settings, data, checkpoints or numbers: leaves at once as the attempt before did. At the
/// first attempt rank 0 removes the record: it is of an earlier launch, after which somebody may have mended what it tells of.
/// @throws Error with that attempt's code and cause
void refuse_hopeless_restart(const std::filesystem::path& file, const Launch& launch);

}  // namespace bertpretrain
