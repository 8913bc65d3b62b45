#include "text/content/zstd_content.h"

#include <zstd.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::size_t packed_bytes = std::size_t{1} << 18;

}  // namespace

ZstdContent::ZstdContent(std::unique_ptr<ByteSource> source) : source_(std::move(source)), decoder_(ZSTD_createDCtx()) {
    if (decoder_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(decoder_, ZSTD_d_windowLogMax, ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
}

ZstdContent::~ZstdContent() { ZSTD_freeDCtx(decoder_); }

std::size_t ZstdContent::read(char* into, std::size_t size) {
    ZSTD_outBuffer plain{into, size, 0};
    while (plain.pos == 0 && size > 0) {
        if (used_ == packed_.size()) {
            packed_.resize(packed_bytes);
            packed_.resize(source_->read(packed_.data(), packed_bytes));
            used_ = 0;
            if (packed_.empty() && !in_frame_) return 0;
            if (packed_.empty())
                throw DataError(concat(source_->name(), ": cut short: its compressed data stops in the middle, at byte ",
                                       source_->position(), "; download it again"));
        }
        ZSTD_inBuffer in{packed_.data(), packed_.size(), used_};
        const std::size_t state = ZSTD_decompressStream(decoder_, &plain, &in);
        used_ = in.pos;
        if (ZSTD_isError(state) != 0)
            throw DataError(concat(source_->name(), ": damaged near byte ", bytes_read(), ": its zstd data cannot be unpacked (",
                                   ZSTD_getErrorName(state), "); download it again"));
        in_frame_ = state != 0;
    }
    return plain.pos;
}

bool is_zstd(std::string_view start) {
    if (start.starts_with("\x28\xB5\x2F\xFD")) return true;
    // A skippable frame, with which pzstd begins.
    return start.size() >= 4 && (start[0] & 0xF0) == 0x50 && start.substr(1, 3) == "\x2A\x4D\x18";
}

}  // namespace bertpretrain
