#pragma once
// The labelled task by which a run is judged at every evaluation (evaluation.probe).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "inference/labelled_texts.h"
#include "model/model.h"
#include "parallel/world.h"
#include "telemetry/probe_record.h"
#include "tokens/models/tokenizer.h"

namespace bertpretrain {

class RunProbe {
public:
    /// @param max_length tokens per text, as TextEncoderSettings: those that the run trains on, because later positions are
    /// untrained
    /// @throws DataError when the file cannot be a task (labelled_texts.h)
    RunProbe(const std::filesystem::path& file, std::shared_ptr<const Tokenizer> tokenizer, std::int64_t max_length);

    /// Returns what must be equal on all ranks.
    std::string fingerprint() const;
    /// Judges the model as it is (inference/probe.h). All ranks call it together.
    /// @returns nullopt when `leave` returned true
    std::optional<ProbeRecord> judge(const Model& model, at::Device device, World& world,
                                     const std::function<bool()>& leave) const;

private:
    LabelledTexts texts_;
    std::shared_ptr<const Tokenizer> tokenizer_;
    std::int64_t max_length_;
};

}  // namespace bertpretrain
