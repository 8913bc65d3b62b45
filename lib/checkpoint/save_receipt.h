#pragma once
// What a rank reports after it has written its share of a checkpoint.

#include <string>
#include <string_view>
#include <vector>

#include "archive/pt_writer.h"

namespace bertpretrain {

/// The pieces of a checkpoint that one rank has written. pack() and unpack() serialize it for messages between ranks.
struct SaveReceipt {
    std::vector<WrittenPiece> model, optimizer;

    std::string pack() const;
    /// @throws CheckpointError when `packed` is not a packed receipt
    static SaveReceipt unpack(std::string_view packed);
};

}  // namespace bertpretrain
