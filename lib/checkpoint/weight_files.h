#pragma once
// The tensors of a model in weight files of any supported format.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "archive/pt_reader.h"
#include "archive/safetensors_reader.h"
#include "checkpoint/find_weights.h"

namespace bertpretrain {

/// A tensor, with its name in the file.
struct StoredTensor {
    std::string name;
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;
    std::size_t file = 0;  ///< index in FoundWeights::files
    PtTensor view;         ///< its location in a .pt file; empty for safetensors

    std::int64_t elements() const;
};

/// Open files with the tensors of one model. Reading is safe from several threads.
class WeightFiles {
public:
    /// @param checksums when to check those of .pt files; the caller checks this program's checkpoints against COMPLETE.json
    /// @throws CheckpointError when a file is missing, damaged, contains no dict of tensors, or does not match its index
    explicit WeightFiles(FoundWeights found, PtReader::Checksums checksums = PtReader::Checksums::on_first_read);

    const FoundWeights& found() const { return found_; }
    /// All tensors, in the order of the files.
    const std::vector<StoredTensor>& tensors() const { return tensors_; }
    /// The keys of a .pt under which the tensors were found, such as "model" or "state.model"; "" for the root.
    const std::string& section() const { return section_; }
    /// Keys of entries in that dict that are not tensors.
    const std::vector<std::string>& other_entries() const { return other_entries_; }
    /// Returns the whole tree of a single .pt file; null for other files.
    const PtValue* tree() const { return pt_.size() == 1 ? &pt_.front()->root() : nullptr; }

    /// Copies elements [first, first + count) in row-major order, converted to fp32.
    void read_as_float(const StoredTensor& tensor, std::int64_t first, std::int64_t count, float* into) const;

    /// Checks the CRC-32 of every record of .pt files. @throws CheckpointError naming the tensor
    void verify() const;

private:
    void add_pt(const PtReader& reader);
    void add_safetensors(const SafetensorsReader& reader);
    void check_index() const;

    FoundWeights found_;
    std::vector<std::unique_ptr<PtReader>> pt_;
    std::vector<std::unique_ptr<SafetensorsReader>> safetensors_;
    std::vector<StoredTensor> tensors_;
    std::vector<std::string> other_entries_;
    std::string section_;
};

}  // namespace bertpretrain
