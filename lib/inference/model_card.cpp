#include "inference/model_card.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_files.h"
#include "core/concat.h"
#include "core/error.h"
#include "core/markdown.h"
#include "core/strings.h"
#include "inference/hf_folder.h"
#include "inference/training_records.h"
#include "shards/manifest.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using Row = std::pair<std::string, std::string>;

std::string name_of_path(const std::string& path) {
    return (fs::path(path) / "").lexically_normal().parent_path().filename().string();
}

/// Returns what a model started from, by one of its files: "RUN, step_00000800" for RUN/checkpoints/step_00000800/lineage.json,
/// else the folder, with the name of a file of weights.
std::string name_of_start(const std::string& path) {
    const fs::path file(path), folder = file.parent_path();
    if (folder.parent_path().filename() == "checkpoints")
        return concat(name_of_path(folder.parent_path().parent_path().string()), ", ", folder.filename().string());
    if (file.filename() == lineage_file) return name_of_path(folder.string());
    return (folder.filename() / file.filename()).string();
}

/// Results for model-index, in YAML; empty where the run measured none.
std::string results_yaml(const TrainingRecords& records) {
    if (!records.evaluation) return "";
    const EvaluationRecord& found = *records.evaluation;
    std::vector<std::string> folders;  // the loss is that over all of them together
    if (records.lineage)
        for (const DataLineage& one : records.lineage->data)
            if (one.use == "held_out") folders.push_back(name_of_path(one.folder));
    const std::string data = folders.empty() ? "held-out text" : join(folders, " and ");
    std::string yaml =
        concat("model-index:\n- name: ", yaml_text(records.run), "\n  results:\n  - task:\n      type: fill-mask\n",
               "      name: Masked language modelling\n    dataset:\n      type: ", yaml_text(data),
               "\n      name: ", yaml_text(data), "\n      split: test\n    metrics:\n");
    const auto add = [&](const char* type, const char* name, double value) {
        yaml += concat("    - type: ", type, "\n      name: ", name, "\n      value: ", fixed(value, 4), "\n");
    };
    add("loss", "cross-entropy of masked tokens, in nats", found.mlm_loss);
    add("perplexity", "perplexity of masked tokens", found.perplexity);
    add("accuracy", "accuracy of masked tokens", found.mlm_accuracy);
    if (found.next_sentence) add("accuracy", "accuracy of next sentences", found.nsp_accuracy);
    return yaml;
}

std::string metadata(const LoadedModel& model, const std::string& model_type, bool fills_masks,
                     const std::optional<SentenceSettings>& sentences, const std::optional<TrainingRecords>& records) {
    std::string yaml =
        concat("---\n", licence_yaml, "library_name: ", sentences ? "sentence-transformers" : "transformers", "\npipeline_tag: ",
               sentences     ? "sentence-similarity"
               : fills_masks ? "fill-mask"
                             : "feature-extraction",
               "\ntags:\n- bertpretrain\n- ", model_type, "\n");
    if (sentences) yaml += "- sentence-transformers\n- feature-extraction\n";
    if (fills_masks && !model.vocabulary.empty()) {
        const Vocabulary vocabulary = Vocabulary::read(model.vocabulary);
        if (vocabulary.specials().mask != SpecialIds::none)
            yaml += concat("mask_token: ", yaml_text(vocabulary.token(vocabulary.specials().mask)), "\n");
    }
    return yaml + (records ? results_yaml(*records) : "") + "---\n\n";
}

std::string usage(const std::string& name, const std::string& model_class, const std::string& model_type,
                  const std::optional<SentenceSettings>& sentences) {
    if (sentences)
        return concat("```python\nfrom sentence_transformers import SentenceTransformer\n\nmodel = SentenceTransformer(\"", name,
                      "\")\nvectors = model.encode([\"A text.\", \"Another text.\"])\n```\n\nA text's vector is ",
                      sentences->pooling == "cls" ? "the first token's hidden state" : "the mean of its tokens' hidden states",
                      sentences->normalizes ? ", scaled to length 1" : "", ". Texts are truncated to ", *sentences->max_length,
                      " tokens.\n");
    const bool has_own_class = model_type != "neobert";
    return concat(
        "```python\nfrom transformers import ", has_own_class ? model_class : "AutoModel",
        ", AutoTokenizer\n\ntokenizer = AutoTokenizer.from_pretrained(\"", name,
        "\")\nmodel = ", has_own_class ? model_class : "AutoModel", ".from_pretrained(\"", name, "\")\n```\n",
        has_own_class ? "" : "\nThe weights have the names of NeoBERT's authors' class, which is not part of transformers.\n");
}

/// A setting of the run as text; "" where it is not recorded.
std::string setting(const nlohmann::json& settings, const char* section, const char* name) {
    const nlohmann::json value = settings.value(section, nlohmann::json::object()).value(name, nlohmann::json());
    if (value.is_null()) return "";
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<Row> recipe(const LoadedModel& model, const TrainingRecords& records) {
    const nlohmann::json& settings = records.settings;
    std::vector<Row> rows{
        {"objective", setting(settings, "data", "objective") == "mlm_nsp" ? "masked words and next sentences" : "masked words"},
        {"masks", concat(setting(settings, "data", "masking") == "dynamic" ? "new in each epoch" : "as stored in the shards")},
        {"steps", with_thousands(model.step)},
        {"sequences per step", setting(settings, "batch", "global_batch_size")},
        {"tokens per sequence", setting(settings, "data", "sequence_length")},
        {"optimizer", setting(settings, "optimizer", "name")},
        {"learning rate", setting(settings, "optimizer", "learning_rate")},
        {"schedule", setting(settings, "schedule", "type")},
        {"precision", setting(settings, "training", "precision")}};
    if (records.last_step) rows.emplace_back("sequences trained on", with_thousands(records.last_step->samples));
    if (records.tokens > 0)
        rows.emplace_back("tokens trained on", with_thousands(static_cast<std::int64_t>(records.tokens + 0.5)));
    if (records.seconds > 0) rows.emplace_back("time in steps", duration_text(records.seconds));
    if (records.last_step) rows.emplace_back("training loss at the end", fixed(records.last_step->loss, 4));
    if (!records.lineage) return rows;
    std::set<std::string> hardware;
    for (const SessionLineage& session : records.lineage->sessions)
        hardware.insert(concat(session.computed_by, ", ", session.ranks, session.ranks == 1 ? " rank" : " ranks"));
    for (const std::string& one : hardware) rows.emplace_back("computed by", one);
    for (const FileDigest& file : records.lineage->started_from) rows.emplace_back("started from", name_of_start(file.file));
    return rows;
}

std::string results(const TrainingRecords& records) {
    if (!records.evaluation) return "The run measured no held-out loss.\n";
    const EvaluationRecord& found = *records.evaluation;
    std::vector<Row> rows{{"cross-entropy of masked tokens", concat(fixed(found.mlm_loss, 4), " nats")},
                          {"perplexity", fixed(found.perplexity, 3)},
                          {"accuracy of masked tokens", concat(fixed(100 * found.mlm_accuracy, 2), " %")}};
    if (found.next_sentence) rows.emplace_back("accuracy of next sentences", concat(fixed(100 * found.nsp_accuracy, 2), " %"));
    return concat("Measured on ", with_thousands(found.sequences), " held-out sequences, after step ", with_thousands(found.step),
                  ".\n\n", markdown_table("", "held-out", rows));
}

/// The manifest of a folder that is still there and can be read; of others nothing: the export does not depend on them.
std::optional<Manifest> found_manifest(const std::string& folder) {
    std::error_code ignored;
    if (!fs::exists(fs::path(folder) / manifest_name, ignored)) return std::nullopt;
    try {
        return read_manifest(folder);
    } catch (const Error&) { return std::nullopt; }
}

std::string data_of(const Lineage& lineage) {
    std::vector<Row> rows;
    std::set<std::string> corpus;
    for (const DataLineage& one : lineage.data) {
        std::string what = concat(one.shards.size(), one.shards.size() == 1 ? " shard" : " shards");
        if (const auto manifest = found_manifest(one.folder)) {
            const ShardTotals totals = shard_totals(*manifest, one.use == "training" ? ShardKind::training : ShardKind::held_out);
            what += concat(", ", with_thousands(totals.rows), " sequences, ", with_thousands(totals.tokens), " tokens");
        }
        rows.emplace_back(concat(one.use == "training" ? "trained on " : "held out: ", markdown_text(name_of_path(one.folder))),
                          what);
        for (const FileDigest& file : one.corpus)
            corpus.insert(concat("- ", markdown_text(name_of_path(file.file)), " (",
                                 with_thousands(static_cast<std::int64_t>(file.bytes)), " bytes, SHA-256 `",
                                 file.sha256.substr(0, 16), "...`)\n"));
    }
    std::string text = markdown_table("shards", "content", rows);
    constexpr std::size_t most_listed = 20;
    std::size_t listed = 0;
    for (const std::string& line : corpus) {
        if (listed == 0) text += "\nFiles of text that they were made from:\n\n";
        if (++listed > most_listed) return text + concat("- and ", corpus.size() - most_listed, " more, all in `lineage.json`\n");
        text += line;
    }
    return text;
}

}  // namespace

std::string model_card(const LoadedModel& model, const std::string& name, const std::optional<SentenceSettings>& sentences) {
    const auto records = read_training_records(model);
    const nlohmann::ordered_json config = hf_config(model, sentences ? HfParts::encoder : HfParts::all);
    const auto model_class = config.value("architectures", nlohmann::json::array({"AutoModel"})).at(0).get<std::string>();
    const auto model_type = config.value("model_type", std::string("bert"));
    const bool fills_masks = !sentences && !model.lacks(ModelPart::masked_words_head);
    std::string card = metadata(model, model_type, fills_masks, sentences, records);
    card += concat("# ", markdown_text(name), "\n\n", summary_of(model.config), ". Exported by bertpretrain");
    card += records ? concat(" from step ", with_thousands(model.step), " of the run ", markdown_text(records->run), ".\n\n")
                    : ".\n\n";
    card += "## Use\n\n" + usage(name, model_class, model_type, sentences);
    if (records) {
        card += "\n## Results\n\n" + results(*records);
        card += "\n## Training\n\n" + markdown_table("", "value", recipe(model, *records));
        if (records->lineage)
            card += "\n## Data\n\n" + data_of(*records->lineage) +
                    "\n`lineage.json` has the SHA-256 of every file that the model was made from, and `export.json` those of "
                    "this folder. "
                    "`bertpretrain inspect FOLDER --lineage` verifies them.\n";
    }
    return card + concat("\n## Licence and limits\n\n", licence_note,
                         " The model predicts as the text that it was trained on. Add what you know of its errors and bias.\n");
}

}  // namespace bertpretrain
