#include "train/make_trainer.h"

#include <algorithm>

#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "core/threads/numa.h"
#include "kernels/cpu/operation_threads.h"
#include "kernels/fp8_matmul.h"
#include "model/tensor_memory.h"
#include "operations/gemm_roof.h"
#include "parallel/make_world.h"
#include "parallel/together.h"
#include "plan/device_choice.h"
#include "plan/memory_plan.h"
#include "plan/resolve.h"
#include "tokens/models/open_tokenizer.h"
#include "train/announce.h"
#include "train/save/checkpoint_space.h"
#include "train/save/open_mirror.h"
#include "train/start/device_batch.h"
#include "train/start/matmul_choice.h"
#include "train/start/same_run.h"

namespace bertpretrain {
namespace {

std::unique_ptr<BatchLoader> make_loader(const RunPlan& plan, const World& world, const Vocabulary* vocabulary,
                                         at::Device device) {
    BatchLoaderSettings settings;
    settings.seed = plan.settings.training.seed;
    settings.batch_sizes = plan.settings.batch.sizes();
    settings.micro_batch_size = plan.pass_size();
    settings.format = row_format(plan);
    settings.rank = world.rank();
    settings.world_size = world.size();
    settings.device = device;
    settings.threads = plan.data.loader_threads;
    settings.cross_check_every_steps = plan.settings.training.cross_check_every_steps;
    if (plan.settings.data.masking == Masking::dynamic && vocabulary != nullptr) {
        settings.masking = dynamic_masking(*vocabulary, plan.data.masked_lm_prob, plan.settings.data.whole_word_masking,
                                           plan.settings.data.mask_special_tokens, plan.settings.data.sequence_length,
                                           shape_of(plan.settings.model).vocab_size, plan.settings.training.seed);
        settings.masking->masking.spans = plan.settings.data.mask_spans();
    }
    std::vector<std::vector<std::filesystem::path>> files;
    bool is_in_store = false;
    for (const std::filesystem::path& source : plan.data.training_shards) {
        files.push_back(find_shards_anywhere(source, ShardKind::training, plan.data.cache_folder));
        is_in_store = is_in_store || is_object_url(source.string());
    }
    if (is_in_store) {
        settings.cache_folder = plan.data.cache_folder;
        settings.cache = std::make_shared<ObjectCache>(plan.data.cache_folder / "shards", plan.data.cache_bytes);
        if (world.rank() == 0)
            log_info(concat("shards are fetched from the object store into ", plan.data.cache_folder.string(), ", at most ",
                            bytes_text(plan.data.cache_bytes)));
    }
    return std::make_unique<BatchLoader>(TrainingSources(std::move(files), Mixture(plan.data.mixture)), settings);
}

std::unique_ptr<EvaluationBatches> make_held_out(const RunPlan& plan, const World& world, at::Device device) {
    if (plan.settings.evaluation.every_steps == 0) return nullptr;
    EvaluationSettings settings;
    settings.format = row_format(plan);
    settings.micro_batch_size = plan.settings.evaluation.micro_batch_size;
    settings.max_sequences = plan.settings.evaluation.max_sequences;
    settings.rank = world.rank();
    settings.world_size = world.size();
    settings.device = device;
    settings.threads = plan.data.loader_threads;
    const std::vector<std::filesystem::path>& folders = plan.data.held_out_shards;
    std::vector<EvaluationSource> sources;
    for (std::size_t i = 0; i < folders.size(); ++i)
        sources.push_back({folders.size() > 1 ? plan.data.source_names[i] : "",
                           find_shards_anywhere(folders[i], ShardKind::held_out, plan.data.cache_folder)});
    return std::make_unique<EvaluationBatches>(sources, settings);
}

ExistingCheckpoints existing_in(const CheckpointStore& store, const CheckpointConfig& config) {
    const std::vector<std::filesystem::path> all = store.all_complete();
    const std::optional<std::filesystem::path> best = config.keep_best ? store.best_complete() : std::nullopt;
    const auto may_go = [&](const std::filesystem::path& one) {
        const std::int64_t step = *step_of_folder_name(one.filename().string());
        const bool is_milestone = config.keep_every_steps > 0 && step % config.keep_every_steps == 0;
        return one != all.back() && one != best && !is_milestone;
    };
    return {all.size(), static_cast<std::uint64_t>(std::ranges::count_if(all, may_go))};
}

/// Removes what killed saves left, and compares the space that is free then with what checkpoints take.
/// @returns both in words
std::string make_space(const TrainerParts& parts, const CheckpointStore& store) {
    parts.folder->require();
    store.remove_unfinished();
    const RunPlan& plan = parts.plan;
    if (parts.checkpoint && parts.checkpoint->step >= plan.settings.schedule.total_steps) return "none is due";
    const CheckpointSpace space = compare_space(store.folder(), checkpoint_bytes(plan.settings.model), plan.settings,
                                                existing_in(store, plan.settings.checkpoint));
    if (!space.holds_all)
        log_warning(
            concat(store.folder().string(), ": the disk cannot hold all checkpoints that the settings keep: ", space.words,
                   "\n  the run starts; where a checkpoint does not fit, the oldest one is deleted for it, but never the newest ",
                   "or the best\n  do: free some space, keep fewer checkpoints (checkpoint.keep_last, keep_every_steps), or set "
                   "--output to a path on ",
                   "a larger disk"));
    return space.words;
}

/// Removes the exit record of an earlier attempt, which has been handled already, and logs to the folder too.
void begin_records(const RunFolder& folder) {
    std::error_code ignored;
    std::filesystem::remove(folder.paths().exit_record(), ignored);
    log_also_to(folder.paths().log());
}

void open_data(TrainerParts& parts, const Vocabulary* vocabulary, at::Device device) {
    parts.loader = make_loader(parts.plan, *parts.world, vocabulary, device);
    parts.held_out = make_held_out(parts.plan, *parts.world, device);
    if (parts.held_out) parts.held_out->verify();
    if (const auto& task = parts.plan.settings.evaluation.probe)
        parts.probe = std::make_unique<RunProbe>(
            *task,
            open_tokenizer(parts.plan.data.vocabulary, parts.plan.data.casing == "cased" ? Casing::cased : Casing::uncased),
            parts.plan.settings.data.sequence_length);
}

/// Returns what must be equal on all ranks.
std::string fingerprints_of(const TrainerParts& parts) {
    std::string all = parts.loader->fingerprint();
    if (parts.held_out) all += "; held out " + parts.held_out->fingerprint();
    if (parts.probe) all += "; probe " + parts.probe->fingerprint();
    return all;
}

MemoryPlan open_model(TrainerParts& parts, at::Device device) {
    const RunPlan& plan = parts.plan;
    ParameterLayout layout = layout_of(plan.settings.model, plan.settings.parallel.bucket_mib, parts.world->size());
    const MemoryPlan memory = plan_memory(plan, layout, cpu::operation_threads(), parts.loader->rows_per_epoch());
    if (device.is_cpu())
        refuse_too_large(memory, layout.parameter_elements(), plan.settings.data.sequence_length, plan.parallel.ranks_of_host);
    if (plan.settings.training.fp8_matmuls) together(*parts.world, [&] { require_fp8_matmul(device); });
    parts.parameters = std::make_unique<FlatParameters>(std::move(layout), plan.compute.dtype, device, plan.parallel.gradients);
    parts.model = make_model(plan.settings.model, *parts.parameters,
                             {plan.compute.dropout_seed, plan.settings.training.activation_checkpointing,
                              plan.compute.residual_dtype, plan.settings.training.fp8_matmuls});
    const std::int64_t stage = plan.settings.parallel.zero_stage;
    parts.optimizer = std::make_unique<ShardedOptimizer>(plan.settings.optimizer, parts.parameters->layout(),
                                                         stage == 0 ? std::nullopt : std::optional(parts.world->rank()), device);
    parts.buckets = std::make_unique<GradientBuckets>(*parts.parameters, *parts.world,
                                                      GradientBuckets::Choices{stage, plan.parallel.reduce_dtype});
    parts.step = std::make_unique<TrainStep>(*parts.model, *parts.parameters, *parts.buckets, *parts.optimizer, *parts.world,
                                             plan.settings.training.loss_mean, stage, plan.data.training_shards.size());
    return memory;
}

/// Measures the largest pass, where the plan leaves it to be measured, and records it there.
void probe_passes(TrainerParts& parts) {
    RunPlan& plan = parts.plan;
    World& world = *parts.world;
    const at::Device device = parts.parameters->device();
    const std::int64_t before = plan.pass_size();
    choose_device_micro_batch(
        world, plan, plan.sequences_per_rank(),
        [&]() -> std::uint64_t {
            if (!world.communicates()) return 0;
            return trial_exchange(*parts.buckets, *parts.parameters, parts.optimizer->state().master);
        },
        [&] { return memory_for_passes(device); },
        [&](std::int64_t sequences) { return trial_pass(*parts.model, *parts.parameters, plan, sequences); });
    if (plan.pass_size() != before) parts.loader->set_micro_batch_size(plan.pass_size());
}

void probe_gemm_roof(TrainerParts& parts) {
    RunPlan& plan = parts.plan;
    World& world = *parts.world;
    const at::Device device = parts.parameters->device();
    double own_roof = 0, all_roofs = 0;
    together(world, [&] { own_roof = measured_gemm_roof(device, parts.parameters->compute_dtype()); });
    for (const double roof : world.all_gather(std::span<const double>(&own_roof, 1))) all_roofs += roof;
    plan.compute.gemm_flops = all_roofs;
    plan.decide("measured.gemm_tflops", all_roofs * 1e-12, Origin::automatic, "measured: matmuls of all ranks' devices together");
}

/// Decides the plan, and chooses the kernels before the optimizer takes its own.
DataFacts decide_plan(TrainerParts& parts, const RequestedExperiment& experiment, const CheckpointFacts* kept,
                      at::Device device) {
    DataFacts data;
    together(*parts.world, [&] {
        data = look_at_data(experiment.settings.data, experiment.settings.evaluation.every_steps > 0);
        Launch connected = parts.launch;
        const NodeRoute route = parts.world->route();
        connected.world_size = parts.world->size();
        connected.nodes = route.named_nodes;
        connected.in_stages = route.nodes() > 1;
        parts.plan = resolve(experiment, connected, look_at_machine(), data, kept);
        check(parts.plan.compute.on_gpu == device.is_cuda(), "the plan and the opened device differ");
    });
    refuse_different_plans(*parts.world, parts.plan);
    if (parts.world->rank() == 0)
        for (const std::string& warning : parts.plan.warnings) log_warning(warning);
    parts.kernels = choose_kernels(*parts.world, parts.plan, device);
    return data;
}

}  // namespace

at::Device device_of_rank(const RequestedExperiment& experiment, const Launch& launch) {
    return device_named(experiment.settings.training.device, launch.local_rank);
}

std::unique_ptr<World> connect_ranks(const RequestedExperiment& experiment, const Launch& launch, at::Device device) {
    if (device.is_cpu()) {
        keep_tensor_memory();
        if (const NodeCores cores = bind_to_numa_nodes(launch.local_rank, launch.local_world_size); !cores.empty())
            log_info(concat("this rank computes on the ", cores.size(), " cores of its part of the host's NUMA nodes"));
    }
    const auto timeout = std::chrono::seconds(static_cast<std::int64_t>(experiment.settings.parallel.first_step_timeout_seconds));
    return make_world(launch, timeout, device);
}

OpenedFolder open_run_folder(ControlGroup& ranks, const std::filesystem::path& path) {
    OpenedFolder opened;
    together(ranks, [&] {
        opened.folder = std::make_unique<RunFolder>(path, ranks.rank() == 0 ? RunFolder::Role::takes : RunFolder::Role::joins);
    });
    const bool sees = opened.folder->has(ranks.text_of_first(opened.folder->mark()));
    for (const std::string& one : ranks.all_gather(std::string_view(sees ? "1" : "0"))) opened.seen_by.push_back(one == "1");
    return opened;
}

TrainerParts make_trainer_parts(const RequestedExperiment& experiment, const std::filesystem::path& output,
                                const ResumeRequest& resume, const Launch& launch, PhaseClock& clock,
                                std::unique_ptr<World> world, at::Device device) {
    clock.enter(Phase::start);
    TrainerParts parts;
    parts.launch = launch;
    parts.resume = resume;
    parts.resume.again = launch.again;
    parts.world = std::move(world);
    OpenedFolder opened = open_run_folder(*parts.world, output);
    parts.folder = std::move(opened.folder);
    parts.sees_folder = std::move(opened.seen_by);
    parts.exit_record = parts.folder->paths().exit_record();
    const bool leads = parts.world->rank() == 0;
    together(*parts.world, [&] {
        if (leads) begin_records(*parts.folder);
    });
    const CheckpointStore store(parts.folder->paths().checkpoints());
    together(*parts.world, [&] {
        if (leads) parts.mirror = open_mirror(experiment.settings, store, parts.folder->paths().run_id());
    });
    parts.checkpoint =
        choose_checkpoint(*parts.world, store, parts.resume, parts.sees_folder[static_cast<std::size_t>(parts.world->rank())],
                          stale_folder_timeout, parts.mirror.get());
    std::optional<CheckpointFacts> kept;
    together(*parts.world, [&] {
        if (parts.checkpoint) kept = facts_of(*parts.checkpoint);
    });
    const DataFacts data = decide_plan(parts, experiment, kept ? &*kept : nullptr, device);
    clock.enter(Phase::start);
    MemoryPlan memory;
    std::string space;
    together(*parts.world, [&] {
        open_data(parts, data.vocabulary.get(), device);
        clock.enter(Phase::start);
        memory = open_model(parts, device);
        if (leads) space = make_space(parts, store);
    });
    refuse_different_data(*parts.world, fingerprints_of(parts));
    probe_passes(parts);
    clock.enter(Phase::start);
    probe_gemm_roof(parts);
    clock.enter(Phase::start);
    choose_matmul_libraries(*parts.world, parts.plan);
    clock.enter(Phase::start);
    refuse_unequal_bits(*parts.world, parts.plan, device);
    if (leads) announce(parts, memory, space);
    return parts;
}

TrainerParts make_replay_parts(RequestedExperiment experiment, const CheckpointFacts* kept, const Launch& launch) {
    experiment.settings.evaluation.every_steps = 0;
    experiment.settings.evaluation.probe.reset();
    experiment.settings.training.cross_check_every_steps = 0;
    const at::Device device = device_of_rank(experiment, launch);
    TrainerParts parts;
    parts.launch = launch;
    parts.world = connect_ranks(experiment, launch, device);
    const DataFacts data = decide_plan(parts, experiment, kept, device);
    together(*parts.world, [&] {
        open_data(parts, data.vocabulary.get(), device);
        open_model(parts, device);
    });
    refuse_different_data(*parts.world, fingerprints_of(parts));
    probe_passes(parts);
    choose_matmul_libraries(*parts.world, parts.plan);
    return parts;
}

}  // namespace bertpretrain
