#pragma once
// The order of a source's samples: a pure function of (seed, source, epoch, the shards' rows and bands). A run can therefore
// continue at any step, on any number of processes, from the step's number alone.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bertpretrain {

/// The properties of a shard file that the order depends on.
struct OrderedShard {
    std::string name;                   ///< of the file, without its folder
    std::int64_t rows = 0;              ///< samples in the file
    std::int64_t band_rows = 0;         ///< rows of a band: rows that are cheapest to read together
    std::optional<std::int64_t> crc32;  ///< of the file's bytes, where it is known
};

/// Rows of one shard that are read together: [first_row, first_row + rows).
struct Band {
    std::int64_t shard = 0, first_row = 0, rows = 0;
};

/// A band and its index in the order of the whole run, which goes on from epoch to epoch.
struct NumberedBand {
    std::int64_t number = 0;
    Band band;
};

/// Samples [begin, end) of the run; these are exactly the rows of the bands.
struct SampleWindow {
    std::int64_t begin = 0, end = 0;
    std::vector<NumberedBand> bands;
};

/// Where a sample is stored.
struct SamplePlace {
    Band band;
    std::int64_t row_in_band = 0;
    std::int64_t band_number = 0;        ///< the band's index in the order of the whole run
    std::int64_t window_first_band = 0;  ///< the number of the window's first band; later samples need no band before it
    double share_before = 0;             ///< the fraction of the window's rows that lie in bands before this one

    std::int64_t row_in_shard() const { return band.first_row + row_in_band; }
};

/// The order of samples 0, 1, 2, ... of a run, or of one of its sources. Each epoch contains every row once and is shuffled on
/// two levels: first the bands of the whole corpus, then the rows within each window of consecutive bands. A window has at least
/// two bands and about `window_rows` rows. A reader that keeps one window's bands in memory reads no band twice in an epoch.
///
/// Keeps the list of bands and the row order of one window in memory. Not thread-safe.
class SampleOrder {
public:
    static constexpr std::int64_t default_window_rows = 65'536;

    /// @param shards sorted by name
    /// @param source of a mixture, from 0: each has an order of its own, even for equal shards
    /// @throws DataError when there are no rows
    SampleOrder(std::vector<OrderedShard> shards, std::uint64_t seed, std::int64_t window_rows = default_window_rows,
                std::size_t source = 0);

    std::int64_t rows_per_epoch() const { return rows_; }
    /// Returns an upper bound of the rows of any window.
    std::int64_t most_rows_in_window() const { return most_rows_in_window(rows_, largest_band_rows_, window_rows_); }
    /// The same for an order of so many rows, in bands of at most `band_rows`.
    static std::int64_t most_rows_in_window(std::int64_t rows, std::int64_t band_rows, std::int64_t window_rows);

    /// Returns where sample `number` of the run (the first is 0) is stored. Constant time within the window of the previous call;
    /// a new window costs time in proportion to its rows, a new epoch in proportion to the number of bands.
    SamplePlace locate(std::int64_t number);

    /// Returns the window of sample `number`. Costs as much as locate(), plus the window's bands.
    SampleWindow window_of(std::int64_t number);

    /// Returns the shards by their first use in the window of sample `number` or later, each with the number of the first sample
    /// of the window in which that is. Costs time in proportion to the number of bands.
    std::vector<std::pair<std::int64_t, std::int64_t>> next_uses(std::int64_t number) const;

    /// One line that is equal for equal orders: the seed, the window's size, and a hash of the shards' names, rows, bands and
    /// checksums.
    std::string fingerprint() const;

private:
    /// Returns the position of an epoch's random numbers.
    std::uint64_t position_of(std::int64_t epoch) const;
    void enter_epoch(std::int64_t epoch);
    void cut_windows();
    void enter_window(std::int64_t row_in_epoch);

    std::vector<OrderedShard> shards_;
    std::uint64_t seed_;
    std::int64_t window_rows_;
    std::size_t source_;
    std::int64_t rows_ = 0, largest_band_rows_ = 0;
    std::vector<Band> bands_;  ///< in file order

    std::int64_t epoch_ = -1;
    std::vector<std::uint32_t> sequence_;      ///< of this epoch: indices into bands_
    std::vector<std::int64_t> rows_before_;    ///< of this epoch: rows in bands before sequence_[i]; one more at the end
    std::vector<std::size_t> window_begins_;   ///< of this epoch: indices into sequence_; one more at the end
    std::size_t window_ = 0;                   ///< of this epoch
    std::vector<std::uint32_t> window_order_;  ///< of this window: the order of its rows; empty before the first window
};

}  // namespace bertpretrain
