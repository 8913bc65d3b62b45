#pragma once
// Which files below a folder are no inputs, by their names.

#include <string_view>

#include "text/reader/text_lineage.h"

namespace bertpretrain {

/// Whether a file or folder of this name is left out: it is hidden, or an editor keeps a file's earlier or unsaved text under it
/// (Emacs, Vim, gedit, nano), which would count twice.
inline bool is_hidden_input(std::string_view name) {
    return name.starts_with('.') || name.ends_with('~') || (name.size() > 2 && name.starts_with('#') && name.ends_with('#'));
}

/// Whether a file or folder of this name is being written, or was left by a process that ended early: this program, hubs' clients
/// and browsers name it so until it is complete.
inline bool is_unfinished_input(std::string_view name) {
    return name.ends_with(".partial") || name.ends_with(".incomplete") || name.ends_with(".crdownload");
}

inline bool is_lineage_record(std::string_view name) { return name.ends_with(text_lineage_ending); }

}  // namespace bertpretrain
