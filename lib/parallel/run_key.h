#pragma once
// How ranks that meet at a store find out that they know the same secret.

#include <cstdint>
#include <string>

namespace c10d {
class Store;
}

namespace bertpretrain {

/// All ranks call it at the same time, with the store's timeout as their timeout. Each proves to rank 0, and rank 0 to each,
/// that it knows the secret; the secret itself is not sent, and proofs of an earlier run are worth nothing. An empty secret
/// proves nothing: it is known to all.
/// @returns 32 bytes, random for each call, the same on all ranks; without the secret they cannot be computed
/// @throws ConfigError on all ranks, with the same reason, when a rank has another secret than rank 0, or only one of them has
/// any
/// @throws DistributedError when a rank does not come in time, or values are not of the form that ranks write
std::string agree_on_run_key(c10d::Store& store, std::int64_t rank, std::int64_t size, const std::string& secret);

/// What the keys of the run begin with in its store: random, and without a hint at the key.
std::string store_prefix(const std::string& run_key);

}  // namespace bertpretrain
