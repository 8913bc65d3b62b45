#include "operations/expandable_segments.h"

#include <c10/core/AllocatorConfig.h>

#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "operations/out_of_memory.h"

namespace bertpretrain {
namespace {

using AllocatorConfig = c10::CachingAllocator::AcceleratorAllocatorConfig;

}  // namespace

bool wants_expandable_segments(const Variables& variable) {
    for (const char* name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
        const std::string settings = variable(name).value_or("");
        for (const char* key : {"expandable_segments", "backend"})
            if (settings.find(key) != settings.npos) return false;
    }
    return true;
}

void set_expandable_segments(bool on) {
    const std::string before =
        c10::CachingAllocator::getAllocatorSettings();  // parseArgs resets settings that are not repeated (torch 2.11)
    AllocatorConfig::instance().parseArgs(
        concat(before, before.empty() ? "" : ",", on ? "expandable_segments:True" : "expandable_segments:False"));
}

bool has_expandable_segments() { return AllocatorConfig::use_expandable_segments(); }

void try_first_allocation(const std::function<void()>& allocate, const Variables& variable) {
    if (wants_expandable_segments(variable)) set_expandable_segments(true);
    try {
        allocate();
    } catch (const std::exception& error) {
        if (means_out_of_memory(error)) return;
        if (!has_expandable_segments()) throw;
        set_expandable_segments(false);
        allocate();
        log_warning(concat("this GPU does not support expandable segments (", first_line(error.what()),
                           "); blocks of fixed sizes are used, which waste some of its memory",
                           "\n  do: nothing; set PYTORCH_ALLOC_CONF=expandable_segments:False to skip this attempt"));
    }
}

}  // namespace bertpretrain
