#pragma once
// The error about inputs without documents, which may be no mistake: a daily export of a quiet day.

#include "core/error.h"

namespace bertpretrain {

/// The inputs can be read, but hold no document.
struct NoDocumentError : DataError {
    using DataError::DataError;
};

}  // namespace bertpretrain
