#include "storage/object_reader.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bertpretrain {
namespace {

constexpr std::uint64_t blocks_ahead = 2;  // and as many threads

std::uint64_t number_of_block(std::uint64_t offset) {
    return offset < ObjectReader::first_block_bytes ? 0 : 1 + offset / ObjectReader::block_bytes;
}

std::uint64_t begin_of_block(std::uint64_t number) {
    if (number < 2) return number * ObjectReader::first_block_bytes;
    return (number - 1) * ObjectReader::block_bytes;
}

}  // namespace

ObjectReader::ObjectReader(RemoteAddress address, StorageSettings settings)
    : object_(std::make_shared<RemoteObject>(std::move(address), std::move(settings))) {}

ObjectReader::~ObjectReader() { stop_.request_stop(); }

const ObjectReader::Block* ObjectReader::find(std::uint64_t number) const {
    const auto found = std::ranges::find(blocks_, number, &Block::number);
    return found == blocks_.end() ? nullptr : &*found;
}

/// @param ahead by a thread; else the caller waits for it
void ObjectReader::request(std::uint64_t number, bool ahead) {
    const std::uint64_t begin = begin_of_block(number), size = begin_of_block(number + 1) - begin;
    const auto task = std::make_shared<std::packaged_task<std::string()>>(
        [object = object_, begin, size, stop = stop_.get_token()] { return object->read(begin, size, stop); });
    if (blocks_.size() == most_blocks) blocks_.pop_front();
    blocks_.push_back({number, task->get_future().share()});
    if (!ahead) return (*task)();
    while (workers_.size() < blocks_ahead) workers_.push_back(std::make_unique<DetachedWorker>());
    workers_[number % blocks_ahead]->post([task] { (*task)(); });
}

const std::string& ObjectReader::block(std::uint64_t number) {
    if (find(number) == nullptr) request(number, false);
    const auto used = std::ranges::find(blocks_, number, &Block::number);
    std::rotate(used, used + 1, blocks_.end());
    const std::shared_future<std::string> content = blocks_.back().content;
    if (number != last_) in_order_ = number == last_ + 1 ? in_order_ + 1 : 0;
    last_ = number;
    for (std::uint64_t next = number + 1; next <= number + std::min(in_order_, blocks_ahead); ++next)
        if (begin_of_block(next) < object_->bytes() && find(next) == nullptr) request(next, true);
    return content.get();  // of a block that is still here, because fewer than most_blocks follow it
}

std::size_t ObjectReader::read_at(std::uint64_t offset, char* into, std::size_t size) {
    if (offset > 0 && offset >= object_->bytes()) return 0;
    const std::uint64_t number = number_of_block(offset);
    const std::string& content = block(number);
    const std::uint64_t skipped = offset - begin_of_block(number);
    return skipped < content.size() ? content.copy(into, size, skipped) : 0;
}

std::string_view ObjectReader::kept(std::uint64_t offset) const {
    const std::uint64_t number = number_of_block(offset);
    const Block* const found = find(number);
    if (found == nullptr || found->content.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return {};
    const std::string_view content = found->content.get();
    return content.substr(std::min<std::uint64_t>(content.size(), offset - begin_of_block(number)));
}

}  // namespace bertpretrain
