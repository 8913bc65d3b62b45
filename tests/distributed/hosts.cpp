#include "distributed/hosts.h"

#include <unistd.h>

#include "core/error.h"

namespace bertpretrain::testing {

TwoHosts::TwoHosts() {
    const std::string own = std::to_string(::getpid());
    name_[0] = concat("bp", own, "a");
    name_[1] = concat("bp", own, "b");
    std::string script = concat("set -e; ip netns add ", name_[0], "; ip netns add ", name_[1], "; ip link add bpl", own,
                                "a netns ", name_[0], " type veth peer name bpl", own, "b netns ", name_[1], ";");
    for (const int host : {0, 1}) {
        const std::string in = concat("ip -n ", name_[host], " "), link = concat("bpl", own, host == 0 ? "a" : "b");
        script += concat(in, "link set ", link, " name wire;", in, "addr add ", address(host), "/24 dev wire;", in,
                         "link set wire up;", in, "link set lo up;");
    }
    const CommandResult result = run_command(script);
    if (result.exit_code != 0) why_not_ = result.err.empty() ? "ip netns add failed" : result.err;
}

TwoHosts::~TwoHosts() {
    for (const std::string& name : name_) run_command(concat("ip netns pids ", name, " | xargs -r kill -9; ip netns del ", name));
}

std::string TwoHosts::on(int host, const std::string& command) const {
    return concat("ip netns exec ", name_[host], " ", command);
}

double TwoHosts::bytes_sent(int host) const {
    return std::stod(run_command(on(host, "cat /sys/class/net/wire/statistics/tx_bytes")).out);
}

void TwoHosts::cut() const { run_command(concat("ip -n ", name_[0], " link set wire down")); }

}  // namespace bertpretrain::testing
