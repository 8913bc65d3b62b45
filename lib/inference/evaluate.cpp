#include "inference/evaluate.h"

#include <cmath>

#include <ATen/ATen.h>

namespace bertpretrain {

EvaluationRecord evaluate(const Bert& bert, EvaluationBatches& batches, World& world, std::int64_t step) {
    return *evaluate(bert, batches, world, step, [] { return false; });
}

std::optional<EvaluationRecord> evaluate(const Bert& bert, EvaluationBatches& batches, World& world, std::int64_t step,
                                         const std::function<bool()>& leave) {
    batches.rewind();
    const std::int64_t borders = batches.fewest_batches() - 1;  // some ranks may have one batch more
    std::int64_t begun = 0;
    at::Tensor totals_4;
    std::vector<double> sums(6, 0.0);  // the four totals, masked tokens, sequences
    while (const auto batch = batches.next()) {
        if (++begun > 1 && begun <= borders + 1 && leave()) return std::nullopt;
        if (!totals_4.defined()) totals_4 = new_totals(batch->input_ids_T.device());
        bert.add_losses(*batch, totals_4);
        sums[4] += static_cast<double>(batch->masked());
        sums[5] += static_cast<double>(batch->sequences());
    }
    if (totals_4.defined()) {
        const at::Tensor on_host = totals_4.cpu();
        for (std::size_t i = 0; i < 4; ++i) sums[i] = on_host.data_ptr<double>()[i];
    }
    const std::vector<double> of_all = world.all_gather(sums);
    std::vector<double> whole(6, 0.0);
    for (std::size_t i = 0; i < of_all.size(); ++i) whole[i % 6] += of_all[i];
    const double masked = std::max(1.0, whole[4]), sequences = std::max(1.0, whole[5]);
    EvaluationRecord record;
    record.step = step;
    record.mlm_loss = whole[0] / masked;
    record.mlm_accuracy = whole[1] / masked;
    record.perplexity = std::exp(record.mlm_loss);
    record.nsp_loss = whole[2] / sequences;
    record.nsp_accuracy = whole[3] / sequences;
    record.sequences = static_cast<std::int64_t>(whole[5]);
    return record;
}

}  // namespace bertpretrain
