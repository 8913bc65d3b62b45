#pragma once
// How far two computations of the same held-out numbers may lie apart.

#include <algorithm>
#include <cmath>
#include <string>

namespace bertpretrain::testing {

/// Returns the bound for the result `name` of the small run's model, whose sums are added in another order: by another program,
/// or in passes of another size. A logit (below 10 here) is an fp32 sum of at most 256 terms, whose order depends on the
/// processor and on the size: its error is at most 256 roundings of 6e-8, 1.5e-4. A loss is the difference of two such numbers; a
/// perplexity is its exponential. A prediction differs only where the two largest logits lie closer than that, which fewer than
/// one in 100 do: that more than four per sequence differ, of at most ten, has a chance below 1e-6.
/// @param value of the result
inline double evaluation_bound(const std::string& name, double value, double sequences) {
    constexpr double of_loss = 3e-4;
    if (name.ends_with("accuracy")) return 4 / sequences;
    if (name == "perplexity") return std::expm1(of_loss) * value;
    return name.ends_with("loss") ? of_loss : 0;
}

}  // namespace bertpretrain::testing
