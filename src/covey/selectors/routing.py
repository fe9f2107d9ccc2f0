"""How what is passed to `fit` beside X and y reaches a selector inside of other estimators.

An estimator with a selector inside routes `sample_weight`, `include` and the rest to the selector's `fit`: what
the selector requests, if scikit-learn's metadata routing is enabled, and everything otherwise.

Searches and cross-validation fit to some rows of X. They cut all that has one entry for each row, such as weights and
masks, and pass everything else as it is. Row numbers would mean other rows there, and nothing in the numbers tells
this. So row numbers are refused if the call comes through code that may have cut X, which only the stack of calls
tells. A refusal that was not needed does little harm, because a mask says the same.
"""

import sys
from collections.abc import Mapping
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

PACKAGES = {"sklearn", "imblearn"}
"""The packages whose estimators may pass only some rows on."""

WHOLE = {"base", "callback", "compose", "pipeline", "utils"}
"""The modules of scikit-learn that pass all rows on. Pipelines of imbalanced-learn may have samplers, which do not."""


def router(owner: Any, selector: Any) -> MetadataRouter:
    """Return the routing of an estimator that passes on to the `fit` of a selector what this requests."""
    mapping = MethodMapping()
    known = owner._get_metadata_request()  # imbalanced-learn makes fit_resample known to scikit-learn
    for caller in ("fit", "fit_transform", "fit_resample"):
        if hasattr(owner, caller) and hasattr(known, caller):
            mapping.add(caller=caller, callee="fit")
    return MetadataRouter(owner=owner).add_self_request(owner).add(selector=selector, method_mapping=mapping)


def routed(owner: Any, fit_params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the `fit` of a selector gets of the parameters that were passed to the `fit` of its owner."""
    if not is_routing():
        return fit_params
    passed: Mapping[str, Any] = process_routing(owner, "fit", **fit_params).selector.fit
    return passed


def is_routing() -> bool:
    """Say whether scikit-learn's metadata routing is enabled."""
    return bool(get_config()["enable_metadata_routing"])


def where_rows_may_be_cut() -> str | None:
    """Return the module by which a `fit` was called, directly or not, that may pass only some rows on; None if none."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        module = str(frame.f_globals.get("__name__", ""))
        package, *parts = module.split(".")
        whole = package == "sklearn" and (not parts or parts[0] in WHOLE)
        if (package in PACKAGES and not whole) or "model_selection" in parts:
            return module
    return None
