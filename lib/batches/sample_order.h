#pragma once
// Which sample is seen when: a pure function of (seed, epoch, the shards' rows and bands), so that a run can be continued
// at any step, on any number of processes, with nothing but a number.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bertpretrain {

/// What the order depends on of one shard file.
struct OrderedShard {
    std::string name;                   ///< the file's name without its folder
    std::int64_t rows = 0;              ///< samples in it
    std::int64_t band_rows = 0;         ///< rows that are cheapest read together
    std::optional<std::int64_t> crc32;  ///< of its bytes, where it is known
};

/// Rows of one shard that are read together: [first_row, first_row + rows).
struct Band {
    std::int64_t shard = 0, first_row = 0, rows = 0;
};

/// A band and its place in the order of the whole run, which grows from epoch to epoch.
struct NumberedBand {
    std::int64_t number = 0;
    Band band;
};

/// Samples [begin, end) of the run, which lie in these bands and in no others.
struct SampleWindow {
    std::int64_t begin = 0, end = 0;
    std::vector<NumberedBand> bands;
};

/// Where a sample lies.
struct SamplePlace {
    Band band;
    std::int64_t row_in_band = 0;
    std::int64_t band_number = 0;        ///< the band's place in the order of the whole run: grows from epoch to epoch
    std::int64_t window_first_band = 0;  ///< no later sample of this window or after it lies in a band before this number
    double share_before = 0;             ///< of the window's rows, those in bands before this one

    std::int64_t row_in_shard() const { return band.first_row + row_in_band; }
};

/// The order of samples 0, 1, 2, ... of a run. Each epoch holds every row once, and is shuffled on two levels: the bands
/// of the whole corpus, then the rows of each window of consecutive bands. A window is some bands that hold about
/// `window_rows` rows, two at least; a reader that keeps one window's bands never reads a band twice in an epoch.
///
/// Holds the list of bands and the rows' order of one window. Not for several threads at once.
class SampleOrder {
public:
    static constexpr std::int64_t default_window_rows = 65'536;

    /// @param shards sorted by name
    /// @throws DataError when there are no rows
    SampleOrder(std::vector<OrderedShard> shards, std::uint64_t seed, std::int64_t window_rows = default_window_rows);

    std::int64_t rows_per_epoch() const { return rows_; }
    /// An upper bound of the rows of any window of any epoch.
    std::int64_t most_rows_in_window() const;

    /// Where sample `number` of the run (0 is the first) lies. Constant time inside the window of the call before; a new
    /// window costs its rows, a new epoch the number of bands.
    SamplePlace locate(std::int64_t number);

    /// The window that sample `number` of the run belongs to. Costs what locate() costs, and the window's bands.
    SampleWindow window_of(std::int64_t number);

    /// Equal for equal orders: names, rows, bands and checksums of the shards, window, seed. One line, readable in part.
    std::string fingerprint() const;

private:
    void enter_epoch(std::int64_t epoch);
    void cut_windows();
    void enter_window(std::int64_t row_in_epoch);

    std::vector<OrderedShard> shards_;
    std::uint64_t seed_;
    std::int64_t window_rows_;
    std::int64_t rows_ = 0, largest_band_rows_ = 0;
    std::vector<Band> bands_;  ///< in file order

    std::int64_t epoch_ = -1;
    std::vector<std::uint32_t> sequence_;      ///< of this epoch: indices into bands_
    std::vector<std::int64_t> rows_before_;    ///< of this epoch: rows in bands before sequence_[i]; one more at the end
    std::vector<std::size_t> window_begins_;   ///< of this epoch: places in sequence_; one more at the end
    std::size_t window_ = 0;                   ///< of this epoch
    std::vector<std::uint32_t> window_order_;  ///< of this window: the rows' order; empty before the first
};

}  // namespace bertpretrain
