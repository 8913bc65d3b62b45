#include "inference/embed.h"

#include <algorithm>
#include <span>

#include <ATen/ATen.h>

#include "archive/checksum.h"
#include "config/write.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/output/progress_line.h"
#include "core/strings.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

void check_finite(const TextSurvey& text, const TextPart& part, const at::Tensor& vectors_LH) {
    const at::Tensor finite_L = vectors_LH.isfinite().all(1);
    if (finite_L.all().item<bool>()) return;
    const std::int64_t line = finite_L.logical_not().nonzero()[0].item<std::int64_t>();
    throw NumbersError(concat(text.name, text.are_records ? ": record " : ": line ", part.first_line + line + 1,
                              ": its vector is not finite\n  do: check that the model is ",
                              "undamaged and was trained without diverging"));
}

/// Returns the CRC-32 of what `crc32` covers, followed by a tensor's bytes.
std::uint32_t crc32_with(std::uint32_t crc32, const at::Tensor& values) {
    const at::Tensor here = values.cpu().contiguous();
    const std::span bytes(static_cast<const std::byte*>(here.data_ptr()), here.nbytes());
    return crc32_joined(crc32, crc32_of(bytes), bytes.size());
}

/// The progress of all ranks, shown by rank 0.
class EmbedProgress {
public:
    EmbedProgress(const TextSurvey& text, const EmbeddingStore& store, ProgressOutput output)
        : text_(text), store_(store), before_(lines_done()), line_(std::move(output)) {}

    void show() {
        if (!line_.is_due()) return;
        const double done = lines_done(), all = static_cast<double>(text_.lines), rate = (done - before_) / line_.seconds();
        std::string message = concat(with_thousands(static_cast<std::int64_t>(done)), " of ", with_thousands(text_.lines),
                                     text_.are_records ? " records | " : " lines | ", fixed(rate, 1), "/s");
        if (rate > 0) message += " | eta " + duration_text((all - done) / rate);
        line_.show(message, done / all);
    }

private:
    /// An estimate: all parts but the last have about the same number of lines.
    double lines_done() const {
        return static_cast<double>(text_.lines) * static_cast<double>(store_.progress().parts) /
               static_cast<double>(text_.parts.size());
    }

    const TextSurvey& text_;
    const EmbeddingStore& store_;
    double before_;
    ProgressLine line_;
};

}  // namespace

void require_known_tokens(const TextSurvey& text, const Tokenizer& tokenizer, double most) {
    constexpr std::size_t most_parts = 32, most_texts = 256;  // of a part
    const std::size_t parts = std::min(text.parts.size(), most_parts);
    UnknownTokens found;
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < parts; ++i) {
        std::vector<std::string> lines = read_lines(text, text.parts[i * text.parts.size() / parts]);
        lines.resize(std::min(lines.size(), most_texts));
        for (const std::string& line : lines) {
            ids.clear();
            tokenizer.encode(line, ids);
            found.add(ids, line, tokenizer.vocabulary().specials());
        }
    }
    if (found.share() <= most) return;
    throw DataError(concat(text.name, ": ", fixed(100 * found.share(), 1), " % of the tokens are [UNK], for example in \"",
                           found.example, "\": ", cause_of_unknown(tokenizer.vocabulary()), "; --max-unknown ",
                           fixed(std::min(1.0, found.share() + 0.01), 2), " computes vectors of it all the same"));
}

EmbedCounts embed(const TextSurvey& text, const TextEncoder& encoder, EmbeddingStore& store, World& world,
                  ProgressOutput progress_output) {
    const double start = seconds_now();
    std::vector<std::size_t> open;
    together(world, [&] {
        for (std::size_t part = 0; part < text.parts.size(); ++part)
            if (!store.done(part)) open.push_back(part);
    });
    world.barrier();  // no rank may change the marks while others still read them
    std::int64_t tokens = 0;
    UnknownTokens unknown;
    together(world, [&] {
        EmbedProgress progress(text, store, std::move(progress_output));
        for (auto i = static_cast<std::size_t>(world.rank()); i < open.size(); i += static_cast<std::size_t>(world.size())) {
            const TextPart& part = text.parts[open[i]];
            const TextVectors result = encoder.encode(read_lines(text, part));
            check_finite(text, part, result.vectors_LH);
            store.put(open[i], part.first_line,
                      {result.vectors_LH.data_ptr<float>(), static_cast<std::size_t>(result.vectors_LH.numel())},
                      result.truncated);
            tokens += result.tokens;
            unknown.add(result.unknown);
            if (world.rank() == 0) progress.show();
        }
    });
    unknown.tokens = world.sum(unknown.tokens);
    unknown.unknown = world.sum(unknown.unknown);
    EmbedCounts counts{text.lines, world.sum(tokens), seconds_now() - start, 0, unknown};
    together(world, [&] {
        if (world.rank() != 0) return;
        counts.truncated_lines = store.progress().truncated;
        store.complete();
    });
    return counts;
}

std::uint32_t encoder_crc32(const FlatParameters& parameters, Pooling pooling) {
    std::uint32_t crc32 = 0;
    for (const PlacedParameter& parameter : parameters.layout().parameters()) {
        const ModelPart part = parameter.spec.part;
        if (part == ModelPart::encoder || (part == ModelPart::pooler && pooling == Pooling::pooled))
            crc32 = crc32_with(crc32, parameters.weight(parameter.spec.name).to(at::kBFloat16));
    }
    return crc32;
}

std::uint32_t settings_crc32(const ModelConfig& model) {
    const nlohmann::json all = write_config(model);
    nlohmann::ordered_json settings{{"model_type", all.at("model_type")}};
    for (const std::string_view name : arithmetic_settings(model)) settings[std::string(name)] = all.at(std::string(name));
    const std::string text = settings.dump();
    return crc32_of(std::as_bytes(std::span(text)));
}

nlohmann::ordered_json embedding_identity(const TextSurvey& text, const FlatParameters& parameters,
                                          const nlohmann::ordered_json& choices) {
    nlohmann::ordered_json identity = {{"text_bytes", text.bytes}, {"text_crc32", text.crc32}, {"lines", text.lines}};
    std::uint32_t weights = 0;
    for (const PlacedParameter& parameter : parameters.layout().parameters())
        weights = crc32_with(weights, parameters.weight(parameter.spec.name));
    identity["weights_crc32"] = weights;
    identity.update(choices);
    return identity;
}

}  // namespace bertpretrain
