#pragma once
// Authenticates the ranks that meet at a store and agrees on a key for the run.

#include <cstdint>
#include <string>

namespace c10d {
class Store;
}

namespace bertpretrain {

/// All ranks call it together; waits are bounded by the store's timeout. Each rank proves to rank 0, and rank 0 to each rank,
/// that it knows the secret. The secret itself is not sent, and proofs of an earlier run are not accepted. An empty secret
/// proves nothing.
/// @returns 32 bytes, random for each call and the same on all ranks; they cannot be computed without the secret
/// @throws ConfigError on all ranks, with the same reason, when a rank's secret differs from rank 0's, or only one of the two
/// has a secret
/// @throws DistributedError when a rank does not answer in time, or a value in the store is malformed
std::string agree_on_run_key(c10d::Store& store, std::int64_t rank, std::int64_t size, const std::string& secret);

/// Returns the prefix of the run's keys in its store. It is derived from the run key but does not reveal it.
std::string store_prefix(const std::string& run_key);

}  // namespace bertpretrain
