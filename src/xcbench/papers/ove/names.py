"""Our names by the names that the one-vs-each paper prints, in the order of its tables."""

DATASETS = {"MNIST": "mnist", "20NEWS": "20news", "BIBTEX": "bibtex", "AMAZONCAT-13K": "amazoncat"}
SMALL = ("MNIST", "20NEWS", "BIBTEX")  # of Table 2
SGD = "OVE-SGD"
METHODS = {  # printed name: grid of Table 2, method
    "SOFT": ("table2", "softmax"),
    "BOUCHARD": ("table2", "bouchard"),
    "OVE": ("table2", "ove"),
    SGD: ("figure3", "ove"),
}
