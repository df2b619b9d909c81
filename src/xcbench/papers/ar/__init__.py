"""Augment and reduce (Ruiz, Titsias, Dieng and Blei 2018): softmax, probit and logistic A&R."""
