#include "text/compressed_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <bzlib.h>
#include <zlib.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::size_t buffer_bytes = 1 << 18;

/// The packers take 32-bit sizes; more than this at once is never needed.
unsigned at_once(std::size_t size) { return static_cast<unsigned>(std::min<std::size_t>(size, 1U << 30)); }

class Bzip2Unpacker : public Unpacker {
public:
    ~Bzip2Unpacker() override { end(); }
    Step unpack(const char* packed, std::size_t packed_size, char* plain, std::size_t plain_size) override {
        if (!open_) {
            stream_ = {};
            if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
            open_ = true;
        }
        stream_.next_in = const_cast<char*>(packed);
        stream_.avail_in = at_once(packed_size);
        stream_.next_out = plain;
        stream_.avail_out = at_once(plain_size);
        const int state = BZ2_bzDecompress(&stream_);
        Step step;
        step.consumed = static_cast<std::size_t>(stream_.next_in - packed);
        step.produced = static_cast<std::size_t>(stream_.next_out - plain);
        step.stream_ended = state == BZ_STREAM_END;
        if (state == BZ_DATA_ERROR_MAGIC) step.fault = "a bzip2 stream was expected to begin";
        else if (state == BZ_MEM_ERROR) throw std::bad_alloc();
        else if (state != BZ_OK && state != BZ_STREAM_END) step.fault = "its bzip2 data does not match its checksum";
        if (step.stream_ended) end();
        return step;
    }

private:
    void end() {
        if (open_) BZ2_bzDecompressEnd(&stream_);
        open_ = false;
    }
    bz_stream stream_{};
    bool open_ = false;
};

class GzipUnpacker : public Unpacker {
public:
    ~GzipUnpacker() override { end(); }
    Step unpack(const char* packed, std::size_t packed_size, char* plain, std::size_t plain_size) override {
        if (!open_) {
            stream_ = {};
            constexpr int gzip_with_largest_window = 15 + 16;
            if (inflateInit2(&stream_, gzip_with_largest_window) != Z_OK) throw std::bad_alloc();
            open_ = true;
        }
        const auto* const first = reinterpret_cast<const Bytef*>(packed);
        stream_.next_in = const_cast<Bytef*>(first);
        stream_.avail_in = at_once(packed_size);
        stream_.next_out = reinterpret_cast<Bytef*>(plain);
        stream_.avail_out = at_once(plain_size);
        const int state = inflate(&stream_, Z_NO_FLUSH);
        Step step;
        step.consumed = static_cast<std::size_t>(stream_.next_in - first);
        step.produced = at_once(plain_size) - stream_.avail_out;
        step.stream_ended = state == Z_STREAM_END;
        if (state == Z_MEM_ERROR) throw std::bad_alloc();
        if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) step.fault = "its gzip data is damaged";
        if (step.stream_ended) end();
        return step;
    }

private:
    void end() {
        if (open_) inflateEnd(&stream_);
        open_ = false;
    }
    z_stream stream_{};
    bool open_ = false;
};

}  // namespace

CompressedFile::CompressedFile(const std::filesystem::path& file)
    : file_(file), in_(file, std::ios::binary), buffer_(buffer_bytes) {
    if (!in_ || std::filesystem::is_directory(file))
        throw DataError(concat(file.string(), ": cannot be read (", in_ ? "it is a folder" : std::strerror(errno), ")"));
    refill();
    const std::string_view start(buffer_.data(), filled_);
    if (start.empty()) throw DataError(concat(file.string(), ": is empty, expected a MediaWiki dump; download it again"));
    if (start.starts_with("BZh")) unpacker_ = std::make_unique<Bzip2Unpacker>();
    else if (start.starts_with("\x1f\x8b")) unpacker_ = std::make_unique<GzipUnpacker>();
    else if (start.starts_with("7z\xbc\xaf") ||
             start.starts_with("\xfd"
                               "7zXZ") ||
             start.starts_with("\x28\xb5\x2f\xfd") || start.starts_with("PK\x03\x04"))
        throw DataError(
            concat(file.string(), ": is packed with 7z, xz, zstd or zip; only .bz2 and .gz are read here, so unpack it first"));
}

void CompressedFile::refill() {
    bytes_before_buffer_ += filled_;
    used_ = 0;
    in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    filled_ = static_cast<std::size_t>(in_.gcount());
    if (in_.bad()) throw DataError(concat(file_.string(), ": reading failed at byte ", bytes_read(), "; check the disk"));
}

std::size_t CompressedFile::read(char* into, std::size_t size) {
    while (true) {
        if (used_ == filled_) refill();
        const std::size_t left = filled_ - used_;
        if (!unpacker_) {
            const std::size_t count = std::min(size, left);
            std::copy_n(buffer_.data() + used_, count, into);
            used_ += count;
            return count;
        }
        if (left == 0 && !inside_stream_) return 0;
        const Unpacker::Step step = unpacker_->unpack(buffer_.data() + used_, left, into, size);
        used_ += step.consumed;
        inside_stream_ = !step.stream_ended;
        if (step.fault)
            throw DataError(
                concat(file_.string(), ": damaged near byte ", bytes_read(), ": ", step.fault, "; download it again"));
        if (step.produced > 0) return step.produced;
        if (left == 0 && inside_stream_)
            throw DataError(concat(file_.string(), ": cut short: its packed data stops in the middle, at byte ", bytes_read(),
                                   "; download it again"));
    }
}

}  // namespace bertpretrain
