#pragma once
// The subcommands. Each function adds one to the command line. The command runs in CLI11's callback, throws bertpretrain::Error,
// and may set the exit code.

#include <CLI/CLI.hpp>

namespace bertpretrain {

void add_train_command(CLI::App& app, int& exit_code);
void add_evaluate_command(CLI::App& app, int& exit_code);
void add_export_command(CLI::App& app);
void add_embed_command(CLI::App& app, int& exit_code);
void add_predict_command(CLI::App& app);
void add_neighbours_command(CLI::App& app);
void add_average_command(CLI::App& app);
void add_inspect_command(CLI::App& app);
void add_config_command(CLI::App& app);
void add_report_command(CLI::App& app);
void add_compare_command(CLI::App& app, int& exit_code);
void add_audit_command(CLI::App& app, int& exit_code);
void add_plan_command(CLI::App& app);
void add_preflight_command(CLI::App& app, int& exit_code);

}  // namespace bertpretrain
