#include "preflight/network_checks.h"

#include "core/error.h"
#include "core/strings.h"
#include "operations/transport.h"

namespace bertpretrain {

std::string judge_collectives(const std::vector<CollectiveTable>& tables) {
    std::vector<std::string> averages;
    for (const CollectiveTable& table : tables) {
        if (table.wrong() > 0)
            throw NumbersError(concat(table.name, ": ", table.wrong(), " elements wrong\n  do: see the table for the size"));
        averages.push_back(concat(table.name, " ", fixed(table.average_bus_gbps(), 3)));
    }
    return concat("all correct; average bus bandwidth in GB/s: ", join(averages));
}

std::string check_transport(at::Device device, const Launch& launch, const std::string& required) {
    const Transport transport = find_transport(device, !launch.on_one_host());
    if (!required.empty() && transport.name != required && !launch.on_one_host())
        throw DistributedError(concat("tensors travel by ", transport.text(), ", but --require-transport asks for ", required,
                                      "\n  do: check that this host's container has the network plug-in and the adapters"));
    return transport.text();
}

}  // namespace bertpretrain
