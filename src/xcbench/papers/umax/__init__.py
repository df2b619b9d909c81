"""Unbiased scalable softmax optimization (Fagan and Iyengar 2018): U-max and Implicit SGD."""
