#include "checkpoint/checkpoint_files.h"

#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "archive/checksum.h"
#include "archive/mapped_file.h"
#include "core/error.h"
#include "core/files/disk.h"
#include "core/files/files.h"
#include "core/foreign_json.h"

namespace bertpretrain {
namespace fs = std::filesystem;

PtLayout model_layout(const TrainingState& state) {
    PtDict tree;
    for (std::size_t i = 0; i < state.parameters.tensors.size(); ++i) {
        const auto& [name, shape] = state.parameters.tensors[i];
        tree.push_back({name, PtTensor::whole(DType::f32, shape, std::to_string(i))});
    }
    const PtValue parameters(tree);
    for (const TensorAlias& alias : state.aliases) {
        const PtValue* target = parameters.find(alias.name);
        check(target != nullptr, alias.alias, " is an alias of ", alias.name, ", which is not a parameter");
        tree.push_back({alias.alias, *target});
    }
    return {tree, "model"};
}

std::string moment_storage(std::size_t moment, std::size_t tensor) {
    return std::to_string(moment) + "_" + std::to_string(tensor);
}

PtLayout optimizer_layout(const TrainingState& state) {
    PtDict moments;
    for (const auto& [moment, set] : state.moments) {
        PtDict tensors;
        for (std::size_t i = 0; i < set.tensors.size(); ++i)
            tensors.push_back(
                {set.tensors[i].name, PtTensor::whole(DType::f32, set.tensors[i].shape, moment_storage(moments.size(), i))});
        moments.push_back({moment, std::move(tensors)});
    }
    return {PtDict{{"step", state.step}, {"state", std::move(moments)}}, "optimizer"};
}

namespace {

[[noreturn]] void fail(const fs::path& file, std::string_view what, int reason) {
    throw CheckpointError(concat(file.string(), ": cannot be ", what, " (", std::strerror(reason), ")", disk_advice(reason)));
}

/// An open file or folder, closed by the destructor.
class Handle {
public:
    Handle(const fs::path& path, int flags) : path_(path), handle_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
        if (handle_ < 0) fail(path_, "opened", errno);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { ::close(handle_); }

    void write(std::string_view content) const {
        while (!content.empty()) {
            const ssize_t written = ::write(handle_, content.data(), content.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) fail(path_, "written", errno);
            content.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    void flush() const {
        if (!flush_handle(handle_)) fail(path_, "flushed to the disk", errno);
    }

private:
    const fs::path& path_;
    int handle_;
};

}  // namespace

FileSummary write_flushed(const fs::path& file, std::string_view content) {
    const Handle handle(file, O_WRONLY | O_CREAT | O_TRUNC);
    handle.write(content);
    handle.flush();
    return {content.size(), crc32_of(std::as_bytes(std::span(content)))};
}

bool exists_here(const fs::path& path) noexcept {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::error_code failure;
    std::vector<fs::path> entries = folder_entries(folder, failure);
    const bool missing = failure == std::errc::no_such_file_or_directory || failure == std::errc::not_a_directory;
    if (failure && !missing) throw CheckpointError(concat(folder.string(), ": cannot be listed (", failure.message(), ")"));
    return entries;
}

void remove_folder(const fs::path& folder) {
    std::error_code failure;
    fs::remove_all(folder, failure);
    if (failure) throw CheckpointError(concat(folder.string(), ": cannot be removed (", failure.message(), ")"));
}

void move_folder(const fs::path& from, const fs::path& to) {
    std::error_code failure;
    fs::rename(from, to, failure);
    if (failure)
        throw CheckpointError(
            concat(from.string(), ": cannot be renamed to ", to.filename().string(), " (", failure.message(), ")"));
}

void flush_folder(const fs::path& folder) { Handle(folder, O_RDONLY | O_DIRECTORY).flush(); }

std::uint64_t checkpoint_bytes(const TrainingState& state) {
    constexpr std::uint64_t small_files = std::uint64_t{1} << 20;
    return model_layout(state).file_bytes() + optimizer_layout(state).file_bytes() + small_files;
}

void write_mark(const fs::path& folder, const CompleteMark& mark) {
    nlohmann::json json = {{"format_version", checkpoint_format_version}, {"step", mark.step}};
    for (const auto& [name, file] : mark.files) json["files"][name] = {{"bytes", file.bytes}, {"crc32", file.crc32}};
    write_flushed(folder / complete_file, json.dump(2) + "\n");
}

nlohmann::json read_json(const fs::path& file) {
    const MappedFile mapped(file);
    const auto* begin = reinterpret_cast<const char*>(mapped.bytes().data());
    auto json = parse_foreign_json({begin, mapped.bytes().size()});
    if (json.is_discarded()) throw CheckpointError(concat(file.string(), ": damaged: it is not JSON"));
    return json;
}

CompleteMark read_mark(const fs::path& folder) {
    const fs::path file = folder / complete_file;
    if (!exists_here(file))
        throw CheckpointError(concat(folder.string(), ": is not a complete checkpoint: it has no ", complete_file));
    const nlohmann::json json = read_json(file);
    const auto whole = [&](const nlohmann::json& parent, const char* key) {
        const auto found = parent.is_object() ? parent.find(key) : parent.end();
        if (found == parent.end() || !found->is_number_unsigned())
            throw CheckpointError(concat(file.string(), ": damaged: \"", key, "\" is missing or not a non-negative integer"));
        return found->get<std::uint64_t>();
    };
    const std::uint64_t version = whole(json, "format_version");
    if (version == 0) throw CheckpointError(concat(file.string(), ": damaged: format_version is 0"));
    if (version > checkpoint_format_version)
        throw CheckpointError(concat(file.string(), ": format_version is ", version, "; this program reads versions up to ",
                                     checkpoint_format_version, "\n  do: use the newer program that wrote it"));
    CompleteMark mark;
    mark.step = static_cast<std::int64_t>(whole(json, "step"));
    const auto files = json.find("files");
    if (files == json.end() || !files->is_object())
        throw CheckpointError(concat(file.string(), ": damaged: it has no list of files"));
    for (const auto& [name, entry] : files->items())
        mark.files[name] = {whole(entry, "bytes"), static_cast<std::uint32_t>(whole(entry, "crc32"))};
    for (const std::string_view needed : {model_file, optimizer_file, progress_file, settings_file})
        if (!mark.files.contains(std::string(needed)))
            throw CheckpointError(concat(file.string(), ": damaged: it does not list ", needed));
    return mark;
}

void check_sizes(const fs::path& folder, const CompleteMark& mark) {
    for (const auto& [name, expected] : mark.files) {
        std::error_code failure;
        const std::uintmax_t bytes = fs::file_size(folder / name, failure);
        if (failure) throw CheckpointError(concat((folder / name).string(), ": cannot be read (", failure.message(), ")"));
        if (bytes != expected.bytes)
            throw CheckpointError(concat((folder / name).string(), ": damaged: it has ", bytes, " bytes, expected ",
                                         expected.bytes, " (", complete_file, ")"));
    }
}

}  // namespace bertpretrain
