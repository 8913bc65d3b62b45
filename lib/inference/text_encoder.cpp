#include "inference/text_encoder.h"

#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>

#include "batches/build_batch.h"
#include "core/threads/threads.h"

namespace bertpretrain {
namespace {

/// Returns the chosen texts as samples: all tokens in the first segment, none masked.
UnpaddedSamples samples_of(const std::vector<std::vector<std::int32_t>>& texts, const std::vector<std::int64_t>& chosen_B) {
    UnpaddedSamples samples;
    samples.numbers_B = chosen_B;
    for (const std::int64_t text : chosen_B) {
        const auto& ids = texts[static_cast<std::size_t>(text)];
        samples.lengths_B.push_back(static_cast<std::int64_t>(ids.size()));
        samples.input_ids_T.insert(samples.input_ids_T.end(), ids.begin(), ids.end());
    }
    return samples;
}

/// The mean of each sequence's rows. @returns fp32, B x H
at::Tensor mean_of_sequences(const at::Tensor& hidden_TH, const MicroBatch& batch) {
    const at::Tensor means_BH = at::empty({batch.sequences(), hidden_TH.size(1)}, hidden_TH.options().dtype(at::kFloat));
    for (std::int64_t b = 0; b < batch.sequences(); ++b) {
        at::Tensor mean_H = means_BH.select(0, b);
        const std::int64_t start = batch.layout.starts_B1[static_cast<std::size_t>(b)];
        at::mean_out(mean_H, hidden_TH.narrow(0, start, batch.layout.length(b)), 0, false, at::kFloat);
    }
    return means_BH;
}

}  // namespace

Pooling pooling_named(const std::string& name) {
    return name == "cls" ? Pooling::cls : name == "pooled" ? Pooling::pooled : Pooling::mean;
}

TextVectors TextEncoder::encode(const std::vector<std::string>& lines) const {
    TextVectors result;
    const std::vector<Ids> texts = tokenize(lines, result);
    std::vector<std::int64_t> by_length_L(texts.size());
    std::iota(by_length_L.begin(), by_length_L.end(), std::int64_t{0});
    const auto length = [&](std::int64_t text) {
        return static_cast<std::int64_t>(texts[static_cast<std::size_t>(text)].size());
    };
    std::stable_sort(by_length_L.begin(), by_length_L.end(),
                     [&](std::int64_t a, std::int64_t b) { return length(a) > length(b); });
    result.vectors_LH = at::empty({static_cast<std::int64_t>(lines.size()), model_.shape().hidden_size}, at::kFloat);
    for (std::size_t i = 0; i < by_length_L.size();) {
        std::vector<std::int64_t> chosen_B;
        for (std::int64_t tokens = 0; i < by_length_L.size(); ++i) {
            tokens += length(by_length_L[i]);
            if (tokens > settings_.batch_tokens && !chosen_B.empty()) break;
            chosen_B.push_back(by_length_L[i]);
        }
        result.vectors_LH.index_copy_(0, at::tensor(chosen_B, at::kLong), encode_batch(texts, chosen_B).cpu());
    }
    return result;
}

std::vector<TextEncoder::Ids> TextEncoder::tokenize(const std::vector<std::string>& lines, TextVectors& counts) const {
    constexpr std::size_t lines_of_task = 64;
    const SpecialIds& special = tokenizer_.vocabulary().specials();
    const auto longest = static_cast<std::size_t>(settings_.max_length - 2);
    std::vector<Ids> texts(lines.size());
    std::vector<char> is_cut(lines.size(), 0);
    for_each_index((lines.size() + lines_of_task - 1) / lines_of_task, settings_.threads, [&](std::size_t task) {
        for (std::size_t i = task * lines_of_task; i < std::min(lines.size(), (task + 1) * lines_of_task); ++i) {
            Ids& ids = texts[i];
            ids.push_back(special.cls);
            tokenizer_.encode(settings_.prompt.empty() ? lines[i] : settings_.prompt + lines[i], ids);
            is_cut[i] = ids.size() - 1 > longest;
            const std::size_t more = ids.size() - 1 - std::min(ids.size() - 1, longest);
            const auto first = ids.begin() + 1, last = ids.end();
            const auto cut = settings_.truncates_left ? first : last - static_cast<std::ptrdiff_t>(more);
            ids.erase(cut, cut + static_cast<std::ptrdiff_t>(more));
            ids.push_back(special.sep);
        }
    });
    for (std::size_t i = 0; i < texts.size(); ++i) {
        counts.tokens += static_cast<std::int64_t>(texts[i].size());
        counts.unknown.add(texts[i], lines[i], special);
    }
    counts.truncated = std::count(is_cut.begin(), is_cut.end(), 1);
    return texts;
}

at::Tensor TextEncoder::encode_batch(const std::vector<Ids>& texts, const std::vector<std::int64_t>& chosen_B) const {
    const MicroBatch batch = to_device(build_batch(samples_of(texts, chosen_B), device_), device_);
    at::Tensor vectors_BH;
    switch (settings_.pooling) {
        case Pooling::mean:
            vectors_BH = mean_of_sequences(model_.encode(batch), batch);
            break;
        case Pooling::cls:
            vectors_BH = model_.encode_first(batch).to(at::kFloat);
            break;
        case Pooling::pooled:
            vectors_BH = model_.pool(model_.encode_first(batch));
            break;
    }
    constexpr double smallest_norm = 1e-12;
    return settings_.normalize ? vectors_BH / vectors_BH.norm(2, 1, true).clamp_min(smallest_norm) : vectors_BH;
}

}  // namespace bertpretrain
