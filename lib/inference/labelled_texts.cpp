#include "inference/labelled_texts.h"

#include <map>
#include <span>

#include "archive/checksum.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/output/displayable.h"
#include "text/line_ends.h"
#include "text/reader/read_text.h"

namespace bertpretrain {
namespace {

struct LabelSeen {
    std::int64_t count = 0, first_line = 0;
};

constexpr const char* expected_line = "expected a label, a tab and a text";
constexpr const char* make_from_csv =
    "\n  do: if this is CSV with a header and the columns label and text, make the task of it with\n"
    "      python3 -c 'import csv, sys; [print(a, \" \".join(b.split()), sep=\"\\t\") for a, b in "
    "list(csv.reader(sys.stdin))[1:]]' < TASK.csv > TASK.tsv";

void add_example(LabelledTexts& labelled, std::vector<std::string>& label_of_line, std::string_view line,
                 const std::string& file) {
    const std::string where = concat(file, ": line ", label_of_line.size() + 1);
    const std::size_t tab = line.find('\t');
    if (tab == line.npos)
        throw DataError(concat(where, ": has no tab; ", expected_line,
                               label_of_line.empty() && line.find(',') != line.npos ? make_from_csv : ""));
    if (tab == 0) throw DataError(concat(where, ": has no label before its tab; ", expected_line));
    if (line.find_first_not_of(" \t", tab) == line.npos) throw DataError(concat(where, ": has no text; ", expected_line));
    label_of_line.emplace_back(line.substr(0, tab));
    labelled.texts_N.emplace_back(line.substr(tab + 1));
}

void check_labels(const std::map<std::string, LabelSeen>& seen, std::int64_t least, const std::string& file) {
    if (seen.size() < 2)
        throw DataError(
            concat(file, ": all lines have the label \"", displayable(seen.begin()->first), "\"; expected at least two labels"));
    for (const auto& [label, of_label] : seen)
        if (of_label.count < least)
            throw DataError(concat(file, ": line ", of_label.first_line, ": the label \"", displayable(label), "\" has ",
                                   of_label.count, " example(s) in the file; expected at least ", least,
                                   "\n  do: write the label before the text, leave out a header line, and leave out or join ",
                                   "rare labels"));
}

}  // namespace

LabelledTexts read_labelled_texts(const std::filesystem::path& file, std::int64_t least_per_class) {
    LabelledTexts labelled;
    std::vector<std::string> label_of_line;
    const std::string bytes = read_file(file), text = text_of_bytes(bytes, file.string());
    for_each_universal_line(text, [&](std::string_view line) { add_example(labelled, label_of_line, line, file.string()); });
    if (label_of_line.empty()) throw DataError(concat(file.string(), ": has no lines; ", expected_line, " in each"));
    labelled.crc32 = crc32_of(std::as_bytes(std::span(bytes)));
    std::map<std::string, LabelSeen> seen;
    for (std::size_t i = 0; i < label_of_line.size(); ++i) {
        LabelSeen& of_label = seen[label_of_line[i]];
        if (of_label.count++ == 0) of_label.first_line = static_cast<std::int64_t>(i) + 1;
    }
    check_labels(seen, least_per_class, file.string());
    std::map<std::string, std::int64_t> class_of;
    for (const auto& [label, of_label] : seen) {
        class_of[label] = static_cast<std::int64_t>(labelled.labels.size());
        labelled.labels.push_back(label);
    }
    for (const std::string& label : label_of_line) labelled.classes_N.push_back(class_of[label]);
    return labelled;
}

}  // namespace bertpretrain
