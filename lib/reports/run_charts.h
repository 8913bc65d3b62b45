#pragma once
// The charts of a report.

#include <vector>

#include "reports/device_charts.h"
#include "reports/reference_curve.h"
#include "reports/run_history.h"

namespace bertpretrain {

/// Returns charts of the losses over steps, epochs and hours, of each source's loss, and of accuracy, learning rate, gradient
/// norm, throughput, MFU, device utilization, memory, and the shares of a step spent waiting for data and for other ranks. Each
/// run has its own color, and restarts are marked. Omits charts without numbers, or with zeros only. With published curves, the
/// first chart is the whole loss with these as dots. The last charts are those of device_charts().
std::vector<NamedChart> run_charts(const std::vector<RunHistory>& runs, const std::vector<ReferenceCurve>& references = {});

}  // namespace bertpretrain
