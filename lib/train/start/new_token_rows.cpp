#include "train/start/new_token_rows.h"

#include <algorithm>

#include "core/error.h"
#include "tokens/models/open_tokenizer.h"
#include "tokens/training/vocabulary_extension.h"
#include "tokens/vocabulary/byte_alphabet.h"

namespace bertpretrain {
namespace {

/// @throws ConfigError naming the first token that differs
[[noreturn]] void refuse_other_words(const Vocabulary& there, const Vocabulary& here, const std::filesystem::path& theirs,
                                     const std::filesystem::path& ours) {
    const auto token = [](const Vocabulary& vocabulary, std::int32_t id) {
        return id < vocabulary.size() ? vocabulary.token(id) : std::string();
    };
    std::int32_t id = 0;
    while (token(there, id) == token(here, id) || (id < there.size() && id < here.size() && is_unused(there.token(id)))) ++id;
    throw ConfigError(concat(theirs.string(), ": token ", id, " is \"", token(there, id), "\", but \"", token(here, id), "\" in ",
                             ours.string(), "\n  do: make the shards with the vocabulary that belongs to the weights, ",
                             "or with one that `bertpretrain_data vocabulary --extend` made from it"));
}

/// Returns the mean of some rows of a stored tensor, of `columns` elements each.
std::vector<float> mean_row(const WeightFiles& files, const StoredTensor& tensor, const std::vector<std::int32_t>& rows,
                            std::int64_t columns) {
    std::vector<double> sum(static_cast<std::size_t>(columns));
    std::vector<float> row(static_cast<std::size_t>(columns));
    for (const std::int32_t r : rows) {
        files.read_as_float(tensor, r * columns, columns, row.data());
        for (std::size_t c = 0; c < row.size(); ++c) sum[c] += static_cast<double>(row[c]);
    }
    std::ranges::transform(sum, row.begin(),
                           [&](double of_rows) { return static_cast<float>(of_rows / static_cast<double>(rows.size())); });
    return row;
}

void fill_run(const WeightFiles& files, const StoredTensor& tensor, std::span<const NewToken> tokens, std::int64_t columns,
              const OwnedRun& run, float* values) {
    for (const NewToken& token : tokens) {
        const std::int64_t begin = std::max(run.in_parameter, token.id * columns),
                           end = std::min(run.in_parameter + run.elements, (token.id + 1) * columns);
        if (begin >= end || token.pieces.empty()) continue;
        const std::vector<float> row = mean_row(files, tensor, token.pieces, columns);
        std::copy(row.begin() + (begin - token.id * columns), row.begin() + (end - token.id * columns),
                  values + run.in_slice + begin - run.in_parameter);
    }
}

}  // namespace

std::vector<NewToken> new_tokens_of(const std::filesystem::path& theirs, const std::filesystem::path& ours) {
    const Vocabulary there = Vocabulary::read(theirs), here = Vocabulary::read(ours);
    const auto ids = new_tokens(there, here);
    // SentencePiece splits no text into given pieces, so a new piece has no rows to take the mean of.
    const bool may_grow = there.kind() != TokenizerKind::sentence_piece;
    if (!ids || (!ids->empty() && !may_grow)) refuse_other_words(there, here, theirs, ours);
    std::vector<NewToken> tokens;
    if (ids->empty()) return tokens;
    const auto own_rules = there.marks_word_starts() ? open_tokenizer(theirs, Casing::cased) : nullptr;
    for (const std::int32_t id : *ids) {
        const std::string& token = here.token(id);
        const std::string text = there.is_byte_level() ? bytes_of_token(token).value_or(token) : token;
        tokens.push_back({id, own_rules ? own_rules->encode(text) : pieces_of(there, token)});
    }
    return tokens;
}

void fill_new_rows(const WeightFiles& files, const ImportPlan& plan, std::span<const NewToken> tokens,
                   const ParameterLayout& layout, std::span<const OwnedRun> runs, const at::Tensor& slice) {
    for (const OwnedRun& run : runs) {
        const ParameterSpec& spec = layout.parameters()[run.parameter].spec;
        if (spec.rows != RowsMeaning::per_token) continue;
        const auto source = std::ranges::find(plan.imports, spec.name, &PlannedImport::name);
        if (source == plan.imports.end()) continue;
        fill_run(files, files.tensors()[source->tensor], tokens, spec.elements() / spec.shape[0], run, slice.data_ptr<float>());
    }
}

}  // namespace bertpretrain
