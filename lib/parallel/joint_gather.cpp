#include "parallel/joint_gather.h"

#include <algorithm>

namespace bertpretrain {

void JointGather::run(ControlGroup& ranks) const {
    std::vector<double> message;
    for (const Part& part : parts_) message.insert(message.end(), part.own.begin(), part.own.end());
    const std::vector<double> of_all = ranks.all_gather(std::span<const double>(message));
    const auto size = static_cast<std::size_t>(ranks.size());
    std::size_t begin = 0;
    for (const Part& part : parts_) {
        const std::size_t count = part.own.size();
        std::vector<double> numbers(count * size);
        for (std::size_t rank = 0; rank < size; ++rank)
            std::copy_n(of_all.data() + rank * message.size() + begin, count, numbers.data() + rank * count);
        begin += count;
        part.use(std::move(numbers));
    }
}

}  // namespace bertpretrain
