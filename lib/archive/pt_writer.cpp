#include "archive/pt_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "archive/checksum.h"
#include "archive/zip_format.h"
#include "core/error.h"
#include "core/files/disk.h"

namespace bertpretrain {
namespace {

constexpr std::size_t worth_writing_out = std::size_t{1} << 20;

[[noreturn]] void fail(const std::filesystem::path& file, const char* what) {
    const int reason = errno;
    throw CheckpointError(concat(file.string(), ": cannot be ", what, " (", std::strerror(reason), ")", disk_advice(reason)));
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Combines the CRC-32 of each record from its pieces, which must cover it exactly.
std::vector<std::uint32_t> record_checksums(const PtLayout& layout, std::vector<WrittenPiece> pieces) {
    std::sort(pieces.begin(), pieces.end(), [](const WrittenPiece& a, const WrittenPiece& b) {
        return std::tie(a.record, a.offset, a.bytes) < std::tie(b.record, b.offset, b.bytes);
    });
    std::vector<std::uint32_t> checksums;
    auto piece = pieces.begin();
    for (std::size_t i = 0; i < layout.records().size(); ++i) {
        const PtRecord& record = layout.records()[i];
        std::uint32_t crc = crc32_of(bytes_of(record.content));
        std::uint64_t covered = record.content.size();
        for (; piece != pieces.end() && piece->record == i; ++piece) {
            check(piece->offset == covered, record.tensor, ": written in pieces that leave a gap or overlap at byte ", covered);
            crc = crc32_joined(crc, static_cast<std::uint32_t>(piece->crc32), piece->bytes);
            covered += piece->bytes;
        }
        check(covered == record.bytes, record.tensor, ": ", covered, " of ", record.bytes, " bytes were written");
        checksums.push_back(crc);
    }
    check(piece == pieces.end(), "a piece names record ", piece == pieces.end() ? 0 : piece->record,
          ", which is not in the layout");
    return checksums;
}

}  // namespace

PtWriter::PtWriter(std::filesystem::path file, PtLayout layout, Open how) : file_(std::move(file)), layout_(std::move(layout)) {
    handle_ = ::open(file_.c_str(), O_WRONLY | O_CLOEXEC | (how == Open::create ? O_CREAT | O_TRUNC : 0), 0644);
    if (handle_ < 0) fail(file_, how == Open::create ? "created" : "opened for writing");
    if (how == Open::create && ::ftruncate(handle_, static_cast<off_t>(layout_.file_bytes())) != 0) {
        const int reason = errno;
        ::close(handle_);
        errno = reason;
        fail(file_, "extended to its full size");
    }
}

PtWriter::~PtWriter() { ::close(handle_); }

void PtWriter::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (!write_fully(handle_, offset, bytes.data(), bytes.size())) fail(file_, "written");
}

WrittenPiece PtWriter::write_piece(std::size_t record, std::uint64_t offset, std::span<const std::byte> bytes) {
    check(record < layout_.records().size(), "the layout does not have record ", record);
    const PtRecord& target = layout_.records()[record];
    check(target.content.empty(), target.name, " is not a tensor record");
    check(offset <= target.bytes && bytes.size() <= target.bytes - offset, target.tensor,
          ": the piece reaches beyond its record");
    write_at(target.file_offset + offset, bytes);
    // Starts writing to the disk now, in parallel with copying the next piece, so that flush() has little left to wait for. This
    // is only a hint: its result is ignored, and flush() reports errors of the disk.
    if (bytes.size() >= worth_writing_out)
        ::sync_file_range(handle_, static_cast<off_t>(target.file_offset + offset), static_cast<off_t>(bytes.size()),
                          SYNC_FILE_RANGE_WRITE);
    return {record, offset, bytes.size(), crc32_of(bytes)};
}

void PtWriter::flush() {
    if (::fsync(handle_) != 0) fail(file_, "flushed to the disk");
}

FileSummary PtWriter::finish(std::vector<WrittenPiece> pieces, const std::function<void()>& sign_of_life) {
    const std::vector<std::uint32_t> checksums = record_checksums(layout_, std::move(pieces));
    FileSummary summary;
    std::string directory;
    const auto append = [&](const std::string& text) {
        write_at(summary.bytes, bytes_of(text));
        if (sign_of_life) sign_of_life();
        summary.crc32 = crc32_joined(summary.crc32, crc32_of(bytes_of(text)), text.size());
        summary.bytes += text.size();
    };
    for (std::size_t i = 0; i < layout_.records().size(); ++i) {
        const PtRecord& record = layout_.records()[i];
        const zip::Header header{record.name, record.bytes, record.header_offset, checksums[i]};
        append(zip::local_header(header, record.file_offset - record.header_offset) + record.content);
        directory += zip::central_header(header);
        if (!record.content.empty()) continue;
        summary.crc32 = crc32_joined(summary.crc32, checksums[i], record.bytes);
        summary.bytes += record.bytes;
    }
    append(directory + zip::directory_end(layout_.records().size(), summary.bytes, directory.size()));
    check(summary.bytes == layout_.file_bytes(), file_.string(), ": the size of the file differs from its layout's");
    flush();
    return summary;
}

}  // namespace bertpretrain
