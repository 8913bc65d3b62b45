// The wire format of SaveReceipt: two counts, then the pieces, as 64-bit little-endian numbers.

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "checkpoint/checkpoint_store.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

static_assert(std::is_trivially_copyable_v<WrittenPiece> && sizeof(WrittenPiece) == 4 * sizeof(std::uint64_t));
using Counts = std::array<std::uint64_t, 2>;

void append(std::string& out, const void* data, std::size_t bytes) { out.append(static_cast<const char*>(data), bytes); }

}  // namespace

std::string SaveReceipt::pack() const {
    const Counts counts{model.size(), optimizer.size()};
    std::string out;
    append(out, counts.data(), sizeof counts);
    append(out, model.data(), model.size() * sizeof(WrittenPiece));
    append(out, optimizer.data(), optimizer.size() * sizeof(WrittenPiece));
    return out;
}

SaveReceipt SaveReceipt::unpack(std::string_view packed) {
    Counts counts{};
    const auto take = [&](void* into, std::size_t bytes) {
        if (bytes > packed.size()) throw CheckpointError("the receipt of a rank's save is truncated");
        if (bytes > 0) std::memcpy(into, packed.data(), bytes);
        packed.remove_prefix(bytes);
    };
    take(counts.data(), sizeof counts);
    const std::size_t room = packed.size() / sizeof(WrittenPiece);
    if (counts[0] > room || counts[1] != room - counts[0])
        throw CheckpointError("the receipt of a rank's save has the wrong length");
    SaveReceipt receipt;
    receipt.model.resize(counts[0]);
    receipt.optimizer.resize(counts[1]);
    take(receipt.model.data(), counts[0] * sizeof(WrittenPiece));
    take(receipt.optimizer.data(), counts[1] * sizeof(WrittenPiece));
    return receipt;
}

}  // namespace bertpretrain
