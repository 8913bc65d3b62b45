#include "train/start/rank_devices.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/host_name.h"

namespace bertpretrain {

RankDevices::RankDevices(ControlGroup& ranks, std::optional<std::int64_t> gpu, double cores, bool reads_host)
    : monitor_(gpu, cores, reads_host), asks_(ranks.rank() == 0) {
    const std::vector<std::string> hosts = ranks.all_gather_texts(host_name());
    const std::vector<std::string> devices = ranks.all_gather_texts(gpu ? concat("cuda:", *gpu) : "cpu");
    for (std::size_t rank = 0; rank < hosts.size(); ++rank)
        names_.push_back({static_cast<std::int64_t>(rank), hosts[rank], devices[rank]});
}

bool RankDevices::due() {
    const double now = seconds_now();
    if (!asks_ || now < next_) return false;
    next_ = now + seconds_between_records;
    return true;
}

std::vector<double> RankDevices::numbers() const {
    std::vector<double> numbers;
    DeviceReading::fields(monitor_.latest(), [&](const char*, double value, const char*) { numbers.push_back(value); });
    return numbers;
}

DevicesRecord RankDevices::record(std::int64_t step, const std::vector<double>& of_all) const {
    DevicesRecord record{.step = step, .ranks = names_};
    auto next = of_all.begin();
    for (RankReading& rank : record.ranks)
        DeviceReading::fields(rank.reading, [&](const char*, double& value, const char*) {
            check(next != of_all.end(), "the ranks' readings end too early");
            value = *next++;
        });
    check(next == of_all.end(), "the ranks' readings are too long");
    return record;
}

}  // namespace bertpretrain
