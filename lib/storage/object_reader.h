#pragma once
// Reads an object like a file, ahead of the network.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/detached_worker.h"
#include "storage/remote_object.h"

namespace bertpretrain {

/// Requests blocks: the first MiB, the rest of the first 8 MiB, then 8 MiB each. Keeps the six used last, 48 MiB.
/// Where blocks are read in order, threads request the next one meanwhile, and from the third one on the next two. An object that
/// is read from its beginning takes at most bytes / 8 MiB + 2 requests.
///
/// One thread at a time may use it. All members throw what RemoteObject throws.
class ObjectReader {
public:
    static constexpr std::uint64_t block_bytes = std::uint64_t{8} << 20, first_block_bytes = std::uint64_t{1} << 20;
    static constexpr std::size_t most_blocks = 6;

    explicit ObjectReader(RemoteAddress address, StorageSettings settings = {});
    ObjectReader(const ObjectReader&) = delete;
    ObjectReader& operator=(const ObjectReader&) = delete;
    ~ObjectReader();  ///< stops the transfers, within about a second

    const std::string& name() const { return object_->name(); }
    std::uint64_t bytes() { return object_->bytes(); }
    /// Reads up to `size` bytes from `offset` on; returns 0 only at the object's end.
    std::size_t read_at(std::uint64_t offset, char* into, std::size_t size);
    /// Returns the bytes from `offset` to the end of its block if that block is here; else nothing. Valid until the next call.
    std::string_view kept(std::uint64_t offset) const;

private:
    struct Block {
        std::uint64_t number;
        std::shared_future<std::string> content;
    };

    /// Returns the block, and requests it if it is not here.
    const std::string& block(std::uint64_t number);
    void request(std::uint64_t number, bool ahead);
    const Block* find(std::uint64_t number) const;

    std::shared_ptr<RemoteObject> object_;  ///< shared with the threads
    std::stop_source stop_;
    std::deque<Block> blocks_;    ///< the least recently used first
    std::uint64_t last_ = 0;      ///< number of the block that was used last
    std::uint64_t in_order_ = 0;  ///< how many blocks up to it were read one after the other, not counting the first
    std::vector<std::unique_ptr<DetachedWorker>> workers_;
};

}  // namespace bertpretrain
