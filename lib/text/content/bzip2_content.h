#pragma once
// A bzip2 file whose blocks are decompressed in parallel.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <string>

#include "core/threads/task_pool.h"
#include "text/content/bzip2_splitter.h"
#include "text/content/content.h"

namespace bertpretrain {

class Bzip2BlockDecoder;

/// Reads any number of concatenated streams (as in Wikipedia's multistream dumps) as one. Checks the checksums of all blocks and
/// streams. Memory: two blocks per thread. A block that decompresses to more than 2 MiB (up to 46 MiB are possible) is
/// decompressed 2 MiB at a time.
class Bzip2Content : public Content {
public:
    Bzip2Content(std::unique_ptr<ByteSource> source, TaskPool& pool);
    ~Bzip2Content() override;
    std::size_t read(char* into, std::size_t size) override;
    std::uint64_t bytes_read() const override { return bytes_read_; }

private:
    struct Unpacked {
        std::string plain;
        std::unique_ptr<Bzip2BlockDecoder> decoder;  ///< holds the rest of a block that did not fit; else null
        const char* fault = nullptr;
    };
    struct Ahead {
        std::shared_ptr<Bzip2Piece> piece;
        std::future<Unpacked> unpacked;
    };

    static Unpacked unpack(const Bzip2Piece& piece);
    void look_ahead();
    bool take_next();
    void take_block(Bzip2Piece& piece, Unpacked unpacked);
    void refill();
    void finish(const Bzip2Piece& piece);
    [[noreturn]] void complain(const Bzip2Piece& piece, const char* fault) const;

    std::unique_ptr<ByteSource> source_;
    TaskPool& pool_;
    Bzip2Splitter splitter_;
    bool split_all_ = false;
    std::exception_ptr splitting_failed_;  ///< rethrown after all earlier bytes have been read
    std::deque<Ahead> ahead_;
    Unpacked current_;
    std::shared_ptr<Bzip2Piece> piece_;  ///< the piece of current_
    std::size_t used_ = 0;               ///< bytes of current_ already returned
    std::uint32_t checksum_ = 0;         ///< checksum of the stream so far
    std::uint64_t bytes_read_ = 0;
};

}  // namespace bertpretrain
