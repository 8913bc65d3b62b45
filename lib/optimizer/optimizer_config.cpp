#include "optimizer/optimizer_config.h"

#include "core/error.h"

namespace bertpretrain {

void check_optimizer(const OptimizerConfig& config) {
    if (config.betas.size() != 2)
        throw ConfigError(concat("optimizer.betas has ", config.betas.size(), " numbers: expected two, such as [0.9, 0.999]"));
    for (const double beta : config.betas)
        if (!(beta < 1)) throw ConfigError(concat("optimizer.betas: ", beta, " must be below 1"));
}

}  // namespace bertpretrain
