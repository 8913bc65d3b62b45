#pragma once
// The cases written by tests/model/hf_oracle.py: models, batches and correct results.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "archive/pt_reader.h"
#include "batches/micro_batch.h"
#include "model/bert/config.h"
#include "support/skip.h"

namespace bertpretrain::testing {

/// Returns the .pt files of all cases, written by one run of Python; empty if the package transformers is missing.
const std::vector<std::filesystem::path>& oracle_files();
/// The same of another script, which takes a folder. @param name of the folder, different for each script
std::vector<std::filesystem::path> oracle_files_of(const std::string& name, const std::string& script);

at::Tensor read_tensor(const PtReader& file, const PtTensor& stored);
/// @throws std::logic_error if the dict has no such key
const PtValue& at_key(const PtValue& dict, const std::string& key);

/// One random model with one batch.
class OracleCase {
public:
    explicit OracleCase(const std::filesystem::path& file);

    std::string name;  ///< file name without its seed
    BertConfig config;
    MicroBatch batch;
    std::vector<std::string> parameters;  ///< of HF's state_dict without tied aliases, in its order
    /// mlm_loss, mlm_logits, and "d." + parameter; if the model predicts next sentences, also nsp_loss and nsp_logits.
    std::vector<std::string> results;

    at::Tensor weight(const std::string& parameter) const { return tensor("weights", parameter); }
    at::Tensor right(const std::string& result) const { return tensor("right", result); }  ///< float64, stored as fp32
    /// The norm of the error of PyTorch's bf16 autocast.
    double autocast_error(const std::string& result) const;

private:
    at::Tensor tensor(const std::string& group, const std::string& name) const;

    std::shared_ptr<PtReader> file_;
};

}  // namespace bertpretrain::testing

/// Skips the test where the oracle cannot run.
#define NEEDS_ORACLE()                                 \
    if (bertpretrain::testing::oracle_files().empty()) \
    SKIP_TEST(bertpretrain::testing::skip::no_oracle, "no Python with the package transformers")
