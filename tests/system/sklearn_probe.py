"""Judges vectors by a labelled task as `evaluate --probe` does, with scikit-learn.

Usage: sklearn_probe.py TSV VECTORS. VECTORS is an .npy file with a row per line of TSV. Prints {"accuracy", "macro_f1",
"strengths"}: nested cross-validation over the folds of lib/inference/cross_validation.h.
Exits with 77 if a package is missing.
"""

import json
import sys
from pathlib import Path

try:
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.model_selection import GridSearchCV, PredefinedSplit
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

FOLDS, STRENGTHS = 5, [1e-4, 1e-3, 1e-2, 1e-1, 1.0]


def main(task, vectors):
    labels = np.array([line.split("\t", 1)[0] for line in Path(task).read_text(encoding="utf-8").rstrip("\n").split("\n")])
    inputs = np.load(vectors).astype(np.float64)
    folds = np.empty(len(labels), dtype=int)
    folds[np.argsort(labels, kind="stable")] = np.arange(len(labels)) % FOLDS
    predicted = np.empty_like(labels)
    strengths = []
    for fold in range(FOLDS):
        fitted = folds != fold
        model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-6, max_iter=10000))
        search = GridSearchCV(model, {"logisticregression__C": STRENGTHS}, cv=PredefinedSplit(folds[fitted]),
                              scoring="neg_log_loss")
        search.fit(inputs[fitted], labels[fitted])
        predicted[~fitted] = search.predict(inputs[~fitted])
        strengths.append(search.best_params_["logisticregression__C"])
    print(json.dumps({"accuracy": float((predicted == labels).mean()),
                      "macro_f1": float(f1_score(labels, predicted, average="macro")), "strengths": strengths}))


main(*sys.argv[1:])
