"""Our names by the names that the MEMOIR paper prints, in the order of its tables."""

BASELINES = {"OVR": "svm_ovr", "M-SVM": "svm_cs", "RecallTree": "recall_tree"}
MEMOIR = {"MEMOIR-l2": "memoir_l2", "MEMOIR-l1": "memoir_l1", "MEMOIR-LSH": "memoir_l2"}
BEYOND = {"label tree (napkinXC)": "plt", "class sums by cosine": "class_sums"}  # not in the paper
METHODS = {**BASELINES, **MEMOIR, **BEYOND}
WITHOUT_PACKAGE = ("FastXML", "PfastReXML", "PD-Sparse")
DATASETS = {
    "LSHTC1": "lshtc1",
    "DMOZ": "dmoz",
    "WIKI-Small": "joshi-wiki-small",
    "WIKI-50K": "wiki-50k",
    "WIKI-100K": "wiki-100k",
}
AT_HAND = ("20news", "citeulike")  # in place of those, beside no printed number
READINGS = ("as_text", "as_published")
FACTORS = {"0.1": 11, "1": 110, "10": 1100, "100": 11000, "1000": 110000}  # |b| on LSHTC1


def grid(method: str, reading: str = "as_published") -> str:
    """Grid of a method of Table 3; baselines have one reading alone."""
    if method not in MEMOIR:
        return "table3_baselines" if reading == "as_published" else ""
    return f"table3_lsh_{reading}" if method == "MEMOIR-LSH" else f"table3_{reading}"
