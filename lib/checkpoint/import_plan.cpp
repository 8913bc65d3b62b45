#include "checkpoint/import_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "archive/printable.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/described_model.h"
#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

/// The config.json beside the files; null: there is none.
nlohmann::json stored_config(const FoundWeights& found) { return found.model ? read_json(*found.model) : nlohmann::json(); }

/// Returns the model_type of a config.json; "": it has none.
std::string stored_model_type(const nlohmann::json& config) {
    const auto type = config.find("model_type");
    return type != config.end() && type->is_string() ? type->get<std::string>() : "";
}

/// Returns transformers' classes that wrote the files, by their config.json.
std::vector<std::string> stored_classes(const nlohmann::json& config) {
    std::vector<std::string> classes;
    if (const auto names = config.find("architectures"); names != config.end() && names->is_array())
        for (const nlohmann::json& name : *names)
            if (name.is_string()) classes.push_back(name.get<std::string>());
    return classes;
}

/// Whether a class of transformers, such as "BertForMaskedLM", has a part of a model.
bool has_part(const std::string& class_name, ModelPart part) {
    const auto is_one_of = [&](std::initializer_list<std::string_view> tasks) {
        return std::ranges::any_of(tasks, [&](std::string_view task) { return class_name.find(task) != std::string::npos; });
    };
    switch (part) {
        case ModelPart::masked_words_head:
            return is_one_of({"ForMaskedLM", "ForPreTraining", "LMHead"});
        case ModelPart::next_sentences_head:
            return is_one_of({"ForPreTraining", "ForNextSentencePrediction"});
        case ModelPart::pooler:
            return !is_one_of({"ForMaskedLM", "LMHead", "ForTokenClassification", "ForQuestionAnswering"});
        case ModelPart::encoder:
            break;
    }
    return true;
}

std::vector<std::string> names_in(const WeightFiles& files) {
    std::vector<std::string> names;
    for (const StoredTensor& tensor : files.tensors()) names.push_back(tensor.name);
    return names;
}

class Planner {
public:
    Planner(const WeightFiles& files, const ModelConfig& model, const ImportChoices& choices)
        : files_(files),
          model_(model),
          config_(stored_config(files.found())),
          rules_(form_of(naming_rules(model), stored_model_type(config_), names_in(files))),
          choices_(choices),
          ordered_(parameters_of(model).checkpoint_order) {
        for (const ParameterSpec& spec : ordered_) parameters_.emplace(spec.name, spec);
        for (const auto& [name, spec] : parameters_)
            if (!spec.tied_name.empty()) aliases_[spec.tied_name] = name;
        ModelConfig with_all_heads = model;
        set_next_sentence(with_all_heads, true);
        for (const ParameterSpec& spec : parameters_of(with_all_heads).checkpoint_order)
            if (!parameters_.contains(spec.name)) absent_heads_.insert(spec.name);
    }

    ImportPlan run() {
        choose_prefix();
        for (std::size_t i = 0; i < files_.tensors().size(); ++i) assign(i);
        for (const ParameterSpec& parameter : ordered_) take(parameter);
        for (const std::string& entry : files_.other_entries())
            if (is_known(stored_name(entry)))
                problems_.push_back(concat("no tensor:  \"", printable(entry, 300), "\" is no tensor with values"));
        note_types();
        refuse_what_does_not_fit();
        return std::move(plan_);
    }

private:
    const StoredTensor& tensor(std::size_t index) const { return files_.tensors()[index]; }

    std::string stored_name(const std::string& name) const { return our_name(rules_, name, prefix_); }
    bool is_known(const std::string& name) const { return parameters_.contains(name); }

    /// Finds what stands before the names of the file's model.
    void choose_prefix() {
        const std::vector<NamePrefix> prefixes = name_prefixes(rules_, names_in(files_));
        const auto plain = std::ranges::find(prefixes, "", &NamePrefix::text);
        if (plain != prefixes.end()) prefix_ = *plain;
        else if (prefixes.size() > 1) note_several(prefixes);
        else if (prefixes.empty()) return;
        else if (is_of_other_model(rules_, prefixes.front()))
            problems_.push_back(concat("prefix:     its names begin with \"", printable(prefixes.front().text, 300),
                                       "\", those of another kind of model, expected \"", rules_.base, "\""));
        else prefix_ = prefixes.front();
        if (!prefix_.text.empty())
            plan_.remarks.push_back(concat("its names begin with \"", printable(prefix_.text, 300), "\", which is left out"));
    }

    void note_several(const std::vector<NamePrefix>& prefixes) {
        std::vector<std::string> texts;
        for (const NamePrefix& prefix : prefixes) texts.push_back(concat("\"", printable(prefix.text, 300), "\""));
        problems_.push_back(
            concat("prefix:     it holds several models, whose names begin with ", join(texts), "; expected one"));
    }

    /// Assigns a stored tensor to its parameter.
    void assign(std::size_t index) {
        std::string name = stored_name(tensor(index).name);
        if (is_derived_buffer(rules_, name)) return;
        if (const auto alias = aliases_.find(name); alias != aliases_.end()) name = alias->second;
        if (!is_known(name)) {
            if (tensor(index).shape.empty())
                plan_.remarks.push_back(concat("\"", printable(tensor(index).name, 300), "\" is a single number and is ignored"));
            else plan_.ignored.push_back(tensor(index).name);
            return;
        }
        if (!is_floating_point(tensor(index).dtype)) {
            wrong_types_.push_back(concat("type:       \"", printable(tensor(index).name, 300), "\" is ",
                                          dtype_name(tensor(index).dtype), ", expected floating point"));
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

    void take(const ParameterSpec& parameter) {
        const auto source = sources_.find(parameter.name);
        if (source == sources_.end()) {
            plan_.initial.push_back(parameter.name);
            return;
        }
        const StoredTensor& stored = tensor(source->second);
        PlannedImport import{parameter.name, source->second, stored.elements(), PlannedImport::Beyond::nothing};
        const auto rule =
            std::ranges::find_if(rules_.rows, [&](const StoredRows& rows) { return parameter.name.ends_with(rows.parameter); });
        const StoredRows rows = rule == rules_.rows.end() ? StoredRows() : *rule;
        const bool is_equal = stored.shape == parameter.shape && rows.place == nullptr;
        if (!is_equal && !fit_rows(parameter, rows, stored, import)) {
            problems_.push_back(concat("misshapen:  \"", printable(stored.name, 300), "\" is ", shape_text(stored.shape),
                                       ", expected ", shape_text(parameter.shape)));
            return;
        }
        if (is_ambiguous(parameter, stored))
            throw ConfigError(concat(where(), ": the position rows may be those of ", name_of(model_.model_type), ", or of ",
                                     types_of(*rules_.other_form), ", which begin later: \"", printable(stored.name, 300),
                                     "\" has ", stored.shape[0], " rows, this model ", parameter.shape[0],
                                     "\n  do: put the model's config.json beside the file; its model_type decides"));
        plan_.imports.push_back(import);
    }

    /// Whether the names alone do not say in which form the file is, and another form's rows would fit this parameter exactly.
    bool is_ambiguous(const ParameterSpec& parameter, const StoredTensor& stored) const {
        if (files_.found().model || prefix_.has_base || rules_.other_form == nullptr || stored.shape.empty()) return false;
        return std::ranges::any_of(rules_.other_form->rows, [&](const StoredRows& rows) {
            return rows.unused > 0 && parameter.name.ends_with(rows.parameter) &&
                   stored.shape[0] == parameter.shape[0] + rows.unused;
        });
    }

    static std::string types_of(const NamingRules& form) {
        return join(std::vector<std::string>(form.model_types.begin(), form.model_types.end()));
    }

    /// Handles rows in other places, and the cases in which their number may differ. @returns whether the tensor can be used
    bool fit_rows(const ParameterSpec& parameter, const StoredRows& rows, const StoredTensor& stored, PlannedImport& import) {
        if (stored.shape.size() != parameter.shape.size() || stored.shape.empty() || stored.shape[0] == 0 ||
            !std::equal(stored.shape.begin() + 1, stored.shape.end(), parameter.shape.begin() + 1))
            return false;
        const std::int64_t there = stored.shape[0] - rows.unused, wanted = parameter.shape[0], used = std::min(there, wanted);
        if (used <= 0) return false;
        import.elements = used * (stored.elements() / stored.shape[0]);
        if (rows.place != nullptr)
            for (std::int64_t i = 0; i < used; ++i)
                import.rows.push_back(rows.place(i, wanted, shape_of(model_).num_attention_heads));
        if (there == wanted) return true;
        const bool is_vocabulary = parameter.rows == RowsMeaning::per_token, zeros_beyond = rows.zeros_beyond && wanted > there;
        const bool may_differ = std::abs(wanted - there) < vocabulary_padding || (choices_.vocabulary_grew && wanted > there);
        if (is_vocabulary && !may_differ) return false;
        if (parameter.rows == RowsMeaning::fixed && !zeros_beyond) return false;
        using enum PlannedImport::Beyond;
        if (wanted > there) import.beyond = is_vocabulary ? initial : zeros_beyond ? zeros : repeated;
        plan_.remarks.push_back(concat(parameter.name, ": ", there, there == 1 ? " row" : " rows", ", expected ", wanted, ": ",
                                       wanted < there  ? concat("the first ", wanted, " are used")
                                       : is_vocabulary ? concat("the other ", wanted - there, " keep their initial values")
                                       : zeros_beyond  ? concat("zeros for the other ", wanted - there)
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
        if (!wrong_types_.empty())
            throw CheckpointError(concat(where(), ": its tensors are no weights:", listed(wrong_types_, 60),
                                         "\n  do: give the weights from before quantization, in float32, float16 or bfloat16"));
        std::vector<std::string> problems = problems_, lacking, unexpected;
        if (!choices_.missing_allowed)
            for (const std::string& name : plan_.initial)
                if (!begins_at_random(parameters_.at(name).part))
                    lacking.push_back(concat("missing:    \"", name, "\"", hint(name)));
        if (!choices_.unexpected_allowed)
            for (const std::string& name : plan_.ignored)
                if (!is_unneeded_head(name)) unexpected.push_back(concat("unexpected: \"", printable(name, 300), "\""));
        if (sources_.empty()) problems.emplace_back("none of its tensors is a parameter of this model");
        if (problems.empty() && lacking.empty() && unexpected.empty()) return;
        const auto settings = choices_.described ? differing_shapes(*choices_.described, model_) : std::vector<std::string>();
        const std::string advice = advice_for(!lacking.empty(), !unexpected.empty(), !settings.empty());
        problems.insert(problems.end(), lacking.begin(), lacking.end());
        problems.insert(problems.end(), unexpected.begin(), unexpected.end());
        if (settings.empty())
            throw ConfigError(concat(where(), ": its tensors do not fit this model:", listed(problems, 60), "\n  do: ", advice));
        throw ConfigError(concat(where(), ": has another shape than this model:", listed(settings, 60),
                                 "\nso its tensors do not fit:", listed(problems, 3), "\n  do: ", advice));
    }

    std::string where() const { return concat(files_.found().files.front().string(), " (", files_.found().what, ")"); }

    static std::string listed(std::vector<std::string> problems, std::size_t most) {
        const std::size_t more = problems.size() - std::min(problems.size(), most);
        problems.erase(problems.end() - static_cast<std::ptrdiff_t>(more), problems.end());
        if (more > 0) problems.push_back(concat("... and ", more, " more"));
        return concat("\n  ", join(problems, "\n  "));
    }

    /// Returns what can help. Allowing missing and unexpected tensors does not where no name fits.
    std::string advice_for(bool has_missing, bool has_unexpected, bool settings_differ) const {
        if (sources_.empty())
            return concat("give the weights of one ", name_of(model_.model_type), " model, named as in transformers: \"",
                          rules_.base, rules_.word_embedding, "\", ...");
        if (!choices_.advice.empty()) return choices_.advice;
        std::vector<std::string> parts;
        const auto is_of_encoder = [&](const std::string& name) { return parameters_.at(name).part == ModelPart::encoder; };
        if (settings_differ) parts.emplace_back("leave these settings out: they then have the file's values");
        else if (!problems_.empty() || has_unexpected || (has_missing && std::ranges::any_of(plan_.initial, is_of_encoder)))
            parts.emplace_back("set the model section to the file's shape");
        if (has_missing) parts.emplace_back("initialization.init_missing = \"random\" keeps random values for missing tensors");
        if (has_unexpected) parts.emplace_back("initialization.init_unexpected = \"ignore\" ignores unexpected ones");
        return join(parts, "; ");
    }

    /// Whether a whole part begins at random without being asked: the classes that wrote the files lack it, and so do the files.
    bool begins_at_random(ModelPart part) const {
        const std::vector<std::string> classes = stored_classes(config_);
        if (classes.empty() || std::ranges::any_of(classes, [&](const auto& name) { return has_part(name, part); })) return false;
        return std::ranges::none_of(plan_.imports, [&](const auto& import) { return parameters_.at(import.name).part == part; });
    }

    /// Returns whether the tensor belongs to the head for next sentences and this model has none, because it learns masked words
    /// alone.
    bool is_unneeded_head(const std::string& stored) const { return absent_heads_.contains(stored_name(stored)); }

    /// Returns a suggestion of an unused tensor with a similar name; "" where there is none.
    std::string hint(const std::string& name) const {
        std::vector<std::string> others;
        for (const std::string& other : plan_.ignored) others.push_back(stored_name(other.substr(0, 200)));
        if (others.size() > 500) return "";
        const auto nearest = nearest_name(name, others);
        return nearest ? concat("; nearest is \"", printable(*nearest), "\"") : "";
    }

    const WeightFiles& files_;
    const ModelConfig& model_;
    nlohmann::json config_;  ///< the config.json beside the files, or null
    const NamingRules& rules_;
    const ImportChoices& choices_;
    std::vector<ParameterSpec> ordered_;
    std::map<std::string, ParameterSpec> parameters_;
    std::set<std::string> absent_heads_;  ///< parameters of heads that the architecture may have and this model lacks
    std::map<std::string, std::string> aliases_;
    std::map<std::string, std::size_t> sources_;  ///< parameter name -> index of its tensor
    NamePrefix prefix_;
    std::vector<std::string> problems_, wrong_types_;
    ImportPlan plan_;
};

/// @param first the place of the first of `values` in the tensor  @throws CheckpointError naming the first that is not finite
void check_finite(const WeightFiles& files, const StoredTensor& tensor, std::int64_t first, std::span<const float> values) {
    constexpr std::uint32_t exponent = 0x7F800000;  // all of its bits are set in infinity and NaN
    const auto is_wrong = [](float value) { return (std::bit_cast<std::uint32_t>(value) & exponent) == exponent; };
    const auto wrong = std::ranges::find_if(values, is_wrong);
    if (wrong == values.end()) return;
    throw CheckpointError(concat(files.found().files[tensor.file].string(), ": tensor \"", printable(tensor.name, 300),
                                 "\": element ", first + (wrong - values.begin()), " is ",
                                 std::isnan(*wrong) ? "NaN" : "infinite",
                                 " in float32, expected finite weights\n  do: give weights from before the training diverged"));
}

void read_finite(const WeightFiles& files, const StoredTensor& tensor, std::int64_t first, std::int64_t count, float* into) {
    files.read_as_float(tensor, first, count, into);
    check_finite(files, tensor, first, {into, static_cast<std::size_t>(count)});
}

/// Reads at most `count` elements from the parameter's element `first` on, within one row. @returns how many
std::int64_t read_columns(const WeightFiles& files, const PlannedImport& planned, std::int64_t first, std::int64_t count,
                          float* into) {
    const StoredTensor& tensor = files.tensors()[planned.tensor];
    const std::int64_t width = std::ssize(planned.columns), column = first % width, there = tensor.shape.back();
    std::vector<float> row(static_cast<std::size_t>(there));
    read_finite(files, tensor, planned.rows[static_cast<std::size_t>(first / width)] * there, there, row.data());
    const std::int64_t length = std::min(count, width - column);
    for (std::int64_t i = 0; i < length; ++i)
        into[i] = row[static_cast<std::size_t>(planned.columns[static_cast<std::size_t>(column + i)])];
    return length;
}

}  // namespace

ImportPlan plan_import(const WeightFiles& files, const ModelConfig& model, const ImportChoices& choices) {
    return Planner(files, model, choices).run();
}

void read_planned(const WeightFiles& files, const PlannedImport& planned, std::int64_t first, std::int64_t count, float* into) {
    const StoredTensor& tensor = files.tensors()[planned.tensor];
    while (count > 0) {
        if (first >= planned.elements && planned.beyond == PlannedImport::Beyond::zeros) std::fill_n(into, count, 0.0F);
        if (first >= planned.elements && planned.beyond != PlannedImport::Beyond::repeated) return;
        std::int64_t from = first % planned.elements, length = std::min(count, planned.elements - from);
        if (!planned.columns.empty()) {
            length = read_columns(files, planned, from, length, into);
        } else if (planned.rows.empty()) {
            read_finite(files, tensor, from, length, into);
        } else {
            const std::int64_t width = planned.elements / std::ssize(planned.rows), column = from % width;
            length = std::min(length, width - column);
            read_finite(files, tensor, planned.rows[static_cast<std::size_t>(from / width)] * width + column, length, into);
        }
        first += length;
        count -= length;
        into += length;
    }
}

}  // namespace bertpretrain
