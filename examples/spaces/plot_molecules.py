"""
Molecules: drugs by class, and which of them to test first
==========================================================

A chemist has a list of molecules and money to test a few. Which ones stand for the rest? Molecules are compared by
their *fingerprints*: one bit for each piece of structure that may occur. The share of common bits is the Tanimoto
similarity, which covey calls ``"jaccard"`` and computes by counting bits. Here the molecules are well-known drugs of
six classes, so that everyone can judge the choice.

This page needs RDKit: ``pip install ".[chem]"`` in a checkout.
"""

# %%
# The formulas are written without stereochemistry, which this kind of fingerprint does not look at anyway.

import numpy as np
from matplotlib import pyplot as plt
from rdkit import Chem
from rdkit.Chem import Draw
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from rdkit.DataStructs import BitVectToBinaryText
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import covey

PENICILLIN = "CC1(C)SC2C(NC(=O){})C(=O)N2C1C(=O)O"
SULFONAMIDE = "Nc1ccc(S(=O)(=O)N{})cc1"
DRUGS = {
    "benzodiazepine": {
        "diazepam": "CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21",
        "nordazepam": "O=C1CN=C(c2ccccc2)c2cc(Cl)ccc2N1",
        "oxazepam": "O=C1Nc2ccc(Cl)cc2C(c2ccccc2)=NC1O",
        "temazepam": "CN1C(=O)C(O)N=C(c2ccccc2)c2cc(Cl)ccc21",
        "lorazepam": "O=C1Nc2ccc(Cl)cc2C(c2ccccc2Cl)=NC1O",
        "nitrazepam": "O=C1CN=C(c2ccccc2)c2cc([N+](=O)[O-])ccc2N1",
        "clonazepam": "O=C1CN=C(c2ccccc2Cl)c2cc([N+](=O)[O-])ccc2N1",
        "flunitrazepam": "CN1C(=O)CN=C(c2ccccc2F)c2cc([N+](=O)[O-])ccc21",
        "alprazolam": "Cc1nnc2CN=C(c3ccccc3)c3cc(Cl)ccc3-n12",
        "triazolam": "Cc1nnc2CN=C(c3ccccc3Cl)c3cc(Cl)ccc3-n12",
        "midazolam": "Cc1ncc2CN=C(c3ccccc3F)c3cc(Cl)ccc3-n12",
        "bromazepam": "O=C1CN=C(c2ccccn2)c2cc(Br)ccc2N1",
    },
    "beta blocker": {
        "propranolol": "CC(C)NCC(O)COc1cccc2ccccc12",
        "atenolol": "CC(C)NCC(O)COc1ccc(CC(N)=O)cc1",
        "metoprolol": "COCCc1ccc(OCC(O)CNC(C)C)cc1",
        "bisoprolol": "CC(C)NCC(O)COc1ccc(COCCOC(C)C)cc1",
        "betaxolol": "CC(C)NCC(O)COc1ccc(CCOCC2CC2)cc1",
        "pindolol": "CC(C)NCC(O)COc1cccc2[nH]ccc12",
        "timolol": "CC(C)(C)NCC(O)COc1nsnc1N1CCOCC1",
        "acebutolol": "CCCC(=O)Nc1ccc(OCC(O)CNC(C)C)c(C(C)=O)c1",
        "oxprenolol": "C=CCOc1ccccc1OCC(O)CNC(C)C",
        "alprenolol": "C=CCc1ccccc1OCC(O)CNC(C)C",
        "esmolol": "COC(=O)CCc1ccc(OCC(O)CNC(C)C)cc1",
        "carvedilol": "COc1ccccc1OCCNCC(O)COc1cccc2[nH]c3ccccc3c12",
        "labetalol": "CC(CCc1ccccc1)NCC(O)c1ccc(O)c(C(N)=O)c1",
        "sotalol": "CC(C)NCC(O)c1ccc(NS(C)(=O)=O)cc1",
        "nadolol": "CC(C)(C)NCC(O)COc1cccc2c1CC(O)C(O)C2",
    },
    "penicillin": {
        "penicillin G": PENICILLIN.format("Cc3ccccc3"),
        "penicillin V": PENICILLIN.format("COc3ccccc3"),
        "ampicillin": PENICILLIN.format("C(N)c3ccccc3"),
        "amoxicillin": PENICILLIN.format("C(N)c3ccc(O)cc3"),
        "oxacillin": PENICILLIN.format("c3c(C)onc3-c3ccccc3"),
        "cloxacillin": PENICILLIN.format("c3c(C)onc3-c3ccccc3Cl"),
        "dicloxacillin": PENICILLIN.format("c3c(C)onc3-c3c(Cl)cccc3Cl"),
        "flucloxacillin": PENICILLIN.format("c3c(C)onc3-c3c(F)cccc3Cl"),
        "ticarcillin": PENICILLIN.format("C(C(=O)O)c3ccsc3"),
        "carbenicillin": PENICILLIN.format("C(C(=O)O)c3ccccc3"),
        "methicillin": PENICILLIN.format("c3c(OC)cccc3OC"),
        "nafcillin": PENICILLIN.format("c3c(OCC)ccc4ccccc34"),
        "piperacillin": PENICILLIN.format("C(NC(=O)N3CCN(CC)C(=O)C3=O)c3ccccc3"),
    },
    "pain killer": {
        "ibuprofen": "CC(C)Cc1ccc(C(C)C(=O)O)cc1",
        "naproxen": "COc1ccc2cc(C(C)C(=O)O)ccc2c1",
        "ketoprofen": "CC(C(=O)O)c1cccc(C(=O)c2ccccc2)c1",
        "flurbiprofen": "CC(C(=O)O)c1ccc(-c2ccccc2)c(F)c1",
        "fenoprofen": "CC(C(=O)O)c1cccc(Oc2ccccc2)c1",
        "diclofenac": "O=C(O)Cc1ccccc1Nc1c(Cl)cccc1Cl",
        "aceclofenac": "O=C(O)COC(=O)Cc1ccccc1Nc1c(Cl)cccc1Cl",
        "mefenamic acid": "Cc1cccc(Nc2ccccc2C(=O)O)c1C",
        "tolfenamic acid": "Cc1c(Cl)cccc1Nc1ccccc1C(=O)O",
        "flufenamic acid": "O=C(O)c1ccccc1Nc1cccc(C(F)(F)F)c1",
        "indomethacin": "COc1ccc2c(c1)c(CC(=O)O)c(C)n2C(=O)c1ccc(Cl)cc1",
        "aspirin": "CC(=O)Oc1ccccc1C(=O)O",
        "salicylic acid": "O=C(O)c1ccccc1O",
        "diflunisal": "O=C(O)c1cc(-c2ccc(F)cc2F)ccc1O",
    },
    "steroid": {
        "testosterone": "CC12CCC3C(CCC4=CC(=O)CCC34C)C1CCC2O",
        "methyltestosterone": "CC12CCC3C(CCC4=CC(=O)CCC34C)C1CCC2(C)O",
        "nandrolone": "CC12CCC3C(CCC4=CC(=O)CCC34)C1CCC2O",
        "norethisterone": "C#CC1(O)CCC2C3CCC4=CC(=O)CCC4C3CCC12C",
        "progesterone": "CC(=O)C1CCC2C3CCC4=CC(=O)CCC4(C)C3CCC12C",
        "estradiol": "CC12CCC3c4ccc(O)cc4CCC3C1CCC2O",
        "estrone": "CC12CCC3c4ccc(O)cc4CCC3C1CCC2=O",
        "ethinylestradiol": "C#CC1(O)CCC2C3CCc4cc(O)ccc4C3CCC12C",
        "corticosterone": "CC12CC(O)C3C(CCC4=CC(=O)CCC34C)C1CCC2C(=O)CO",
        "cortisone": "CC12CC(=O)C3C(CCC4=CC(=O)CCC34C)C1CCC2(O)C(=O)CO",
        "hydrocortisone": "CC12CC(O)C3C(CCC4=CC(=O)CCC34C)C1CCC2(O)C(=O)CO",
        "prednisone": "CC12CC(=O)C3C(CCC4=CC(=O)C=CC34C)C1CCC2(O)C(=O)CO",
        "prednisolone": "CC12CC(O)C3C(CCC4=CC(=O)C=CC34C)C1CCC2(O)C(=O)CO",
        "dexamethasone": "CC1CC2C3CCC4=CC(=O)C=CC4(C)C3(F)C(O)CC2(C)C1(O)C(=O)CO",
    },
    "sulfonamide": {
        "sulfanilamide": SULFONAMIDE.format(""),
        "sulfacetamide": SULFONAMIDE.format("C(C)=O"),
        "sulfadiazine": SULFONAMIDE.format("c2ncccn2"),
        "sulfamerazine": SULFONAMIDE.format("c2nccc(C)n2"),
        "sulfamethazine": SULFONAMIDE.format("c2nc(C)cc(C)n2"),
        "sulfadimethoxine": SULFONAMIDE.format("c2cc(OC)nc(OC)n2"),
        "sulfadoxine": SULFONAMIDE.format("c2ncnc(OC)c2OC"),
        "sulfamethoxazole": SULFONAMIDE.format("c2cc(C)on2"),
        "sulfisoxazole": SULFONAMIDE.format("c2onc(C)c2C"),
        "sulfathiazole": SULFONAMIDE.format("c2nccs2"),
        "sulfapyridine": SULFONAMIDE.format("c2ccccn2"),
    },
}

names = [name for drugs in DRUGS.values() for name in drugs]
kinds = np.array([kind for kind, drugs in DRUGS.items() for _ in drugs])
molecules = [Chem.MolFromSmiles(smiles) for drugs in DRUGS.values() for smiles in drugs.values()]
fingerprints = GetMorganGenerator(radius=2, fpSize=2048).GetFingerprints(molecules)
X = np.array([np.frombuffer(BitVectToBinaryText(found), dtype=np.uint8) for found in fingerprints])
print(f"{len(names)} molecules, {X.shape[1]} bytes of packed bits for each")

# %%
# Twelve molecules for all of them
# --------------------------------
# ``size=12`` picks the molecules that cover most. The caption says which class each one stands for, and how many drugs
# of it have it among their nearest.

selector = covey.CRS(n_neighbors=4, similarity="jaccard", threshold=None, size=12).fit(X, kinds)
chosen, captions = [], []
for kind, prototype in selector.prototypes_.items():
    for row, stands_for in zip(prototype.indices, prototype.stands_for, strict=True):
        chosen.append(molecules[row])
        captions.append(f"{names[row]}\n{kind}, covers {stands_for}")

figure, axes = plt.subplots(3, 4, figsize=(10, 7.5), layout="constrained")
for axis, molecule, caption in zip(axes.flat, chosen, captions, strict=True):
    axis.imshow(Draw.MolToImage(molecule, size=(500, 400)))
    axis.set_title(caption, fontsize=10)
    axis.set_axis_off()
plt.show()

# %%
# Is the class of a new drug recognised?
# --------------------------------------
# Each drug in turn is left out, and classified by representatives of the others.

model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=6, similarity="jaccard"))
answers = cross_val_predict(model, X, kinds, cv=LeaveOneOut())
print(f"{np.mean(answers == kinds):.1%} of the drugs are put into their class.")
for row in np.flatnonzero(answers != kinds):
    print(f"    {names[row]} ({kinds[row]}) is taken for: {answers[row]}")

# %%
# The pain killers are a class by what they do, not by what they look like. The homogeneity, which is the mean
# similarity of all pairs of a class, tells the difference:

for kind in DRUGS:
    print(f"{kind:<15} {covey.homogeneity(X[kinds == kind], 'jaccard').value:.2f}")

# %%
# Everyone within reach
# ---------------------
# The classic task of chemists needs no classes: every molecule needs a representative of at least a given
# similarity. ``n_neighbors=None`` with a threshold does this, and the lower bound says how few it could be.

graph = covey.threshold_graph(X, 0.35, similarity="jaccard")
picked = covey.CRS(None, threshold=0.35, coverage=1, gain="count", refine=True, similarity="jaccard").fit(X)
print(f"{picked.sample_indices_.size} molecules reach all {len(X)} with a Tanimoto similarity of .35;")
print(f"fewer than {covey.cover_lower_bound(graph, 1.0)} cannot.")

# %%
# What to try next
# ----------------
# - On the command line: ``covey select molecules.csv --smiles SMILES --label class -o few.csv``.
# - Fingerprints of other kinds and lengths work as they are, and so does any function of two molecules:
#   pass the list of molecules and ``similarity=f``.
