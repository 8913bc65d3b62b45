#include "train/start/init_from.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include <ATen/ATen.h>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/described_model.h"
#include "checkpoint/find_weights.h"
#include "checkpoint/import_plan.h"
#include "checkpoint/tiled_import.h"
#include "checkpoint/training_progress.h"
#include "core/error.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "model/initialize.h"
#include "parallel/together.h"
#include "tokens/models/folder_tokenizer.h"
#include "tokens/models/open_tokenizer.h"
#include "tokens/models/tokenizer_difference.h"
#include "tokens/vocabulary/vocabulary.h"
#include "train/start/new_token_rows.h"
#include "train/start/restore_optimizer.h"

namespace bertpretrain {
namespace {

/// The files of initialization.init_from, open on this rank.
struct Source {
    std::unique_ptr<CheckpointReader> checkpoint;  ///< null: not a checkpoint of this program
    std::unique_ptr<WeightFiles> files;
    ImportPlan plan;
    std::vector<NewToken> new_tokens;  ///< that the weights' vocabulary lacks
    std::string tokenizer_warning;     ///< empty: none
};

/// Returns the tokenizer of the weights; null where their casing is not recorded.
std::shared_ptr<const Tokenizer> tokenizer_of(const FoundWeights& found, const CheckpointReader* checkpoint) {
    if (checkpoint == nullptr) return open_folder_tokenizer(read_folder_tokenizer(found.vocabulary->parent_path()).value());
    const std::string casing = TrainingProgress::read(checkpoint->progress(), checkpoint->folder() / progress_file).casing;
    return casing.empty() ? nullptr : open_tokenizer(*found.vocabulary, casing == "cased" ? Casing::cased : Casing::uncased);
}

/// Compares how the tokenizers of the weights and of the shards read text. Their tokens are the same. @returns a warning, or ""
std::string compare_tokenizers(const FoundWeights& found, const CheckpointReader* checkpoint, const DataPlan& data) {
    try {
        const auto theirs = tokenizer_of(found, checkpoint);
        const auto ours = open_tokenizer(data.vocabulary, data.casing == "cased" ? Casing::cased : Casing::uncased);
        const auto text = theirs ? text_read_differently(*theirs, *ours) : std::nullopt;
        if (!text) return "";
        return concat(
            found.vocabulary->parent_path().string(), ": its tokenizer has another normalizer than the shards': \"",
            displayable(*text), "\" has other ids (case, accents or rules, such as do_lower_case and strip_accents)",
            "\n  do: make the shards with `bertpretrain_data shard --cased` or the model's tokenizer.json, or ignore this ",
            "if the new reading is wanted");
    } catch (const DataError& error) {
        return concat("the tokenizer of the weights cannot be compared with the shards': ", error.what());
    }
}

/// Returns the rows of the word embedding in the files; nullopt if it is not read from them.
std::optional<std::int64_t> rows_of_weights(const Source& source, const ModelConfig& model) {
    for (const ParameterSpec& spec : parameters_of(model).checkpoint_order) {
        if (spec.rows != RowsMeaning::per_token || spec.shape.size() != 2) continue;
        const auto import = std::ranges::find(source.plan.imports, spec.name, &PlannedImport::name);
        if (import != source.plan.imports.end()) return source.files->tensors()[import->tensor].shape.front();
    }
    return std::nullopt;
}

/// Weights without a tokenizer can only be compared with the shards' vocabulary by its size. @returns a warning, or ""
/// @throws ConfigError where the shards have tokens that the weights have no row for
std::string compare_sizes(const Source& source, const RunPlan& plan) {
    const FoundWeights& found = source.files->found();
    const auto rows = rows_of_weights(source, plan.settings.model);
    if (!rows || found.vocabulary || plan.data.vocabulary.empty()) return "";
    const std::int64_t tokens = Vocabulary::read(plan.data.vocabulary).size();
    const std::string facts =
        concat(found.files.front().string(), ": has no tokenizer beside it, and rows for ", with_thousands(*rows), " tokens; ",
               plan.data.vocabulary.string(), " of the shards has ", with_thousands(tokens), " tokens");
    if (tokens > *rows)
        throw ConfigError(concat(facts, ", so it is not the weights' vocabulary\n  do: make the shards with the vocabulary that ",
                                 "belongs to the weights"));
    return concat(facts,
                  ". Whether these are the same could not be compared\n  do: put the weights' tokenizer.json, vocab.txt or ",
                  "tokenizer.model beside them, or make sure that the shards were made with it");
}

Source open_source(const RunPlan& plan, const std::filesystem::path& weights, bool leads) {
    const InitializationConfig& wanted = plan.settings.initialization;
    Source source;
    FoundWeights found = find_weights(weights);
    if (found.checkpoint)
        source.checkpoint = std::make_unique<CheckpointReader>(
            *found.checkpoint, leads ? CheckpointReader::Verify::contents : CheckpointReader::Verify::sizes);
    else if (wanted.init_moments)
        throw ConfigError(concat("initialization.init_moments: ", *wanted.init_from, " is ", found.what,
                                 "; moments can only be read from checkpoints of this program"));
    const bool tiles = wanted.init_smaller == InitSmaller::tile;
    std::optional<ModelConfig> described;
    if (found.model) {
        described = described_model(*found.model);
        std::vector<std::string> may_change = wanted.init_changes;
        if (tiles) may_change.emplace_back("num_attention_heads");
        refuse_other_arithmetic(*described, plan.settings.model, *found.model, may_change);
    } else if (tiles) {
        throw ConfigError(concat("initialization.init_smaller = \"tile\": ", found.files.front().string(),
                                 ": the shape of its model is unknown\n  do: put the model's config.json beside the file"));
    }
    if (found.vocabulary && !plan.data.vocabulary.empty())
        source.new_tokens = new_tokens_of(*found.vocabulary, plan.data.vocabulary);
    if (tiles && !source.new_tokens.empty())
        throw ConfigError(concat("initialization.init_smaller = \"tile\": the run's vocabulary has ",
                                 with_thousands(std::ssize(source.new_tokens)), " tokens that the weights' lacks",
                                 "\n  do: extend the vocabulary of the smaller model first, in a run of its own"));
    if (leads && found.vocabulary && !plan.data.vocabulary.empty() && !plan.data.casing.empty() && source.new_tokens.empty())
        source.tokenizer_warning = compare_tokenizers(found, source.checkpoint.get(), plan.data);
    const bool checks = leads && !found.checkpoint;
    source.files =
        std::make_unique<WeightFiles>(std::move(found), checks ? PtReader::Checksums::on_first_read : PtReader::Checksums::never);
    if (checks) source.files->verify();
    const ImportChoices choices{.missing_allowed = wanted.init_missing == InitMissing::random,
                                .unexpected_allowed = wanted.init_unexpected == InitUnexpected::ignore,
                                .vocabulary_grew = !source.new_tokens.empty(),
                                .described = described};
    source.plan = tiles ? plan_tiled_import(*source.files, *described, plan.settings.model, choices)
                        : plan_import(*source.files, plan.settings.model, choices);
    if (const std::string warning = compare_sizes(source, plan); !warning.empty()) source.tokenizer_warning = warning;
    return source;
}

void say(const Source& source) {
    const FoundWeights& found = source.files->found();
    log_info(concat("weights from ", found.files.front().string(),
                    found.files.size() > 1 ? concat(" and ", found.files.size() - 1, " more") : "", " (", found.what,
                    "): ", source.plan.imports.size(), " tensors"));
    for (const std::string& remark : source.plan.remarks) log_info("  " + remark);
    const auto split = std::ranges::count_if(source.new_tokens, [](const NewToken& token) { return !token.pieces.empty(); });
    if (!source.new_tokens.empty())
        log_info(concat("  ", with_thousands(std::ssize(source.new_tokens)), " new tokens: ", with_thousands(split),
                        " begin with the mean of their pieces' rows, the others with random values"));
    if (!source.tokenizer_warning.empty()) log_warning(source.tokenizer_warning);
    const auto warn = [](const std::vector<std::string>& names, const char* what) {
        if (!names.empty()) log_warning(concat("  ", what, ": ", join(names)));
    };
    warn(source.plan.initial, "missing in the file, so these keep their initial values");
    warn(source.plan.ignored, "ignored tensors of the file");
}

/// Reads this rank's parts of the planned parameters into `slice`; the rest keeps its values.
void fill_weights(const Source& source, const ParameterLayout& layout, std::span<const OwnedRun> runs, at::Tensor& slice) {
    std::map<std::string, const PlannedImport*> planned;
    for (const PlannedImport& import : source.plan.imports) planned[import.name] = &import;
    const at::Tensor on_host = slice.cpu();
    for (const OwnedRun& run : runs)
        if (const auto found = planned.find(layout.parameters()[run.parameter].spec.name); found != planned.end())
            read_planned(*source.files, *found->second, run.in_parameter, run.elements, on_host.data_ptr<float>() + run.in_slice);
    fill_new_rows(*source.files, source.plan, source.new_tokens, layout, runs, on_host);
    if (!on_host.is_same(slice)) slice.copy_(on_host);
}

void fill_moment(const CheckpointReader& reader, const std::string& moment, const ParameterLayout& layout,
                 std::span<const OwnedRun> runs, at::Tensor& slice) {
    const at::Tensor on_host = slice.cpu();
    for (const OwnedRun& run : runs)
        reader.read_moment(moment, layout.parameters()[run.parameter].spec.name, run.in_parameter,
                           on_host.data_ptr<float>() + run.in_slice, run.elements);
    if (!on_host.is_same(slice)) slice.copy_(on_host);
}

/// Returns the number of updates in a checkpoint's moments. @throws ConfigError when they do not fit the model, or are missing
std::int64_t updates_of(const Source& source, const std::filesystem::path& weights) {
    if (!source.new_tokens.empty()) throw ConfigError("initialization.init_moments: new tokens have no moments; set it to false");
    if (!source.plan.remarks.empty())
        throw ConfigError(
            concat("initialization.init_moments: moments need a model of the same shape, but ", join(source.plan.remarks)));
    if (source.checkpoint->moment_names().empty())
        throw ConfigError(concat("initialization.init_moments: ", weights.string(), " has no moments, as the mean of ",
                                 "checkpoints that `bertpretrain average` wrote\n  do: set it to false"));
    return TrainingProgress::read(source.checkpoint->progress(), source.checkpoint->folder() / progress_file).moment_updates();
}

/// Where some ranks do not see the checkpoint, as on hosts that share no folder: rank 0 reads it for them. @returns its updates
std::int64_t init_from_first(const RunPlan& plan, const std::filesystem::path& weights, World& world,
                             const ParameterLayout& layout, ShardedOptimizer& optimizer) {
    std::optional<Source> source;
    std::int64_t updates = 0;
    together(world, [&] {
        if (world.rank() != 0) return;
        source = open_source(plan, weights, true);
        updates = updates_of(*source, weights);
        say(*source);
    });
    restore_optimizer(world, source ? source->checkpoint.get() : nullptr, layout, optimizer);
    return world.agree_on_largest(updates);
}

}  // namespace

std::int64_t init_from(const RunPlan& plan, World& world, const ParameterLayout& layout, ShardedOptimizer& optimizer) {
    const InitializationConfig& wanted = plan.settings.initialization;
    const bool leads = world.rank() == 0;
    std::int64_t updates = 0;
    const std::filesystem::path weights = found_by_first(world, *wanted.init_from);
    const bool all_see = world.agree_on_largest(exists_here(weights) ? 0 : 1) == 0;
    if (wanted.init_moments && !all_see) return init_from_first(plan, weights, world, layout, optimizer);
    together(world, [&] {
        const Source source = open_source(plan, weights, leads);
        fill_weights(source, layout, optimizer.owned_runs(), optimizer.state().master);
        if (wanted.init_moments) {
            updates = updates_of(source, weights);
            fill_moment(*source.checkpoint, "exp_avg", layout, optimizer.owned_runs(), optimizer.state().exp_avg);
            fill_moment(*source.checkpoint, "exp_avg_sq", layout, optimizer.owned_runs(), optimizer.state().exp_avg_sq);
        }
        if (leads) say(source);
    });
    return updates;
}

std::int64_t fill_initial_state(const RunPlan& plan, World& world, const ParameterLayout& layout, ShardedOptimizer& optimizer) {
    OptimizerState& state = optimizer.state();
    for (at::Tensor* slice : {&state.master, &state.exp_avg, &state.exp_avg_sq}) slice->zero_();
    initialize_weights(layout, optimizer.owned_runs(), plan.settings.training.seed, state.master);
    return plan.settings.initialization.init_from ? init_from(plan, world, layout, optimizer) : 0;
}

}  // namespace bertpretrain
