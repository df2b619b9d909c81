"""One-vs-each approximation to softmax (Titsias 2016): OVE, OVE-SGD, Bouchard's bound."""
