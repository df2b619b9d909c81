"""Our names by the names that the A&R paper prints, in the order of its tables."""

EXACT = "exact softmax"
METHODS = {
    EXACT: "softmax",
    "OVE": "ove",
    "A&R softmax": "ar_softmax",
    "A&R multinomial probit": "ar_probit",
    "A&R multinomial logistic": "ar_logistic",
}
DATASETS = {
    "MNIST": "mnist",
    "Bibtex": "bibtex",
    "Omniglot": "omniglot",
    "EURLex-4K": "eurlex",
    "AmazonCat-13K": "amazoncat",
}
LATENT = ("ar_probit", "ar_logistic")  # likelihoods without a closed form


def grid(dataset: str, method: str, reading: str = "as_published") -> str:
    """Grid of a cell of Table 3, in our names; large datasets have one reading alone."""
    large = {"omniglot": "table3_omniglot", "eurlex": "table3_large", "amazoncat": "table3_large"}
    if dataset in large:
        return large[dataset] if reading == "as_published" else ""
    return f"table3_{reading}" + ("_exact" if method == "softmax" else "")
