#include "measured.h"

#include "core/concat.h"
#include "core/output/table.h"
#include "core/strings.h"
#include "inference/probe_scores.h"

namespace bertpretrain {
namespace {

nlohmann::ordered_json json_of(const ProbeResult& probe, const LabelledTexts& task) {
    const ProbeRecord& record = probe.record;
    const auto class_count = static_cast<std::int64_t>(task.labels.size());
    return {{"accuracy", record.accuracy},
            {"accuracy_interval", {record.accuracy_low, record.accuracy_high}},
            {"macro_f1", record.macro_f1},
            {"macro_f1_interval", {record.macro_f1_low, record.macro_f1_high}},
            {"most_frequent_label", share_of_most_frequent(task.classes_N, class_count)},
            {"labels", class_count},
            {"examples", record.examples},
            {"truncated", probe.truncated},
            {"strengths", probe.strengths},
            {"seconds", record.seconds}};
}

/// 0.9123 and its interval in percent: "91.23 (90.10 to 92.24)".
std::string percent_with_interval(double share, double low, double high) {
    return concat(fixed(100 * share, 2), " (", fixed(100 * low, 2), " to ", fixed(100 * high, 2), ")");
}

std::string accuracy_text(const ProbeRecord& probe) {
    return percent_with_interval(probe.accuracy, probe.accuracy_low, probe.accuracy_high);
}
std::string macro_f1_text(const ProbeRecord& probe) {
    return percent_with_interval(probe.macro_f1, probe.macro_f1_low, probe.macro_f1_high);
}

void add_rows(Table& table, const EvaluationRecord& record) {
    table.add({"mlm_loss", fixed(record.mlm_loss, 4)});
    table.add({"mlm_accuracy", fixed(record.mlm_accuracy, 4)});
    table.add({"perplexity", fixed(record.perplexity, 2)});
    if (record.next_sentence) {
        table.add({"nsp_loss", fixed(record.nsp_loss, 4)});
        table.add({"nsp_accuracy", fixed(record.nsp_accuracy, 4)});
    }
    table.add({"sequences", with_thousands(record.sequences)});
}

}  // namespace

nlohmann::ordered_json json_of(const Measured& measured, const LabelledTexts& task) {
    nlohmann::ordered_json out{{"step", measured.step}};
    if (const auto& record = measured.record) {
        out.update({{"mlm_loss", record->mlm_loss}, {"mlm_accuracy", record->mlm_accuracy}, {"perplexity", record->perplexity}});
        if (record->next_sentence) out.update({{"nsp_loss", record->nsp_loss}, {"nsp_accuracy", record->nsp_accuracy}});
        out["sequences"] = record->sequences;
    }
    if (measured.probe) out["probe"] = json_of(*measured.probe, task);
    return out;
}

std::string one_as_table(const Measured& measured, const LabelledTexts& task) {
    Table table({"measure", "value"});
    table.add({"step", std::to_string(measured.step)});
    if (measured.record) add_rows(table, *measured.record);
    if (measured.probe) {
        const ProbeRecord& probe = measured.probe->record;
        const double guessing = share_of_most_frequent(task.classes_N, static_cast<std::int64_t>(task.labels.size()));
        table.add({"probe accuracy, %", accuracy_text(probe)});
        table.add({"probe macro-F1, %", macro_f1_text(probe)});
        table.add({"always the most frequent label, %", fixed(100 * guessing, 2)});
        table.add({"labels", std::to_string(task.labels.size())});
        table.add({"examples", with_thousands(probe.examples)});
        table.add({"seconds", fixed(probe.seconds, 1)});
    }
    return table.text();
}

std::string curve_as_table(const std::vector<Measured>& curve) {
    std::vector<std::string> header{"checkpoint", "step"};
    if (curve.front().record)
        for (const char* name : {"mlm_loss", "mlm_accuracy", "perplexity", "nsp_loss", "nsp_accuracy", "sequences"})
            header.emplace_back(name);
    if (curve.front().probe) header.insert(header.end(), {"probe accuracy, %", "probe macro-F1, %"});
    Table table(header);
    for (const Measured& one : curve) {
        std::vector<std::string> row{one.name, std::to_string(one.step)};
        if (const auto& record = one.record)
            row.insert(row.end(),
                       {fixed(record->mlm_loss, 4), fixed(record->mlm_accuracy, 4), fixed(record->perplexity, 2),
                        record->next_sentence ? fixed(record->nsp_loss, 4) : "-",
                        record->next_sentence ? fixed(record->nsp_accuracy, 4) : "-", with_thousands(record->sequences)});
        if (one.probe) row.insert(row.end(), {accuracy_text(one.probe->record), macro_f1_text(one.probe->record)});
        table.add(row);
    }
    return table.text();
}

std::string summary(const Measured& measured) {
    std::vector<std::string> parts;
    if (measured.record) parts.push_back(concat("mlm_loss ", fixed(measured.record->mlm_loss, 4)));
    if (measured.probe) parts.push_back(concat("probe accuracy ", accuracy_text(measured.probe->record), " %"));
    return join(parts);
}

}  // namespace bertpretrain
