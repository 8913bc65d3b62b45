#include "checkpoint/average_checkpoints.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/described_model.h"
#include "checkpoint/lineage.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/strings.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

using Readers = std::vector<std::unique_ptr<CheckpointReader>>;

Readers open_different(const std::vector<fs::path>& checkpoints) {
    if (checkpoints.size() < 2)
        throw ConfigError(concat("a mean needs at least two checkpoints, and ", checkpoints.size(), " was given",
                                 "\n  do: name several, or the steps of a run with --steps"));
    Readers readers;
    for (std::size_t i = 0; i < checkpoints.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j)
            if (fs::equivalent(checkpoints[i], checkpoints[j]))
                throw ConfigError(concat(checkpoints[i].string(), ": is given twice\n  do: name each checkpoint once"));
        readers.push_back(std::make_unique<CheckpointReader>(checkpoints[i]));
    }
    return readers;
}

void refuse_other_model(const CheckpointReader& one, const CheckpointReader& last) {
    const auto differ = [&](const std::string& what) {
        throw ConfigError(concat(one.folder().string(), ": ", what, " ", last.folder().string(),
                                 ", so a mean of their weights means nothing\n  do: average checkpoints of one model"));
    };
    const auto is_equal = [](const TensorDescription& a, const TensorDescription& b) {
        return a.name == b.name && a.shape == b.shape;
    };
    if (!std::ranges::equal(one.parameters(), last.parameters(), is_equal)) differ("has other tensors than");
    const fs::path ours = one.folder() / settings_file, theirs = last.folder() / settings_file;
    const std::vector<std::string> settings =
        differing_arithmetic(described_model(ours), described_model(theirs), ours.string(), theirs.string());
    if (!settings.empty())
        throw ConfigError(concat(one.folder().string(), ": computes otherwise than ", last.folder().string(), ":\n  ",
                                 join(settings, "\n  "),
                                 "\n  do: average checkpoints whose model has the same settings, such as ",
                                 "those of one phase or run, and leave this one out"));
    const auto content_of = [](const CheckpointReader& reader) {
        const auto file = reader.vocabulary();
        return file ? read_file(*file) : "";
    };
    if (content_of(one) != content_of(last)) differ("has another vocabulary than");
}

std::vector<float> mean_of(const Readers& readers, const TensorDescription& tensor) {
    constexpr std::int64_t at_once = 1 << 20;
    std::int64_t elements = 1;
    for (const std::int64_t size : tensor.shape) elements *= size;
    std::vector<float> mean(static_cast<std::size_t>(elements)), read(static_cast<std::size_t>(std::min(elements, at_once)));
    std::vector<double> sums(read.size());
    for (std::int64_t begin = 0; begin < elements; begin += at_once) {
        const auto count = static_cast<std::size_t>(std::min(elements - begin, at_once));
        std::fill(sums.begin(), sums.end(), 0.0);
        for (const auto& reader : readers) {
            reader->read_parameter(tensor.name, begin, read.data(), static_cast<std::int64_t>(count));
            for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<double>(read[i]);
        }
        for (std::size_t i = 0; i < count; ++i)
            mean[static_cast<std::size_t>(begin) + i] = static_cast<float>(sums[i] / static_cast<double>(readers.size()));
    }
    return mean;
}

/// Everything but the tensors' pieces.
TrainingState state_of(const CheckpointReader& last) {
    TrainingState state;
    state.step = last.step();
    state.parameters.tensors = last.parameters();
    for (const ParameterSpec& spec : parameters_of(described_model(last.folder() / settings_file)).checkpoint_order)
        if (!spec.tied_name.empty()) state.aliases.push_back({spec.tied_name, spec.name});
    state.progress = last.progress();
    state.progress.erase(held_out_loss_key);
    state.settings = last.settings();
    if (const auto file = last.vocabulary()) state.vocabulary = std::make_shared<const TokenizerFile>(tokenizer_file(*file));
    return state;
}

void write_lineage(const Readers& readers, const CheckpointReader& last, const fs::path& average) {
    Lineage lineage;
    lineage.step = last.step();
    lineage.files = digests_of_checkpoint(average);
    for (const auto& reader : readers) {
        const fs::path file = reader->folder() / lineage_file;
        if (!exists_here(file)) {
            for (FileDigest& digest : digests_of_checkpoint(reader->folder())) {
                digest.file = (reader->folder() / digest.file).string();
                lineage.started_from.push_back(std::move(digest));
            }
            continue;
        }
        lineage.started_from.push_back(digest_of_file(file));
        Lineage of_one = read_lineage(file);
        if (reader.get() == &last) lineage.vocabulary = of_one.vocabulary;
        for (DataLineage& data : of_one.data) {
            const auto is_known = [&](const DataLineage& known) { return known.use == data.use && known.folder == data.folder; };
            if (std::ranges::none_of(lineage.data, is_known)) lineage.data.push_back(std::move(data));
        }
    }
    write_atomically(average / lineage_file, lineage_text(lineage));
}

}  // namespace

fs::path average_checkpoints(const std::vector<fs::path>& checkpoints, const fs::path& output) {
    const Readers readers = open_different(checkpoints);
    const CheckpointReader& last = **std::ranges::max_element(readers, {}, [](const auto& reader) { return reader->step(); });
    for (const auto& reader : readers) refuse_other_model(*reader, last);
    if (exists_here(output) && !(fs::is_directory(output) && fs::is_empty(output)))
        throw ConfigError(concat(output.string(), ": exists already\n  do: give a new folder"));
    TrainingState state = state_of(last);
    std::vector<std::vector<float>> means;
    for (std::size_t i = 0; i < state.parameters.tensors.size(); ++i) {
        means.push_back(mean_of(readers, state.parameters.tensors[i]));
        state.parameters.pieces.push_back({i, 0, means.back().data(), std::ssize(means.back())});
    }
    const fs::path average = CheckpointStore(output).save(state);
    write_lineage(readers, last, average);
    return average;
}

}  // namespace bertpretrain
