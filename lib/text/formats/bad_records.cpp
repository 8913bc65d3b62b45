#include "text/formats/bad_records.h"

#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_named = 10;
constexpr std::int64_t enough_to_refuse = 1000;

}  // namespace

void BadRecords::add(const DocumentBatch& batch) {
    records_ += batch.records;
    bad_ += std::ssize(batch.bad);
    for (const BadRecord& record : batch.bad) {
        if (first_.size() == most_named) break;
        first_.push_back(concat(batch.file, ":", record.line, ": ", record.problem));
    }
    if (bad_ >= enough_to_refuse && 2 * bad_ > records_ && static_cast<double>(bad_) > most_ * static_cast<double>(records_))
        refuse();
}

void BadRecords::finish() const {
    if (bad_ == 0) return;
    if (static_cast<double>(bad_) > most_ * static_cast<double>(records_)) refuse();
    log_warning(concat(with_thousands(bad_), " of ", with_thousands(records_), " records are malformed and left out:", list()));
}

std::string BadRecords::list() const {
    std::string lines;
    for (const std::string& line : first_) lines += concat("\n  ", line);
    if (bad_ > std::ssize(first_)) lines += concat("\n  and ", with_thousands(bad_ - std::ssize(first_)), " more");
    return lines;
}

void BadRecords::refuse() const {
    const double share = 100 * static_cast<double>(bad_) / static_cast<double>(records_);
    throw DataError(concat(with_thousands(bad_), " of ", with_thousands(records_), " records are malformed (", fixed(share, 2),
                           " %), more than --max-bad allows (", fixed(100 * most_, 2), " %):", list(),
                           "\n  do: fix the records, or pass the right --text-field, --format, --encoding or --max-bad"));
}

}  // namespace bertpretrain
