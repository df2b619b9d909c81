"""Our names by the names that the adversarial-softmax paper prints, in the order of its tables."""

DATASETS = {"Wikipedia-500K": "wikipedia500k", "Amazon-670K": "amazon670k"}
EURLEX = "EURLex-4K"  # of Appendix A.2
HERE = ("citeulike", "20news")  # real data at hand, in no table of the paper
SHOWN = {"citeulike": "citeulike", "20news": "20 Newsgroups"}

PROPOSED = "adversarial neg. sampling (proposed)"
DRAWS = {  # printed name: method, and how it draws classes
    PROPOSED: ("negative_sampling", "tree"),
    "uniform neg. sampling": ("negative_sampling", "uniform"),
    "frequency-based neg. sampling": ("negative_sampling", "frequency"),
    "NCE": ("nce", "tree"),
    "A&R": ("ar_softmax", "others"),
    "OVE": ("ove", "others"),
}
METHODS = {name: method for name, (method, _) in DRAWS.items()}
OBJECTIVES = {
    "negative_sampling": "negative sampling",
    "nce": "NCE",
    "ar_softmax": "A&R",
    "ove": "OVE",
    "umax": "U-max",
}
SAMPLERS = {"uniform": "uniform", "frequency": "frequency", "tree": "adversarial tree"}
PRIORS = ("ar_softmax", "ove", "umax")  # regularised by a prior of the weights, not by the scores
