#pragma once
// Counts malformed records, and ends a program that meets too many.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "text/document.h"

namespace bertpretrain {

/// Numbers of records; those of several parts of a corpus can be added.
struct RecordCounts {
    std::int64_t records = 0, bad = 0;
    std::map<std::string, std::int64_t> with_field;  ///< of JSONL with several text fields: how many records have each
};

class BadRecords {
public:
    /// @param most the share of all records that may be malformed
    explicit BadRecords(double most) : most_(most) {}

    /// @throws DataError when 1,000 records are malformed and they are most of all records so far, so that a wrong field's name
    /// is reported early
    void add(const DocumentBatch& batch);
    /// Adds what another process has counted, and has reported.
    void add(const RecordCounts& counts);
    /// Logs the malformed records, however many they are.
    void report() const;
    /// Call it after the last batch: logs the malformed records, and text fields that no record has. @throws DataError when they
    /// are too many
    void finish() const;

    const RecordCounts& counts() const { return counts_; }

private:
    /// A malformed record that is named, and all with the same cause.
    struct Named {
        std::string place, problem, cause;  ///< place: "FILE:LINE"
        std::int64_t records = 0;
    };

    void add(const BadRecord& record, const std::string& file);
    std::string list() const;
    [[noreturn]] void refuse(const char* which) const;

    double most_;
    RecordCounts counts_;
    std::vector<Named> named_;  ///< up to ten
};

}  // namespace bertpretrain
