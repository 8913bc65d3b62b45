// Times messages between two ranks, which are processes of this host connected over loopback.
//   time_messages BYTES...   per size: the bytes, and the seconds in which each rank sends and receives a message of that size
#include <algorithm>
#include <iostream>
#include <string>

#include <ATen/ops/zeros.h>

#include "core/clock.h"
#include "core/output/guard.h"
#include "parallel/gloo_group.h"
#include "parallel/local_ranks.h"

using namespace bertpretrain;

namespace {

/// As a round of GlooMessages::all_gather does.
double seconds_of_exchange(GlooGroup& group, std::int64_t peer, const at::Tensor& own, const at::Tensor& other) {
    const double begin = seconds_now();
    const auto arrival = group.receive("benchmark", other, peer, 0), departure = group.send("benchmark", own, peer, 0);
    arrival();
    departure();
    return seconds_now() - begin;
}

/// Returns the time that a tenth of the exchanges do not exceed: other processes of the host make the others slower.
double fast_exchange(GlooGroup& group, std::int64_t peer, std::int64_t bytes) {
    const at::Tensor own = at::zeros({bytes}, at::kByte), other = at::zeros({bytes}, at::kByte);
    constexpr std::size_t warm_up = 20, counted = 1000;
    std::vector<double> seconds;
    for (std::size_t i = 0; i < warm_up + counted; ++i) seconds.push_back(seconds_of_exchange(group, peer, own, other));
    seconds.erase(seconds.begin(), seconds.begin() + warm_up);
    std::sort(seconds.begin(), seconds.end());
    return seconds[counted / 10];
}

int run(int count, char** arguments) {
    const Launch launch = read_launch();
    if (launch.launcher == "none") return run_local_ranks(2);
    const MeetingPlace place(launch, std::chrono::seconds(60));
    GlooGroup group(place, "benchmark", launch.rank, 2, "127.0.0.1", std::chrono::seconds(60));
    for (int i = 1; i < count; ++i) {
        const double seconds = fast_exchange(group, 1 - launch.rank, std::stoll(arguments[i]));
        if (launch.rank == 0) std::cout << arguments[i] << " " << seconds << std::endl;
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    return run_guarded([&] { return run(count, arguments); });
}
