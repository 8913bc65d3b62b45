#include "batches/sample_order.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

using Row = std::pair<std::int64_t, std::int64_t>;

const std::vector<OrderedShard> uneven{
    {"a", 37, 10, {}}, {"b", 100, 100, {}}, {"c", 1, 1, {}}, {"d", 64, 16, {}}, {"e", 200, 7, {}}};

std::vector<Row> rows_of(SampleOrder& order, std::int64_t begin, std::int64_t end) {
    std::vector<Row> rows;
    for (std::int64_t n = begin; n < end; ++n) {
        const SamplePlace place = order.locate(n);
        rows.emplace_back(place.band.shard, place.row_in_shard());
    }
    return rows;
}

}  // namespace

TEST_CASE("each epoch holds every row once") {
    for (const std::int64_t window : {1, 20, 50, 1000}) {
        SampleOrder order(uneven, 7, window);
        REQUIRE(order.rows_per_epoch() == 402);
        for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
            std::set<Row> seen;
            for (const Row& row : rows_of(order, epoch * 402, (epoch + 1) * 402)) {
                CHECK(row.second < uneven[static_cast<std::size_t>(row.first)].rows);
                seen.insert(row);
            }
            CHECK(seen.size() == 402);
        }
    }
}

TEST_CASE("the order differs between epochs and between seeds") {
    SampleOrder order(uneven, 7, 50), other_seed(uneven, 8, 50);
    CHECK(rows_of(order, 0, 402) != rows_of(order, 402, 804));
    CHECK(rows_of(order, 0, 402) != rows_of(other_seed, 0, 402));
}

TEST_CASE("the order of a seed never changes: checkpoints rely on it") {
    SampleOrder order(uneven, 42, 50);  // a changed order needs a new order_version in the fingerprint
    CHECK(rows_of(order, 0, 4) == std::vector<Row>{{4, 191}, {4, 197}, {3, 57}, {3, 62}});
    CHECK(rows_of(order, 401, 404) == std::vector<Row>{{4, 62}, {1, 47}, {1, 49}});
    CHECK(rows_of(order, 4020, 4021) == std::vector<Row>{{0, 2}});
    CHECK(order.fingerprint() == "order 1, seed 42, window 50, files 5, rows 402, bands 39, hash 4a584e85ae79188b");
}

TEST_CASE("samples may be looked up in any order, and a late one as fast as the first") {
    SampleOrder forward(uneven, 7, 50), jumping(uneven, 7, 50);
    const std::vector<Row> rows = rows_of(forward, 0, 1000);
    for (std::int64_t n = 999; n >= 0; n -= 13) CHECK(rows_of(jumping, n, n + 1).front() == rows[static_cast<std::size_t>(n)]);
    const std::int64_t far = 1'000'000'000'000'000;
    std::set<Row> seen;
    for (const Row& row : rows_of(jumping, far / 402 * 402, far / 402 * 402 + 402)) seen.insert(row);
    CHECK(seen.size() == 402);
}

TEST_CASE("samples are spread over the corpus, and neighbouring rows are separated") {
    SampleOrder order({{"a", 2000, 50, {}}, {"b", 2000, 50, {}}}, 3, 400);
    const std::vector<Row> rows = rows_of(order, 0, 4000);
    double distance = 0, same_band = 0, still_neighbours = 0;
    for (std::size_t n = 0; n + 1 < rows.size(); ++n) {
        distance += std::abs(static_cast<double>(rows[n].first * 2000 + rows[n].second) - static_cast<double>(n)) / 4000;
        same_band += rows[n].first == rows[n + 1].first && rows[n].second / 50 == rows[n + 1].second / 50;
        still_neighbours += rows[n].first == rows[n + 1].first && rows[n].second + 1 == rows[n + 1].second;
    }
    // The seed is fixed and the order is computed with integers, so the result is the same on every machine.
    // The distance of two independent uniform positions has mean 1/3 and deviation 0.236; 80 bands: three deviations of the mean.
    CHECK(distance / 4000 == Approx(1.0 / 3).margin(0.08));
    CHECK(same_band / 4000 == Approx(50.0 / 400).margin(0.04));  // deviation of a share of 1/8 of 4000: 0.0052
    CHECK(still_neighbours / 4000 < 0.01);                       // expected: 1/400, with a deviation of 0.0008
}

TEST_CASE("every row is equally likely to come first") {
    const std::vector<OrderedShard> shards{{"a", 6, 3, {}}, {"b", 4, 3, {}}};
    std::map<Row, int> firsts;
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        SampleOrder order(shards, seed, 100);
        ++firsts[rows_of(order, 0, 1).front()];
    }
    double chi_squared = 0;
    for (const auto& [row, count] : firsts) chi_squared += (count - 500.0) * (count - 500.0) / 500.0;
    CHECK(firsts.size() == 10);
    CHECK(chi_squared < 27.9);  // 9 degrees of freedom, p = 0.001; the seeds are fixed, so it passes on every machine or on none
}

TEST_CASE("a window has at least two bands, and at most most_rows_in_window() rows") {
    for (const std::int64_t window : {1, 20, 50, 150}) {
        SampleOrder order(uneven, 5, window);
        std::map<std::int64_t, std::set<std::int64_t>> bands_of_window;
        std::map<std::int64_t, std::int64_t> rows_of_window;
        std::int64_t reached = 0;
        for (std::int64_t n = 0; n < 3 * 402; ++n) {
            const SamplePlace place = order.locate(n);
            CHECK(place.window_first_band >= reached);
            reached = place.window_first_band;
            CHECK(place.band_number >= reached);
            bands_of_window[reached].insert(place.band_number);
            ++rows_of_window[reached];
        }
        for (const auto& [begin, bands] : bands_of_window) {
            CHECK(bands.size() >= 2);
            CHECK(*bands.begin() == begin);
            CHECK(*bands.rbegin() - begin + 1 == static_cast<std::int64_t>(bands.size()));
            CHECK(rows_of_window[begin] <= order.most_rows_in_window());
        }
    }
    CHECK(SampleOrder(uneven, 5, 20).most_rows_in_window() <= 300);
    CHECK(SampleOrder({{"a", 3, 8, {}}}, 5).most_rows_in_window() == 3);
}

TEST_CASE("a corpus of a single band has an order") {
    SampleOrder order({{"a", 5, 100, {}}}, 1);
    const std::vector<Row> rows = rows_of(order, 0, 10);
    CHECK(std::set<Row>(rows.begin(), rows.begin() + 5).size() == 5);
    CHECK(std::set<Row>(rows.begin() + 5, rows.end()).size() == 5);
}

TEST_CASE("different orders have different fingerprints") {
    const auto fingerprint = [](const std::vector<OrderedShard>& shards, std::uint64_t seed, std::int64_t window) {
        return SampleOrder(shards, seed, window).fingerprint();
    };
    std::vector<std::string> all{fingerprint(uneven, 7, 50), fingerprint(uneven, 8, 50), fingerprint(uneven, 7, 51)};
    for (std::size_t shard = 0; shard < uneven.size(); ++shard) {
        std::vector<OrderedShard> changed = uneven;
        changed[shard].name += "x";
        all.push_back(fingerprint(changed, 7, 50));
        changed = uneven;
        changed[shard].rows += 1;
        all.push_back(fingerprint(changed, 7, 50));
        changed = uneven;
        changed[shard].band_rows += 1;
        all.push_back(fingerprint(changed, 7, 50));
        changed = uneven;
        changed[shard].crc32 = 0;
        all.push_back(fingerprint(changed, 7, 50));
    }
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
    CHECK(all.front() == fingerprint(uneven, 7, 50));
    CHECK(all.front().find("seed 7, window 50, files 5, rows 402, bands 39") != std::string::npos);
}

TEST_CASE("a corpus without rows is refused") {
    CHECK_THROWS_AS(SampleOrder({}, 1), DataError);
    CHECK_THROWS_AS(SampleOrder({{"a", 0, 0, {}}}, 1), DataError);
}

TEST_CASE("windows are contiguous across epochs, and their samples lie in their bands") {
    SampleOrder order(uneven, 7, 50), windows(uneven, 7, 50);
    std::int64_t begin = 0;
    while (begin < 3 * 402) {
        const SampleWindow window = windows.window_of(begin);
        CHECK(window.begin == begin);
        CHECK(windows.window_of(window.end - 1).begin == begin);
        std::set<std::int64_t> bands, used;
        for (const NumberedBand& band : window.bands) bands.insert(band.number);
        for (std::int64_t number = window.begin; number < window.end; ++number) {
            const SamplePlace place = order.locate(number);
            used.insert(place.band_number);
            CHECK(place.window_first_band == window.bands.front().number);
        }
        CHECK(used == bands);
        begin = window.end;
    }
}
