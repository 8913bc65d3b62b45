#include "train/save_together.h"

#include "core/error.h"
#include "parallel/together.h"

namespace bertpretrain {

void save_together(World& world, const CheckpointStore& store, const TrainingState& state) {
    const bool leads = world.rank() == 0;
    together(world, [&] {
        if (leads) store.begin(state);
    });
    std::string receipt;
    try {
        together(world, [&] { receipt = store.write(state).pack(); });
    } catch (const Error&) {
        if (leads) store.abandon(state.step);
        throw;
    }
    const std::vector<std::string> packed = world.all_gather_texts(receipt);
    together(world, [&] {
        if (!leads) return;
        std::vector<SaveReceipt> receipts;
        for (const std::string& one : packed) receipts.push_back(SaveReceipt::unpack(one));
        store.complete(state, receipts);
    });
}

}  // namespace bertpretrain
