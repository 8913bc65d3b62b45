#include "archive/strided_range.h"

#include <algorithm>

#include "core/error.h"

namespace bertpretrain {

void for_each_run(const PtTensor& tensor, std::int64_t first, std::int64_t count,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) {
    const std::int64_t elements = tensor.elements();
    check(first >= 0 && count >= 0 && first <= elements && count <= elements - first, "elements [", first, ", ", first, " + ",
          count, ") requested from a tensor of ", elements);
    if (count == 0) return;
    if (tensor.is_contiguous()) return visit(tensor.storage_offset + first, count, 1);
    const std::size_t last = tensor.shape.size() - 1;  // a scalar is contiguous, so there is an axis
    while (count > 0) {
        std::int64_t position = tensor.storage_offset, rest = first;
        for (std::size_t axis = tensor.shape.size(); axis-- > 0; rest /= tensor.shape[axis])
            position += rest % tensor.shape[axis] * tensor.strides[axis];
        const std::int64_t length = std::min(count, tensor.shape[last] - first % tensor.shape[last]);
        visit(position, length, tensor.strides[last]);
        first += length;
        count -= length;
    }
}

}  // namespace bertpretrain
