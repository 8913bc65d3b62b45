#include "operations/collective_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "operations/device_check.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t period = 11;

/// Rank `rank`'s input: integers below 11 + ranks, whose sums are exact in fp32.
at::Tensor contribution(const at::Tensor& pattern_N, std::int64_t rank) { return pattern_N + static_cast<float>(rank); }

/// One collective at one size. Buffers are filled before the first run, whose result is checked, not before each repetition.
struct Exchange {
    std::function<void()> fill, run;
    std::function<at::Tensor()> found, expected;
};

class Exchanges {
public:
    Exchanges(World& world, at::Device device, std::int64_t elements)
        : world_(world), part_(elements / world.size()), ranks_(static_cast<float>(world.size())) {
        const auto options = at::TensorOptions(device).dtype(at::kFloat);
        pattern_N_ = at::arange(elements, options).remainder_(period);
        whole_N_ = at::empty({elements}, options);
    }

    /// Has only one buffer, as broadcast().
    Exchange all_reduce(bool) {
        Exchange exchange = start_from_contribution();
        exchange.run = [this] { world_.all_reduce(whole_N_)->wait(); };
        exchange.found = [this] { return whole_N_; };
        exchange.expected = [this] { return sum_of_all(pattern_N_); };
        return exchange;
    }

    Exchange reduce_scatter_all_gather(bool in_place) {
        const at::Tensor part = in_place ? own_part(whole_N_) : at::empty_like(own_part(whole_N_));
        Exchange exchange = start_from_contribution();
        exchange.run = [this, part] {
            world_.reduce_scatter(whole_N_, part)->wait();
            world_.all_gather(part, whole_N_)->wait();
        };
        exchange.found = [this] { return whole_N_; };
        exchange.expected = [this] { return sum_of_all(pattern_N_); };
        return exchange;
    }

    Exchange reduce_scatter(bool in_place) {
        const at::Tensor part = in_place ? own_part(whole_N_) : at::empty_like(own_part(whole_N_));
        Exchange exchange = start_from_contribution();
        exchange.run = [this, part] { world_.reduce_scatter(whole_N_, part)->wait(); };
        exchange.found = [part] { return part; };
        exchange.expected = [this] { return sum_of_all(own_part(pattern_N_)); };
        return exchange;
    }

    Exchange all_gather(bool in_place) {
        const at::Tensor part = in_place ? own_part(whole_N_) : at::empty_like(own_part(whole_N_));
        Exchange exchange;
        exchange.fill = [this, part] {
            whole_N_.fill_(-1);
            part.copy_(contribution(own_part(pattern_N_), world_.rank()));
        };
        exchange.run = [this, part] { world_.all_gather(part, whole_N_)->wait(); };
        exchange.found = [this] { return whole_N_; };
        exchange.expected = [this] {
            at::Tensor all = pattern_N_.clone();
            for (std::int64_t r = 0; r < world_.size(); ++r) all.narrow(0, r * part_, part_).add_(static_cast<float>(r));
            return all;
        };
        return exchange;
    }

    /// Has only one buffer: out of place and in place are the same.
    Exchange broadcast(bool) {
        Exchange exchange = start_from_contribution();
        exchange.run = [this] { world_.broadcast(whole_N_)->wait(); };
        exchange.found = [this] { return whole_N_; };
        exchange.expected = [this] { return contribution(pattern_N_, 0); };
        return exchange;
    }

private:
    at::Tensor own_part(const at::Tensor& whole) const { return whole.narrow(0, world_.rank() * part_, part_); }
    at::Tensor sum_of_all(const at::Tensor& pattern) const { return pattern * ranks_ + ranks_ * (ranks_ - 1) / 2; }
    Exchange start_from_contribution() {
        Exchange exchange;
        exchange.fill = [this] { whole_N_.copy_(contribution(pattern_N_, world_.rank())); };
        return exchange;
    }

    World& world_;
    std::int64_t part_;
    float ranks_;
    at::Tensor pattern_N_, whole_N_;
};

/// Times repetitions of a collective that has run once already. @returns microseconds per repetition, on the slowest rank
double time_repetitions(World& world, at::Device device, const Exchange& exchange, double seconds) {
    constexpr double most = 20;
    const auto timed = [&](std::int64_t repetitions) {
        synchronize(device);
        world.barrier();
        const double begin = seconds_now();
        for (std::int64_t i = 0; i < repetitions; ++i) exchange.run();
        synchronize(device);
        const auto nanoseconds = static_cast<std::int64_t>((seconds_now() - begin) * 1e9);
        return static_cast<double>(world.agree_on_largest(nanoseconds)) * 1e-9 / static_cast<double>(repetitions);
    };
    const double once = timed(1);
    const auto repetitions = static_cast<std::int64_t>(std::clamp(seconds / std::max(once, 1e-9), 1.0, most));
    return 1e6 * (repetitions == 1 ? once : timed(repetitions));
}

CollectiveTiming measure(World& world, at::Device device, const Exchange& exchange, std::int64_t bytes, double bus_share,
                         double seconds) {
    exchange.fill();
    exchange.run();
    synchronize(device);
    CollectiveTiming timing;
    timing.wrong = world.sum(exchange.found().ne(exchange.expected()).sum().item<std::int64_t>());
    timing.microseconds = time_repetitions(world, device, exchange, seconds);
    timing.algorithm_gbps = static_cast<double>(bytes) / timing.microseconds * 1e-3;
    timing.bus_gbps = timing.algorithm_gbps * bus_share;
    return timing;
}

struct Kind {
    const char *name, *reduction;
    std::int64_t root;
    Exchange (Exchanges::*make)(bool in_place);
    double bus_share;  ///< bus bandwidth / algorithm bandwidth (nccl-tests' PERFORMANCE.md)
};

}  // namespace

double CollectiveTable::average_bus_gbps() const {
    double sum = 0;
    for (const CollectiveRow& row : rows) sum += row.out_of_place.bus_gbps + row.in_place.bus_gbps;
    return rows.empty() ? 0 : sum / static_cast<double>(rows.size()) / 2;
}

std::int64_t CollectiveTable::wrong() const {
    std::int64_t wrong = 0;
    for (const CollectiveRow& row : rows) wrong += row.out_of_place.wrong + row.in_place.wrong;
    return wrong;
}

std::vector<CollectiveTable> measure_collectives(World& world, at::Device device, const CollectiveSizes& sizes) {
    const double others = static_cast<double>(world.size() - 1) / static_cast<double>(world.size());
    const std::array<Kind, 5> kinds{{{"all_reduce", "sum", -1, &Exchanges::all_reduce, 2 * others},
                                     {"reduce_scatter_all_gather", "sum", -1, &Exchanges::reduce_scatter_all_gather, 2 * others},
                                     {"all_gather", "none", -1, &Exchanges::all_gather, others},
                                     {"reduce_scatter", "sum", -1, &Exchanges::reduce_scatter, others},
                                     {"broadcast", "none", 0, &Exchanges::broadcast, 1}}};
    std::vector<CollectiveTable> tables;
    for (const Kind& kind : kinds) tables.push_back({kind.name, kind.reduction, kind.root, {}});
    for (std::int64_t bytes = sizes.from; bytes <= sizes.to; bytes *= 2) {
        const std::int64_t elements = std::max<std::int64_t>(1, bytes / 4 / world.size()) * world.size();
        Exchanges exchanges(world, device, elements);
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            CollectiveRow row{elements * 4, elements, {}, {}};
            for (const bool in_place : {false, true})
                (in_place ? row.in_place : row.out_of_place) =
                    measure(world, device, (exchanges.*kinds[k].make)(in_place), row.bytes, kinds[k].bus_share, sizes.seconds);
            tables[k].rows.push_back(row);
        }
    }
    return tables;
}

nlohmann::ordered_json json_of(const CollectiveTable& table) {
    const auto timing = [](const CollectiveTiming& side) {
        return nlohmann::ordered_json{{"time_us", side.microseconds},
                                      {"algbw_gbps", side.algorithm_gbps},
                                      {"busbw_gbps", side.bus_gbps},
                                      {"wrong", side.wrong}};
    };
    nlohmann::ordered_json json = {{"name", table.name}, {"average_busbw_gbps", table.average_bus_gbps()}};
    for (const CollectiveRow& row : table.rows)
        json["rows"].push_back({{"bytes", row.bytes},
                                {"elements", row.elements},
                                {"out_of_place", timing(row.out_of_place)},
                                {"in_place", timing(row.in_place)}});
    return json;
}

std::string nccl_tests_text(const std::vector<CollectiveTable>& tables) {
    std::string text;
    std::array<char, 200> line{};
    const auto add = [&](const char* format, const auto&... values) {
        std::snprintf(line.data(), line.size(), format, values...);
        text += line.data();
    };
    for (const CollectiveTable& table : tables) {
        add("# %s\n", table.name.c_str());
        add("#%51s%22s%32s\n", "", "out-of-place", "in-place");
        add("# %10s  %12s  %8s  %6s  %6s", "size", "count", "type", "redop", "root");
        for (int side = 0; side < 2; ++side) add("%9s %7s %7s %6s", "time", "algbw", "busbw", "#wrong");
        add("\n# %10s  %12s  %8s  %6s  %6s", "(B)", "(elements)", "", "", "");
        for (int side = 0; side < 2; ++side) add("%9s %7s %7s %6s", "(us)", "(GB/s)", "(GB/s)", "");
        text += '\n';
        for (const CollectiveRow& row : table.rows) {
            add("%12lld  %12lld  %8s  %6s  %6lld", static_cast<long long>(row.bytes), static_cast<long long>(row.elements),
                "float", table.reduction.c_str(), static_cast<long long>(table.root));
            for (const CollectiveTiming& side : {row.out_of_place, row.in_place})
                add("%9.2f %7.2f %7.2f %6lld", side.microseconds, side.algorithm_gbps, side.bus_gbps,
                    static_cast<long long>(side.wrong));
            text += '\n';
        }
        add("# Out of bounds values : %lld %s\n", static_cast<long long>(table.wrong()), table.wrong() == 0 ? "OK" : "FAILED");
        add("# Avg bus bandwidth    : %g\n#\n", table.average_bus_gbps());
    }
    return text;
}

}  // namespace bertpretrain
