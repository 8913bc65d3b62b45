// bertpretrain evaluate CHECKPOINT... --shards DIR --probe TSV

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "measured.h"
#include "rank_options.h"

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/find_weights.h"
#include "checkpoint/lineage.h"
#include "core/error.h"
#include "core/files/file_digest.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "inference/cross_validation.h"
#include "inference/evaluate.h"
#include "inference/loaded_model.h"
#include "inference/model_tokenizer.h"
#include "inference/probe.h"
#include "inference/sentence_folder.h"
#include "inference/sentence_settings.h"
#include "parallel/together.h"
#include "plan/device_choice.h"
#include "plan/shared_text.h"
#include "shards/check/vocabulary_match.h"
#include "shards/manifest.h"
#include "shards/remote_folder.h"
#include "storage/object_url.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

struct EvaluateArguments {
    std::vector<std::string> checkpoints;
    std::string shards, cache_folder, probe, precision = "fp32", device = "auto", kind = "held_out", baseline;
    std::int64_t micro_batch_size = 32, max_sequences = 0, local_ranks = 0;
    double tolerance = 0;
    bool all = false, json = false, cased = false;
};

/// Returns the checkpoints to measure, as rank 0 finds them. With --all, each run is replaced by all of its checkpoints.
std::vector<std::string> chosen_checkpoints(const EvaluateArguments& arguments, World& world) {
    if (!arguments.all) return arguments.checkpoints;
    nlohmann::json chosen = nlohmann::json::array();
    together(world, [&] {
        if (world.rank() != 0) return;
        for (const std::string& run : arguments.checkpoints) {
            require_no_phases(run);
            const CheckpointStore store(fs::path(run) / "checkpoints");
            const auto found = store.all_complete();
            for (const auto& [step, folder] : store.all())
                if (std::ranges::find(found, folder) == found.end())
                    log_warning(concat(folder.string(), ": is damaged and left out; `inspect` says what is wrong with it"));
            if (found.empty())
                throw CheckpointError(concat(run, ": --all: there is no complete checkpoint in its folder \"checkpoints\""));
            for (const fs::path& folder : found) chosen.push_back(folder.string());
        }
    });
    return nlohmann::json::parse(world.text_of_first(chosen.dump()));
}

/// A folder of shards, and its name where there are several.
struct NamedFolder {
    std::string name, folder;
    bool operator==(const NamedFolder&) const = default;
};

/// Returns the folders of held-out shards of the run that trained the model, as its checkpoint records them: held_out_shards,
/// else training_shards. @throws ConfigError where none is recorded, or a local one is missing
std::vector<NamedFolder> own_shards(const LoadedModel& model) {
    const std::string advice = "\n  do: give --shards DIR, --probe TSV or both";
    if (model.is_foreign)
        throw ConfigError(concat("evaluate: nothing to measure ", model.folder.string(), " on, which is not a run's", advice));
    const nlohmann::json data = nlohmann::json::parse(read_file(model.folder / settings_file)).at("data");
    const nlohmann::json held_out = data.value("held_out_shards", nlohmann::json()), training = data.at("training_shards");
    std::vector<NamedFolder> folders;
    if (held_out.is_string()) folders.push_back({"", held_out});
    else if (training.is_string()) folders.push_back({"", training});
    else
        for (const nlohmann::json& source : training) folders.push_back({source.at("path"), source.at("path")});
    for (const NamedFolder& source : folders)
        if (!is_object_url(source.folder) && !fs::exists(source.folder))
            throw ConfigError(
                concat(model.folder.string(), ": the shards of its run, ", source.folder, ", were not found", advice));
    return folders;
}

/// The folders of training shards that a checkpoint records, as far as they are still there unchanged.
std::vector<FolderManifest> recorded_training(const fs::path& checkpoint) {
    std::vector<FolderManifest> folders;
    try {
        if (!fs::exists(checkpoint / lineage_file)) return folders;
        for (const DataLineage& data : read_lineage(checkpoint / lineage_file).data) {
            const fs::path file = fs::path(data.folder) / manifest_name;
            if (data.use == "training" && data.manifest && fs::exists(file) &&
                digest_of_file(file).sha256 == data.manifest->sha256)
                folders.push_back({data.folder, *read_manifest(data.folder)});
        }
    } catch (const DataError&) {}  // the lineage only adds a warning here
    return folders;
}

/// Measures models on the same shards and the same task. Reopens the shards only for a model of another shape.
class Measuring {
public:
    Measuring(const EvaluateArguments& arguments, World& world, at::Device device)
        : arguments_(arguments), world_(world), device_(device) {
        if (arguments_.probe.empty()) return;
        together(world_, [&] { task_ = read_labelled_texts(arguments_.probe, probe_folds); });
    }
    const LabelledTexts& task() const { return task_; }

    Measured measure(const std::string& checkpoint) {
        LoadedModel model;
        const fs::path found = found_by_first(world_, checkpoint);
        together(world_, [&] {
            model = load_model(found, compute_dtype(), device_);
            if (!arguments_.shards.empty()) sources_ = {{"", arguments_.shards}};
            else if (arguments_.probe.empty()) take_own_shards(model);
            if (!sources_.empty()) open_shards_for(model);
        });
        Measured measured{checkpoint, model.step, std::nullopt, std::nullopt};
        if (batches_) measured.record = evaluate(*model.model, *batches_, world_, model.step);
        if (!arguments_.probe.empty()) measured.probe = probed(model);
        return measured;
    }

private:
    /// Takes the held-out shards of the run that trained the model. @throws ConfigError when they are not known, or are not those
    /// of the model before
    void take_own_shards(const LoadedModel& model) {
        std::vector<NamedFolder> own = own_shards(model);
        if (!sources_.empty() && sources_ != own)
            throw ConfigError(
                concat(model.folder.string(), ": its run has other shards than that of the model before: ", own.front().folder,
                       ", ", sources_.front().folder, "\n  do: give --shards DIR, so that all are measured on the same text"));
        if (sources_.empty() && world_.rank() == 0)
            for (const NamedFolder& source : own) log_info(concat("shards of the run: ", source.folder));
        sources_ = std::move(own);
    }

    /// @throws NumbersError on rank 0 when a vector is not finite
    ProbeResult probed(const LoadedModel& model) {
        ModelTokenizer tokenizer;
        SentenceSettings sentences;
        together(world_, [&] {
            const bool lowers_first = read_sentence_settings(model.folder).value_or(SentenceSettings{}).lowers_first;
            tokenizer = tokenizer_of(model, arguments_.cased, lowers_first);
            sentences = decide_sentence_settings(model, "mean", std::nullopt, tokenizer.max_length);  // as embed does
        });
        model.model->pack_weights();
        TextEncoderSettings settings;
        settings.max_length = *sentences.max_length;
        settings.threads = static_cast<std::size_t>(at::get_num_threads());
        settings.prompt = sentences.prompt;
        settings.truncates_left = tokenizer.truncates_left;
        const ProbeResult result = *probe(TextEncoder(*model.model, *tokenizer.tokenizer, device_, settings), task_, world_);
        together(world_, [&] {
            if (result.first_not_finite)
                throw NumbersError(concat(arguments_.probe, ": line ", *result.first_not_finite + 1,
                                          ": its vector is not finite\n  do: check that the model is undamaged and was ",
                                          "trained without diverging"));
        });
        if (world_.rank() == 0 && result.truncated > 0)
            log_warning(concat(arguments_.probe, ": ", with_thousands(result.truncated), " of ", with_thousands(task_.size()),
                               " texts are longer than ", settings.max_length, " tokens and were truncated"));
        return result;
    }

    void open_shards_for(LoadedModel& model) {
        require_all(model, "an evaluation");
        const fs::path shards = local_shard_folder(sources_.front().folder, cache());
        if (!model.vocabulary.empty()) refuse_other_vocabulary(shards, model.vocabulary);
        const ModelShape shape = shape_of(model.config);
        const auto manifest = read_manifest(shards);
        if (manifest && arguments_.kind == "held_out" && world_.rank() == 0)
            for (const std::string& warning :
                 warn_of_shared_text(recorded_training(model.folder), {{sources_.front().folder, *manifest}}))
                if (warned_.insert(warning).second) log_warning(warning);
        const std::int64_t length = manifest ? manifest->settings.sequence_length : trained_length(model);
        if (length > shape.longest_sequence)
            throw ConfigError(concat(sources_.front().folder, ": rows are ", length, " tokens long, but ", model.folder.string(),
                                     " knows ", shape.longest_sequence, " positions\n  do: make shards with ",
                                     "`bertpretrain_data shard --sequence-length ", shape.longest_sequence, "` for it"));
        if (length > trained_length(model)) {
            use_proven_kernels(model.config, length, compute_dtype(), device_);
            const std::string warning = concat(sources_.front().folder, ": rows are ", length, " tokens long, but ",
                                               model.folder.string(), " was trained on rows of ", trained_length(model),
                                               ": its later positions have learned nothing, which raises the loss");
            if (!shape.is_rotary && world_.rank() == 0 && warned_.insert(warning).second) log_warning(warning);
        }
        open_shards({length, shape.longest_sequence, shape.vocab_size, shape.next_sentence, model.document_end});
    }

    void open_shards(const RowFormat& format) {
        if (batches_ && settings_.format == format) return;
        settings_.format = format;
        settings_.micro_batch_size = arguments_.micro_batch_size;
        settings_.max_sequences = arguments_.max_sequences;
        settings_.rank = world_.rank();
        settings_.world_size = world_.size();
        settings_.device = device_;
        const ShardKind kind = arguments_.kind == "training" ? ShardKind::training : ShardKind::held_out;
        std::vector<EvaluationSource> sources;
        for (const NamedFolder& source : sources_) sources.push_back({source.name, copied_shards(source.folder, kind, cache())});
        batches_ = std::make_unique<EvaluationBatches>(sources, settings_);
    }

    at::ScalarType compute_dtype() const { return arguments_.precision == "bf16" ? at::kBFloat16 : at::kFloat; }

    /// The folder for copies of an object store.
    fs::path cache() const {
        return shard_cache_folder(arguments_.cache_folder.empty() ? std::nullopt : std::optional(arguments_.cache_folder));
    }

    const EvaluateArguments& arguments_;
    World& world_;
    at::Device device_;
    EvaluationSettings settings_;
    std::vector<NamedFolder> sources_;
    std::unique_ptr<EvaluationBatches> batches_;
    LabelledTexts task_;
    std::set<std::string> warned_;
};

/// @throws NumbersError if a checkpoint is worse than the baseline by more than the tolerance
void refuse_regression(const EvaluateArguments& arguments, const std::vector<Measured>& curve, const EvaluationRecord& baseline) {
    const double most = baseline.mlm_loss * (1 + arguments.tolerance);
    for (const Measured& one : curve)
        if (!(one.record->mlm_loss <= most))
            throw NumbersError(concat(one.name, ": held-out mlm_loss ", fixed(one.record->mlm_loss, 4), " is worse than that of ",
                                      arguments.baseline, ", ", fixed(baseline.mlm_loss, 4), ", by more than ",
                                      fixed(100 * arguments.tolerance, 2), " %"));
}

/// @throws NumbersError naming a checkpoint whose loss is not finite
void refuse_not_finite(const std::vector<Measured>& curve) {
    for (const Measured& one : curve)
        if (one.record && !std::isfinite(one.record->mlm_loss))
            throw NumbersError(concat(one.name, ": its mlm_loss is not finite\n  do: check that the model is undamaged and was ",
                                      "trained without diverging"));
}

int run(const EvaluateArguments& arguments) {
    const Launch launch = read_launch();
    if (const auto code = run_as_local_ranks(arguments.local_ranks, launch)) return *code;
    const at::Device device = device_named(arguments.device, launch.local_rank);
    const std::unique_ptr<World> world = patient_world(launch);
    const std::vector<std::string> checkpoints = chosen_checkpoints(arguments, *world);
    const bool leads = world->rank() == 0;
    const bool alone = checkpoints.size() == 1 && !arguments.all;
    Measuring measuring(arguments, *world, device);
    std::optional<EvaluationRecord> baseline;
    if (!arguments.baseline.empty()) baseline = measuring.measure(arguments.baseline).record;
    std::vector<Measured> curve;
    for (const std::string& checkpoint : checkpoints) {
        curve.push_back(measuring.measure(checkpoint));
        if (!leads) continue;
        nlohmann::ordered_json line = json_of(curve.back(), measuring.task());
        if (!alone) line["checkpoint"] = checkpoint;
        if (arguments.json) std::cout << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
        else if (!alone) log_info(concat(checkpoint, ": ", summary(curve.back())));
    }
    if (leads && !arguments.json)
        std::cout << (alone ? one_as_table(curve.front(), measuring.task()) : curve_as_table(curve)) << std::flush;
    refuse_not_finite(curve);
    if (baseline) refuse_regression(arguments, curve, *baseline);
    return 0;
}

}  // namespace

void add_evaluate_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<EvaluateArguments>();
    CLI::App* command = app.add_subcommand("evaluate", "Measures checkpoints on held-out shards, or by a labelled task");
    command->add_option("checkpoints", arguments->checkpoints, "Checkpoint folders, or run folders (their newest checkpoints)")
        ->required();
    command->add_flag("--all", arguments->all, "Measure all complete checkpoints of the runs");
    CLI::Option* const shards = command->add_option(
        "--shards", arguments->shards,
        "The folder of shards, also of an object store: s3://BUCKET/FOLDER. Default, without --probe: that of the run");
    command
        ->add_option("--cache-folder", arguments->cache_folder,
                     "Where shards of an object store are copied to. Default: this user's, in the folder for temporary files")
        ->needs(shards);
    command->add_option("--probe", arguments->probe,
                        "A TSV file of lines \"label<tab>text\": predict the labels from the texts' mean vectors by logistic "
                        "regression, cross-validated");
    command->add_flag(
        "--cased", arguments->cased,
        "Keep case and accents of the probe's texts. Default: as the model records, else as its vocabulary's tokens do");
    command->add_option("--kind", arguments->kind, "The shards of the folder to use")
        ->check(CLI::IsMember({"held_out", "training"}))
        ->capture_default_str();
    add_device_options(*command, arguments->precision, arguments->device);
    command->add_option("--micro-batch-size", arguments->micro_batch_size, "Sequences per forward pass")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_option("--max-sequences", arguments->max_sequences, "Sequences to evaluate, spread over the shards. 0: all")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        ->add_option("--baseline", arguments->baseline,
                     "A checkpoint or run to compare with: exit code 6 if another checkpoint's mlm_loss is higher")
        ->needs(shards);
    command
        ->add_option("--tolerance", arguments->tolerance,
                     "How much higher mlm_loss may be, as a share of the baseline's: 0.01 is 1 %")
        ->check(CLI::Range(0.0, 1.0))
        ->needs("--baseline");
    add_local_ranks_option(*command, arguments->local_ranks);
    command->add_flag("--json", arguments->json, "Print a JSON object per checkpoint instead of a table");
    command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace bertpretrain
