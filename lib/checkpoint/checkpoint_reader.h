#pragma once
// Reads a checkpoint folder; any number of ranks may read it at the same time.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "archive/pt_reader.h"
#include "checkpoint/training_state.h"

namespace bertpretrain {

/// One complete checkpoint. Reading is safe from several threads.
class CheckpointReader {
public:
    enum class Verify { contents, sizes };  ///< sizes: for ranks that rely on another rank's check of the contents

    /// Checks COMPLETE.json's format version and every file's size and, with Verify::contents, CRC-32.
    /// @throws CheckpointError naming the file that is damaged, missing or of a newer version
    explicit CheckpointReader(const std::filesystem::path& folder, Verify verify = Verify::contents);

    const std::filesystem::path& folder() const { return folder_; }
    std::int64_t step() const { return step_; }
    const nlohmann::json& progress() const { return progress_; }  ///< training_state.json
    const nlohmann::json& settings() const { return settings_; }
    std::optional<std::filesystem::path> vocabulary() const;

    /// Names and shapes of the tensors in model.pt, without aliases.
    const std::vector<TensorDescription>& parameters() const { return parameters_; }
    /// The moments in optimizer.pt: "exp_avg", ...
    std::vector<std::string> moment_names() const;

    /// Copies elements [first_element, first_element + elements) of a flattened tensor to `into`, as fp32.
    /// @throws CheckpointError when the tensor does not exist (the message suggests the nearest name) or has too few elements
    void read_parameter(const std::string& name, std::int64_t first_element, float* into, std::int64_t elements) const;
    void read_moment(const std::string& moment, const std::string& name, std::int64_t first_element, float* into,
                     std::int64_t elements) const;

    /// Returns the CRC-32 that the checkpoint records of a tensor's bytes. nullopt: the tensor does not exist, has another number
    /// of elements, or is not stored as fp32.
    std::optional<std::uint32_t> parameter_crc32(const std::string& name, std::int64_t elements) const;
    std::optional<std::uint32_t> moment_crc32(const std::string& moment, const std::string& name, std::int64_t elements) const;

private:
    using Tensors = std::map<std::string, PtTensor, std::less<>>;
    void read(const PtReader& file, const Tensors& tensors, const std::string& name, std::int64_t first_element, float* into,
              std::int64_t elements) const;

    std::filesystem::path folder_;
    std::int64_t step_;
    PtReader model_, optimizer_;
    nlohmann::json progress_, settings_;
    std::vector<TensorDescription> parameters_;
    Tensors parameter_tensors_;
    std::map<std::string, Tensors> moment_tensors_;
};

}  // namespace bertpretrain
