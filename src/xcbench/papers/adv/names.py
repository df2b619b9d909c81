"""Our names by the names that the adversarial-softmax paper prints, in the order of its tables."""

from xcbench.papers import claims

DATASETS = claims.of("adv").datasets
EURLEX = "EURLex-4K"  # of Appendix A.2
HERE = ("citeulike", "20news")  # real data at hand, in no table of the paper
SHOWN = {"citeulike": "citeulike", "20news": "20 Newsgroups"}

PROPOSED = "adversarial neg. sampling (proposed)"
METHODS = {  # printed name: method, and how it draws classes
    PROPOSED: ("negative_sampling", "tree"),
    "uniform neg. sampling": ("negative_sampling", "uniform"),
    "frequency-based neg. sampling": ("negative_sampling", "frequency"),
    "NCE": ("nce", "tree"),
    "A&R": ("ar_softmax", "others"),
    "OVE": ("ove", "others"),
}
OBJECTIVES = {
    "negative_sampling": "negative sampling",
    "nce": "NCE",
    "ar_softmax": "A&R",
    "ove": "OVE",
    "umax": "U-max",
}
SAMPLERS = {"uniform": "uniform", "frequency": "frequency", "tree": "adversarial tree"}
PRIORS = ("ar_softmax", "ove", "umax")  # regularised by a prior of the weights, not by the scores
