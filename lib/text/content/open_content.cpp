#include "text/content/open_content.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include <zlib.h>

#include "core/error.h"
#include "text/content/bzip2_content.h"
#include "text/content/zstd_content.h"

namespace bertpretrain {
namespace {

constexpr std::size_t bzip2_start_bytes = 10;

class PlainContent : public Content {
public:
    explicit PlainContent(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
    std::size_t read(char* into, std::size_t size) override { return source_->read(into, size); }
    std::uint64_t bytes_read() const override { return source_->position(); }

private:
    std::unique_ptr<ByteSource> source_;
};

class GzipContent : public Content {
public:
    explicit GzipContent(std::unique_ptr<ByteSource> source) : source_(std::move(source)), buffer_(buffer_bytes, '\0') {
        constexpr int gzip_with_largest_window = 15 + 16;
        if (inflateInit2(&stream_, gzip_with_largest_window) != Z_OK) throw std::bad_alloc();
    }
    ~GzipContent() override { inflateEnd(&stream_); }

    std::size_t read(char* into, std::size_t size) override {
        stream_.next_out = reinterpret_cast<Bytef*>(into);
        const auto limit = static_cast<unsigned>(std::min(size, buffer_bytes));
        for (stream_.avail_out = limit; stream_.avail_out == limit;) {
            if (stream_.avail_in == 0) {
                stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
                stream_.avail_in = static_cast<unsigned>(source_->read(buffer_.data(), buffer_.size()));
                if (stream_.avail_in == 0 && !in_member_) return 0;
                if (stream_.avail_in == 0)
                    throw DataError(concat(source_->name(), ": cut short: its compressed data stops in the middle, at byte ",
                                           source_->position(), "; download it again"));
            }
            if (!in_member_ && *stream_.next_in == 0) {
                skip_padding();
                continue;
            }
            const int state = inflate(&stream_, Z_NO_FLUSH);
            if (state == Z_MEM_ERROR) throw std::bad_alloc();
            if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
                throw DataError(concat(source_->name(), ": damaged near byte ", bytes_read(),
                                       ": its gzip data is damaged; download it again"));
            in_member_ = state != Z_STREAM_END;
            if (!in_member_) inflateReset(&stream_);
        }
        return limit - stream_.avail_out;
    }
    std::uint64_t bytes_read() const override { return source_->position() - stream_.avail_in; }

private:
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

    /// Skips zeros after a member, to which tapes and object stores fill up blocks.
    void skip_padding() {
        for (; stream_.avail_in > 0 && *stream_.next_in == 0; --stream_.avail_in) ++stream_.next_in;
    }

    std::unique_ptr<ByteSource> source_;
    std::string buffer_;
    z_stream stream_{};
    bool in_member_ = true;
};

/// Whether a bzip2 stream begins, which may be damaged or cut short: its header, then the mark of a block or of the stream's end.
/// Text may begin with "BZh" too.
bool is_bzip2(std::string_view start) {
    if (!start.starts_with("BZh")) return false;
    if (start.size() < bzip2_start_bytes) return true;
    constexpr std::string_view marks[] = {"\x31\x41\x59\x26\x53\x59", "\x17\x72\x45\x38\x50\x90"};
    return std::any_of(std::begin(marks), std::end(marks), [&](std::string_view mark) {
        return std::inner_product(mark.begin(), mark.end(), start.begin() + 4, 0, std::plus<>(), std::equal_to<>()) > 2;
    });
}

}  // namespace

bool is_compressed(std::string_view start) { return is_bzip2(start) || is_zstd(start) || start.starts_with("\x1f\x8b"); }

std::unique_ptr<Content> open_content(const std::filesystem::path& path, TaskPool& pool, std::shared_ptr<RunningDigest> digest) {
    auto source = std::make_unique<ByteSource>(path, std::move(digest));
    const std::string_view start = source->peek(bzip2_start_bytes);
    if (is_bzip2(start)) return std::make_unique<Bzip2Content>(std::move(source), pool);
    if (is_zstd(start)) return std::make_unique<ZstdContent>(std::move(source));
    if (start.starts_with("\x1f\x8b")) return std::make_unique<GzipContent>(std::move(source));
    return plain_content(std::move(source));
}

std::unique_ptr<Content> plain_content(std::unique_ptr<ByteSource> source) {
    return std::make_unique<PlainContent>(std::move(source));
}

}  // namespace bertpretrain
