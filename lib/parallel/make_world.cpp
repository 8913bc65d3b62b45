#include "parallel/make_world.h"

#include "core/environment.h"
#include "parallel/gloo_world.h"
#include "parallel/host_address.h"
#include "parallel/nccl_module.h"

namespace bertpretrain {
namespace {

/// Returns the address at which the others can connect; "" leaves it to GLOO_SOCKET_IFNAME. Ranks of --local-ranks use loopback.
std::string own_address(const Launch& launch) {
    if (launch.local_store >= 0 || launch.world_size == 1) return "127.0.0.1";
    if (environment_variable("GLOO_SOCKET_IFNAME")) return "";
    const std::string& master = launch.master_address;
    const bool all_here = launch.on_one_host() || master == "localhost" || is_loopback(master);
    return all_here ? "127.0.0.1" : address_towards(master, launch.master_port);
}

}  // namespace

std::unique_ptr<World> make_world(const Launch& launch, std::chrono::seconds timeout, at::Device device) {
    const bool alone = launch.world_size == 1;
    if (alone && !launch.forces_world) return std::make_unique<SingleProcess>();
    const MeetingPlace place = alone ? MeetingPlace::in_this_process() : MeetingPlace(launch, timeout);
    std::unique_ptr<World> world;
    if (device.is_cuda())
        world = make_nccl_world(place, {launch.rank, launch.world_size, device.index(), own_address(launch), timeout});
    else world = std::make_unique<GlooWorld>(place, launch.rank, launch.world_size, own_address(launch), timeout);
    world->barrier();  // every rank is connected to the store now
    place.admit_no_more();
    return world;
}

}  // namespace bertpretrain
