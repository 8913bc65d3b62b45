#include "parallel/gather_rounds.h"

#include <algorithm>

namespace bertpretrain {

std::vector<GatherRound> gather_rounds(std::int64_t rank, std::int64_t size) {
    std::vector<GatherRound> rounds;
    for (std::int64_t has = 1; has < size; has *= 2)
        rounds.push_back({(rank + size - has) % size, (rank + has) % size, std::min(has, size - has)});
    return rounds;
}

}  // namespace bertpretrain
