#pragma once
// Judges the connection between ranks. Each returns a description of what it found.

#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "operations/collective_table.h"
#include "parallel/launch_environment.h"

namespace bertpretrain {

/// Returns the average bandwidth of each collective. @throws NumbersError when any result was wrong
std::string judge_collectives(const std::vector<CollectiveTable>& tables);

/// Returns the transport that carries tensors. Call it after the ranks have exchanged tensors.
/// @param required its name, needed between hosts only; empty: any
/// @throws DistributedError when it is another one
std::string check_transport(at::Device device, const Launch& launch, const std::string& required);

}  // namespace bertpretrain
