#include "plan/resolve.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "checkpoint/import_plan.h"
#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "core/rounding.h"
#include "core/strings.h"
#include "operations/measure_matmul_libraries.h"
#include "plan/device_choice.h"
#include "plan/kept_choices.h"
#include "shards/manifest.h"
#include "storage/object_url.h"

namespace bertpretrain {
namespace {

/// The arguments of resolve(), and the plan as far as it goes.
struct Resolution {
    const RequestedExperiment& requested;
    const ExperimentConfig& settings;
    const Launch& launch;
    const MachineFacts& machine;
    const DataFacts& data;
    const CheckpointFacts* checkpoint;
    RunPlan plan;

    void decide(const char* path, nlohmann::ordered_json value, std::string reason, Origin origin = Origin::automatic) {
        plan.decide(path, std::move(value), origin, std::move(reason));
    }
};

/// A resumed run keeps the model that it took from init_from, whose files may have changed since. Settings without origins count
/// as named, as in resolve_optimizer().
void resolve_inherited_model(Resolution& r) {
    if (r.checkpoint == nullptr && r.requested.unread_model) std::rethrow_exception(r.requested.unread_model);
    if (r.checkpoint == nullptr || !r.settings.initialization.init_from || r.requested.origins.empty()) return;
    const auto is_named = [&](const std::string& path) {
        const auto origin = r.requested.origins.find(path);
        return origin != r.requested.origins.end() && origin->second != Origin::init_from;
    };
    const ModelConfig& kept = r.checkpoint->settings.model;
    if (is_named("model.model_type") && kept.model_type != r.settings.model.model_type) return;  // refused as a change
    nlohmann::json section = write_config(kept);
    const nlohmann::json asked = write_config(r.settings.model);
    for (const auto& [name, value] : section.items()) {
        const std::string path = "model." + name;
        if (is_named(path) && asked.contains(name)) value = asked[name];
        else r.plan.origins[path] = Origin::checkpoint;
    }
    r.plan.settings.model = read_config<ModelConfig>(section, "model");
}

/// A checkpoint keeps its number of rows: another file of the same vocabulary may be padded differently. So do the weights of
/// init_from.
void resolve_vocab_size(Resolution& r) {
    if (shape_of(r.settings.model).vocab_size > 0) return;
    constexpr std::int64_t bert_uncased = 30522, multiple = 8;
    const std::int64_t of_weights = r.requested.vocab_size_of_weights;
    std::int64_t entries = of_weights > 0 ? of_weights : bert_uncased;
    std::string reason = "there are no shards yet: the size of BERT's own vocabulary";
    if (of_weights > 0) reason = concat("the shards name no vocabulary, and init_from has ", of_weights, " rows");
    if (r.data.vocabulary) {
        entries = r.data.vocabulary->size();
        reason = concat(r.data.vocabulary_file.string(), " has ", entries, " tokens");
    } else if (r.data.manifest) {
        entries = r.data.manifest->vocabulary.size;
        reason = concat("the manifest of the shards says ", entries, " tokens");
    } else if (r.data.is_there && r.checkpoint == nullptr && of_weights == 0) {
        if (const auto& first = r.settings.data.training_shards.first(); std::filesystem::is_directory(first))
            find_shards(first, ShardKind::training);  // a folder without shards is refused as such
        throw ConfigError(concat(
            "model.vocab_size = \"auto\": ", r.settings.data.training_shards.first(), " has neither ", manifest_name,
            " nor a vocabulary\n  do: set model.vocab_size, or data.vocabulary to the file that the shards were made with"));
    }
    if (of_weights > entries && of_weights - entries < vocabulary_padding) {
        reason = concat("the weights of init_from have ", of_weights, " rows for ", entries, " tokens");
        entries = of_weights;
    }
    std::int64_t rows = rounded_up(entries, multiple);
    if (const std::int64_t kept = r.checkpoint != nullptr ? shape_of(r.checkpoint->settings.model).vocab_size : 0; kept > 0) {
        rows = kept;
        r.decide("model.vocab_size", rows, "a resumed run keeps its number of rows", Origin::checkpoint);
    } else {
        r.decide("model.vocab_size", rows, concat(reason, ", rounded up to a multiple of ", multiple));
    }
    set_vocab_size(r.plan.settings.model, rows);
}

void resolve_vocabulary(Resolution& r) {
    DataPlan& data = r.plan.data;
    data.vocabulary = r.data.vocabulary_file;
    if (!r.settings.data.vocabulary && r.data.vocabulary)
        r.decide("data.vocabulary", data.vocabulary.string(), "beside the shards");
    const std::int64_t rows = shape_of(r.plan.settings.model).vocab_size;
    if (r.data.vocabulary && r.data.vocabulary->size() > rows)
        throw ConfigError(concat("model.vocab_size = ", rows, ": the vocabulary ", data.vocabulary.string(), " has ",
                                 r.data.vocabulary->size(), " tokens; set it to at least that"));
    if (r.data.vocabulary && rows > 2 * r.data.vocabulary->size() && r.checkpoint == nullptr)
        r.plan.warnings.push_back(concat("model.vocab_size = ", rows, ": the vocabulary ", data.vocabulary.string(), " has only ",
                                         r.data.vocabulary->size(), " tokens; the other rows are computed and never used",
                                         "\n  do: --set model.vocab_size=auto"));
    const bool divides = r.settings.data.block_diagonal;
    if (divides && r.data.vocabulary) data.document_end = r.data.vocabulary->specials().sep;
    if ((r.settings.data.masking == Masking::dynamic || divides) && r.data.is_there && !r.data.vocabulary)
        throw ConfigError(concat(divides ? "data.block_diagonal" : "data.masking = \"dynamic\"",
                                 " needs the vocabulary, and there is no vocab.txt, tokenizer.json or tokenizer.model in ",
                                 data.training_shards.front().string(),
                                 "\n  do: set data.vocabulary to the one that the shards were made with"));
    if (r.settings.evaluation.probe && r.data.is_there && !r.data.vocabulary)
        throw ConfigError(concat(
            "evaluation.probe needs the vocabulary, and there is no vocab.txt, tokenizer.json or tokenizer.model in ",
            data.training_shards.front().string(), "\n  do: set data.vocabulary to the one that the shards were made with"));
}

/// The default has changed from "lamb" to "adamw". A run that began with the old default, by a file that names no optimizer,
/// keeps it. Settings without origins, which code and not a file gave, count as named.
void resolve_optimizer(Resolution& r) {
    const bool is_named = r.requested.origins.empty() || r.requested.origins.contains("optimizer.name");
    if (is_named || r.checkpoint == nullptr) return;
    OptimizerName& name = r.plan.settings.optimizer.name;
    const OptimizerName kept = r.checkpoint->settings.optimizer.name;
    if (kept != name) r.decide("optimizer.name", name_of(kept), "a resumed run keeps its optimizer", Origin::checkpoint);
    name = kept;
}

void warn_of_clipping(Resolution& r) {
    const OptimizerConfig& optimizer = r.plan.settings.optimizer;
    if (optimizer.name != OptimizerName::stable_adamw || optimizer.max_grad_norm == 0) return;
    r.plan.warnings.push_back(concat("optimizer.name = \"stable_adamw\" with optimizer.max_grad_norm = ", optimizer.max_grad_norm,
                                     ": large gradients are limited twice, per tensor and over all tensors; ModernBERT was "
                                     "trained without the second\n  do: set optimizer.max_grad_norm to 0"));
}

/// A schedule that had decayed begins again where total_steps has grown.
void warn_of_rate_jump(Resolution& r) {
    if (r.checkpoint == nullptr || r.checkpoint->progress.step == 0) return;
    constexpr double worth_a_warning = 1.5;
    const ExperimentConfig &saved = r.checkpoint->settings, &now = r.settings;
    const std::int64_t step = r.checkpoint->progress.step;
    const auto saved_rate = [&](std::int64_t of) { return learning_rate_at(saved.schedule, saved.optimizer.learning_rate, of); };
    const double next = learning_rate_at(now.schedule, now.optimizer.learning_rate, step + 1);
    if (step >= now.schedule.total_steps || next <= worth_a_warning * std::max(saved_rate(step), saved_rate(step + 1))) return;
    std::vector<std::string> reasons;
    for (const Difference& difference : compare_configs(saved, now))
        if (difference.path.starts_with("schedule.") || difference.path == "optimizer.learning_rate")
            reasons.push_back(concat(difference.path, " was ", difference.value_a, " and is ", difference.value_b));
    r.plan.warnings.push_back(
        concat("the learning rate jumps from ", saved_rate(step), " at step ", step, " to ", next, " at the next step, because ",
               join(reasons), "\n  do: nothing, if this is meant; to continue at a low rate, lower optimizer.learning_rate"));
}

/// An export for inference may say 0, for which the experiment did not ask; a run of this program was asked for it. A resumed run
/// continues as it began.
void warn_of_inherited_dropout(Resolution& r) {
    if (r.checkpoint != nullptr || r.requested.has_model_of_run) return;
    const nlohmann::json model = write_config(r.settings.model);
    std::vector<std::string> zeros, usual;
    for (const std::string_view name : pretraining_dropout(r.settings.model)) {
        const std::string path = concat("model.", name);
        const auto origin = r.requested.origins.find(path);
        if (origin == r.requested.origins.end() || origin->second != Origin::init_from || model.at(std::string(name)) != 0)
            continue;
        zeros.push_back(path + " = 0");
        usual.push_back(concat("--set ", path, "=0.1"));
    }
    if (!zeros.empty())
        r.plan.warnings.push_back(concat("the model trains without dropout (", join(zeros), "), because the description of ",
                                         *r.settings.initialization.init_from, " says so; models of this type are pretrained ",
                                         "with 0.1\n  do: ", join(usual, " "), ", or set 0 yourself if that is wanted"));
}

/// Shards for masked words alone have no labels of next sentences.
void refuse_missing_labels(Objective objective, const DataPlan& data, const Manifest& manifest) {
    if (objective == Objective::mlm || manifest.settings.has_labels()) return;
    throw ConfigError(concat("data.objective = \"mlm_nsp\": the shards of ", data.training_shards.front().string(),
                             " were made with --objective mlm", manifest.settings.best_fit ? " --best-fit, as packed rows" : "",
                             ", so they have no labels of next sentences",
                             "\n  do: set data.objective to \"mlm\", or make shards with `bertpretrain_data shard "
                             "--objective mlm_nsp`"));
}

nlohmann::ordered_json folder_list(const std::vector<std::filesystem::path>& folders) {
    auto list = nlohmann::ordered_json::array();
    for (const std::filesystem::path& folder : folders) list.push_back(folder.string());
    return list;
}

/// The last part of each path; the whole path where others end alike.
std::vector<std::string> names_of(const std::vector<std::filesystem::path>& folders) {
    const auto last_part = [](const std::filesystem::path& folder) {
        return (folder / "").lexically_normal().parent_path().filename().string();
    };
    std::map<std::string, int> times;
    for (const std::filesystem::path& folder : folders) ++times[last_part(folder)];
    std::vector<std::string> result;
    for (const std::filesystem::path& folder : folders) {
        const std::string last = last_part(folder);
        result.push_back(last.empty() || times[last] > 1 ? folder.string() : last);
    }
    return result;
}

/// The parts of a resumed run's mixture, and a new one where other shares were asked for and may be used. Shares that may not be
/// used are refused later (refuse_changed_settings), together with all other changes.
std::vector<MixturePart> mixture_of(const Resolution& r, const DataPlan& data) {
    if (r.checkpoint == nullptr) return {{0, data.shares}};
    const TrainingProgress& progress = r.checkpoint->progress;
    std::vector<MixturePart> parts = progress.mixture;
    if (parts.empty() || parts.front().shares.size() != data.shares.size()) return {{0, data.shares}};
    if (r.settings.data.changed_weights == ChangedWeights::refuse || parts.back().shares == data.shares) return parts;
    if (parts.back().first_sample == progress.samples) parts.pop_back();
    parts.push_back({progress.samples, data.shares});
    return parts;
}

void resolve_sources(Resolution& r) {
    const DataConfig& asked = r.settings.data;
    DataPlan& data = r.plan.data;
    std::vector<double> weights;
    for (const WeightedPath& source : asked.training_shards.paths) {
        data.training_shards.emplace_back(source.path);
        weights.push_back(source.weight);
    }
    if (weights.empty()) weights.push_back(1);  // settings that code gave, not a file
    data.training_shards.resize(weights.size());
    data.source_names = names_of(data.training_shards);
    data.shares = mixture_shares(weights);
    data.mixture = mixture_of(r, data);
    if (weights.size() == 1) return;
    auto parts = nlohmann::ordered_json::array();
    for (const MixturePart& part : data.mixture) parts.push_back({{"first_sample", part.first_sample}, {"shares", part.shares}});
    const bool is_kept = r.checkpoint != nullptr && data.mixture == r.checkpoint->progress.mixture;
    r.decide("data.mixture", std::move(parts),
             is_kept ? "a resumed run keeps its shares" : "the weights as billionths of their sum",
             is_kept ? Origin::checkpoint : Origin::automatic);
}

void resolve_data(Resolution& r) {
    const DataConfig& asked = r.settings.data;
    DataPlan& data = r.plan.data;
    resolve_sources(r);
    if (asked.held_out_shards) data.held_out_shards = {*asked.held_out_shards};
    else {
        data.held_out_shards = data.training_shards;
        const bool is_one = data.held_out_shards.size() == 1;
        r.decide("data.held_out_shards", is_one ? to_json(asked.training_shards) : folder_list(data.held_out_shards),
                 is_one ? "the folder of training shards" : "the folders of training shards");
    }
    set_next_sentence(r.plan.settings.model, asked.objective == Objective::mlm_nsp);
    if (asked.objective == Objective::mlm_nsp && !shape_of(r.plan.settings.model).next_sentence)
        throw ConfigError(concat("data.objective = \"mlm_nsp\": model.model_type ", name_of(r.plan.settings.model.model_type),
                                 " has no head for next sentences; set data.objective to \"mlm\", and make shards with "
                                 "--objective mlm"));
    if (asked.block_diagonal && asked.objective == Objective::mlm_nsp)
        throw ConfigError(
            "data.block_diagonal: needs data.objective = \"mlm\", because a pair of sentences is judged as a whole");
    data.masked_lm_prob = asked.masked_lm_prob;
    resolve_vocabulary(r);
    constexpr std::size_t most = 8;
    const auto ranks = static_cast<std::size_t>(r.launch.local_world_size);
    data.loader_threads = std::clamp(r.machine.cores / (2 * ranks), std::size_t{1}, most);
    if (asked.loader_threads) data.loader_threads = static_cast<std::size_t>(*asked.loader_threads);
    else
        r.decide("data.loader_threads", data.loader_threads,
                 concat("half of ", r.machine.cores, " cores, shared by ", ranks, " rank(s) of this host, at most ", most));
    data.cache_folder = r.data.cache_folder;
    constexpr double bytes_of_gib = 1024.0 * 1024 * 1024;
    data.cache_bytes = static_cast<std::uint64_t>(asked.cache_gib * bytes_of_gib);
    const auto is_in_store = [](const std::filesystem::path& folder) { return is_object_url(folder.string()); };
    if (!asked.cache_folder && std::ranges::any_of(data.training_shards, is_in_store))
        r.decide("data.cache_folder", data.cache_folder.string(), "this user's, in the folder for temporary files");
    if (!r.data.manifest) return;
    refuse_missing_labels(asked.objective, data, *r.data.manifest);
    data.stored_masked_lm_prob = r.data.manifest->settings.masked_lm_prob;
    if (asked.masking == Masking::as_stored) data.masked_lm_prob = data.stored_masked_lm_prob;
    data.casing = r.data.manifest->settings.casing;
    if (data.training_shards.size() == 1) data.unigram_cross_entropy = r.data.manifest->unigram_cross_entropy;
}

void resolve_device(Resolution& r) {
    const std::string& asked = r.settings.training.device;
    ComputePlan& compute = r.plan.compute;
    compute.on_gpu = means_gpu(asked, r.machine.gpus);
    if (asked == "auto")
        r.decide("training.device", compute.on_gpu ? "cuda" : "cpu",
                 compute.on_gpu ? concat("this host has ", r.machine.gpus, " usable GPU(s)") : "no usable GPU was found");
    if (asked == "auto" && r.machine.has_unusable_gpu)
        r.plan.warnings.push_back(
            "this host has NVIDIA's driver, but no GPU that this program can use: it computes on the CPU"
            "\n  do: run the program where it was built, or the image (what is installed is for CPUs), see `nvidia-smi`, or set "
            "training.device to \"cpu\"");
}

void resolve_matmul(Resolution& r) {
    ComputePlan& compute = r.plan.compute;
    const std::string& asked = r.settings.training.cpu_matmul;
    if (r.checkpoint != nullptr) compute.kept_matmul = read_matmul_libraries(r.checkpoint->progress.cpu_products);
    compute.chooses_matmul = !compute.on_gpu && compute.dtype == at::kBFloat16 && r.machine.has_bf16_matmul;
    if (!compute.chooses_matmul) return;
    const auto all_by = [&](MatmulLibrary library) {
        MatmulLibraries all;
        for (const LinearShape& shape : matmuls_of(r.plan.settings.model)) all[shape] = library;
        return all;
    };
    if (asked != "measured") {
        compute.matmul = all_by(matmul_library_of(asked));
    } else if (!compute.kept_matmul.empty()) {
        compute.matmul = compute.kept_matmul;
        r.decide("training.cpu_matmul", matmul_text(compute.kept_matmul), "a resumed run keeps its libraries",
                 Origin::checkpoint);
    } else if (!r.machine.may_others_be_faster) {
        compute.matmul = all_by(r.machine.default_matmul);
        r.decide("training.cpu_matmul", name_of(r.machine.default_matmul), "this processor has no AMX");
    } else {
        r.decide("training.cpu_matmul", nullptr, "measured when the run starts");
    }
}

void resolve_compute(Resolution& r) {
    const TrainingConfig& asked = r.settings.training;
    ComputePlan& compute = r.plan.compute;
    resolve_device(r);
    compute.dtype = asked.precision == Precision::bf16 ? at::kBFloat16 : at::kFloat;
    compute.residual_dtype = asked.residual_dtype == Precision::bf16 ? at::kBFloat16 : at::kFloat;
    compute.dropout_seed = asked.dropout_seed ? static_cast<std::uint64_t>(*asked.dropout_seed) : asked.seed;
    if (!asked.dropout_seed) r.decide("training.dropout_seed", compute.dropout_seed, "the seed");
    if (r.checkpoint != nullptr) compute.kept_kernels = read_kernel_choice(r.checkpoint->progress.gpu_kernels);
    resolve_matmul(r);
}

/// Returns "" where gradients in bf16 are faster than in fp32. Before the ranks are connected, hosts are taken to be alike.
std::string_view why_rounding_does_not_pay(const Launch& launch) {
    const bool several = launch.nodes > 0 ? launch.nodes > 1 : launch.world_size > launch.local_world_size;
    if (!several) return "one host, whose ranks exchange gradients quickly";
    const bool is_even = launch.nodes == 0 || launch.in_stages || launch.nodes == launch.world_size;
    return is_even ? "" : "hosts with different numbers of ranks, which would send each gradient once per rank";
}

void resolve_parallel(Resolution& r) {
    const ParallelConfig& asked = r.settings.parallel;
    ParallelPlan& parallel = r.plan.parallel;
    parallel.world_size = r.launch.world_size;
    parallel.ranks_of_host = r.launch.local_world_size;
    parallel.in_stages = r.launch.in_stages;
    const bool automatic = asked.reduce_dtype == ReduceType::automatic;
    const std::string_view why_fp32 = automatic ? why_rounding_does_not_pay(r.launch) : "";
    const bool rounds = asked.reduce_dtype == ReduceType::bf16 || (automatic && why_fp32.empty());
    parallel.reduce_dtype = rounds ? at::kBFloat16 : at::kFloat;
    parallel.chooses_dtype = automatic;
    if (automatic)
        r.decide("parallel.reduce_dtype", rounds ? "bf16" : "fp32",
                 rounds ? "several hosts: halves what each sends to the others" : std::string(why_fp32));
    if (r.plan.compute.on_gpu && parallel.world_size > 1)
        for (const NcclVariable& variable : r.machine.nccl)
            r.decide(concat("environment.", variable.name).c_str(), variable.value, variable.reason,
                     variable.reason.empty() ? Origin::environment : Origin::automatic);
    // Sums over ranks are fp32, and have room only where a rank keeps half of the gradients at most.
    if (asked.gradient_dtype == Precision::fp32) return;
    if (asked.zero_stage == 1 && parallel.world_size > 1) parallel.gradients = FlatParameters::Gradients::bf16;
    else r.decide("parallel.gradient_dtype", "fp32", "one rank keeps fp32 gradients");
}

std::int64_t sequences_of_rank(const BatchConfig& batch) { return batch.micro_batch_size * batch.gradient_accumulation_steps; }

/// A run keeps the global batch of its first start on any number of ranks and with any micro-batch, unless the settings ask for
/// another one, by global_batch_size or by another gradient_accumulation_steps (which refuse_changed_settings() then refuses).
void resolve_global_batch(Resolution& r) {
    const BatchConfig& asked = r.settings.batch;
    std::int64_t& global_batch = r.plan.settings.batch.global_batch_size;
    if (global_batch == 0) {
        global_batch = sequences_of_rank(asked) * r.launch.world_size;
        r.decide("batch.global_batch_size", global_batch,
                 concat(asked.micro_batch_size, " sequences x ", asked.gradient_accumulation_steps, " accumulation steps x ",
                        r.launch.world_size, " rank(s)"));
        const BatchConfig& saved = r.checkpoint != nullptr ? r.checkpoint->settings.batch : asked;
        const bool asks_the_same = sequences_of_rank(saved) == sequences_of_rank(asked) ||
                                   saved.gradient_accumulation_steps == asked.gradient_accumulation_steps;
        if (r.checkpoint != nullptr && asks_the_same) {
            global_batch = r.checkpoint->progress.global_batch_sequences;
            r.decide("batch.global_batch_size", global_batch, "a resumed run keeps its global batch", Origin::checkpoint);
        }
    }
}

void refuse_impossible_warmup(const BatchConfig& batch) {
    if (batch.warmup_steps == 0) return;
    if (batch.warmup_from >= batch.global_batch_size)
        throw ConfigError(concat("batch.warmup_from = ", batch.warmup_from, ": must be less than batch.global_batch_size = ",
                                 batch.global_batch_size, ", to which the batch grows"));
    const std::int64_t growth = batch.global_batch_size - batch.warmup_from;
    if (growth / batch.warmup_increment >= most_batch_sizes)
        throw ConfigError(concat("batch.warmup_increment = ", batch.warmup_increment, ": the batch would have more than ",
                                 with_thousands(most_batch_sizes), " sizes\n  do: set it to at least ",
                                 growth / most_batch_sizes + 1));
}

void resolve_batch(Resolution& r) {
    const BatchConfig& asked = r.settings.batch;
    BatchPlan& batch = r.plan.batch;
    resolve_global_batch(r);
    refuse_impossible_warmup(r.plan.settings.batch);
    require_sequence_per_rank(r.plan.settings.batch.sizes(), r.launch.world_size);
    batch.device_micro_batch = asked.device_micro_batch;
    if (asked.device_micro_batch) return;
    const char* const path = "batch.device_micro_batch";
    if (r.plan.compute.on_gpu && r.settings.training.loss_mean == LossMean::global) {
        batch.measures_pass = true;
        if (r.checkpoint != nullptr) batch.kept_pass = r.checkpoint->progress.device_micro_batch;
        r.decide(path, nullptr, "the largest that fits into the GPU's memory, measured when the run starts");
        return;
    }
    batch.device_micro_batch = asked.micro_batch_size;
    r.decide(path, asked.micro_batch_size,
             concat("batch.micro_batch_size: ", r.plan.compute.on_gpu ? "micro-batches have means of their own" : "on a CPU"));
}

void resolve_checkpoint(Resolution& r) {
    const CheckpointConfig& asked = r.settings.checkpoint;
    CheckpointPlan& checkpoint = r.plan.checkpoint;
    checkpoint.snapshots = asked.background && asked.save_every_steps > 0;
    if (asked.background && !checkpoint.snapshots)
        r.decide("checkpoint.background", false, "the only checkpoint is the one at the end");
    if (asked.mirror) checkpoint.mirror = parse_object_url(*asked.mirror, "checkpoint.mirror");
}

}  // namespace

RunPlan resolve(const RequestedExperiment& requested, const Launch& launch, const MachineFacts& machine, const DataFacts& data,
                const CheckpointFacts* checkpoint) {
    const ExperimentConfig& settings = requested.settings;
    Resolution r{requested, settings, launch, machine, data, checkpoint, {}};
    r.plan.settings = settings;
    r.plan.origins = requested.origins;
    r.plan.warnings = data.warnings;
    resolve_optimizer(r);
    warn_of_clipping(r);
    warn_of_inherited_dropout(r);
    warn_of_rate_jump(r);
    resolve_inherited_model(r);
    resolve_vocab_size(r);
    resolve_data(r);
    resolve_compute(r);
    resolve_parallel(r);
    resolve_batch(r);
    resolve_checkpoint(r);
    return std::move(r.plan);
}

}  // namespace bertpretrain
