"""Why something happened: which elements of a failing plan its failure needs."""
