#include "model/oracle_case.h"

#include <numeric>

#include <ATen/ATen.h>

#include "batches/build_batch.h"
#include "core/error.h"
#include "core/files/files.h"
#include "support/command.h"
#include "support/files.h"
#include "support/made_once.h"

namespace bertpretrain::testing {
namespace {

BertConfig read_config(const PtValue& stored) {
    BertConfig config;
    BertConfig::describe(config, [&](const char* name, auto& member, const auto&...) {
        using Member = std::remove_reference_t<decltype(member)>;
        const auto& content = at_key(stored, name).content;
        if constexpr (Choice<Member>) member = choice_named<Member>(std::get<std::string>(content));
        else member = std::get<Member>(content);
    });
    return config;
}

}  // namespace

at::Tensor read_tensor(const PtReader& file, const PtTensor& stored) {
    const at::Tensor tensor = at::empty(stored.shape, stored.dtype == DType::i64 ? at::kLong : at::kFloat);
    if (stored.dtype == DType::i64) file.read(stored, 0, stored.elements(), tensor.data_ptr());
    else file.read_as_float(stored, 0, stored.elements(), tensor.data_ptr<float>());
    return tensor;
}

const PtValue& at_key(const PtValue& dict, const std::string& key) {
    const PtValue* value = dict.find(key);
    check(value != nullptr, "the oracle's file has no ", key);
    return *value;
}

std::vector<std::filesystem::path> oracle_files_of(const std::string& name, const std::string& script) {
    const std::filesystem::path made = made_once(name, [&](const std::filesystem::path& folder) {
        // PyTorch shall use all instructions of the processor, also when our instruction set (kernels/cpu/library_limits.h) is
        // limited
        const CommandResult result =
            run_command("env -u ATEN_CPU_CAPABILITY -u ONEDNN_MAX_CPU_ISA -u MKL_ENABLE_INSTRUCTIONS " WARM_PYTHON " " + script +
                        " " + folder.string());
        constexpr int package_missing = 77, program_missing = 127;
        if (result.exit_code == package_missing || result.exit_code == program_missing) return;
        check(result.exit_code == 0, script, " failed: ", result.err);
    });
    return list_files(made, {".pt"});
}

const std::vector<std::filesystem::path>& oracle_files() {
    static const std::vector<std::filesystem::path> files = oracle_files_of("hf_oracle", "tests/model/hf_oracle.py");
    return files;
}

OracleCase::OracleCase(const std::filesystem::path& file) : file_(std::make_shared<PtReader>(file)) {
    const std::string stem = file.stem().string();
    name = stem.substr(0, stem.rfind('_'));
    config = read_config(at_key(file_->root(), "config"));
    config.next_sentence = std::get<bool>(at_key(file_->root(), "next_sentence").content);
    for (const PtValue& parameter : *at_key(file_->root(), "names").list()) parameters.push_back(*parameter.text());
    for (const PtEntry& entry : *at_key(file_->root(), "right").dict()) results.push_back(std::get<std::string>(entry.key));
    const PtValue& stored = at_key(file_->root(), "batch");
    const auto integers = [&](const char* key) {
        const at::Tensor values = tensor("batch", key);
        return std::vector<std::int64_t>(values.data_ptr<std::int64_t>(), values.data_ptr<std::int64_t>() + values.numel());
    };
    std::vector<std::int64_t> starts_B1;
    for (const PtValue& start : *at_key(stored, "starts").list()) starts_B1.push_back(*start.integer());
    UnpaddedSamples samples;
    samples.lengths_B.assign(starts_B1.begin() + 1, starts_B1.end());
    for (std::size_t b = 0; b < samples.lengths_B.size(); ++b) samples.lengths_B[b] -= starts_B1[b];
    for (const PtValue& length : *at_key(stored, "attention_lengths").list())
        samples.attention_lengths_A.push_back(*length.integer());
    samples.numbers_B.resize(samples.lengths_B.size());
    std::iota(samples.numbers_B.begin(), samples.numbers_B.end(), 0);
    samples.input_ids_T = integers("input_ids");
    samples.token_type_ids_T = integers("token_type_ids");
    samples.masked_rows_M = integers("masked_rows");
    samples.masked_labels_M = integers("masked_labels");
    samples.next_sentence_labels_B = integers("next_sentence_labels");
    batch = build_batch(samples);
    check(at::equal(batch.position_ids_T.narrow(0, 0, batch.tokens()), tensor("batch", "position_ids")),
          "the oracle counts positions in another way");
}

at::Tensor OracleCase::tensor(const std::string& group, const std::string& key) const {
    return read_tensor(*file_, *at_key(at_key(file_->root(), group), key).tensor());
}

double OracleCase::autocast_error(const std::string& result) const {
    return *at_key(at_key(file_->root(), "autocast_error"), result).real();
}

}  // namespace bertpretrain::testing
