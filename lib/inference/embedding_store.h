#pragma once
// Stores a text's vectors while they are computed: OUTPUT.partial contains the finished parts, OUTPUT appears when all are done.

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
    std::string vectors;              ///< "mean", "cls" or "pooled"; also the name of the dataset in an h5 file
    nlohmann::ordered_json identity;  ///< {name: string or number}: everything that determines the values; recorded as the origin
    std::filesystem::path ids{};      ///< a file of the rows' ids (text_ids.h); empty: none
};

/// Work in parts: any number of processes on one file system do them in any order, and a later start continues the work.
/// All members throw DataError naming the file and the system's reason.
class EmbeddingStore {
public:
    /// Begins the work, or finds work begun earlier. One process calls it, before the others open the store.
    /// @returns whether work had been begun before
    /// @throws ConfigError when the output exists, or when the work begun earlier has a different identity; names the difference
    static bool prepare(const EmbeddingRequest& request);

    /// Whether the ids beside `output` are those of work that was interrupted while it was completed, after it had renamed them.
    static bool has_placed_ids(const std::filesystem::path& output);

    /// Opens the prepared work.
    explicit EmbeddingStore(const EmbeddingRequest& request);

    struct Progress {
        std::size_t parts = 0;       ///< done by all processes
        std::int64_t truncated = 0;  ///< truncated lines in these parts
    };
    Progress progress() const;
    bool done(std::size_t part) const;

    /// Writes and fsyncs the rows of a part, then marks it as done. @param truncated number of truncated lines in it
    void put(std::size_t part, std::int64_t first_row, std::span<const float> rows, std::int64_t truncated);

    /// Renames the file to its final name. A .parquet file is first written from the rows; the ids of an .npy file and its origin
    /// (vector_origin.h) are written beside it. One process calls it when all parts are done. After a failure or a kill, it can
    /// be repeated.
    void complete() const;

private:
    EmbeddingRequest request_;
    std::uint64_t first_row_offset_;
    PlacedWrites vectors_, marks_;
};

/// Locks an output against other processes as long as it lives. @throws ConfigError when another process holds the lock
class EmbeddingLock {
public:
    explicit EmbeddingLock(const std::filesystem::path& output);
    EmbeddingLock(const EmbeddingLock&) = delete;
    EmbeddingLock& operator=(const EmbeddingLock&) = delete;
    ~EmbeddingLock();  ///< removes the folder if it is empty

private:
    std::filesystem::path folder_;
    int handle_;
};

}  // namespace bertpretrain
