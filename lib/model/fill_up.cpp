#include "model/fill_up.h"

#include <ATen/ATen.h>

namespace bertpretrain {
namespace {

constexpr std::int64_t token_multiple = 128, masked_multiple = 32;

at::Tensor filled(const at::Tensor& values, std::int64_t multiple, std::int64_t filler) {
    const std::int64_t missing = (multiple - values.numel() % multiple) % multiple;
    return missing == 0 ? values : at::constant_pad_nd(values, {0, missing}, filler);
}

}  // namespace

MicroBatch fill_up(const MicroBatch& batch) {
    MicroBatch full = batch;
    full.input_ids_T = filled(batch.input_ids_T, token_multiple, 0);
    full.token_type_ids_T = filled(batch.token_type_ids_T, token_multiple, 0);
    full.position_ids_T = filled(batch.position_ids_T, token_multiple, 0);
    full.masked_rows_M = filled(batch.masked_rows_M, masked_multiple, 0);
    full.masked_labels_M = filled(batch.masked_labels_M, masked_multiple, -1);
    return full;
}

}  // namespace bertpretrain
