#include "text/reader/continued_text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/disk.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/output/log.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// Returns nullopt if there is no record, or one that is damaged.
std::optional<ExtractedPart> saved_in(const fs::path& record) {
    if (!fs::exists(record)) return std::nullopt;
    try {
        ExtractedPart saved = read_extracted_part(nlohmann::json::parse(read_file(record)), record.string());
        if (saved.text) return saved;
    } catch (const nlohmann::json::exception&) {
    } catch (const Error&) {}
    return std::nullopt;
}

}  // namespace

fs::path partial_text_file(fs::path file) { return file += ".partial"; }
fs::path saved_text_record(fs::path file) { return file += ".so_far.partial"; }

ContinuedText::ContinuedText(fs::path file, const ExtractedPart::Request& request, double save_seconds)
    : file_(std::move(file)),
      partial_(partial_text_file(file_)),
      record_(saved_text_record(file_)),
      can_save_(!request.empty()),
      save_seconds_(save_seconds) {
    found_.request = request;
    if (const auto saved = saved_in(record_)) {
        const std::string differs = can_save_ ? difference(request, saved->request) : "an input cannot be read again";
        if (differs.empty() && holds(*saved)) found_ = *saved;
        else
            log_info(concat(partial_.string(),
                            ": an earlier run was interrupted; this one does not go on with its text, because ",
                            differs.empty() ? "that has changed" : differs));
    }
    is_saved_ = found_.text.has_value();
    if (!is_saved_) discard();
    errno = 0;
    out_.open(partial_, std::ios::binary | std::ios::app);
    if (out_) fs::resize_file(partial_, is_saved_ ? found_.text->bytes : 0);
    if (!out_) throw DataError(failed_write(file_, errno));
}

ContinuedText::~ContinuedText() {
    if (is_finished_ || is_saved_) return;
    std::error_code ignored;
    fs::remove(partial_, ignored);
}

/// Whether FILE.partial begins with the text that was saved, which running_ then has read.
bool ContinuedText::holds(const ExtractedPart& saved) {
    std::error_code missing;
    const std::uint64_t bytes = saved.text->bytes;
    if (const std::uint64_t size = fs::file_size(partial_, missing); missing || size < bytes) return false;
    const InputFile in(partial_);
    std::string piece(std::size_t{1} << 20, '\0');
    while (running_.bytes() < bytes) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), bytes - running_.bytes()));
        const std::size_t count = in.read_at(running_.bytes(), piece.data(), wanted);
        if (count == 0) break;
        running_.add(std::string_view(piece).substr(0, count));
    }
    if (running_.so_far("").sha256 == saved.text->sha256) return true;
    running_ = RunningDigest();
    return false;
}

void ContinuedText::write(std::string_view text) {
    if (!out_.write(text.data(), static_cast<std::streamsize>(text.size())))
        throw DataError(concat(partial_.string(), ": writing failed (", std::strerror(errno), ")", disk_advice(errno)));
    running_.add(text);
}

bool ContinuedText::is_due() const {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - last_saved_;
    return can_save_ && since.count() >= save_seconds_;
}

void ContinuedText::flush() {
    errno = 0;
    if (!out_.flush()) throw DataError(failed_write(file_, errno));
    flush_to_disk(partial_);
}

void ContinuedText::save(ExtractedPart so_far) {
    flush();
    so_far.text = running_.so_far(file_.filename().string());
    write_atomically(record_, to_json(so_far).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    is_saved_ = true;
    last_saved_ = std::chrono::steady_clock::now();
}

FileDigest ContinuedText::finish(const std::function<void(const FileDigest& digest)>& before) {
    flush();
    FileDigest digest = running_.finish(file_.filename().string());
    if (before) before(digest);
    out_.close();
    std::error_code failure;
    fs::rename(partial_, file_, failure);
    if (failure) throw DataError(concat(file_.string(), ": cannot be renamed from its .partial file (", failure.message(), ")"));
    is_finished_ = true;
    discard();
    flush_to_disk(file_.has_parent_path() ? file_.parent_path() : fs::path("."));
    return digest;
}

void ContinuedText::discard() {
    std::error_code ignored;
    fs::remove(record_, ignored);
    is_saved_ = false;
}

}  // namespace bertpretrain
