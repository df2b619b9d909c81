"""Our names by the names that the U-max paper prints, in the order of its tables."""

METHODS = {
    "OVE": "ove",
    "NCE": "nce",
    "IS": "is",
    "Vanilla SGD": "vanilla",
    "U-max": "umax",
    "Implicit SGD": "implicit",
}
DATASETS = {
    "MNIST": "mnist",
    "Bibtex": "bibtex",
    "Delicious": "delicious",
    "Eurlex": "eurlex",
    "AmazonCat": "amazoncat",
    "Wiki10": "wiki10",
    "Wiki-small": "wiki-small",
}
