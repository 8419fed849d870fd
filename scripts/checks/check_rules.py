#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each algorithm is chosen by a shipped rule, or its row says why it is there without one. Those
that are there for simulated clusters are chosen by the rules of these."""

import sys
import tomllib

from repository import ROOT, finish

sys.path.insert(0, str(ROOT / "scripts"))
import gen_docs  # noqa: E402

TABLE, RULES = "src/base/algorithms.def", "src/rules/rules.toml"
SIMULATED = "python/sumac_mpi/simulate/rules.toml"


def chosen_by(path):
    rules = tomllib.loads((ROOT / path).read_text(encoding="utf-8"))["rule"]
    return {(rule["collective"], rule["algorithm"]) for rule in rules}


def main():
    shipped, simulated, findings = chosen_by(RULES), chosen_by(SIMULATED), []
    for row in gen_docs.algorithms():
        chosen = (row["collective"], row["name"])
        name, why = ":".join(chosen), row["unruled"]
        if not why and chosen not in shipped:
            findings.append(f"{TABLE}: {name} has neither a rule in {RULES} nor a reason")
        if why and chosen in shipped:
            findings.append(f"{TABLE}: {name} has a rule in {RULES}, and a reason to have none")
        if "simulated" in why and chosen not in simulated:
            findings.append(f"{TABLE}: {name} is not in {SIMULATED}, as its reason says")
    finish(findings)


if __name__ == "__main__":
    main()
