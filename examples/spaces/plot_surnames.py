"""
Surnames: strings under an edit distance
========================================

Names, product codes and addresses are not vectors, and there is no need to make vectors of them. All that covey asks
for is a similarity of two strings. Here it is the edit distance: how many letters have to be changed, added or left
out to make one name of the other. The names are common surnames of eight languages, and the question is whether a few
of them tell what the names of a language look like.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import covey

SURNAMES = {
    "Czech": """
        Novák Svoboda Novotný Dvořák Černý Procházka Kučera Veselý Horák Němec Pokorný Marek Pospíšil Hájek
        Jelínek Král Růžička Beneš Fiala Sedláček Doležal Zeman Kolář Navrátil Čermák Vaněk Urban Blažek Kříž
        Kovář Kratochvíl Bartoš Vlček Polák Kopecký Musil Šimek Konečný Malý Holub Staněk Kadlec Štěpánek
        Dostál Soukup Šťastný
    """,
    "Finnish": """
        Korhonen Virtanen Mäkinen Nieminen Mäkelä Hämäläinen Laine Heikkinen Koskinen Järvinen Lehtonen
        Lehtinen Saarinen Salminen Heinonen Niemi Heikkilä Kinnunen Salonen Turunen Salo Laitinen Tuominen
        Rantanen Karjalainen Jokinen Mattila Savolainen Lahtinen Ahonen Ojala Leppänen Väisänen Hiltunen
        Kallio Miettinen Leinonen Pitkänen Aaltonen Manninen Hakala Koivisto Anttila Laaksonen Räsänen
        Hirvonen Lehto
    """,
    "Greek": """
        Papadopoulos Papadakis Georgiou Dimitriou Nikolaou Ioannou Vasileiou Antoniou Karagiannis Makris
        Pappas Papageorgiou Christodoulou Konstantinou Athanasiou Theodorou Oikonomou Alexiou Angelopoulos
        Anagnostopoulos Papanikolaou Panagopoulos Dimopoulos Nikolopoulos Theodoropoulos Giannopoulos
        Petropoulos Stavropoulos Katsaros Vlachos Kyriakou Apostolou Samaras Mavridis Ioannidis Georgiadis
        Pavlidis Nikolaidis Michailidis Lambropoulos
    """,
    "Irish": """
        Murphy Kelly O'Sullivan Walsh O'Brien Byrne Ryan O'Connor O'Neill O'Reilly Doyle McCarthy Gallagher
        Doherty Kennedy Lynch Murray Quinn McLoughlin O'Carroll Connolly Daly Nolan Fitzgerald O'Callaghan
        O'Donnell Duffy O'Mahony Boyle Healy O'Shea Sweeney Hayes Kavanagh McGrath Moran Brady Casey Foley
        Fitzpatrick O'Leary McDonnell McMahon Flanagan Farrell Hogan
    """,
    "Italian": """
        Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Bruno Gallo Conti Mancini Costa
        Giordano Rizzo Lombardi Moretti Barbieri Fontana Santoro Mariani Rinaldi Caruso Ferrara Galli Martini
        Leone Longo Gentile Martinelli Vitale Lombardo Serra Coppola Marchetti Parisi Villa Conte Ferraro
        Ferri Fabbri Bianco Marini Grasso Valentini Messina
    """,
    "Japanese": """
        Sato Suzuki Takahashi Tanaka Watanabe Ito Yamamoto Nakamura Kobayashi Kato Yoshida Yamada Sasaki
        Yamaguchi Matsumoto Inoue Kimura Hayashi Shimizu Yamazaki Mori Abe Ikeda Hashimoto Yamashita Ishikawa
        Nakajima Maeda Fujita Ogawa Goto Okada Hasegawa Murakami Kondo Ishii Saito Sakamoto Endo Aoki Fujii
        Nishimura Fukuda Ota Miura Fujiwara Okamoto Matsuda Nakagawa Nakano Harada Ono
    """,
    "Polish": """
        Nowak Kowalski Wiśniewski Wójcik Kowalczyk Kamiński Lewandowski Zieliński Szymański Woźniak Dąbrowski
        Kozłowski Jankowski Mazur Wojciechowski Kwiatkowski Krawczyk Kaczmarek Piotrowski Grabowski Zając
        Pawłowski Michalski Król Wieczorek Jabłoński Wróbel Nowakowski Majewski Olszewski Stępień Malinowski
        Jaworski Adamczyk Dudek Nowicki Pawlak Górski Witkowski Walczak Sikora Baran Rutkowski Michalak
        Szewczyk Ostrowski
    """,
    "Spanish": """
        García Rodríguez González Fernández López Martínez Sánchez Pérez Gómez Jiménez Ruiz Hernández Díaz
        Moreno Muñoz Álvarez Romero Alonso Gutiérrez Navarro Torres Domínguez Vázquez Ramos Gil Ramírez
        Serrano Blanco Molina Morales Suárez Ortega Delgado Castro Ortiz Rubio Marín Sanz Núñez Iglesias
        Medina Garrido Cortés Castillo Santos Lozano Guerrero Cano Prieto Méndez
    """,
}
names = [name for listed in SURNAMES.values() for name in listed.split()]
languages = np.array([language for language, listed in SURNAMES.items() for _ in listed.split()])
print(len(names), "names in", len(SURNAMES), "languages")

# %%
# The names that stand for the others
# -----------------------------------
# ``similarity="levenshtein"`` is the share of letters that stay as they are. It is computed by rapidfuzz for many pairs
# at a time. ``size=40`` asks for five names a language on average. Each name that is picked is followed by some that
# it covers.

selector = covey.CRS(n_neighbors=10, similarity="levenshtein", threshold=None, size=40).fit(names, languages)
for language, prototype in selector.prototypes_.items():
    print(f"{language}, {prototype.coverage:.0%} covered:")
    for chosen in prototype.indices[:4]:
        covered = [names[i] for i in prototype.members[prototype.covered_by == chosen] if i != chosen]
        print(f"    {names[chosen]:<15} stands for {', '.join(covered[:5]) or 'itself'}")

# %%
# Endings that carry meaning come out by themselves: *-inen*, *-ski*, *-poulos*, *-ez*, *O'*.
#
# Can a name be recognised?
# -------------------------
# Each fifth of the names is classified by representatives of the other four fifths. Chance is about one in eight.
# Names of only five or six letters share letters with names of every language, and the edit distance knows nothing of
# sounds. The result is far above chance and far from perfect; look at which languages are taken for each other.


def held_out(selector):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_predict(covey.NearestPrototypeClassifier(selector), np.array(names, object), languages, cv=folds)


for title, tried in {
    "all names": covey.KeepAll(similarity="levenshtein"),
    "CRS, k = 5": covey.CRS(5, similarity="levenshtein"),
    "CRS, k = 5, Jaro-Winkler": covey.CRS(5, similarity="jaro-winkler"),
    "sharpened, k = 5": covey.Sharpened(covey.CRS(5, similarity="levenshtein"), random_state=0),
}.items():
    print(f"{title:<26} {np.mean(held_out(tried) == languages):.1%} right")

# %%
figure, axes = plt.subplots(figsize=(6, 5.4), layout="constrained")
answers = held_out(covey.CRS(5, similarity="levenshtein"))
ConfusionMatrixDisplay.from_predictions(
    languages, answers, ax=axes, cmap="Blues", xticks_rotation=45, colorbar=False, normalize="true", values_format=".0%"
)
axes.set(xlabel="answer", ylabel="language of the name", title="Held-out names, CRS with k = 5")
plt.show()

# %%
# What to try next
# ----------------
# - ``covey.Similarity(f, symmetric=False)`` for a similarity in which the order of two names matters.
# - :doc:`plot_own_similarity` shows a custom similarity, for example one that looks at endings only.
# - On the command line: ``covey select people.xlsx --text name -s jaro-winkler --label language -o few.csv``.
