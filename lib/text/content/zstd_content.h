#pragma once
// A zstd file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "text/content/byte_source.h"
#include "text/content/content.h"

struct ZSTD_DCtx_s;

namespace bertpretrain {

/// Reads any number of concatenated frames as one. Memory: the frames' window, at most 2 GiB (`zstd --long=31`), by default 8
/// MiB.
class ZstdContent : public Content {
public:
    explicit ZstdContent(std::unique_ptr<ByteSource> source);
    ~ZstdContent() override;
    std::size_t read(char* into, std::size_t size) override;
    std::uint64_t bytes_read() const override { return source_->position() - (packed_.size() - used_); }

private:
    std::unique_ptr<ByteSource> source_;
    ZSTD_DCtx_s* decoder_;
    std::string packed_;
    std::size_t used_ = 0;   ///< bytes of packed_ that were decoded
    bool in_frame_ = false;  ///< whether a frame has begun that has not ended
};

/// Whether a file that begins with these bytes is compressed with zstd.
bool is_zstd(std::string_view start);

}  // namespace bertpretrain
