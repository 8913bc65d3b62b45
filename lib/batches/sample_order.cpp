#include "batches/sample_order.h"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <numeric>
#include <sstream>

#include "core/error.h"
#include "core/random.h"

namespace bertpretrain {
namespace {

/// Incremented when the same settings give another order.
constexpr int order_version = 1;

/// FNV-1a: detects accidental differences, not forged ones.
std::uint64_t hash_of(const std::string& text) {
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    return hash;
}

/// Returns the index of the last element <= `value` in an ascending list whose first element is <= `value`.
template <class Iterator, class Value>
std::size_t place_of(Iterator begin, Iterator end, Value value) {
    return static_cast<std::size_t>(std::upper_bound(begin, end, value) - begin) - 1;
}

}  // namespace

SampleOrder::SampleOrder(std::vector<OrderedShard> shards, std::uint64_t seed, std::int64_t window_rows, std::size_t source)
    : shards_(std::move(shards)), seed_(seed), window_rows_(window_rows), source_(source) {
    check(window_rows > 0 && window_rows <= std::int64_t{1} << 30, "a window of ", window_rows, " rows");
    check(std::is_sorted(shards_.begin(), shards_.end(), [](const auto& a, const auto& b) { return a.name < b.name; }),
          "shards are sorted by name");
    for (std::size_t s = 0; s < shards_.size(); ++s) {
        const OrderedShard& shard = shards_[s];
        check(shard.rows >= 0 && (shard.rows == 0 || shard.band_rows > 0), shard.name, ": ", shard.rows, " rows in bands of ",
              shard.band_rows);
        for (std::int64_t first = 0; first < shard.rows; first += shard.band_rows)
            bands_.push_back({static_cast<std::int64_t>(s), first, std::min(shard.band_rows, shard.rows - first)});
        rows_ += shard.rows;
        largest_band_rows_ = std::max(largest_band_rows_, std::min(shard.band_rows, shard.rows));
    }
    if (rows_ == 0) throw DataError(concat("no samples in the ", shards_.size(), " shard files given"));
    check(most_rows_in_window() <= std::numeric_limits<std::uint32_t>::max(), "a band of ", largest_band_rows_, " rows");
}

std::int64_t SampleOrder::most_rows_in_window(std::int64_t rows, std::int64_t band_rows, std::int64_t window_rows) {
    // A window has at least two bands and ends with the band that crosses window_rows. The last one also takes an epoch's short
    // end.
    const std::int64_t whole = std::max(window_rows + band_rows, 2 * band_rows);
    return std::min(rows, whole + std::max(window_rows / 2, band_rows));
}

SamplePlace SampleOrder::locate(std::int64_t number) {
    check(number >= 0, "sample ", number);
    const std::int64_t row_in_epoch = number % rows_;
    enter_epoch(number / rows_);
    enter_window(row_in_epoch);
    const std::int64_t window_begin = rows_before_[window_begins_[window_]];
    const std::int64_t row = window_begin + window_order_[static_cast<std::size_t>(row_in_epoch - window_begin)];
    const std::size_t place = place_of(rows_before_.begin(), rows_before_.end(), row);

    const auto window_rows = static_cast<double>(rows_before_[window_begins_[window_ + 1]] - window_begin);
    const auto bands_before = (number / rows_) * static_cast<std::int64_t>(bands_.size());
    return {.band = bands_[sequence_[place]],
            .row_in_band = row - rows_before_[place],
            .band_number = bands_before + static_cast<std::int64_t>(place),
            .window_first_band = bands_before + static_cast<std::int64_t>(window_begins_[window_]),
            .share_before = static_cast<double>(rows_before_[place] - window_begin) / window_rows};
}

SampleWindow SampleOrder::window_of(std::int64_t number) {
    const std::int64_t epoch = number / rows_;
    locate(number);
    const std::size_t begin = window_begins_[window_], end = window_begins_[window_ + 1];
    SampleWindow window{epoch * rows_ + rows_before_[begin], epoch * rows_ + rows_before_[end], {}};
    for (std::size_t place = begin; place < end; ++place)
        window.bands.push_back(
            {epoch * static_cast<std::int64_t>(bands_.size()) + static_cast<std::int64_t>(place), bands_[sequence_[place]]});
    return window;
}

std::vector<std::pair<std::int64_t, std::int64_t>> SampleOrder::next_uses(std::int64_t number) const {
    SampleOrder order(*this);
    order.locate(number);
    std::vector<std::pair<std::int64_t, std::int64_t>> uses;
    std::vector<bool> is_listed(shards_.size());
    for (std::int64_t epoch = number / rows_; epoch <= number / rows_ + 1; ++epoch) {
        order.enter_epoch(epoch);
        for (std::size_t w = epoch == number / rows_ ? order.window_ : 0; w + 1 < order.window_begins_.size(); ++w) {
            const std::int64_t first = epoch * rows_ + order.rows_before_[order.window_begins_[w]];
            for (std::size_t i = order.window_begins_[w]; i < order.window_begins_[w + 1]; ++i) {
                const std::int64_t shard = bands_[order.sequence_[i]].shard;
                if (is_listed[static_cast<std::size_t>(shard)]) continue;
                is_listed[static_cast<std::size_t>(shard)] = true;
                uses.emplace_back(shard, first);
            }
        }
    }
    return uses;
}

std::uint64_t SampleOrder::position_of(std::int64_t epoch) const {
    constexpr int epoch_bits = 44;
    return static_cast<std::uint64_t>(source_) << epoch_bits | static_cast<std::uint64_t>(epoch);
}

void SampleOrder::enter_epoch(std::int64_t epoch) {
    if (epoch == epoch_) return;
    epoch_ = epoch;
    window_order_.clear();
    sequence_.resize(bands_.size());
    std::iota(sequence_.begin(), sequence_.end(), 0U);
    RandomSequence(seed_, Purpose::sample_order, position_of(epoch)).shuffle(sequence_);
    rows_before_.assign(1, 0);
    for (const std::uint32_t band : sequence_) rows_before_.push_back(rows_before_.back() + bands_[band].rows);
    cut_windows();
}

void SampleOrder::cut_windows() {
    window_begins_.assign(1, 0);
    for (std::size_t end = 2; end < sequence_.size(); ++end) {
        const std::size_t begin = window_begins_.back();
        const bool full = end - begin >= 2 && rows_before_[end] - rows_before_[begin] >= window_rows_;
        // A short end would be shuffled poorly, so the last window takes it.
        const bool enough_left = sequence_.size() - end >= 2 && rows_ - rows_before_[end] >= window_rows_ / 2;
        if (full && enough_left) window_begins_.push_back(end);
    }
    window_begins_.push_back(sequence_.size());
}

void SampleOrder::enter_window(std::int64_t row_in_epoch) {
    const auto begin_of = [&](std::size_t window) { return rows_before_[window_begins_[window]]; };
    if (!window_order_.empty() && row_in_epoch >= begin_of(window_) && row_in_epoch < begin_of(window_ + 1)) return;
    const std::size_t band = place_of(rows_before_.begin(), rows_before_.end(), row_in_epoch);
    window_ = place_of(window_begins_.begin(), window_begins_.end(), band);
    window_order_.resize(static_cast<std::size_t>(begin_of(window_ + 1) - begin_of(window_)));
    std::iota(window_order_.begin(), window_order_.end(), 0U);
    const auto stream = static_cast<std::uint32_t>(window_ + 1);  // stream 0 orders the bands
    RandomSequence(seed_, Purpose::sample_order, position_of(epoch_), stream).shuffle(window_order_);
}

std::string SampleOrder::fingerprint() const {
    std::ostringstream text;
    for (const OrderedShard& shard : shards_)
        text << shard.name << '\n'
             << shard.rows << ' ' << shard.band_rows << ' ' << (shard.crc32 ? std::to_string(*shard.crc32) : "") << '\n';
    std::ostringstream line;
    line << "order " << order_version << ", seed " << seed_ << ", window " << window_rows_ << ", files " << shards_.size()
         << ", rows " << rows_ << ", bands " << bands_.size() << ", hash " << std::hex << std::setw(16) << std::setfill('0')
         << hash_of(text.str());
    if (source_ > 0) line << std::dec << ", source " << source_;
    return line.str();
}

}  // namespace bertpretrain
