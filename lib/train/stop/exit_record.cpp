#include "train/stop/exit_record.h"

#include <chrono>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/environment.h"
#include "core/files/files.h"
#include "core/files/held_folder.h"
#include "core/output/log.h"

namespace bertpretrain {
namespace {

std::int64_t unix_seconds() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Writes the file that TorchElastic's agent reads. Of several ranks' files, the agent reports the one with the smallest
/// timestamp.
void tell_torchrun(int code, const std::string& cause) {
    const auto file = environment_variable("TORCHELASTIC_ERROR_FILE");
    if (!file) return;
    const nlohmann::json text = {{"message",
                                  {{"message", cause},
                                   {"errorCode", code},
                                   {"extraInfo", {{"py_callstack", ""}, {"timestamp", std::to_string(unix_seconds())}}}}}};
    std::ofstream(*file) << text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_record(const std::filesystem::path& file, const ExitRecord& exit, const std::vector<SuspectRank>& suspects) {
    nlohmann::ordered_json record = {
        {"code", exit.code}, {"cause", exit.cause}, {"rank", exit.rank}, {"attempt", exit.attempt}, {"time", unix_seconds()}};
    if (!suspects.empty()) record["suspects"] = to_json(suspects);
    std::filesystem::path own = file;  // so that ranks that fail at the same time do not write the same file
    own.replace_filename(concat("exit.rank", exit.rank, ".json"));
    write_atomically(own, record.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    std::filesystem::rename(own, file);
}

}  // namespace

void record_exit(const std::filesystem::path& file, const Launch& launch, const Error& error) noexcept {
    record_exit(file, launch, static_cast<int>(error.code()), error.what());
}

void record_exit(const std::filesystem::path& wanted, const Launch& launch, int code, const std::string& cause,
                 const std::vector<SuspectRank>& suspects) noexcept {
    try {
        tell_torchrun(code, cause);
        const auto place = own_place_of(wanted);
        if (!place) return;
        const std::filesystem::path& file = *place;
        const auto before = read_exit_record(file);
        const bool others_loss = code == static_cast<int>(ExitCode::distributed);
        if (before && before->attempt == launch.attempt && (others_loss || before->rank != launch.rank)) return;
        if (launch.launcher == "torchrun") std::filesystem::create_directories(file.parent_path());
        if (!std::filesystem::is_directory(file.parent_path())) return;
        write_record(file, {code, cause, launch.rank, launch.attempt}, suspects);
    } catch (const std::exception& failure) { log_warning(concat("could not record why the run ended: ", failure.what())); }
}

void record_killed_rank(const std::filesystem::path& wanted, std::int64_t rank, std::int64_t attempt,
                        const std::string& cause) noexcept {
    constexpr int lost = static_cast<int>(ExitCode::distributed);
    try {
        const auto file = own_place_of(wanted);
        if (!file || !std::filesystem::is_directory(file->parent_path())) return;
        const auto before = read_exit_record(*file);
        const bool is_of_attempt = before && before->attempt == attempt;
        if (is_of_attempt && before->code != lost) return;
        write_record(*file, {lost, is_of_attempt ? concat(cause, "; ", before->cause) : cause, rank, attempt}, {});
    } catch (const std::exception& failure) { log_warning(concat("could not record why the run ended: ", failure.what())); }
}

std::optional<ExitRecord> read_exit_record(const std::filesystem::path& file) {
    std::error_code missing;
    if (!std::filesystem::exists(file, missing)) return std::nullopt;
    try {
        const auto record = nlohmann::json::parse(read_file(file));
        return ExitRecord{record.at("code").get<int>(), record.at("cause").get<std::string>(),
                          record.at("rank").get<std::int64_t>(), record.at("attempt").get<std::int64_t>()};
    } catch (const std::exception&) { return std::nullopt; }  // damaged: the record is only advisory
}

void refuse_hopeless_restart(const std::filesystem::path& file, const Launch& launch) {
    if (launch.attempt == 0 && launch.rank == 0 && own_place_of(file)) {
        std::error_code ignored;
        std::filesystem::remove(file, ignored);
    }
    const auto before = read_exit_record(file);
    if (!before || launch.attempt <= before->attempt) return;
    const auto code = static_cast<ExitCode>(before->code);
    const bool hopeless =
        code == ExitCode::config || code == ExitCode::data || code == ExitCode::checkpoint || code == ExitCode::numbers;
    if (hopeless)
        throw Error(code, "earlier",
                    concat("attempt ", before->attempt, " failed on rank ", before->rank,
                           " with an error that a restart cannot fix: ", before->cause));
}

}  // namespace bertpretrain
