#pragma once
// The vectors of a text on their way to a file: OUTPUT.partial holds what is done, and OUTPUT appears when all is.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "archive/vector_file.h"

namespace bertpretrain {

struct EmbeddingRequest {
    std::filesystem::path output;
    MatrixShape shape;
    std::size_t parts = 0;
    std::string vectors;              ///< what they are: "mean", "cls", "pooled"; an h5 file's dataset
    nlohmann::ordered_json identity;  ///< {name: text or number}: all that decides the values
};

/// Work in parts, which any number of processes on one file system do in any order, and another start goes on with.
/// Every member throws DataError naming the file and the system's reason.
class EmbeddingStore {
public:
    /// Begins the work, or finds the begun one; by one process, before the others open it.
    /// @returns whether there was one
    /// @throws ConfigError when the output exists, or what was begun is other work: naming the difference
    static bool prepare(const EmbeddingRequest& request);

    /// Opens what was prepared.
    explicit EmbeddingStore(const EmbeddingRequest& request);

    struct Progress {
        std::size_t parts = 0;       ///< done, by all processes
        std::int64_t truncated = 0;  ///< lines in them
    };
    Progress progress() const;
    bool done(std::size_t part) const;

    /// Writes the rows of a part to the disk; only then is it done.
    void put(std::size_t part, std::int64_t first_row, std::span<const float> rows, std::int64_t truncated);

    /// Puts the file in place, by one process, when all parts are done.
    void complete() const;

private:
    EmbeddingRequest request_;
    std::uint64_t first_row_offset_;
    PlacedWrites vectors_, marks_;
};

/// Keeps others from the same output as long as it lives. @throws ConfigError when another process has it
class EmbeddingLock {
public:
    explicit EmbeddingLock(const std::filesystem::path& output);
    EmbeddingLock(const EmbeddingLock&) = delete;
    EmbeddingLock& operator=(const EmbeddingLock&) = delete;
    ~EmbeddingLock();  ///< takes the folder away if nothing was begun in it

private:
    std::filesystem::path folder_;
    int handle_;
};

}  // namespace bertpretrain
