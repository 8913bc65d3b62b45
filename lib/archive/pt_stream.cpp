#include "archive/pt_stream.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "archive/little_endian.h"
#include "archive/printable.h"
#include "archive/unpickler.h"
#include "core/concat.h"

namespace bertpretrain {
namespace {

using namespace std::string_view_literals;

/// The file's first pickle, after its protocol: PyTorch's magic number as an integer of ten bytes.
constexpr std::string_view stream_magic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv;
constexpr std::size_t stream_magic_begin = 2;

class StreamReader {
public:
    explicit StreamReader(std::span<const std::byte> file) : rest_(file) {}

    PtStream run() {
        next();  // the magic number
        if (const PtValue version = next().tree; version.integer() == nullptr || *version.integer() != 1001)
            refuse_pickle("is in a format of PyTorch before 1.6 with another protocol than 1001, the only one that is supported");
        const PtValue system = next().tree;
        const PtValue* const little = system.find("little_endian");
        if (little == nullptr || !std::holds_alternative<bool>(little->content) || !std::get<bool>(little->content))
            refuse_pickle("is damaged, or not little-endian, the only byte order that is supported");
        Unpickled content = next();
        const PtValue keys = next().tree;
        if (keys.list() == nullptr) refuse_pickle("is damaged: the list of its storages is missing");
        PtStream stream{std::move(content.tree), {}};
        for (const PtTensor& storage : content.storages) item_bytes_[storage.storage] = dtype_bytes(storage.dtype);
        for (const PtValue& key : *keys.list())
            if (key.text() == nullptr || !stream.storages.try_emplace(*key.text(), take_storage(*key.text())).second)
                refuse_pickle("is damaged: it lists a storage twice");
        return stream;
    }

private:
    Unpickled next() {
        Unpickled read = unpickle_first(rest_.first(std::min(rest_.size(), largest_pickle)));
        rest_ = rest_.subspan(read.bytes);
        return read;
    }

    /// A storage is its number of elements, as int64, and their bytes.
    std::span<const std::byte> take_storage(const std::string& key) {
        const auto item = item_bytes_.find(key);
        if (item == item_bytes_.end()) refuse_pickle(concat("is damaged: no tensor has its storage \"", printable(key), "\""));
        std::uint64_t bytes = 0;
        const bool has_count = lies_within(0, sizeof(std::uint64_t), rest_.size());
        if (!has_count || __builtin_mul_overflow(number_at<std::uint64_t>(rest_, 0), item->second, &bytes) ||
            !lies_within(sizeof(std::uint64_t), bytes, rest_.size()))
            refuse_pickle(concat("is cut short: it ends in its storage \"", printable(key), "\""));
        const auto content = rest_.subspan(sizeof(std::uint64_t), bytes);
        rest_ = rest_.subspan(sizeof(std::uint64_t) + bytes);
        return content;
    }

    std::span<const std::byte> rest_;
    std::unordered_map<std::string, std::size_t> item_bytes_;  ///< bytes of an element, by storage
};

}  // namespace

bool is_pt_stream(std::span<const std::byte> file) {
    return lies_within(stream_magic_begin, stream_magic.size(), file.size()) &&
           std::memcmp(file.data() + stream_magic_begin, stream_magic.data(), stream_magic.size()) == 0;
}

PtStream read_pt_stream(std::span<const std::byte> file) { return StreamReader(file).run(); }

}  // namespace bertpretrain
