#pragma once
// On which held-out rows the runs of a report were measured: losses on different rows say nothing about each other.

#include <string>
#include <vector>

#include "reports/run_history.h"

namespace bertpretrain {

/// Returns a label for each run that measured a finite held-out loss: "A" for the rows of the first of them, "B" for other rows,
/// and "?" where the run did not record its rows, as those of older versions. All labels are empty where no two differ.
std::vector<std::string> held_out_labels(const std::vector<RunHistory>& runs);

/// Returns each run's lowest held-out loss, or "-". Marks the lowest of several runs that were measured on the same rows, and
/// each run's rows by their label. Where shown losses are equal, all are marked.
std::vector<std::string> best_held_out_texts(const std::vector<RunHistory>& runs);

/// Returns what the labels mean; empty where there are none.
std::string explain_held_out_labels(const std::vector<RunHistory>& runs);

}  // namespace bertpretrain
