#include "text/formats/bad_records.h"

#include <algorithm>

#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_named = 10;
constexpr std::int64_t enough_to_refuse = 1000;

}  // namespace

void BadRecords::add(const DocumentBatch& batch) {
    counts_.records += batch.records;
    counts_.bad += std::ssize(batch.bad);
    for (const BadRecord& record : batch.bad) add(record, batch.file);
    for (const auto& [field, records] : batch.records_with_field) counts_.with_field[field] += records;
    if (counts_.bad >= enough_to_refuse && 2 * counts_.bad > counts_.records &&
        static_cast<double>(counts_.bad) > most_ * static_cast<double>(counts_.records))
        refuse("the first ");
}

void BadRecords::add(const BadRecord& record, const std::string& file) {
    if (!record.cause.empty()) {
        const auto known = std::ranges::find(named_, record.cause, &Named::cause);
        if (known != named_.end()) {
            ++known->records;
            return;
        }
    }
    if (named_.size() < most_named) named_.push_back({concat(file, ":", record.line), record.problem, record.cause, 1});
}

void BadRecords::add(const RecordCounts& counts) {
    counts_.records += counts.records;
    counts_.bad += counts.bad;
    for (const auto& [field, records] : counts.with_field) counts_.with_field[field] += records;
}

void BadRecords::report() const {
    if (counts_.bad > 0)
        log_warning(concat(with_thousands(counts_.bad), " of ", with_thousands(counts_.records),
                           " records are malformed and left out:", list()));
}

void BadRecords::finish() const {
    for (const auto& [field, records] : counts_.with_field)
        if (records == 0) log_warning(concat("no record has the field \"", field, "\" of --text-field; is its name right?"));
    if (static_cast<double>(counts_.bad) > most_ * static_cast<double>(counts_.records)) refuse("");
    report();
}

std::string BadRecords::list() const {
    if (named_.empty()) return "\n  in files that other processes have read";
    std::string lines;
    std::int64_t left = counts_.bad;
    for (const Named& named : named_) {
        left -= named.records;
        lines += concat("\n  ", named.place, ": ", named.problem);
        if (named.records > 1) lines += concat(" (and ", with_thousands(named.records - 1), " more)");
    }
    if (left > 0) lines += concat("\n  and ", with_thousands(left), " more");
    return lines;
}

void BadRecords::refuse(const char* which) const {
    const double share = 100 * static_cast<double>(counts_.bad) / static_cast<double>(counts_.records);
    const bool allows_some = most_ > 0;  // --max-bad is no option where every record has its row
    throw DataError(concat(
        with_thousands(counts_.bad), " of ", which, with_thousands(counts_.records), " records are malformed",
        allows_some ? concat(" (", fixed(share, 2), " %), more than --max-bad allows (", fixed(100 * most_, 2), " %)") : "", ":",
        list(), "\n  do: fix the records, or pass the right --text-field, --id-field, --format",
        allows_some ? ", --encoding or --max-bad" : " or --encoding"));
}

}  // namespace bertpretrain
