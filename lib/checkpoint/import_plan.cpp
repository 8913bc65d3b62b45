#include "checkpoint/import_plan.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "archive/printable.h"
#include "checkpoint/parameter_names.h"
#include "core/error.h"
#include "core/strings.h"
#include "model/bert_parameters.h"

namespace bertpretrain {
namespace {

constexpr std::string_view position_embedding = "bert.embeddings.position_embeddings.weight";

class Planner {
public:
    Planner(const WeightFiles& files, const std::vector<TensorDescription>& parameters, const std::vector<TensorAlias>& aliases,
            const ImportChoices& choices)
        : files_(files), parameters_(parameters), choices_(choices) {
        for (const TensorDescription& parameter : parameters) known_.push_back(parameter.name);
        for (const TensorAlias& alias : aliases) aliases_[alias.alias] = alias.name;
    }

    ImportPlan run() {
        for (std::size_t i = 0; i < files_.tensors().size(); ++i) assign(i);
        for (const TensorDescription& parameter : parameters_) take(parameter);
        if (!files_.other_entries().empty())
            plan_.ignored.insert(plan_.ignored.end(), files_.other_entries().begin(), files_.other_entries().end());
        note_types();
        refuse_what_does_not_fit();
        return std::move(plan_);
    }

private:
    const StoredTensor& tensor(std::size_t index) const { return files_.tensors()[index]; }

    /// Assigns a stored tensor to its parameter.
    void assign(std::size_t index) {
        std::string name = hugging_face_name(tensor(index).name);
        if (is_derived_buffer(name)) return;
        if (const auto alias = aliases_.find(name); alias != aliases_.end()) name = alias->second;
        if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
            plan_.ignored.push_back(tensor(index).name);
            return;
        }
        const auto [place, is_first] = sources_.emplace(name, index);
        if (!is_first) compare_tied(name, place->second, index);
    }

    /// Checks that two tensors for one parameter share storage or are bitwise equal, because this program's model ties them.
    void compare_tied(const std::string& name, std::size_t a, std::size_t b) {
        const StoredTensor &first = tensor(a), &second = tensor(b);
        const bool same_storage =
            first.file == second.file && !first.view.storage.empty() && first.view.storage == second.view.storage &&
            first.view.storage_offset == second.view.storage_offset && first.view.strides == second.view.strides;
        if (first.shape == second.shape && (same_storage || equal(first, second))) return;
        problems_.push_back(concat("untied:     \"", printable(first.name, 300), "\" and \"", printable(second.name, 300),
                                   "\" differ, but this model ties both to ", name));
    }

    bool equal(const StoredTensor& a, const StoredTensor& b) const {
        constexpr std::int64_t chunk = 1 << 18;
        std::vector<float> values_a(chunk), values_b(chunk);
        for (std::int64_t first = 0; first < a.elements(); first += chunk) {
            const std::int64_t count = std::min(chunk, a.elements() - first);
            files_.read_as_float(a, first, count, values_a.data());
            files_.read_as_float(b, first, count, values_b.data());
            if (std::memcmp(values_a.data(), values_b.data(), static_cast<std::size_t>(count) * sizeof(float)) != 0) return false;
        }
        return true;
    }

    void take(const TensorDescription& parameter) {
        const auto source = sources_.find(parameter.name);
        if (source == sources_.end()) {
            plan_.initial.push_back(parameter.name);
            return;
        }
        const StoredTensor& stored = tensor(source->second);
        PlannedImport import{parameter.name, source->second, stored.elements(), PlannedImport::Beyond::nothing};
        if (stored.shape != parameter.shape && !fit_rows(parameter, stored, import)) {
            problems_.push_back(concat("misshapen:  \"", printable(stored.name, 300), "\" is ", shape_text(stored.shape),
                                       ", expected ", shape_text(parameter.shape)));
            return;
        }
        plan_.imports.push_back(import);
    }

    /// Handles the two cases in which the number of rows may differ. @returns whether the tensor can be used
    bool fit_rows(const TensorDescription& parameter, const StoredTensor& stored, PlannedImport& import) {
        if (stored.shape.size() != parameter.shape.size() || stored.shape.empty() || stored.shape[0] == 0 ||
            !std::equal(stored.shape.begin() + 1, stored.shape.end(), parameter.shape.begin() + 1))
            return false;
        const std::int64_t there = stored.shape[0], wanted = parameter.shape[0], row = stored.elements() / there;
        const bool is_vocabulary = has_row_per_token(parameter.name);
        const bool may_differ = std::abs(wanted - there) < vocabulary_padding || (choices_.vocabulary_grew && wanted > there);
        if (is_vocabulary && !may_differ) return false;
        if (!is_vocabulary && parameter.name != position_embedding) return false;
        import.elements = std::min(there, wanted) * row;
        if (wanted > there) import.beyond = is_vocabulary ? PlannedImport::Beyond::initial : PlannedImport::Beyond::repeated;
        plan_.remarks.push_back(concat(parameter.name, ": ", there, " rows, expected ", wanted, ": ",
                                       wanted < there  ? concat("the first ", wanted, " are used")
                                       : is_vocabulary ? concat("the other ", wanted - there, " keep their initial values")
                                                       : "they are repeated"));
        return true;
    }

    void note_types() {
        std::map<std::string, int> types;
        for (const PlannedImport& import : plan_.imports) ++types[std::string(dtype_name(tensor(import.tensor).dtype))];
        for (const auto& [type, count] : types)
            if (type != "float32") plan_.remarks.push_back(concat(count, " tensors are ", type, " and are converted to float32"));
    }

    void refuse_what_does_not_fit() const {
        std::vector<std::string> problems = problems_;
        if (!choices_.missing_allowed)
            for (const std::string& name : plan_.initial) problems.push_back(concat("missing:    \"", name, "\"", hint(name)));
        if (!choices_.unexpected_allowed)
            for (const std::string& name : plan_.ignored)
                if (!is_unneeded_head(name)) problems.push_back(concat("unexpected: \"", printable(name, 300), "\""));
        if (plan_.imports.empty()) problems.push_back(concat("none of its tensors is a parameter of this model"));
        if (problems.empty()) return;
        constexpr std::size_t most = 60;
        const std::size_t more = problems.size() - std::min(problems.size(), most);
        problems.erase(problems.end() - static_cast<std::ptrdiff_t>(more), problems.end());
        if (more > 0) problems.push_back(concat("... and ", more, " more"));
        throw ConfigError(concat(files_.found().files.front().string(), " (", files_.found().what,
                                 "): its tensors do not fit this model:\n  ", join(problems, "\n  "),
                                 "\n  do: ", choices_.advice));
    }

    /// Returns whether the tensor belongs to the head for next sentences and this model has none, because it learns masked words
    /// alone.
    bool is_unneeded_head(const std::string& stored_name) const {
        return is_next_sentence_parameter(hugging_face_name(stored_name)) &&
               std::none_of(known_.begin(), known_.end(), is_next_sentence_parameter);
    }

    /// Returns a suggestion of an unused tensor with a similar name; "" where there is none.
    std::string hint(const std::string& name) const {
        std::vector<std::string> others;
        for (const std::string& other : plan_.ignored) others.push_back(hugging_face_name(other.substr(0, 200)));
        if (others.size() > 500) return "";
        const auto nearest = nearest_name(name, others);
        return nearest ? concat("; nearest is \"", printable(*nearest), "\"") : "";
    }

    const WeightFiles& files_;
    const std::vector<TensorDescription>& parameters_;
    const ImportChoices& choices_;
    std::vector<std::string> known_;
    std::map<std::string, std::string> aliases_;
    std::map<std::string, std::size_t> sources_;  ///< parameter name -> index of its tensor
    std::vector<std::string> problems_;
    ImportPlan plan_;
};

}  // namespace

ImportPlan plan_import(const WeightFiles& files, const std::vector<TensorDescription>& parameters,
                       const std::vector<TensorAlias>& aliases, const ImportChoices& choices) {
    return Planner(files, parameters, aliases, choices).run();
}

ImportPlan plan_import(const WeightFiles& files, const BertConfig& model, const ImportChoices& choices) {
    std::vector<TensorDescription> parameters;
    for (const ParameterSpec& spec : bert_parameters(model).checkpoint_order) parameters.push_back({spec.name, spec.shape});
    std::vector<TensorAlias> aliases;
    for (const auto& [alias, name] : tied_names()) aliases.push_back({alias, name});
    return plan_import(files, parameters, aliases, choices);
}

void read_planned(const WeightFiles& files, const PlannedImport& planned, std::int64_t first, std::int64_t count, float* into) {
    const StoredTensor& tensor = files.tensors()[planned.tensor];
    while (count > 0) {
        if (first >= planned.elements && planned.beyond != PlannedImport::Beyond::repeated) return;
        const std::int64_t from = first % planned.elements, length = std::min(count, planned.elements - from);
        files.read_as_float(tensor, from, length, into);
        first += length;
        count -= length;
        into += length;
    }
}

}  // namespace bertpretrain
