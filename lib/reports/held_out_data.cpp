#include "reports/held_out_data.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/strings.h"

namespace bertpretrain {

std::vector<std::string> held_out_labels(const std::vector<RunHistory>& runs) {
    std::vector<std::set<std::string>> known;
    std::vector<std::string> labels(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!best_held_out_loss(runs[i])) continue;
        if (std::ranges::find(known, runs[i].held_out) == known.end()) known.push_back(runs[i].held_out);
    }
    if (known.size() < 2) return labels;
    std::erase(known, std::set<std::string>());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto place = std::ranges::find(known, runs[i].held_out) - known.begin();
        const auto letters = 'Z' - 'A' + 1;
        if (!best_held_out_loss(runs[i])) continue;
        labels[i] = runs[i].held_out.empty() ? "?"
                    : place < letters        ? std::string(1, static_cast<char>('A' + place))
                                             : std::to_string(place + 1);
    }
    return labels;
}

std::vector<std::string> best_held_out_texts(const std::vector<RunHistory>& runs) {
    const std::vector<std::string> labels = held_out_labels(runs);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto best = best_held_out_loss(runs[i]);
        if (!best) {
            texts.emplace_back("-");
            continue;
        }
        double lowest = INFINITY;
        std::size_t alike = 0;
        for (std::size_t other = 0; other < runs.size(); ++other) {
            if (labels[other] != labels[i]) continue;
            lowest = std::min(lowest, best_held_out_loss(runs[other]).value_or(INFINITY));
            ++alike;
        }
        std::vector<std::string> marks;
        if (!labels[i].empty()) marks.push_back(labels[i]);
        if (alike > 1 && labels[i] != "?" && fixed(*best, 4) == fixed(lowest, 4)) marks.emplace_back("lowest");
        texts.push_back(fixed(*best, 4) + (marks.empty() ? "" : concat(" (", join(marks), ")")));
    }
    return texts;
}

std::string explain_held_out_labels(const std::vector<RunHistory>& runs) {
    const std::vector<std::string> labels = held_out_labels(runs);
    if (std::ranges::all_of(labels, &std::string::empty)) return {};
    return concat(
        "best held-out: runs with different letters were measured on different held-out rows, so that their losses say ",
        "nothing about each other", std::ranges::count(labels, "?") > 0 ? "; ?: not recorded" : "",
        "\n  do: `bertpretrain evaluate RUN RUN --shards FOLDER` measures several runs on the same rows");
}

}  // namespace bertpretrain
