#pragma once
// Counts malformed records, and ends a program that meets too many.

#include <cstdint>
#include <string>
#include <vector>

#include "text/document.h"

namespace bertpretrain {

class BadRecords {
public:
    /// @param most the share of all records that may be malformed
    explicit BadRecords(double most) : most_(most) {}

    /// @throws DataError when 1,000 records are malformed and they are most of all records so far, so that a wrong field's name
    /// is reported early
    void add(const DocumentBatch& batch);
    /// Call it after the last batch: logs the malformed records. @throws DataError when they are too many
    void finish() const;

    std::int64_t records() const { return records_; }
    std::int64_t bad() const { return bad_; }

private:
    std::string list() const;
    [[noreturn]] void refuse() const;

    double most_;
    std::int64_t records_ = 0, bad_ = 0;
    std::vector<std::string> first_;  ///< up to ten: "FILE:LINE: problem"
};

}  // namespace bertpretrain
